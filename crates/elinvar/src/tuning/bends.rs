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
/// How far beyond the points, times their distance, shifts are polynomials. Traced on few runs: with 1.25, chains that
/// start far out in a bend that is exact stood still there.
pub(crate) const BEYOND: f64 = 3.0;
/// Weight of the squared parameters, per state. Not tuned.
pub(crate) const RIDGE: f64 = 1e-4;
/// Gauss–Newton steps at most. Not tuned.
pub(crate) const STEPS: usize = 12;
/// States that a fit rests on at most. Not tuned.
pub(crate) const STATES: usize = 800;
/// Mean squared residual that a component must lose in the first step, to be bent at all. Not tuned.
pub(crate) const LEAST: f64 = 0.005;
/// Dimensions up to which all candidates are fitted, those that promise most first. Not tuned.
pub(crate) const FEW_DIMENSIONS: usize = 12;
/// Bends whose drivers are turned to fit, turns at most, how often one is made shorter, the share of the residual that
/// it must take away for another to follow, and dimensions up to which drivers are turned. Not tuned.
pub(crate) const TURNED: usize = 4;
pub(crate) const TURNS: usize = 12;
pub(crate) const SHORTER_TURNS: usize = 4;
pub(crate) const LEAST_TURN: f64 = 0.02;
pub(crate) const MOST_TURNED: usize = 20;
/// States for each parameter of a component that a bend rests on at least. Not tuned.
pub(crate) const STATES_EACH: usize = 6;
/// How far the gradients of some component are from those of N(0, I) where bends are looked for at all. Not tuned.
pub(crate) const CURVED: f64 = 0.2;
/// How far they may be at states that a bend was not fitted to, and where chains start in it, for it to be taken.
/// Traced on few runs: bananas have less than 0.005. With half as much again the beta-binomial posterior, which has no
/// exact bend, took some that did not come true, and three times the gradients.
pub(crate) const EXACT: f64 = 0.05;
pub(crate) const EXACT_FAR_OUT: f64 = 0.1;
