//! What is estimated from draws before it is drawn: densities, contours, shapes.

pub(crate) mod bandwidth;
pub(crate) mod contour;
pub(crate) mod density;
pub(crate) mod plane;
pub(crate) mod sample;
pub(crate) mod shape;
