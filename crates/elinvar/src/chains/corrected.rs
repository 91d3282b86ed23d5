//! What chains found, as plain data.

use serde::{Deserialize, Serialize};

use super::Doubt;
use crate::record::{Counts, Estimate};
use crate::target::DrawBuffer;

/// Mean, standard deviation and quantiles of one number, each with its standard error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorrectedNumber {
    /// Its name.
    pub name: String,
    /// Mean.
    pub mean: Estimate,
    /// Standard deviation.
    pub sd: Estimate,
    /// 5 % quantile.
    pub q5: Estimate,
    /// Median.
    pub q50: Estimate,
    /// 95 % quantile.
    pub q95: Estimate,
    /// Whether mean and standard deviation are judged: not where one state has so much of the second moment
    /// ([`limits::LARGEST_DRAW`](crate::posterior::limits::LARGEST_DRAW)) that there may be none. Then the coordinate
    /// of z is judged instead.
    pub judged: bool,
}

impl CorrectedNumber {
    /// The largest standard error of a quantile, in standard deviations.
    pub(crate) fn quantile_error(&self) -> f64 {
        [self.q5, self.q50, self.q95].iter().map(|quantile| quantile.mcse).fold(0.0, f64::max) / self.sd.value
    }
}

/// One of several modes of a posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorrectedMode {
    /// Its share of the mass.
    pub share: Estimate,
    /// Its mean, in the coordinates of z.
    pub mean: Vec<f64>,
    /// The parameters within it, on the scale that is printed; none in files of before they were kept.
    #[serde(default)]
    pub parameters: Vec<CorrectedNumber>,
}

impl CorrectedMode {
    /// Its share of the mass with the standard error, as sentences have it: `62.3 ± 0.4 %`.
    pub fn share_in_percent(&self) -> String {
        format!("{:.1} ± {:.1} %", 100.0 * self.share.value, 100.0 * self.share.mcse)
    }

    fn fits(&self, dim: usize, parameters: usize) -> bool {
        self.mean.len() == dim && (self.parameters.is_empty() || self.parameters.len() == parameters)
    }
}

/// Means, standard deviations and quantiles from chains on the target, with errors and with what speaks against them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    /// The coordinates of z.
    pub coordinates: Vec<CorrectedNumber>,
    /// The parameters on the scale that is printed.
    pub parameters: Vec<CorrectedNumber>,
    /// What speaks against them; nothing does if they are to be trusted.
    pub doubts: Vec<Doubt>,
    /// Number of chains, and of the steps of each that the answer rests on.
    pub chains: usize,
    /// Steps of each chain that the answer rests on.
    pub steps: usize,
    /// The smallest effective number of states over the coordinates.
    pub effective_states: f64,
    /// Mean probability of acceptance.
    pub acceptance: f64,
    /// Gradients that the chains which found the centre and the covariance took.
    pub adapting_gradients: u64,
    /// Evaluations of all chains and of what was looked at far out.
    pub counts: Counts,
    /// Seconds it took.
    pub seconds: f64,
    /// The centre of the Gaussian whose coordinates the chains moved in at last.
    pub centre: Vec<f64>,
    /// The modes that chains were run on one by one, where there are several.
    #[serde(default)]
    pub modes: Vec<CorrectedMode>,
    /// States of the chains, point after point; where there were many, evenly chosen ones.
    pub(crate) states: Vec<f64>,
}

impl Corrected {
    /// Whether nothing speaks against it: every mean is within 0.1 standard deviations and every standard deviation
    /// within 15 %, as far as can be seen.
    pub fn is_trusted(&self) -> bool {
        self.doubts.is_empty()
    }

    /// Number of states that are kept.
    pub fn n_states(&self) -> usize {
        self.states.len() / self.coordinates.len().max(1)
    }

    /// Whether the numbers of a file agree with each other and with what they belong to.
    pub(crate) fn fits(&self, dim: usize, parameters: usize) -> bool {
        self.coordinates.len() == dim
            && self.parameters.len() == parameters
            && self.centre.len() == dim
            && !self.states.is_empty()
            && self.states.len().is_multiple_of(dim)
            && self.modes.iter().all(|mode| mode.fits(dim, parameters))
    }

    /// The indices of the states of [`Corrected::draws`].
    pub(crate) fn chosen(&self, n: usize) -> impl Iterator<Item = usize> {
        let held = self.n_states();
        (0..n).map(move |s| if n <= held { s * held / n } else { s % held })
    }

    /// `n` states of the chains: evenly chosen ones, or all of them in turn, again and again, where more are asked for
    /// than were kept.
    pub fn draws(&self, n: usize) -> DrawBuffer {
        let d = self.coordinates.len();
        let mut draws = DrawBuffer::zeros(d, n);
        for (s, from) in self.chosen(n).enumerate() {
            draws.get_mut(s).copy_from_slice(&self.states[from * d..(from + 1) * d]);
        }
        draws
    }
}
