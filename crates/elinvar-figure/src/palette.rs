//! Colours of series: the palette of M. Okabe and K. Ito, which people with any common kind of colour blindness can
//! tell apart.

/// A colour of the palette; in a page it follows the light or dark scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// Blue.
    Blue,
    /// Vermilion, a red with orange in it.
    Vermilion,
    /// Bluish green.
    Green,
    /// Reddish purple.
    Purple,
    /// Sky blue.
    Sky,
    /// Orange.
    Orange,
    /// The colour of text.
    Ink,
    /// Grey, for what stands behind.
    Grey,
}

impl Colour {
    /// All of them; series without a colour take them in this order, up to the grey.
    pub const ALL: [Colour; 8] = [
        Colour::Blue,
        Colour::Vermilion,
        Colour::Green,
        Colour::Purple,
        Colour::Sky,
        Colour::Orange,
        Colour::Ink,
        Colour::Grey,
    ];

    /// The colour of series number `i`, from 0, repeated after seven.
    pub fn nth(i: usize) -> Self {
        Self::ALL[i % (Self::ALL.len() - 1)]
    }

    /// The name of it in the style sheet.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Colour::Blue => "blue",
            Colour::Vermilion => "vermilion",
            Colour::Green => "green",
            Colour::Purple => "purple",
            Colour::Sky => "sky",
            Colour::Orange => "orange",
            Colour::Ink => "ink",
            Colour::Grey => "grey",
        }
    }

    /// The darker kind of it that text is set in.
    pub(crate) fn ink(self) -> String {
        if self == Colour::Ink { "ink".into() } else { format!("{}-ink", self.name()) }
    }
}
