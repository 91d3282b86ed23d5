//! How far chains have come, for those who wait.

/// What the chains of a correction have come to after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// Gradients so far.
    pub gradients: u64,
    /// Gradients after which no further round begins.
    pub max_gradients: u64,
    /// The largest standard error of a mean, in standard deviations.
    pub mean_error: f64,
    /// The largest standard error of the logarithm of a standard deviation.
    pub sd_error: f64,
}
