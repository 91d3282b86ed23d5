//! Regressions whose linear predictor has a coefficient for each column: what all of them say alike.

use elinvar::Posterior;
use elinvar::model::NoisePrior;
use elinvar::random::Stream;
use elinvar::target::Target;

use super::coefficients::Coefficients;
use super::with_tails::WithTails;
use super::{Model, PriorWords};
use crate::prior::Tail;
use crate::response::Regression;
use crate::settings::{ModelSettings, positive_in_words};

/// What one such regression differs by.
pub(super) trait OverColumns: Sync + 'static {
    /// What is fitted.
    fn target(&self) -> &dyn Target;

    /// Its name at the beginning of a sentence.
    fn title(&self) -> &'static str;

    /// The law of the column `y`.
    fn formula(&self, y: &str) -> String;

    /// Its rows with the law of their response.
    fn rows(&self) -> Regression<'_>;

    /// Its parameters behind the coefficients.
    fn beside(&self) -> Behind {
        Behind::Positive(Vec::new())
    }

    /// The settings of its coefficients, with its own.
    fn settings(&self, of_coefficients: ModelSettings) -> ModelSettings {
        of_coefficients
    }

    /// Where prior and data contradict each other, beyond what the coefficients say of themselves.
    fn conflicts(&self, of_coefficients: Vec<String>, _: &Coefficients, _: &Posterior) -> Vec<String> {
        of_coefficients
    }
}

/// Parameters behind the coefficients.
pub(super) enum Behind {
    /// Positive ones, on a logarithmic scale, with their names and priors.
    Positive(Vec<(&'static str, NoisePrior)>),
    /// Others, whose prior is this.
    Others(&'static str),
}

struct WithCoefficients<R> {
    regression: R,
    coefficients: Coefficients,
}

/// The regression with these coefficients, some of which may have tails that their declared prior has not.
pub(super) fn model(regression: impl OverColumns, coefficients: Coefficients, tails: Vec<Tail>) -> Box<dyn Model> {
    WithTails::where_given(Box::new(WithCoefficients { regression, coefficients }), tails)
}

impl<R: OverColumns> Model for WithCoefficients<R> {
    fn target(&self) -> &dyn Target {
        self.regression.target()
    }

    fn settings(&self) -> ModelSettings {
        self.regression.settings(self.coefficients.settings())
    }

    fn title(&self) -> String {
        self.regression.title().into()
    }

    fn formula(&self, y: &str) -> String {
        self.regression.formula(y)
    }

    fn prior(&self) -> PriorWords {
        let beside = match self.regression.beside() {
            Behind::Positive(parameters) => {
                let in_words = |(name, prior): &(_, _)| format!("{name} {}", positive_in_words(prior));
                parameters.iter().map(in_words).collect::<Vec<_>>().join(", ")
            }
            Behind::Others(words) => words.into(),
        };
        PriorWords { beside: Some(beside).filter(|words| !words.is_empty()), ..self.coefficients.prior_words() }
    }

    fn regression(&self) -> Option<Regression<'_>> {
        Some(self.regression.rows())
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.regression.conflicts(self.coefficients.conflicts(posterior), &self.coefficients, posterior)
    }

    fn draw_prior(&self, stream: &mut Stream, z: &mut [f64]) -> bool {
        let Behind::Positive(parameters) = self.regression.beside() else { return false };
        let priors: Vec<NoisePrior> = parameters.into_iter().map(|(_, prior)| prior).collect();
        self.coefficients.draw_prior(&priors, stream, z)
    }

    fn remedy(&self) -> &'static str {
        self.coefficients.priors.remedy_of_predictive()
    }
}
