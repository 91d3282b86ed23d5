//! The mean direction of angles whose concentration is known.

use elinvar::model;
use elinvar::target::Target;
use elinvar_data::{ColumnTransform, Outcome, RegressionData};

use super::{Columns, Entry, Model, OwnSetting, PriorWords, Trials, UsualFamily};
use crate::number::significant;
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "direction",
    about: "angles in radians",
    columns: Columns::Single,
    outcome: |_| Outcome::Real,
    beside: &[],
    trials: Trials::None,
    own: &[OwnSetting { flags: "--concentration", is_given: |given| given.concentration.is_some() }],
    usual_family: UsualFamily::Mixture { component: "von_mises" },
    make,
};

const CONCENTRATION: f64 = 1.0;

struct Direction {
    target: model::Direction,
    concentration: f64,
}

fn make(given: &ModelSettings, rows: RegressionData, _: &[ColumnTransform]) -> Result<Box<dyn Model>, elinvar::Error> {
    let concentration = given.concentration.unwrap_or(CONCENTRATION);
    Ok(Box::new(Direction { target: model::Direction::new(&rows.y, concentration)?, concentration }))
}

impl Model for Direction {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings { concentration: Some(self.concentration), ..ModelSettings::default() }
    }

    fn title(&self) -> String {
        "Mean direction".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} ~ von Mises around the direction, concentration {}", significant(self.concentration))
    }

    fn prior(&self) -> PriorWords {
        PriorWords::plain("uniform")
    }
}
