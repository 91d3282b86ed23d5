//! Logistic regression: two classes.

use elinvar::Posterior;
use elinvar::model::LogisticRegression;
use elinvar::target::{DrawBuffer, Target};
use elinvar_data::{ColumnTransform, Link, Outcome, RegressionData};

use super::coefficients::{Coefficients, predictions};
use super::{Columns, Entry, Model, PriorWords, UsualFamily};
use crate::held_out::Scores;
use crate::prior::Prior;
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "logistic",
    about: "target 0/1",
    columns: Columns::Coefficients,
    outcome: |_| Outcome::Binary,
    taken: None,
    own: &[],
    usual_family: UsualFamily::Ladder,
    make,
};

struct Logistic {
    target: LogisticRegression,
    coefficients: Coefficients,
}

fn make(
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let coefficients = Coefficients::new(given, &rows, transforms, Prior::WITHOUT_UNIT);
    let (x, y) = coefficients.design(rows)?;
    let target = LogisticRegression::new(x, y, coefficients.prior.precision())?;
    Ok(Box::new(Logistic { target, coefficients }))
}

impl Model for Logistic {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        self.coefficients.settings()
    }

    fn title(&self) -> String {
        "Logistic regression".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("P({y} = 1) = 1/(1 + exp(−η)), η linear in the columns")
    }

    fn prior(&self) -> PriorWords {
        self.coefficients.prior_words()
    }

    fn test(&self, rows: &RegressionData, draws: &DrawBuffer) -> Result<Scores, elinvar::Error> {
        Ok(Scores::of_two_classes(&rows.y, &predictions(rows, draws, Link::Logit)))
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.coefficients.conflicts(posterior)
    }
}
