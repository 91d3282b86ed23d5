//! How far a fit is from the known answer.

use elinvar::chains::{Corrected, CorrectedNumber};
use elinvar::target::Target;
use elinvar::{Error, Posterior};

use crate::problems::Moments;

/// Every mean within this many standard deviations …
pub(crate) const GOOD_MEAN: f64 = 0.1;
/// … and every standard deviation within this share: a fit that is called good.
pub(crate) const GOOD_SD: f64 = 0.15;

/// The worst errors over the coordinates of z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Errors {
    /// max |mean − true mean| / true sd.
    pub(crate) mean: f64,
    /// The ratio sd / true sd that is farthest from one, as a logarithm's size.
    pub(crate) sd_ratio: f64,
}

impl Errors {
    /// The errors of the fit; `None` for the truth stands for moments that do not exist.
    pub(crate) fn of(posterior: &Posterior, truth: &Moments) -> Self {
        let d = posterior.dim();
        let (mean, cov) = (posterior.approximation().mean(), posterior.approximation().covariance());
        let mut worst = Self { mean: 0.0, sd_ratio: 1.0 };
        for i in 0..d {
            worst.add((mean[i] - truth.mean[i]) / truth.sd[i], cov[i * d + i].sqrt() / truth.sd[i]);
        }
        worst
    }

    /// The errors of what chains found.
    pub(crate) fn of_corrected(corrected: &Corrected, truth: &Moments) -> Self {
        Self::of_numbers(&corrected.coordinates, truth)
    }

    /// The errors of numbers that were given.
    pub(crate) fn of_numbers(numbers: &[CorrectedNumber], truth: &Moments) -> Self {
        let mut worst = Self { mean: 0.0, sd_ratio: 1.0 };
        for ((number, mean), sd) in numbers.iter().zip(&truth.mean).zip(&truth.sd) {
            worst.add((number.mean.value - mean) / sd, number.sd.value / sd);
        }
        worst
    }

    /// Looks at one more coordinate.
    fn add(&mut self, mean: f64, ratio: f64) {
        self.mean = self.mean.max(mean.abs());
        if ratio.ln().abs() > self.sd_ratio.ln().abs() {
            self.sd_ratio = ratio;
        }
    }

    /// Whether the answer is one that may be trusted.
    pub(crate) fn good(&self) -> bool {
        self.mean <= GOOD_MEAN && (self.sd_ratio - 1.0).abs() <= GOOD_SD
    }

    /// Whether the means alone may be trusted.
    pub(crate) fn good_means(&self) -> bool {
        self.mean <= GOOD_MEAN
    }
}

/// A bound estimated by parts, so that a million draws need not be held at once.
const PART: usize = 100_000;

/// KL(q‖p) = log normaliser − ELBO from `n` draws, with its standard error.
pub(crate) fn kl(
    posterior: &Posterior,
    target: &dyn Target,
    log_normaliser: f64,
    n: usize,
) -> Result<(f64, f64), Error> {
    let parts = n.div_ceil(PART).max(1);
    let (mut value, mut variance) = (0.0, 0.0);
    for part in 0..parts {
        let elbo = posterior.importance(target, n / parts, 1_000 + part as u64)?.diagnostics.elbo;
        value += elbo.value / parts as f64;
        variance += (elbo.mcse / parts as f64).powi(2);
    }
    Ok((log_normaliser - value, variance.sqrt()))
}
