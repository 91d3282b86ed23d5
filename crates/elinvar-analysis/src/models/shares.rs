//! The shares of the categories of a column.

use elinvar::model::CategoryShares;
use elinvar::target::Target;
use elinvar_data::{ColumnTransform, Outcome, RegressionData};

use super::{Columns, Entry, Model, PriorWords, Trials, UsualFamily};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "shares",
    about: "categories",
    columns: Columns::Single,
    outcome: |_| Outcome::Classes,
    beside: &[],
    trials: Trials::None,
    own: &[],
    usual_family: UsualFamily::Dirichlet,
    make,
};

struct Shares {
    target: CategoryShares,
}

fn make(_: &ModelSettings, rows: RegressionData, _: &[ColumnTransform]) -> Result<Box<dyn Model>, elinvar::Error> {
    let mut counts = vec![0.0; rows.classes.len()];
    rows.y.iter().for_each(|category| counts[*category as usize] += 1.0);
    Ok(Box::new(Shares { target: CategoryShares::new(counts)?.with_names(rows.classes)? }))
}

impl Model for Shares {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings::default()
    }

    fn title(&self) -> String {
        "Shares of categories".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} = each category with the share of its name")
    }

    fn prior(&self) -> PriorWords {
        PriorWords::plain("uniform, Dirichlet(1, …, 1)")
    }
}
