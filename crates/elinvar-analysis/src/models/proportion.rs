//! The proportion of ones in a column.

use elinvar::model;
use elinvar::target::Target;
use elinvar_data::{ColumnTransform, Outcome, RegressionData};

use super::{Columns, Entry, Model, PriorWords, Trials, UsualFamily};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "proportion",
    about: "0/1",
    columns: Columns::Single,
    outcome: |_| Outcome::Binary,
    beside: &[],
    trials: Trials::None,
    own: &[],
    usual_family: UsualFamily::Mixture { component: "beta" },
    make,
};

struct Proportion {
    target: model::Proportion,
}

fn make(_: &ModelSettings, rows: RegressionData, _: &[ColumnTransform]) -> Result<Box<dyn Model>, elinvar::Error> {
    Ok(Box::new(Proportion { target: model::Proportion::new(&rows.y)? }))
}

impl Model for Proportion {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings::default()
    }

    fn title(&self) -> String {
        "Proportion".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} = 1 with the probability of the parameter")
    }

    fn prior(&self) -> PriorWords {
        PriorWords::plain("logit-normal(0, 1.5²)")
    }
}
