//! A model around another one.

use elinvar::family::Approximation;
use elinvar::random::Stream;
use elinvar::target::{DrawBuffer, Target};
use elinvar::{Family, Posterior};
use elinvar_data::RegressionData;

use super::{Model, PriorWords};
use crate::held_out::Scores;
use crate::response::Regression;
use crate::settings::{Dims, ModelSettings};

/// A model that is another one with something changed: what it does not change, the inner model answers.
pub(super) trait Around: Target + Sized {
    /// The model inside.
    fn inner(&self) -> &dyn Model;

    /// The settings of the inner model with what was changed.
    fn changed_settings(&self, inner: ModelSettings) -> ModelSettings {
        inner
    }

    /// The prior of the inner model with what was changed.
    fn changed_prior(&self, inner: PriorWords) -> PriorWords {
        inner
    }
}

impl<M: Around> Model for M {
    fn target(&self) -> &dyn Target {
        self
    }

    fn settings(&self) -> ModelSettings {
        self.changed_settings(self.inner().settings())
    }

    fn title(&self) -> String {
        self.inner().title()
    }

    fn formula(&self, y: &str) -> String {
        self.inner().formula(y)
    }

    fn prior(&self) -> PriorWords {
        self.changed_prior(self.inner().prior())
    }

    fn test(&self, rows: &RegressionData, draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        self.inner().test(rows, draws)
    }

    fn regression(&self) -> Option<Regression<'_>> {
        self.inner().regression()
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.inner().conflicts(posterior)
    }

    fn draw_prior(&self, stream: &mut Stream, z: &mut [f64]) -> bool {
        self.inner().draw_prior(stream, z)
    }

    fn remedy(&self) -> &'static str {
        self.inner().remedy()
    }

    fn layers(&self) -> Option<Dims> {
        self.inner().layers()
    }

    fn start(&self, family: Family, seed: u64) -> Result<Option<Approximation>, elinvar::Error> {
        self.inner().start(family, seed)
    }
}
