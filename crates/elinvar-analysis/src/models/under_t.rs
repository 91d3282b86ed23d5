//! A model under a t prior that shares its scale with a Student-t approximation.

use elinvar::family::Approximation;
use elinvar::target::{About, Answer, Ask, DrawBuffer, Prior, Target, TargetError};
use elinvar::{Family, Posterior};
use elinvar_data::RegressionData;

use super::{Model, PriorWords};
use crate::error::Error;
use crate::held_out::Scores;
use crate::number::significant;
use crate::settings::{Dims, ModelSettings, STUDENT_T};

/// Half the degrees of freedom of the prior unless they are given.
const SHAPE: f64 = 2.5;

/// The model with w ~ InverseGamma(a, a), z | w ~ N(0, wI/precision) in place of its normal prior.
pub(crate) struct UnderT {
    inner: Box<dyn Model>,
    precision: f64,
    a: f64,
}

impl UnderT {
    /// The model under the prior that the settings ask for: its own, or a t with the precision of its own.
    ///
    /// # Errors
    /// For a model one of whose parameters, such as sigma, has another prior.
    pub(crate) fn where_asked(inner: Box<dyn Model>, given: &ModelSettings) -> Result<Box<dyn Model>, Error> {
        if given.prior != Some(STUDENT_T) {
            return Ok(inner);
        }
        let About { prior, dim, .. } = inner.target().about();
        let precision = prior.precision(0);
        let is_common = (0..dim).all(|i| prior.precision(i) == precision && prior.mean(i) == 0.0);
        if !(is_common && precision > 0.0) {
            return Err(Error::Refused(elinvar::Error::Unsupported {
                wanted: "--prior student_t for a model with a parameter beside the coefficients, such as sigma, whose prior is its own,"
                    .into(),
                instead: "leave it out, or use a model of classes or counts".into(),
            }));
        }
        Ok(Box::new(Self { inner, precision, a: given.prior_shape.unwrap_or(SHAPE) }))
    }
}

impl Target for UnderT {
    fn about(&self) -> About {
        let prior = Prior::StudentT { precision: self.precision, a: self.a };
        About { prior, ..self.inner.target().about() }
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
        let scale = significant(1.0 / self.precision.sqrt());
        let short = format!("t with {} degrees of freedom, scale {scale}", significant(2.0 * self.a));
        PriorWords { short, numbers: None, ..self.inner.prior() }
    }

    fn test(&self, rows: &RegressionData, draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        self.inner.test(rows, draws)
    }

    fn conflicts(&self, _posterior: &Posterior) -> Vec<String> {
        // The tail of a t expects what is far from its centre.
        Vec::new()
    }

    fn layers(&self) -> Option<Dims> {
        self.inner.layers()
    }

    fn start(&self, family: Family, seed: u64) -> Result<Option<Approximation>, elinvar::Error> {
        self.inner.start(family, seed)
    }
}
