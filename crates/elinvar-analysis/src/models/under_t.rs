//! A model under a t prior that shares its scale with a Student-t approximation.

use elinvar::target::{About, Answer, Ask, Prior, Target, TargetError};

use super::around::Around;
use super::{Model, PriorWords};
use crate::number::significant;
use crate::settings::{ModelSettings, STUDENT_T};

/// Half the degrees of freedom of the prior unless they are given.
pub(super) const SHAPE: f64 = 2.5;

/// The model with w ~ InverseGamma(a, a) and the variances of its normal prior times w. A parameter such as sigma,
/// whose prior is of another kind, keeps it.
pub(crate) struct UnderT {
    inner: Box<dyn Model>,
    prior: Prior,
    a: f64,
}

impl UnderT {
    /// The model under the prior that the settings ask for: its own, or a t with the centre and the scales of its own.
    pub(crate) fn where_asked(inner: Box<dyn Model>, given: &ModelSettings) -> Box<dyn Model> {
        if given.prior != Some(STUDENT_T) {
            return inner;
        }
        let About { prior, dim, .. } = inner.target().about();
        let a = given.prior_shape.unwrap_or(SHAPE);
        let prior = Prior::StudentT {
            mean: (0..dim).map(|i| prior.mean(i)).collect(),
            precision: (0..dim).map(|i| prior.precision(i)).collect(),
            a,
        };
        Box::new(Self { inner, prior, a })
    }
}

impl Target for UnderT {
    fn about(&self) -> About {
        About { prior: self.prior.clone(), ..self.inner.target().about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.inner.target().evaluate(ask, answer)
    }
}

impl Around for UnderT {
    fn inner(&self) -> &dyn Model {
        &*self.inner
    }

    fn changed_settings(&self, inner: ModelSettings) -> ModelSettings {
        ModelSettings { prior: Some(STUDENT_T), prior_shape: Some(self.a), ..inner }
    }

    fn changed_prior(&self, inner: PriorWords) -> PriorWords {
        let short = format!("t with {} degrees of freedom", significant(2.0 * self.a));
        let is_centred = (0..self.inner.target().about().dim).all(|i| self.prior.mean(i) == 0.0);
        if is_centred {
            let scale = significant(1.0 / self.prior.precision(0).sqrt());
            return PriorWords { short: format!("{short}, scale {scale}"), numbers: None, ..inner };
        }
        PriorWords { short: format!("{short}, {}", inner.short), ..inner }
    }
}
