//! Tails that chains have not entered.

/// Standard deviations from the centre at which every coordinate is asked first.
pub(crate) const FIRST: f64 = 5.0;
/// Nats by which log p falls less than the Gaussian's there, for the profile to be followed.
pub(crate) const EXCESS: f64 = 1.5;
/// Lines that are asked once more, those that fall slowest, and lines that are followed, those with the longest tails
/// by these two values.
pub(crate) const MOST_SLOW: usize = 128;
pub(crate) const MOST_PROFILES: usize = 32;
/// Nats below the top, 30 standard deviations out, at which a profile has ended. Not tuned.
pub(crate) const NOTHING: f64 = 30.0;
/// Standard deviations beyond which a tail begins.
pub(crate) const EDGE: f64 = 3.0;
/// Share of the second moment beyond the edge from which a tail is visited.
pub(crate) const SHARE: f64 = 0.1;
/// The same of a parabola through two values of a profile, from which all of it is asked for; and the nats above the
/// centre that it is followed to. Not tuned.
pub(crate) const HINT: f64 = 0.04;
pub(crate) const HIGH: f64 = 50.0;
/// Log ratio of the standard deviation of a profile to that of the chains from which it is looked at.
pub(crate) const LOG_SD: f64 = 0.14;
/// Far points whose gradients point at further directions.
pub(crate) const FAR_POINTS: usize = 16;
/// Directions that are taken from them.
pub(crate) const DIRECTIONS: usize = 6;
/// Square of the singular value of far gradients, each of length one, below which there is no common direction.
pub(crate) const LEAST_DIRECTION: f64 = 0.5;
/// Size of a residual gradient far out below which it says nothing of a tail. Not tuned.
pub(crate) const LEAST_RESIDUAL: f64 = 1.0;
/// Cosine from which two lines are the same. Not tuned.
pub(crate) const ALONG: f64 = 0.999;
