//! Ordinal regression: classes in an order.

use elinvar::model::OrdinalRegression;
use elinvar::target::Target;
use elinvar_data::{Beside, ColumnTransform, Outcome, RegressionData};

use super::coefficients::{Coefficients, Design, where_given};
use super::over_columns::{self, Behind, OverColumns};
use super::{Columns, Entry, Model, Trials, UsualFamily};
use crate::prior::Prior;
use crate::response::{Ordinal as Law, Regression};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "ordinal",
    about: "ordered classes",
    columns: Columns::Coefficients,
    outcome: |_| Outcome::Levels,
    beside: &[],
    trials: Trials::None,
    own: &[],
    usual_family: UsualFamily::Ladder,
    make,
};

struct Ordinal {
    target: OrdinalRegression,
    law: Law,
}

fn make(
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let Beside { offset, weights, .. } = rows.beside.clone();
    let n_classes = rows.classes.len();
    let coefficients = Coefficients::new(given, &rows, transforms, Prior::WITHOUT_UNIT);
    let Design { x, y, prior, tails } = coefficients.design(rows)?;
    let mut target =
        OrdinalRegression::new(x, y, n_classes, coefficients.priors.base.precision())?.with_coefficient_prior(prior)?;
    target = where_given(target, offset, OrdinalRegression::with_offset)?;
    target = where_given(target, weights, OrdinalRegression::with_weights)?;
    Ok(over_columns::model(Ordinal { target, law: Law { n_classes } }, coefficients, tails))
}

impl OverColumns for Ordinal {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn title(&self) -> &'static str {
        "Ordinal regression"
    }

    fn formula(&self, y: &str) -> String {
        format!("P({y} ≤ k) = 1/(1 + exp(−(cut_k − η))), η linear in the columns, less their means")
    }

    fn rows(&self) -> Regression<'_> {
        let target = &self.target;
        let (offsets, weights) = (target.offset(), target.weights());
        Regression { offsets, weights, ..Regression::plain(&self.law, target.design(), target.responses()) }
    }

    fn beside(&self) -> Behind {
        Behind::Others("cut points t(3, 0, 2.5), all columns at their means")
    }
}
