//! What is estimated from draws before it is drawn: densities and contours.

pub mod bandwidth;
pub mod contour;
pub mod density;
pub mod plane;
pub mod sample;
