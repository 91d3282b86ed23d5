//! Poisson regression: counts.

use elinvar::Posterior;
use elinvar::model::PoissonRegression;
use elinvar::target::{DrawBuffer, Target};
use elinvar_data::{ColumnTransform, Link, Outcome, RegressionData, rmse};
use libm::lgamma;

use super::coefficients::{Coefficients, log_predictive, predictions};
use super::{Columns, Entry, Model, PriorWords, UsualFamily};
use crate::held_out::Scores;
use crate::prior::Prior;
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "poisson",
    about: "counts",
    columns: Columns::Coefficients,
    outcome: |_| Outcome::Count,
    taken: None,
    own: &[],
    usual_family: UsualFamily::Ladder,
    make,
};

struct Poisson {
    target: PoissonRegression,
    coefficients: Coefficients,
}

fn make(
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let coefficients = Coefficients::new(given, &rows, transforms, Prior::WITHOUT_UNIT);
    let (x, y) = coefficients.design(rows)?;
    let target = PoissonRegression::new(x, y, coefficients.prior.precision())?;
    Ok(Box::new(Poisson { target, coefficients }))
}

impl Model for Poisson {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        self.coefficients.settings()
    }

    fn title(&self) -> String {
        "Poisson regression".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} ~ Poisson(exp η), η linear in the columns")
    }

    fn prior(&self) -> PriorWords {
        self.coefficients.prior_words()
    }

    fn test(&self, rows: &RegressionData, draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        let logs = log_predictive(rows, draws, |y, eta, _| y * eta - eta.exp() - lgamma(y + 1.0));
        Ok(Scores::of_numbers(&logs, rmse(&rows.y, &predictions(rows, draws, Link::Log))))
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.coefficients.conflicts(posterior)
    }
}
