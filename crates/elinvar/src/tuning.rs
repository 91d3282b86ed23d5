//! Every constant of a fit that could be another number, by its full name, with its unit and where it comes from.
//!
//! *Measured* constants say on what. The others are *not tuned*: they were chosen once and work, and no measurement on
//! record says what others would gain. Constants of the verdict are in [`limits`](crate::posterior::limits), limits
//! that users set in [`Plan`](crate::Plan).

pub(crate) mod bends;
pub(crate) mod chains;
pub(crate) mod pinches;
pub(crate) mod pooled;
pub(crate) mod residual;
pub(crate) mod scan;
pub(crate) mod tails;

/// The length of steps, the looks back between them, and the end of a run.
pub(crate) mod pace {
    /// Steps in a row that were skipped, or in which no block could move, after which a run gives up. Not tuned.
    pub(crate) const LOST_STEPS: u32 = 25;

    /// Every so many steps the noise of one is used again in the next, and the two bounds are compared. Not tuned.
    pub(crate) const RADIUS_PERIOD: u64 = 4;
    /// Factor of the trust radius after a step that improved the bound on its own noise. Not tuned.
    pub(crate) const RADIUS_GROWTH: f64 = 1.5;
    /// Factor of the trust radius after a step that did not. Not tuned.
    pub(crate) const RADIUS_SHRINKAGE: f64 = 0.5;
    /// Smallest trust radius, in nats. Not tuned.
    pub(crate) const SMALLEST_RADIUS: f64 = 1e-3;
    /// Largest trust radius, in nats. Not tuned.
    pub(crate) const LARGEST_RADIUS: f64 = 1.0;

    /// Times ½ gᵀF⁻¹g of the other parameters that may be left to gain beside a learned constant, at most. Measured:
    /// with 2 a Student-t of three dimensions ended 0.009 nats from a target of its own kind.
    pub(crate) const GAIN_BESIDE_A_CONSTANT: f64 = 6.0;

    /// Independent batches from which the gain that is left is estimated. Not tuned; the jackknife needs three.
    pub(crate) const REVIEW_BATCHES: usize = 4;

    /// Steps of the first window; each later one ends when the run is 1.4 times as long. Not tuned.
    pub(crate) const FIRST_WINDOW: u64 = 8;
    /// Steps of the first window of a rule whose steps are short. Not tuned.
    pub(crate) const FIRST_UNHURRIED_WINDOW: u64 = 100;
    /// Steps before which a rule whose steps are short is not believed to stand still. Not tuned.
    pub(crate) const FEWEST_UNHURRIED_STEPS: u64 = 2_000;
    /// Steps before which a mixture is not believed to have converged. Components that share the work sit on plateaus
    /// of the bound. Measured: on the beta-binomial with K = 3 the gradient stays below the tolerance for up to 350
    /// steps, 0.003 nats below the optimum.
    pub(crate) const FEWEST_STEPS_OF_A_MIXTURE: u64 = 240;
    /// The same for the steps of all its components together.
    pub(crate) const FEWEST_STEPS_OF_COMPONENTS: u64 = 1_200;
    /// Noise of a step, in nats per coordinate, up to which the average of many steps is as good as one of few draws
    /// more.
    ///
    /// Measured: beta-binomial, K = 3, whole steps. With 16 draws (0.002) averages end 0.0003 nats from the optimum,
    /// with 8 draws (0.02) 0.01 nats.
    pub(crate) const NOISE_PER_COORDINATE: f64 = 0.01;
    /// Share of that noise to which the length of steps is cut. Not tuned.
    pub(crate) const NOISE_SHARE: f64 = 0.3;
    /// The draws of a review may be this many times those of a step. Not tuned.
    pub(crate) const MOST_REVIEW_DRAWS: usize = 8;
    /// Share of its step length that a run keeps when the bound has fallen, or when whole windows bring it no closer.
    /// Not tuned.
    pub(crate) const RETREAT: f64 = 0.5;
    /// Times the tolerance above which a gain that does not shrink means that the steps are too long. Not tuned.
    pub(crate) const CYCLING_GAIN: f64 = 10.0;
    /// Reviews in a row that bring nothing after which a run that can draw no more is given up. Not tuned.
    pub(crate) const IDLE_REVIEWS: u32 = 5;
    /// A fit whose widths have changed by this factor since its start is not about to converge. Not tuned.
    pub(crate) const WILD_SCALE: f64 = 1e8;
}

/// A family against the Gaussian that it contains. Measured by `cargo xtask contains`.
pub(crate) mod contained {
    /// Draws of each by which the two are compared after a review; they share their noise.
    pub(crate) const DRAWS: usize = 256;
    /// The same at the end of a fit, where the last review has left it open.
    pub(crate) const LAST_DRAWS: usize = 1_024;
    /// And at most, where these leave it open too: the values are then as many as the gradients of a fit. On log-gamma
    /// targets one difference has a standard deviation of half a nat.
    pub(crate) const MOST_LAST_DRAWS: usize = 16_384;
    /// Steps in which the Gaussian is driven to the tolerance. What it has reached then is kept, converged or not.
    pub(crate) const STEPS: u64 = 80;
    /// Times the gradients that residual scores need for a Gaussian which natural-gradient steps, like those of the
    /// family, need for it: 2.5 to 7.
    pub(crate) const GRADIENTS_OF_STEPS: u64 = 3;
    /// Gradients that the fit of a Gaussian is taken to need at least: by such steps, 450 to 1 000 where nothing is
    /// hard.
    pub(crate) const FEWEST_GRADIENTS: u64 = 500;
    /// Times the gradients of the Gaussian fit from which a review of a fit above it is believed with one standard
    /// error to spare and without another.
    pub(crate) const DEAR: u64 = 3;
    /// The same from which it is believed by its mean.
    pub(crate) const VERY_DEAR: u64 = 6;
    /// Standard errors of the difference from which it is not open.
    pub(crate) const CLEAR_ERRORS: f64 = 3.0;
    /// Reviews in a row that must find nothing to be had above the Gaussian.
    pub(crate) const REVIEWS: u32 = 2;
    /// Times the gradients of the Gaussian fit after which a family that is not above it and has little hope is given
    /// up.
    pub(crate) const PATIENCE: u64 = 8;
    /// Tolerances up to which that hope is little.
    pub(crate) const LITTLE: f64 = 5.0;
    /// Times the gradients of the Gaussian fit after which a family that is not above it is given up whatever it hopes.
    pub(crate) const LAST_PATIENCE: u64 = 10;
}

/// The rounds of a mixture that grows. No measurement of these is on record.
pub(crate) mod growth {
    /// Rounds before the last, at most.
    pub(crate) const MOST_ROUNDS: usize = 24;
    /// The gap between the bound and log Z that is aimed at, as a share of the tolerance; the last round gains some
    /// more.
    pub(crate) const GAP_GOAL: f64 = 0.85;
    /// Below the goal, a round that took off more than this share of the gap is followed by another.
    pub(crate) const BARGAIN_SHARE: f64 = 0.5;
    /// The gap, as a share of the tolerance, below which there is no other round in any case.
    pub(crate) const LOWEST_GAP: f64 = 0.3;
    /// The gap, as a share of the tolerance, below which there is nothing to polish.
    pub(crate) const NOTHING_LEFT: f64 = 0.01;
    /// Steps of the rounds before the last.
    pub(crate) const ROUND_STEPS: u64 = 20;
    /// A round is worth while if it takes off at least this share of the gap.
    pub(crate) const GAP_WORTH_A_ROUND: f64 = 0.1;
    /// A round that was not worth while counts 2, one that made the mixture worse counts 1, because another may not;
    /// so many in a row end it.
    pub(crate) const FAILED_ROUNDS: u32 = 5;
    /// After such a round steps become this much shorter and have twice as many draws, until rounds are worth while
    /// again.
    pub(crate) const STEP_SHARE_AFTER_FAILURE: f64 = 0.4;
    /// Noise of a step, in nats per coordinate, above which it has more draws.
    pub(crate) const NOISE_PER_COORDINATE: f64 = 0.02;
    /// Points that are looked at from far away each time.
    pub(crate) const SCOUTS: usize = 64;
    /// Scouts lie up to this many standard deviations of the mixture out.
    pub(crate) const FARTHEST_SCOUT: f64 = 300.0;
    /// A point is worth a climb when log p − log q exceeds its mean by this many nats.
    pub(crate) const MISSED_NATS: f64 = 5.0;
    /// A mode is new when log p − log q exceeds its mean by this many nats.
    pub(crate) const NEW_MODE_NATS: f64 = 2.0;
    /// A new mode is worth a component when its mass is at least this share of that of the mixture.
    pub(crate) const MASS_WORTH_A_COMPONENT: f64 = 1e-3;
    /// Climbs that find nothing, one after the other, before the search ends.
    pub(crate) const IDLE_CLIMBS: usize = 4;
    /// Climbs of one search, at most.
    pub(crate) const MOST_CLIMBS: usize = 64;
    /// Draws from which a round is judged, at least.
    pub(crate) const JUDGED_DRAWS: usize = 1024;
    /// The same of each component.
    pub(crate) const JUDGED_DRAWS_OF_A_COMPONENT: usize = 128;
    /// Draws from which a round by a pool is judged at first.
    pub(crate) const FIRST_JUDGED_DRAWS: usize = 64;
    /// Error of the bound by fresh draws, in tolerances, at which there are enough of them.
    pub(crate) const JUDGED_ERROR: f64 = 0.25;
    /// The same as a share of the gap.
    pub(crate) const ERROR_OF_A_GAP: f64 = 0.25;
    /// Share of the gap that the pool may have promised too much.
    pub(crate) const PROMISED_SHARE: f64 = 0.3;
    /// Rounds in a row that are repeated because it has.
    pub(crate) const REFITS: u32 = 4;
    /// A component is dead when its weight is below this share of an equal one.
    pub(crate) const DEAD_WEIGHT: f64 = 1e-3;
    /// Two components are duplicates when their symmetrised divergence is below this many nats.
    pub(crate) const DUPLICATE_NATS: f64 = 0.5;
    /// The bound may fall by this share of what counts when a component is removed.
    pub(crate) const PRUNING_LOSS: f64 = 0.2;
    /// Share of the variance along the direction of a split that lies between the two halves.
    pub(crate) const VARIANCE_BETWEEN_HALVES: f64 = 0.4;
    /// Components are split whose share of the divergence is at least this much of the largest.
    pub(crate) const DIVERGENCE_WORTH_A_SPLIT: f64 = 0.3;
    /// Power iterations for the direction of a split.
    pub(crate) const SPLIT_ITERATIONS: usize = 12;
    /// Points of earlier steps that are kept, at most.
    pub(crate) const STORED_POINTS: usize = 4096;
}

/// The families that `auto` tries. No measurement of these is on record.
pub(crate) mod ladder {
    /// Draws from which a rung is judged.
    pub(crate) const JUDGED_DRAWS: usize = 4_096;
    /// A rung is kept if it gains so many standard errors of the difference.
    pub(crate) const GAIN_ERRORS: f64 = 2.0;
    /// Share of the limit of the verdict for means within which a rung is left in peace.
    pub(crate) const COMFORT_OF_MEANS: f64 = 0.8;
    /// The same for standard deviations.
    pub(crate) const COMFORT_OF_SDS: f64 = 0.6;
    /// Shape a of the Student-t rung: five degrees of freedom.
    pub(crate) const STUDENT_T_SHAPE: f64 = 2.5;
    /// Gradients of a Gaussian from which chains may start. It need not have converged: on murphy_toy the last
    /// hundredths of a nat took 300 000 to 900 000 gradients, and the chains after it 17 000.
    const GAUSSIAN_GRADIENTS: u64 = 3_000;
    /// In more than so many coordinates, so many for each: more steps leave the chains after it as many as before.
    const FEW_COORDINATES: usize = 32;
    const GRADIENTS_EACH: u64 = 4;

    /// Gradients of a Gaussian from which chains may start.
    pub(crate) fn gaussian_gradients(dim: usize) -> u64 {
        if dim <= FEW_COORDINATES { GAUSSIAN_GRADIENTS } else { GRADIENTS_EACH * dim as u64 }
    }

    /// Gradients for each component of a mixture over modes, which chains start from one by one: it need be no better
    /// than a Gaussian at every mode, which it begins as. Measured: with 3 000 each two skewed modes in ten dimensions
    /// took 15 200 to 20 600 gradients in all.
    pub(crate) fn mixture_gradients(dim: usize) -> u64 {
        500 + 2 * dim as u64
    }

    /// Each family with one mode may take the steps of the plan divided by this.
    pub(crate) const STEPS_DIVISOR: u64 = 4;
}

/// What is given: by weights, or by chains.
pub(crate) mod answers {
    use crate::target::About;

    /// Draws from which it is seen whether importance weights are worth a closer look: one batch.
    pub(crate) const FIRST_LOOK: usize = 1_024;
    /// Products of a row's entry and a coordinate that the draws of a verdict may take, of either kind: some seconds of
    /// one processor. A table of a million rows and twenty columns is judged by a first look, whose errors are three
    /// times those of ten thousand draws; where they do not suffice, the verdict takes more.
    pub(crate) const PRODUCTS: usize = 20_000_000_000;
    /// Coordinates beyond which chains are run only where they are asked for: their frame takes d² numbers and d³
    /// operations, and nobody has measured them there.
    pub(crate) const MOST_COORDINATES: usize = 2_000;

    /// Draws of either end of a bridge, and of the approximation where it is not judged by weights: a batch where log p
    /// alone is cheap. Where it costs a gradient, few: the standard error of log Z is then about a tenth of a nat.
    pub(crate) fn bridge_draws(about: &About) -> usize {
        if about.offers.values { FIRST_LOOK } else { 256 }
    }
}

/// Fits from several starts. No measurement of these is on record.
pub(crate) mod restarts {
    /// Draws from which the bounds of restarts are compared.
    pub(crate) const JUDGED_DRAWS: usize = 4_096;
}

/// The climbs to modes before a fit. No measurement of these is on record.
pub(crate) mod search {
    /// Rows times coordinates from which a concave density is taken at its word: eight further climbs were 74 of the 88
    /// passes over five million rows of 20 columns, and found the mode that was known.
    pub(crate) const DEAR_PRODUCTS: usize = 10_000_000;
    /// Newton steps of the first climb, and of the later ones, which are not worth more.
    pub(crate) const NEWTON_STEPS: [usize; 2] = [80, 15];
    /// Up to this many coordinates a dense Hessian is used even when a diagonal is asked for.
    pub(crate) const DENSE_COORDINATES: usize = 500;
    /// Predicted gain, in nats, below which a point is the mode to the accuracy that a fit can use.
    pub(crate) const MODE_NATS: f64 = 1e-3;
    /// Smallest precision of a direction, as a share of that of its coordinates taken singly: ten times their width.
    pub(crate) const WIDEST_DIRECTION: f64 = 1e-2;
    /// Eigenvalues (scaled) below which a direction is held back after steps that had to be cut short.
    pub(crate) const FIRST_EIGENVALUE_FLOOR: f64 = 1e-6;
    /// Shortenings of one Newton step, at most.
    pub(crate) const NEWTON_SHORTENINGS: usize = 14;
    /// Lengthenings of one Newton step, at most.
    pub(crate) const NEWTON_LENGTHENINGS: usize = 40;
    /// Part of the predicted gain that a step of a climb must bring; the usual constant of Armijo.
    pub(crate) const SUFFICIENT_GAIN: f64 = 1e-4;
    /// Points that are tried along one direction of L-BFGS.
    pub(crate) const LINE_TRIALS: usize = 25;
    /// Share of the slope that may be left at the end of a line search; the usual constant of Wolfe.
    pub(crate) const SLOPE_SHARE: f64 = 0.9;
    /// Up to this dimension the curvature at the end is measured by differences of gradients.
    pub(crate) const DIFFERENCED_COORDINATES: usize = 100;
    /// Newton steps with measured curvature, 2d gradients each.
    pub(crate) const POLISHING_STEPS: usize = 20;
    /// Points of the way whose curvature is measured where the end is suspect.
    pub(crate) const LOOKS_BACK: usize = 4;
    /// Steps of an ascent whose curvature is not measured at the end.
    pub(crate) const LBFGS_STEPS: usize = 200;
    /// Last steps of a way by which it is judged whether it was still rising.
    pub(crate) const RISING_STEPS: usize = 5;
    /// Draws by which a region is judged.
    pub(crate) const REGION_DRAWS: usize = 16;
    /// Times that a region is moved inwards and narrowed until the density exists at most of its draws.
    pub(crate) const NARROWINGS: usize = 8;
    /// Regions on the way that are compared with the mode.
    pub(crate) const REGIONS_ON_THE_WAY: usize = 3;
    /// Nats by which a region of the way must seem to hold more than the mode before it is looked at.
    pub(crate) const SUSPICIOUS_NATS: f64 = 3.0;
    /// Nats by which a spike is higher, and a Gaussian worse there, than on the way.
    pub(crate) const SPIKE_NATS: f64 = 10.0;
    /// Coordinates up to which the curvature where the first climb began is measured in any case.
    pub(crate) const CHEAP_COORDINATES: usize = 30;
    /// Sizes of starting points where nothing is known, in the order in which they are tried.
    pub(crate) const START_SIZES: [f64; 8] = [1.0, 0.1, 10.0, 0.01, 100.0, 1e-3, 1e3, 1e4];
    /// Distances of further starts from the first mode, in Laplace standard deviations per coordinate.
    pub(crate) const START_DISTANCES: [f64; 10] = [3.0, 10.0, 30.0, 5.0, 100.0, 10.0, 30.0, 5.0, 100.0, 10.0];
    /// Points of which the one that the known modes explain least is where a climb begins.
    pub(crate) const START_CANDIDATES: u64 = 4;
    /// Nats by which log p must exceed what the known modes explain to be a sign of another one.
    pub(crate) const UNEXPLAINED_NATS: f64 = 1.0;
    /// Climbs around the first mode that are made at any cost.
    pub(crate) const FEWEST_CLIMBS: usize = 3;
    /// Gradients that a search for a second mode may have cost to go on beyond these.
    pub(crate) const CHEAP_GRADIENTS: u64 = 100;
    /// Gradients after which the search for a first or second mode ends.
    pub(crate) const MOST_GRADIENTS: u64 = 600;
    /// Climbs of one search, at most.
    pub(crate) const MOST_CLIMBS: usize = 300;
    /// Points of each size that are tried where there is no density at the origin.
    pub(crate) const STARTS_PER_SIZE: u64 = 4;
    /// Rounds without a new mode before there seem to be no more.
    pub(crate) const IDLE_CLIMBS: usize = 24;
    /// Halvings of the way to a start at which there is no density.
    pub(crate) const START_HALVINGS: usize = 8;
}

/// The start of a Gaussian by gradients. No measurement of these is on record.
pub(crate) mod scout {
    /// Steps of an ascent before the curvature is measured, and half as many more as there are coordinates.
    pub(crate) const LBFGS_STEPS: usize = 60;
    /// Predicted gain, in nats, below which a point is the mode: the steps that follow place the mean.
    pub(crate) const MODE_NATS: f64 = 0.03;
    /// Steps after which a way that has passed its peak ends, and one more for every four coordinates.
    pub(crate) const STEPS_PAST_A_PEAK: usize = 15;
    /// Nats by which log p + ½ log |C| must have fallen since, and a quarter more for every coordinate.
    pub(crate) const MASS_LOST: f64 = 5.0;
    /// Nats by which log p must have risen since.
    pub(crate) const HEIGHT_GAINED: f64 = 10.0;
    /// Mirrored pairs of draws by which a Gaussian is judged.
    pub(crate) const JUDGING_PAIRS: usize = 3;
    /// Places on a way that are judged.
    pub(crate) const PLACES_ON_A_WAY: usize = 8;
    /// Modes that are judged.
    pub(crate) const JUDGED_MODES: usize = 3;
    /// A mode fits if its draws lie d/2 below it, within so many nats and `FIT_PER_COORDINATE` for every coordinate.
    pub(crate) const FIT_NATS: f64 = 2.0;
    /// The second of the two.
    pub(crate) const FIT_PER_COORDINATE: f64 = 0.2;
    /// A mode whose draws lie within so many nats, and one more for every coordinate, is near enough: a few steps from
    /// there cost less than a search for a better place.
    pub(crate) const NEAR_NATS: f64 = 50.0;
    /// Nats below the best place up to which a mode that fits is as good.
    pub(crate) const AS_GOOD_NATS: f64 = 3.0;
    /// Ways from which a Gaussian with independent coordinates is climbed to where no mode fits.
    pub(crate) const SPREAD_CLIMBS: usize = 2;
    /// Steps of such a climb.
    pub(crate) const SPREAD_STEPS: usize = 100;
    /// Smallest eigenvalue of a covariance, in units of each coordinate's own standard deviation, as a share of the
    /// largest.
    pub(crate) const EIGENVALUE_FLOOR: f64 = 1e-13;
    /// Pairs of a way that shape its inverse curvature.
    pub(crate) const PAIRS_OF_A_WAY: usize = 30;
}

/// The first member of a family. No measurement of these is on record.
pub(crate) mod start {
    /// Nats that may be left of a Gaussian that is a start and nothing else. Not tuned.
    pub(crate) const ROUGH_NATS: f64 = 0.1;
    /// Steps that it may take. Not tuned.
    pub(crate) const ROUGH_STEPS: u64 = 200;
    /// Up to this many coordinates the factors of `rank_k` start from a Gaussian with a full covariance. Not tuned: its
    /// work grows with the cube.
    pub(crate) const COORDINATES_OF_FACTORS: usize = 128;
    /// Iterations by which they are found. Not tuned.
    pub(crate) const FACTOR_ITERATIONS: usize = 200;
    /// Mean squared slope of the divergence in log Σ_j at which they are found. Not tuned.
    pub(crate) const FACTOR_TOLERANCE: f64 = 1e-8;
    /// Mean squared distance of the centre of a component from the mean, in standard deviations.
    pub(crate) const VARIANCE_BETWEEN_COMPONENTS: f64 = 0.4;
    /// Share of the variance that the factors take over.
    pub(crate) const VARIANCE_OF_FACTORS: f64 = 0.1;
    /// Quantiles at which a Gaussian is mapped to the scale of the component.
    pub(crate) const QUANTILES: usize = 64;
    /// Draws at which a Gaussian is mapped to a simplex: a start within 3 % of its width.
    pub(crate) const STICKS: usize = 1024;
    /// Nats below the mass of the first mode up to which a mixture covers others: a Laplace mass may be wrong by some
    /// of them.
    pub(crate) const LIGHTER_MODE_NATS: f64 = 7.0;
    /// Draws from which the direction of skewness is found.
    pub(crate) const SKEWNESS_DRAWS: usize = 1024;
    /// Climbs to the direction of most skewness.
    pub(crate) const SKEWNESS_CLIMBS: usize = 8;
    /// Iterations of each of these climbs.
    pub(crate) const SKEWNESS_ITERATIONS: usize = 30;
    /// α = 0 is a stationary point of the expected flow (mathematics §3.5), so a shift, whitened, is never smaller
    /// than this.
    pub(crate) const SMALLEST_SHIFT: f64 = 0.2;
    /// Largest share of the variance along α that the mixing may explain.
    pub(crate) const LARGEST_SHIFT_SHARE: f64 = 0.6;
}

/// Derivatives of a target against differences.
pub(crate) mod derivatives {
    /// Draws that are looked at when a fit begins. Not tuned; a fault must show at two.
    pub(crate) const POINTS_AT_START: usize = 2;
    /// Draws that are looked at when a fit has ended. Not tuned.
    pub(crate) const POINTS_AT_END: usize = 3;
    /// The step, times √d, along a difference of two draws: 0.006 standard deviations in all. Not tuned.
    pub(crate) const STEP: f64 = 4e-3;
    /// How many times the next of several steps each is. Not tuned.
    pub(crate) const RATIO: f64 = 8.0;
    /// Units in the last place by which the sum that a log density is may be wrong. Not tuned.
    pub(crate) const ROUNDING: f64 = 64.0;
    /// Share of its terms by which a slope may be wrong for any other reason. Not tuned: derivatives that are wrong by
    /// less do no harm, and one of a thousand coordinates that is 5 % off shows.
    pub(crate) const RELATIVE: f64 = 1e-5;
    /// Errors of a slope beyond which what it contradicts is wrong. Not tuned.
    pub(crate) const CLEAR: f64 = 4.0;
    /// Share by which a log density may differ from itself: sums in threads differ in their last bits. Not tuned.
    pub(crate) const SAME: f64 = 1e-9;
    /// Share by which a log density may differ from that beside a gradient, which may be computed in another way. Not
    /// tuned.
    pub(crate) const SAME_VALUE: f64 = 1e-6;
    /// Coordinates above which a Hessian is not looked at: with all entries it would cost more than a fit may want.
    /// Not tuned.
    pub(crate) const MOST_COORDINATES_OF_A_HESSIAN: usize = 300;
}
