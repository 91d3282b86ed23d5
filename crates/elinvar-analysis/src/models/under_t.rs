//! A model under a t prior that shares its scale with a Student-t approximation.

use elinvar::family::Approximation;
use elinvar::random::Stream;
use elinvar::target::{About, Answer, Ask, DrawBuffer, Prior, Target, TargetError};
use elinvar::{Family, Posterior};
use elinvar_data::RegressionData;

use super::{Model, PriorWords};
use crate::held_out::Scores;
use crate::number::significant;
use crate::response::Regression;
use crate::settings::{Dims, ModelSettings, STUDENT_T};

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

impl Model for UnderT {
    fn target(&self) -> &dyn Target {
        self
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings { prior: Some(STUDENT_T), prior_shape: Some(self.a), ..self.inner.settings() }
    }

    fn title(&self) -> String {
        self.inner.title()
    }

    fn formula(&self, y: &str) -> String {
        self.inner.formula(y)
    }

    fn prior(&self) -> PriorWords {
        let short = format!("t with {} degrees of freedom", significant(2.0 * self.a));
        let inner = self.inner.prior();
        let is_centred = (0..self.inner.target().about().dim).all(|i| self.prior.mean(i) == 0.0);
        if is_centred {
            let scale = significant(1.0 / self.prior.precision(0).sqrt());
            return PriorWords { short: format!("{short}, scale {scale}"), numbers: None, ..inner };
        }
        PriorWords { short: format!("{short}, {}", inner.short), ..inner }
    }

    fn test(&self, rows: &RegressionData, draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        self.inner.test(rows, draws)
    }

    fn regression(&self) -> Option<Regression<'_>> {
        self.inner.regression()
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.inner.conflicts(posterior)
    }

    fn draw_prior(&self, stream: &mut Stream, z: &mut [f64]) -> bool {
        self.inner.draw_prior(stream, z)
    }

    fn remedy(&self) -> &'static str {
        self.inner.remedy()
    }

    fn layers(&self) -> Option<Dims> {
        self.inner.layers()
    }

    fn start(&self, family: Family, seed: u64) -> Result<Option<Approximation>, elinvar::Error> {
        self.inner.start(family, seed)
    }
}
