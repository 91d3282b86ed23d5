//! What all layers have in common: a colour, a name, a kind of line.

use crate::palette::Colour;

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Without gaps.
    #[default]
    Solid,
    /// Short lines.
    Dashed,
    /// Dots.
    Dotted,
}

/// How wide a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// For what stands behind.
    Thin,
    /// As usual.
    #[default]
    Normal,
    /// For what matters most.
    Thick,
}

/// Colour, names and kind of line of a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look {
    pub(crate) colour: Option<Colour>,
    pub(crate) label: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) dash: Dash,
    pub(crate) width: Width,
}

impl Look {
    /// The classes of a line in this look.
    pub(crate) fn line(&self, colour: Colour) -> String {
        let width = match self.width {
            Width::Thin => " thin",
            Width::Normal => "",
            Width::Thick => " thick-curve",
        };
        let dash = match self.dash {
            Dash::Solid => "",
            Dash::Dashed => " dashed",
            Dash::Dotted => " dotted",
        };
        format!("{}-stroke curve{width}{dash}", colour.name())
    }
}

/// The methods that change the look of a layer.
macro_rules! looks {
    ($layer:ty) => {
        impl $layer {
            /// In this colour; without it, the next of the palette.
            #[must_use]
            pub fn colour(mut self, colour: $crate::palette::Colour) -> Self {
                self.look.colour = Some(colour);
                self
            }

            /// With its name beside its last point, right of the panel; names never overlap.
            #[must_use]
            pub fn label(mut self, name: impl Into<String>) -> Self {
                self.look.label = Some(name.into());
                self
            }

            /// With its name in the key above the figure; the same name in several panels stands there once.
            #[must_use]
            pub fn key(mut self, name: impl Into<String>) -> Self {
                self.look.key = Some(name.into());
                self
            }

            /// With dashed or dotted lines.
            #[must_use]
            pub fn dash(mut self, dash: $crate::plot::Dash) -> Self {
                self.look.dash = dash;
                self
            }

            /// With thinner or thicker lines.
            #[must_use]
            pub fn width(mut self, width: $crate::plot::Width) -> Self {
                self.look.width = width;
                self
            }
        }
    };
}
pub(crate) use looks;
