//! What can be put into a panel.

use std::fmt;
use std::sync::Arc;

use super::look::Look;
use super::{Area, Bars, Contours, Line, Note, Points, Rule};
use crate::frame::Frame;
use crate::palette::Colour;
use crate::svg::Marks;

/// Something in a panel, made of a [`Line`], [`Points`], an [`Area`], [`Bars`], [`Contours`], a [`Rule`] or a [`Note`].
#[derive(Clone)]
pub struct Layer(pub(crate) Arc<dyn Drawn>);

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Layer").field(self.0.look()).finish()
    }
}

macro_rules! is_layer {
    ($($layer:ty),*) => {$(
        impl From<$layer> for Layer {
            fn from(layer: $layer) -> Self {
                Self(Arc::new(layer))
            }
        }
    )*};
}
is_layer!(Line, Points, Area, Bars, Contours, Rule, Note);

/// What a panel asks of its layers.
pub(crate) trait Drawn {
    /// Its colour, names and kind of line.
    fn look(&self) -> &Look;

    /// Numbers that the axes must hold; NaN on a side that does not matter.
    fn places(&self) -> Vec<(f64, f64)>;

    /// Whether it stands on the lower edge.
    fn rests(&self) -> bool {
        false
    }

    /// Whether it covers a range of its own, so that the axes need no room beyond it.
    fn fills(&self) -> bool {
        false
    }

    /// Whether it takes a colour of the palette if it has none.
    fn takes_colour(&self) -> bool {
        true
    }

    /// Draws it, cut off at the edges.
    fn draw(&self, frame: &Frame, colour: Colour, marks: &mut Marks);

    /// Draws what may stand beyond the edges.
    fn draw_over(&self, _frame: &Frame, _colour: Colour, _marks: &mut Marks) {}

    /// Where its label belongs.
    fn end(&self) -> Option<(f64, f64)>;

    /// Its sign in the key, eighteen pixels wide from a place.
    fn symbol(&self, place: (f64, f64), colour: Colour, marks: &mut Marks);
}
