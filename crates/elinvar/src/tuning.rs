//! Every constant of a fit that could be another number, by its full name, with its unit and where it comes from.
//!
//! *Measured* constants say on what. The others are *not tuned*: they were chosen once, work, and nobody knows what a better one
//! would gain. Constants of the verdict are in [`limits`](crate::posterior::limits), limits that users set in
//! [`Plan`](crate::Plan).

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

    /// Independent batches from which the gain that is left is estimated. Not tuned; the jackknife needs three.
    pub(crate) const REVIEW_BATCHES: usize = 4;

    /// Steps of the first window; each later one ends when the run is 1.4 times as long. Not tuned.
    pub(crate) const FIRST_WINDOW: u64 = 8;
    /// Steps of the first window of a rule whose steps are short. Not tuned.
    pub(crate) const FIRST_UNHURRIED_WINDOW: u64 = 100;
    /// Steps before which a rule whose steps are short is not believed to stand still. Not tuned.
    pub(crate) const FEWEST_UNHURRIED_STEPS: u64 = 2_000;
    /// Steps before which a mixture is not believed to have converged. Components that share the work sit on plateaus of the
    /// bound. Measured: on the beta-binomial with K = 3 the gradient stays below the tolerance for up to 350 steps, 0.003 nats
    /// below the optimum.
    pub(crate) const FEWEST_STEPS_OF_A_MIXTURE: u64 = 240;
    /// The same for the steps of all its components together.
    pub(crate) const FEWEST_STEPS_OF_COMPONENTS: u64 = 1_200;
    /// Noise of a step, in nats per coordinate, up to which the average of many steps is as good as one of few draws more.
    ///
    /// Measured: beta-binomial, K = 3, whole steps. With 16 draws (0.002) averages end 0.0003 nats from the optimum, with 8 draws
    /// (0.02) 0.01 nats.
    pub(crate) const NOISE_PER_COORDINATE: f64 = 0.01;
    /// Share of that noise to which the length of steps is cut. Not tuned.
    pub(crate) const NOISE_SHARE: f64 = 0.3;
    /// The draws of a review may be this many times those of a step. Not tuned.
    pub(crate) const MOST_REVIEW_DRAWS: usize = 8;
    /// Share of its step length that a run keeps when the bound has fallen, or when whole windows bring it no closer. Not tuned.
    pub(crate) const RETREAT: f64 = 0.5;
    /// Times the tolerance above which a gain that does not shrink means that the steps are too long. Not tuned.
    pub(crate) const CYCLING_GAIN: f64 = 10.0;
    /// Reviews in a row that bring nothing after which a run that can draw no more is given up. Not tuned.
    pub(crate) const IDLE_REVIEWS: u32 = 5;
    /// A fit whose widths have changed by this factor since its start is not about to converge. Not tuned.
    pub(crate) const WILD_SCALE: f64 = 1e8;
}
