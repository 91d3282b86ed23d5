//! Log densities alone, for verdicts and for batches of runs that ask for nothing else.

use super::Evaluator;
use crate::Error;
use crate::record::Counts;
use crate::target::{DrawBuffer, Rows, Target, Want};

/// Draws that are evaluated at a time.
pub(crate) const CHUNK: usize = 1024;

impl Evaluator<'_> {
    /// log p at each draw over all items, the declared prior included. What is not finite counts as dropped.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn values(&mut self, draws: &DrawBuffer) -> Result<Vec<f64>, Error> {
        self.values_beyond(&[], draws)
    }

    /// [`Evaluator::values`] where those of the first draws are known: the same bits, and only the others are asked
    /// for.
    ///
    /// # Errors
    /// As [`Evaluator::values`].
    pub(crate) fn values_beyond(&mut self, known: &[f64], draws: &DrawBuffer) -> Result<Vec<f64>, Error> {
        let n = draws.len();
        // The sums of a draw may depend, in their last bits, on those it is evaluated with.
        let n_known = if known.len() < n { known.len() / CHUNK * CHUNK } else { n };
        let mut log_p = Vec::with_capacity(n);
        log_p.extend_from_slice(&known[..n_known]);
        for start in (n_known..n).step_by(CHUNK) {
            let part = draws.view().range(start..n.min(start + CHUNK));
            self.answer.set_len(part.len());
            self.asker.ask(part, Rows::All, Want::Values, &mut self.answer)?;
            log_p.extend(self.answer.log_p().iter().zip(part.iter()).map(|(p, z)| p + self.about.prior.log_density(z)));
        }
        self.asker.counts.dropped += log_p[n_known..].iter().filter(|p| !p.is_finite()).count() as u64;
        Ok(log_p)
    }
}

/// log p at each draw, the declared prior included, and what it took.
///
/// # Errors
/// The target's own error.
pub fn log_density_at(target: &dyn Target, draws: &DrawBuffer) -> Result<(Vec<f64>, Counts), Error> {
    let mut evaluator = Evaluator::new(target, None);
    Ok((evaluator.values(draws)?, evaluator.counts()))
}
