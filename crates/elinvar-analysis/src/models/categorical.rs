//! Categorical regression: classes without an order.

use elinvar::Posterior;
use elinvar::model::CategoricalRegression;
use elinvar::target::Target;
use elinvar_data::{Beside, ColumnTransform, Outcome, RegressionData};

use super::coefficients::{Coefficients, Design, where_given};
use super::over_columns::{self, OverColumns};
use super::{Columns, Entry, Model, Trials, UsualFamily};
use crate::prior::{Prior, Tail};
use crate::response::{Categorical as Law, Regression};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "categorical",
    about: "classes without an order",
    columns: Columns::Coefficients,
    outcome: |_| Outcome::Classes,
    beside: &[],
    trials: Trials::None,
    own: &[],
    usual_family: UsualFamily::Ladder,
    make,
};

/// A class with fewer rows is named: its coefficients are mostly the prior.
const FEW_ROWS: usize = 5;

struct Categorical {
    target: CategoricalRegression,
    law: Law,
}

fn make(
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let Beside { offset, weights, .. } = rows.beside.clone();
    let classes = rows.classes.clone();
    let n_classes = classes.len();
    let coefficients = Coefficients::new(given, &rows, transforms, Prior::WITHOUT_UNIT).for_each_of(n_classes - 1);
    let Design { x, y, prior, tails } = coefficients.design(rows)?;
    let n_cols = x.n_cols();
    let mut target = CategoricalRegression::new(x, y, classes, coefficients.priors.base.precision())?
        .with_coefficient_prior(prior)?;
    target = where_given(target, offset, CategoricalRegression::with_offset)?;
    target = where_given(target, weights, CategoricalRegression::with_weights)?;
    let of_class = |k: usize| tails.iter().map(move |tail| Tail { coordinate: k * n_cols + tail.coordinate, ..*tail });
    let tails = (0..n_classes - 1).flat_map(of_class).collect();
    Ok(over_columns::model(Categorical { target, law: Law { n_classes } }, coefficients, tails))
}

impl OverColumns for Categorical {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn title(&self) -> &'static str {
        "Categorical regression"
    }

    fn formula(&self, y: &str) -> String {
        let reference = &self.target.classes()[0];
        format!("P({y} = k) = exp(η_k)/Σ exp(η_j), η_k linear in the columns; the reference is {reference}, with η = 0")
    }

    fn rows(&self) -> Regression<'_> {
        let target = &self.target;
        let (offsets, weights) = (target.offset(), target.weights());
        Regression { offsets, weights, ..Regression::plain(&self.law, target.design(), target.responses()) }
    }

    fn conflicts(&self, mut sentences: Vec<String>, _: &Coefficients, _: &Posterior) -> Vec<String> {
        for (k, class) in self.target.classes().iter().enumerate() {
            let n = self.target.responses().iter().filter(|y| **y == k as f64).count();
            if n < FEW_ROWS {
                let rows = if n == 1 { "row" } else { "rows" };
                let what = if k == 0 { "every coefficient is relative to it" } else { "its coefficients are" };
                let what = if k == 0 { what.to_string() } else { format!("{what} mostly the prior") };
                sentences.push(format!("Class {class:?} has {n} {rows}: {what}; it may be put together with another."));
            }
        }
        sentences
    }
}
