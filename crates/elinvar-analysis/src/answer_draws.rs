//! Draws of the answer of a fit, as `elinvar sample` gives them.

use std::borrow::Cow;

use elinvar::Posterior;
use elinvar::posterior::{GivenBy, WeightedDraws, affordable_draws, resample};
use elinvar::random::{Purpose, Stream};
use elinvar::target::{DrawBuffer, Target};

use crate::error::Error;

/// Draws that are weighed where those of the verdict are not at hand.
const POOL: usize = 10_000;

/// Where draws of the answer come from.
pub(crate) struct AnswerDraws<'a> {
    posterior: &'a Posterior,
    /// Draws with weights, where these gave the answer.
    weighted: Option<Weighted<'a>>,
    seed: u64,
}

enum Weighted<'a> {
    AtHand(&'a WeightedDraws),
    Again(Box<WeightedDraws>),
}

impl<'a> AnswerDraws<'a> {
    /// `weighted` are the draws of the verdict, where they are at hand; where they are not and are needed, others are
    /// weighed.
    pub(crate) fn new(
        posterior: &'a Posterior,
        target: &dyn Target,
        weighted: Option<&'a WeightedDraws>,
        seed: u64,
    ) -> Result<Self, Error> {
        let weighted = match (posterior.given_by(), weighted) {
            (GivenBy::Weights, Some(weighted)) => Some(Weighted::AtHand(weighted)),
            (GivenBy::Weights, None) => {
                let n = affordable_draws(&target.about(), POOL);
                let again = posterior.importance(target, n, seed).map_err(Error::of_fit)?;
                Some(Weighted::Again(Box::new(again)))
            }
            _ => None,
        };
        Ok(Self { posterior, weighted, seed })
    }

    /// `n` draws of z: states of chains where they gave the answer (again and again where fewer were kept), draws
    /// chosen by importance weights where these gave it, otherwise draws of the approximation.
    pub(crate) fn take(&self, n: usize) -> DrawBuffer {
        match (self.posterior.corrected(), &self.weighted) {
            (Some(corrected), _) => corrected.draws(n),
            (None, Some(Weighted::AtHand(weighted))) => chosen(weighted, n, self.seed),
            (None, Some(Weighted::Again(weighted))) => chosen(weighted, n, self.seed),
            (None, None) => self.posterior.sample_z(n, self.seed),
        }
    }

    /// All that the answer rests on, with weights where it rests on weights: every state that chains have kept, every
    /// draw that was weighed, or `n` draws of the approximation.
    pub(crate) fn weighted(&self, n: usize) -> (Cow<'_, DrawBuffer>, Option<Cow<'_, [f64]>>) {
        let weighted = match &self.weighted {
            None => {
                let n = self.posterior.corrected().map_or(n, |corrected| corrected.n_states());
                return (Cow::Owned(self.take(n)), None);
            }
            Some(Weighted::AtHand(weighted)) => *weighted,
            Some(Weighted::Again(weighted)) => weighted,
        };
        match &weighted.widened {
            Some(all) => (Cow::Borrowed(&all.draws), Some(Cow::Borrowed(&all.weights))),
            None => {
                let weights = weighted.log_weights.iter().map(|weight| weight.exp()).collect();
                (Cow::Borrowed(&weighted.draws), Some(Cow::Owned(weights)))
            }
        }
    }

    /// The same as [`AnswerDraws::take`], but no state of a chain twice.
    pub(crate) fn take_different(&self, n: usize) -> DrawBuffer {
        self.take(self.posterior.corrected().map_or(n, |corrected| n.min(corrected.n_states())))
    }
}

/// Draws chosen by their weights.
fn chosen(weighted: &WeightedDraws, n: usize, seed: u64) -> DrawBuffer {
    let mut stream = Stream::open(seed, Purpose::Sample, u64::MAX, 1);
    let chosen = resample(&weighted.log_weights, n, &mut stream);
    let mut draws = DrawBuffer::zeros(weighted.draws.view().dim(), chosen.len());
    for (s, index) in chosen.iter().enumerate() {
        draws.get_mut(s).copy_from_slice(weighted.draws.get(*index));
    }
    draws
}
