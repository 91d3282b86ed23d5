//! Steps by residual scores and least change.
//!
//! Measured, unless said otherwise, on logistic regressions with N = 5 d rows (d = 10, 50, 200, 500), banana, eight
//! schools, and products of log-gamma and t densities, a few seeds each.

/// Pairs of mirrored draws of a step, at least.
pub(crate) const FEWEST_PAIRS: usize = 8;
/// Up to this many coordinates there is a pair for each from the first step on.
pub(crate) const FEW_COORDINATES: usize = 32;
/// Up to this many coordinates a target's own expectations are asked for: an expectation is worth half as many
/// gradients as there are coordinates, a sum of Hessians over draws has no such price.
pub(crate) const COORDINATES_OF_EXPECTATIONS: usize = 128;
/// Up to this many coordinates a diagonal Gaussian goes by residual scores: its mean steps by a d × d matrix.
pub(crate) const COORDINATES_OF_A_DIAGONAL: usize = 512;
/// Least curvature of the bound along a direction of the mean of a diagonal Gaussian, in its own units, where some
/// direction has none. Not tuned.
pub(crate) const LEAST_CURVATURE: f64 = 0.1;
/// Beyond them the first steps have a pair for so many coordinates: enough to place the mean.
pub(crate) const FIRST_SHARE: usize = 8;
/// Factors between which the draws of a step grow, if they do.
pub(crate) const GROWTH: (f64, f64) = (1.25, 4.0);
/// Part of an estimate that is taken however much of it is noise. Not tuned.
pub(crate) const SMALLEST_SHARE: f64 = 0.2;
/// Cosine of successive gradients beyond which they turn round, or go on. Not tuned.
pub(crate) const TURNED: f64 = 0.3;
/// Longest step of exact expectations along a gradient that has kept its direction.
pub(crate) const LONGEST_EXACT_STEP: f64 = 5.0;
/// Cosine of successive gradients from which they have kept their direction. Not tuned.
pub(crate) const STEADY: f64 = 0.9;
/// Largest ratio of successive gains of the bound that is believed. Not tuned.
pub(crate) const SLOWEST_GAIN: f64 = 0.98;
/// After gradients have turned round, the longest step grows by this factor with each that goes on.
pub(crate) const FORGETTING: f64 = 1.1;
/// Cosine of successive gradients below which what is left, if it has not halved, is taken for noise. Not tuned.
pub(crate) const UNRELATED: f64 = 0.5;
/// Nats left to gain below which the bound is a parabola. Not tuned.
pub(crate) const NEAR_THE_TOP: f64 = 0.05;
/// Noise, as a share of what is left to gain, below which half the draws will do. Not tuned.
pub(crate) const LITTLE_NOISE: f64 = 0.1;
/// Nats left to gain above which draws may become fewer. Not tuned.
pub(crate) const FAR_OFF: f64 = 0.2;
/// Strongest damping.
pub(crate) const SMALLEST_BETA: f64 = 0.3;
/// Bounds of the relative change of the precision in any direction: to a fifth, to six times. Not tuned.
pub(crate) const LOWEST_EIGENVALUE: f64 = -0.8;
/// The upper one.
pub(crate) const HIGHEST_EIGENVALUE: f64 = 5.0;
/// Draws by which a state must have been judged good, in steps one after the other, before it is believed.
pub(crate) const DRAWS_TO_BELIEVE: usize = 64;
/// Noise as a share of the tolerance below which one look is enough, with Hessians half of these draws. Not tuned.
pub(crate) const NO_NOISE: f64 = 0.01;
/// Times its noise that a gradient must be for the next to say how the bound curves. Not tuned.
pub(crate) const CLEAR_SIGNAL: f64 = 4.0;
/// Least curving of the bound along a step, in terms of the Fisher metric, that is believed. Measured: a logistic
/// regression with two wide coefficients has 0.2.
pub(crate) const LEAST_CURVING: f64 = 0.1;
/// Pairs for each coordinate from which the covariance of the draws is made I, with Hessians: with fewer, their
/// lengths become all but equal, and tails are not seen. Measured: with one, eight schools ended 0.034 nats off.
pub(crate) const PAIRS_TO_MATCH: usize = 2;
/// Noise as a share of the tolerance with which a state in few coordinates is believed: what so much noise has
/// moved is as far off, and heavy tails are larger than they look. Measured: eight schools was believed 0.027 nats
/// off where the noise was 1.5 tolerances.
pub(crate) const BELIEVED_NOISE: f64 = 1.0;
/// Times that what is left is taken to be, without noise and with: to second order it was below the true distance
/// on targets that are far from Gaussian. Measured: with 3 for the latter eight schools was believed 0.014 nats
/// off.
pub(crate) const CAUTION: (f64, f64) = (2.0, 4.0);
/// Noise, as a share of the tolerance, up to which `DRAWS_TO_BELIEVE` are enough; beyond, they grow with it.
pub(crate) const USUAL_NOISE: f64 = 0.15;
/// Times `DRAWS_TO_BELIEVE` that are asked for, at most. Not tuned.
pub(crate) const MOST_TO_BELIEVE: f64 = 16.0;
/// Looks at one state, at most, before it is left. Not tuned.
pub(crate) const MOST_LOOKS: u32 = 8;
/// Lost pairs, as a share of the others, with which a state is still believed. Not tuned.
pub(crate) const LOST_SHARE: f64 = 0.05;
/// With as many draws as there may be, a step pays if what is left falls to this share of the least so far. Not
/// tuned.
pub(crate) const PAYING_SHARE: f64 = 0.9;
