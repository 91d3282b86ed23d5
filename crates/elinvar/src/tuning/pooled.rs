//! Mixtures fitted from a pool of past evaluations (mathematics §12.7).
//!
//! Measured, unless said otherwise, on eight schools, the banana with σ = 2 and b = ½ and the beta-binomial, three
//! seeds each, by a program of a hundred lines.
//!
//! By default mixtures of targets that have gradients only go so. On the beta-binomial `mog` 3, 5 and 8 end after at
//! most 8 004, 7 326 and 3 509 gradients at KL 0.0130, 0.0045 and 0.0019 (worst of five seeds); steps by fresh draws,
//! with Hessians, take 21 000 to 33 000 and reach 0.0136, 0.0040 and 0.0015.

/// Numbers that the points of a pool may take, coordinates and gradients together: 32 MB.
const NUMBERS: usize = 1 << 22;
/// Points of a pool in few coordinates, at most: their densities under all components are computed in every step.
const MOST_POINTS: usize = 1 << 14;
/// Proposals of a pool, at most; their factors have d² numbers each.
const MOST_PROPOSALS: usize = 1 << 10;

/// Points that a pool in so many coordinates may hold.
pub(crate) fn most_points(dim: usize) -> usize {
    MOST_POINTS.min(NUMBERS / (2 * dim))
}

/// Proposals that a pool in so many coordinates may remember.
pub(crate) fn most_proposals(dim: usize) -> usize {
    MOST_PROPOSALS.min(NUMBERS / (dim * dim)).max(64)
}

/// A full pool forgets its oldest proposals down to this share. Not tuned.
pub(crate) const KEPT_SHARE: f64 = 0.75;
/// Coordinates beyond which a mixture does not go by a pool: a regression in every component wants some draws for each
/// coordinate, and nobody has measured more.
pub(crate) const MOST_COORDINATES: usize = 128;

/// Draws that a full Gaussian takes by residual scores from gradients alone before it goes on by a pool. Regressions
/// end after 200 to 320 in up to ten coordinates. Eight schools took 13 600 and ended up to 0.0137 nats off, with a
/// pool it takes 6 400 to 11 900 and is within 0.002; `murphy` took up to 2.2 million, with a pool 11 400 to 21 200.
pub(crate) fn draws_before_a_pool(dim: usize) -> usize {
    50 * (dim + 10)
}

/// Coordinates up to which a mixture goes by a pool by default. Measured in up to 61.
pub(crate) const USUAL_COORDINATES: usize = 64;

/// Draws of a component at a time: two pairs more than there are coordinates.
pub(crate) fn draws_at_a_time(dim: usize) -> usize {
    2 * (dim + 2)
}

/// Effective number of points of a component below which it is drawn from: enough for a regression on every coordinate.
pub(crate) fn fewest_effective(dim: usize) -> f64 {
    1.5 * dim as f64 + 6.0
}

/// Sums of a component's weights, which have the expectation 1, outside of which it is drawn from. The effective number
/// is blind to a component that has left its points behind: those nearest to it then look like all there is.
pub(crate) const TOTALS: (f64, f64) = (0.6, 1.6);
/// Batches that a component may draw in one step.
pub(crate) const MOST_FILLS: usize = 6;
/// Log weights of a point so far below the largest do not count. Not tuned.
pub(crate) const NEGLIGIBLE: f64 = 25.0;
/// Smallest ridge of a regression, for rounding alone.
pub(crate) const SMALLEST_RIDGE: f64 = 1e-13;
/// Largest change of a log weight in one step. Not tuned.
pub(crate) const LONGEST_WEIGHT_STEP: f64 = 1.0;
/// Nats that the pooled bound may fall in a step, in tolerances: less is rounding of a self-normalised estimate. Not
/// tuned.
pub(crate) const FALL: f64 = 0.01;
/// Times that a step is halved at once. Not tuned.
pub(crate) const HALVINGS: usize = 4;
/// Shortest step. Not tuned.
pub(crate) const SMALLEST_BETA: f64 = 0.05;
/// Factor of the length of steps after one that was not halved. Not tuned.
pub(crate) const GROWTH_OF_BETA: f64 = 1.5;
/// Share of the last direction that is added to a step, at most. Components that share the work sit on plateaus of the
/// bound, whose slopes are small and point the same way. Measured: on the beta-binomial with K = 3, 5 and 8, one look,
/// KL 0.019, 0.010 and 0.012 without (two seeds) and 0.0163, 0.0053 and 0.0151 with 0.9 (five); with two looks 0.0128,
/// 0.0049 and 0.0022, and with 0.95 0.0130, 0.0045 and 0.0019.
pub(crate) const MOST_MOMENTUM: f64 = 0.95;
/// Nats left to gain on the pool, in tolerances, below which a mixture fits its pool. Steps without draws cost nothing
/// that is counted.
pub(crate) const FITTED_SHARE: f64 = 1e-5;
/// Steps in a row that must find no more than that. Not tuned.
pub(crate) const FITTED_STEPS: u32 = 4;
/// Steps in which the pooled bound must rise by more than so many tolerances, or the mixture fits its pool, too. With
/// 200 steps one of five fits of the beta-binomial with K = 3 ended at KL 0.0164: what a few points promise is not
/// worth long walks.
pub(crate) const WINDOW: u32 = 100;
/// The latter.
pub(crate) const RISE: f64 = 0.02;
/// Steps after which the pool is fitted for now in any case. Not tuned.
pub(crate) const MOST_STEPS: u32 = 1_000;
/// The same in a round of a growing mixture: all rounds together are to remain below the usual limit of steps.
pub(crate) const MOST_STEPS_OF_A_ROUND: u32 = 150;
/// Fresh draws of the first look at a fitted mixture.
pub(crate) const FIRST_JUDGED: usize = 64;
/// Fresh draws of one look, at most.
pub(crate) const MOST_JUDGED: usize = 2_048;
/// Error of the bound by fresh draws, in tolerances, that is good enough: what judges a mixture is what the next one is
/// fitted to. Measured: with a half, `mog` 8 on the beta-binomial ended at KL 0.0019 to 0.0060.
pub(crate) const JUDGED_ERROR: f64 = 0.2;
/// Looks in a row that must find the mixture good: what one has added is fitted, and judged by others.
pub(crate) const GOOD_LOOKS: u32 = 2;
/// Times that the pooled gain that is left is taken to be. Not tuned: that of residual scores without noise.
pub(crate) const CAUTION: f64 = 5.0;
/// Looks that must each bring the fit on before the pool is given up. Not tuned.
pub(crate) const MOST_LOOKS: u32 = 12;
/// Share of the draws that may be lost. Not tuned.
pub(crate) const LOST_SHARE: f64 = 0.3;
