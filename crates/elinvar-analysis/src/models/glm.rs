//! What regressions with coefficients and nothing beside them share.

use elinvar::Posterior;
use elinvar::model::DesignMatrix;
use elinvar::target::Target;
use elinvar_data::{ColumnTransform, Outcome, RegressionData};

use super::coefficients::Coefficients;
use super::{Columns, Entry, Make, Model, PriorWords, UsualFamily};
use crate::prior::Prior;
use crate::response::{Regression as Rows, Response};
use crate::settings::ModelSettings;

/// What one regression differs by.
pub(super) struct Law<T> {
    /// The target over a design matrix and a response, with a precision of the prior.
    pub(super) target: fn(DesignMatrix, Vec<f64>, f64) -> Result<T, elinvar::Error>,
    pub(super) title: &'static str,
    /// The law of the column with this name.
    pub(super) formula: fn(&str) -> String,
    pub(super) response: &'static dyn Response,
    /// The design matrix and the responses of the target.
    pub(super) rows: fn(&T) -> (&DesignMatrix, &[f64]),
}

struct Regression<T: 'static> {
    target: T,
    coefficients: Coefficients,
    law: &'static Law<T>,
}

/// A regression in the list of models.
pub(super) const fn entry(
    name: &'static str,
    about: &'static str,
    outcome: fn(&ModelSettings) -> Outcome,
    make: Make,
) -> Entry {
    let (columns, usual_family) = (Columns::Coefficients, UsualFamily::Ladder);
    Entry { name, about, columns, outcome, taken: None, own: &[], usual_family, make }
}

/// The regression with this law over rows.
pub(super) fn make<T: Target + 'static>(
    law: &'static Law<T>,
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let coefficients = Coefficients::new(given, &rows, transforms, Prior::WITHOUT_UNIT);
    let (x, y) = coefficients.design(rows)?;
    let target = (law.target)(x, y, coefficients.prior.precision())?;
    Ok(Box::new(Regression { target, coefficients, law }))
}

impl<T: Target> Model for Regression<T> {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        self.coefficients.settings()
    }

    fn title(&self) -> String {
        self.law.title.into()
    }

    fn formula(&self, y: &str) -> String {
        (self.law.formula)(y)
    }

    fn prior(&self) -> PriorWords {
        self.coefficients.prior_words()
    }

    fn regression(&self) -> Option<Rows<'_>> {
        let (design, y) = (self.law.rows)(&self.target);
        Some(Rows::plain(self.law.response, design, y))
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.coefficients.conflicts(posterior)
    }
}
