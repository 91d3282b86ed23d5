//! What regressions with coefficients and nothing beside them share.

use elinvar::model::{DesignMatrix, Glm, Likelihood};
use elinvar::target::Target;
use elinvar_data::{Beside, ColumnTransform, Outcome, RegressionData};

use super::coefficients::{Coefficients, Design, where_given};
use super::over_columns::{self, OverColumns};
use super::{Columns, Entry, Make, Model, Trials, UsualFamily};
use crate::prior::Prior;
use crate::response::{Regression as Rows, Response};
use crate::settings::ModelSettings;

/// Makes the target over a design matrix and a response, with a precision of the prior.
type MakeTarget<L> = fn(DesignMatrix, Vec<f64>, f64) -> Result<Glm<L>, elinvar::Error>;

/// What one regression differs by.
pub(super) struct Law<L: 'static> {
    pub(super) target: MakeTarget<L>,
    pub(super) title: &'static str,
    /// The law of the column with this name, whose event has this name.
    pub(super) formula: fn(&str, &str) -> String,
    pub(super) response: &'static dyn Response,
}

struct Regression<L: 'static> {
    target: Glm<L>,
    law: &'static Law<L>,
    /// What the second of two classes is called.
    event: String,
}

/// A regression in the list of models.
pub(super) const fn entry(
    name: &'static str,
    about: &'static str,
    outcome: fn(&ModelSettings) -> Outcome,
    make: Make,
) -> Entry {
    let (columns, usual_family) = (Columns::Coefficients, UsualFamily::Ladder);
    let trials = Trials::None;
    Entry { name, about, columns, outcome, beside: &[], trials, own: &[], usual_family, make }
}

/// The regression with this law over rows.
pub(super) fn make<L: Likelihood + 'static>(
    law: &'static Law<L>,
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let coefficients = Coefficients::new(given, &rows, transforms, Prior::WITHOUT_UNIT);
    let Beside { offset, weights, .. } = rows.beside.clone();
    let event = rows.classes.get(1).cloned().unwrap_or_else(|| "1".into());
    let Design { x, y, prior, tails } = coefficients.design(rows)?;
    let by_columns = coefficients.priors.has_own() || x.row_space().is_some();
    let mut target = (law.target)(x, y, coefficients.priors.base.precision())?;
    if by_columns {
        target = target.with_coefficient_prior(prior)?;
    }
    target = where_given(target, offset, Glm::with_offset)?;
    target = where_given(target, weights, Glm::with_weights)?;
    Ok(over_columns::model(Regression { target, law, event }, coefficients, tails))
}

impl<L: Likelihood + 'static> OverColumns for Regression<L> {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn title(&self) -> &'static str {
        self.law.title
    }

    fn formula(&self, y: &str) -> String {
        (self.law.formula)(y, &self.event)
    }

    fn rows(&self) -> Rows<'_> {
        let target = &self.target;
        let (offsets, weights) = (target.offset(), target.weights());
        Rows { offsets, weights, ..Rows::plain(self.law.response, target.design(), target.responses()) }
    }
}
