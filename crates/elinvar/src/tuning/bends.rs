//! Coordinates that bend.

/// Bends at most, one inside the other. Not tuned.
pub(crate) const MOST: usize = 4;
/// Share by which a bend must lessen what is left of the gradients. Not tuned.
pub(crate) const GAIN: f64 = 0.15;
/// Directions that are tried in earnest. Not tuned.
pub(crate) const FITTED: usize = 3;
/// Axes and coordinates among the candidates. Not tuned.
pub(crate) const AXES: usize = 24;
/// Directions of large residuals among the candidates. Not tuned.
pub(crate) const DIRECTIONS: usize = 3;
/// Dimensions up to which such directions are looked for. Not tuned.
pub(crate) const MOST_DIMENSIONS: usize = 200;
/// Squared residual from which a point counts less. Not tuned.
pub(crate) const LARGE: f64 = 4.0;
/// How far beyond the states polynomials go on. Not tuned.
pub(crate) const BEYOND: f64 = 1.25;
/// Weight of the squared parameters, per state. Not tuned.
pub(crate) const RIDGE: f64 = 1e-4;
/// Gauss–Newton steps at most. Not tuned.
pub(crate) const STEPS: usize = 12;
/// States that a fit rests on at most. Not tuned.
pub(crate) const STATES: usize = 800;
/// Mean squared residual that a component must lose in the first step, to be bent at all. Not tuned.
pub(crate) const LEAST: f64 = 0.005;
