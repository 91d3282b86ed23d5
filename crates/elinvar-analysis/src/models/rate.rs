//! The rate of counts, each with an exposure if a column has them.

use elinvar::model::PoissonRate;
use elinvar::target::Target;
use elinvar_data::{ColumnTransform, Outcome, RegressionData};

use super::{Columns, Entry, Model, OwnSetting, PriorWords, Trials, UsualFamily};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "rate",
    about: "counts",
    columns: Columns::Single,
    outcome: |_| Outcome::Count,
    beside: &[],
    trials: Trials::None,
    own: &[OwnSetting { flags: "--exposure", is_given: |given| given.exposure.is_some() }],
    usual_family: UsualFamily::Mixture { component: "gamma" },
    make,
};

struct Rate {
    target: PoissonRate,
    exposure: Option<String>,
}

fn make(given: &ModelSettings, rows: RegressionData, _: &[ColumnTransform]) -> Result<Box<dyn Model>, elinvar::Error> {
    let has_exposures = rows.n_cols() == 1;
    let plain = PoissonRate::new(rows.y)?;
    let target = if has_exposures { plain.with_exposures(&rows.features)? } else { plain };
    Ok(Box::new(Rate { target, exposure: given.exposure.clone() }))
}

impl Model for Rate {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings { exposure: self.exposure.clone(), ..ModelSettings::default() }
    }

    fn title(&self) -> String {
        "Rate of counts".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} ~ Poisson(rate × exposure)")
    }

    fn prior(&self) -> PriorWords {
        PriorWords::plain("log-normal(0, 10²)")
    }
}
