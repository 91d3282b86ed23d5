//! Chains on the target in the coordinates of a Gaussian.

/// Share of the steps that are short. Not tuned.
pub(crate) const SHORT_STEPS: f64 = 0.2;
/// Length of a short step, in usual ones. Not tuned.
pub(crate) const SHORT_STEP: f64 = 0.2;
/// Mean acceptance that the angle of leaps is set for. Not tuned.
pub(crate) const ACCEPTANCE: f64 = 0.85;
/// Mean acceptance up to which the angle is halved at once. Not tuned.
pub(crate) const LOST: f64 = 0.3;
/// Largest move of a matched centre in any coordinate of the frame before, for the frame to be settled. Not tuned.
pub(crate) const SETTLED_SHIFT: f64 = 0.35;
/// Largest factor between the matched and the present variance in any direction, for the frame to be settled. Not
/// tuned.
pub(crate) const SETTLED_RATIO: f64 = 2.5;
/// Beyond so many coordinates, and with fewer states than so many for each of them, a Gaussian is matched to states
/// only if it is better for states that it was not matched to. Measured: without, finding coordinates took 3 000
/// gradients of a logistic regression in 200 dimensions and 8 700 in 500, where the fit had found them.
pub(crate) const FEW_COORDINATES: usize = 32;
pub(crate) const STATES_TO_MATCH: usize = 16;
/// There, steps that chains from farther out than the Gaussian take before a Gaussian may be matched to them. Not
/// tuned.
pub(crate) const WAY_IN: usize = 3;
/// Steps that chains take before they count, after some were sent into tails. Measured: without, a logistic regression
/// in 50 dimensions took 4 100 gradients with the seed with which it had a tail to look at, and 1 450 with others.
pub(crate) const WAY_BACK: usize = 4;
/// Share of the residual gradients that such a Gaussian must take away. Not tuned.
pub(crate) const WORTH_MATCHING: f64 = 0.1;
/// Steps of the rounds in which the frame is found; the last goes on. Not tuned.
pub(crate) const ROUNDS: [usize; 5] = [3, 4, 5, 6, 8];
/// Steps in which states are gathered, before a frame is settled, where the law is curved: enough for a bend. Not
/// tuned.
pub(crate) const STEPS_TO_BEND: usize = 12;
/// Mean acceptance below which a settled frame is not believed. Not tuned.
pub(crate) const ADAPTED: f64 = 0.6;
/// Share of the budget that finding the frame may take. Not tuned.
pub(crate) const ADAPTING_SHARE: f64 = 0.5;
/// Steps of the first round that answers; each later round makes the run half as long again. Not tuned.
pub(crate) const FIRST_ROUND: usize = 16;
/// Shorter rounds, as shares of the run, that are tried where errors alone are in doubt and ask for no more.
pub(crate) const MORE_STEPS: [f64; 2] = [0.125, 0.25];
/// Steps up to which doubts are those of a young run and need no second look once they are gone. Measured: without
/// it eight schools, non-centred, take 26 600 gradients instead of 5 400 in the median.
pub(crate) const YOUNG: usize = 50;
/// Share of the steps, the latest, that make the answer, in few coordinates and in many, where chains take some steps
/// before the first that counts. Not tuned.
pub(crate) const LATE: [f64; 2] = [0.75, 0.875];
/// Expected number of wrong means, and of wrong standard deviations, by their errors, in an answer that is sharp.
/// Not tuned.
pub(crate) const WRONG: f64 = 0.025;
/// Standard errors within which a number is said to be known. Not tuned.
pub(crate) const SURE: f64 = 2.5;
/// Standard errors by which the early and the late half may differ, at least, and the expected number of coordinates
/// that do by chance, by Student's law: that of 16 pairs in ten coordinates. Not tuned.
pub(crate) const DRIFT: f64 = 4.0;
pub(crate) const DRIFT_BY_CHANCE: f64 = 0.012;
/// Mean acceptance, of all chains and of the worst, below which chains stand still. Not tuned.
pub(crate) const STANDING_STILL: [f64; 2] = [0.6, 0.4];
/// Steps of a chain for each independent state from which an answer is not believed: on curved ridges the far ends are
/// narrow, and chains that do not get there state errors that are too small. Measured: of 40 trusted answers to
/// Rosenbrock's valleys, bananas and funnels three of the four wrong ones took 22 to 44 steps, two right ones 29 and
/// 34, all others less than 19.
pub(crate) const SLOW: f64 = 20.0;
/// States of slow chains from which modes are climbed to, gradients after which no climb begins, and so many more for
/// each coordinate. Not tuned.
pub(crate) const CLIMBS: usize = 12;
pub(crate) const CLIMBING_GRADIENTS: [u64; 2] = [200, 20];
/// Share of the points at which a density may be undefined. Not tuned.
pub(crate) const UNDEFINED: f64 = 0.01;
/// Standard deviations beyond which a mode is another place than that of the chains. Not tuned.
pub(crate) const APART: f64 = 8.0;
/// Mean acceptance below which a chain is stuck. Not tuned.
pub(crate) const STUCK: f64 = 0.05;
/// How often bent coordinates may be looked for. Not tuned.
pub(crate) const SHAPES: usize = 4;
/// How far the gradients of any component may be from those of N(0, I) in coordinates with bends, for an answer in them
/// to be believed. Traced on few runs: 0.00 to 0.02 for bananas, up to 0.05 for a beta-binomial posterior; the mean
/// over 27 components, which was looked at before, was below 0.04 in a wrong trust of a hierarchy.
pub(crate) const ROUGH: f64 = 0.06;
/// Nats below the median of log p(u), and so many times √d more, from which a state says nothing of the covariance.
/// Not tuned.
pub(crate) const LOST_STATE: [f64; 2] = [15.0, 3.0];
/// Nats by which log q must fall between two components for chains to run on each of them alone: at six standard
/// deviations between two Gaussians 0.1 % of either is beyond the middle. Not tuned.
pub(crate) const VALLEY: f64 = 4.5;
/// Places on which chains are run one by one, at most. Not tuned.
pub(crate) const MOST_PLACES: usize = 16;
/// Share of the mass, by the mixture, below which a place is left alone. Not tuned.
pub(crate) const LIGHT_PLACE: f64 = 1e-3;
/// Nats from a border within which a state is at it, and the share of such states from which two places are one. By
/// the density there, means are then off by 0.02 standard deviations at most. Not tuned.
pub(crate) const BORDER: f64 = 1.0;
pub(crate) const AT_THE_BORDER: f64 = 0.004;
/// Draws of two components by which it is seen that they keep apart where no valley is between them. Not tuned.
pub(crate) const BORDER_DRAWS: usize = 1_024;
/// Draws of the bridge that gives the mass of a place, at first and at most: they are doubled until the error of its
/// logarithm is this, with which means are known to 0.04 standard deviations where two modes are alike. Not tuned.
pub(crate) const MASS_DRAWS: [usize; 2] = [512, 8_192];
pub(crate) const MASS_ERROR: f64 = 0.05;
/// Share of the mass that another mode may have. Not tuned.
pub(crate) const OTHER_MASS: f64 = 0.01;
