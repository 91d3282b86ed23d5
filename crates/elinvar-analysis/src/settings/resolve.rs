//! The settings of a job with every choice made: a file that makes the same fit again.

use elinvar::family::Kind;
use elinvar::{Family, Plan};
use elinvar_data::DesignColumn;

use super::{Components, DataSettings, Dims, FamilySettings, ModelSettings, OutputSettings, Settings, Shape};
use crate::models::{Columns, Model, ModelName};
use crate::rows::Rows;

impl Settings {
    /// These settings, resolved; `plan` has every automatic choice made.
    pub(crate) fn resolved(
        &self,
        name: ModelName,
        rows: &Rows,
        model: &dyn Model,
        family: &Family,
        plan: &Plan,
    ) -> Self {
        Self {
            elinvar: Some(env!("CARGO_PKG_VERSION").into()),
            diagnostic_draws: Some(self.diagnostic_draws_for(model.target())),
            data: self.data.resolved(name, rows),
            model: ModelSettings { name: Some(name), ..model.settings() },
            family: FamilySettings::of(family),
            plan: plan.clone(),
            start: self.start.clone(),
            output: OutputSettings::default(),
            base: self.base.clone(),
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// Those of TOML.
    pub fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Model, prior and data in words of the settings, wherever the data are: what a fit under way may not change.
    ///
    /// # Errors
    /// Those of TOML.
    pub(crate) fn subject(&self) -> Result<String, toml::ser::Error> {
        let data = DataSettings {
            file: None,
            test_rows: None,
            train_rows: None,
            // Where bytes are kept on the way changes none of them.
            memory: None,
            cache: None,
            ..self.data.clone()
        };
        Ok(toml::to_string(&data)? + &toml::to_string(&self.model)?)
    }
}

impl DataSettings {
    fn resolved(&self, model: ModelName, rows: &Rows) -> Self {
        let regression = model.entry().columns != Columns::Single;
        if self.formula.is_some() {
            return Self {
                missing: Some(self.missing.unwrap_or_default()),
                scaling: Some(self.scaling.unwrap_or_default()),
                split_seed: self.test_fraction.map(|_| self.split_seed()),
                rows: Some(rows.n_read),
                fingerprint: Some(rows.fingerprint.clone()),
                ..self.clone()
            };
        }
        let mut features: Vec<String> = Vec::new();
        for (name, kind) in rows.columns.iter().zip(&rows.kinds) {
            let column = match kind {
                DesignColumn::Intercept => continue,
                DesignColumn::Number => name,
                DesignColumn::Indicator { column, .. } => column,
            };
            if features.last() != Some(column) {
                features.push(column.clone());
            }
        }
        Self {
            target: Some(rows.target.clone()),
            features: regression.then_some(features),
            exclude: None,
            intercept: model.has_coefficients().then_some(rows.has_intercept()),
            missing: Some(self.missing.unwrap_or_default()),
            categorical: regression.then(|| self.categorical.unwrap_or_default()),
            scaling: regression.then(|| self.scaling.unwrap_or_default()),
            split_seed: self.test_fraction.map(|_| self.split_seed()),
            rows: Some(rows.n_read),
            fingerprint: Some(rows.fingerprint.clone()),
            ..self.clone()
        }
    }

    /// Seed of the choice of test rows.
    pub fn split_seed(&self) -> u32 {
        self.split_seed.unwrap_or(1)
    }
}

impl FamilySettings {
    fn of(family: &Family) -> Self {
        let plain = Self { name: Some(family.name()), covariance: Some(family.covariance), ..Self::default() };
        match family.kind {
            Kind::Mog { components } | Kind::Dirichlet { components } => {
                Self { components: Some(Components::Number(components)), ..plain }
            }
            Kind::MogAuto => Self { components: Some(Components::Auto), ..plain },
            Kind::RankK { rank } => Self { rank: Some(rank), ..plain },
            Kind::SkewK { directions } | Kind::EmgK { directions } => Self { directions: Some(directions), ..plain },
            Kind::Mixed { law } => {
                let shape = |value| if law.is_learned() { Shape::Learn } else { Shape::Number(value) };
                law.constants().fold(plain, |settings, (name, value)| match name {
                    "a" => Self { shape: Some(shape(value)), ..settings },
                    "lambda" => Self { lambda: Some(shape(value)), ..settings },
                    _ => {
                        let constant = settings.constant.into_iter().chain([(name.into(), value)]).collect();
                        Self { constant, ..settings }
                    }
                })
            }
            Kind::ScaleMixture { law, product } => Self {
                law: Some(law.name()),
                product: Some(product),
                constant: law.constants().map(|(name, value)| (name.into(), value)).collect(),
                ..plain
            },
            Kind::Matrix { layout, update } => {
                let group = |lengths: &[u32]| lengths.iter().map(|n| *n as usize).collect();
                let dims = Dims(layout.groups().map(group).collect());
                Self { dims: Some(dims), update: Some(update), ..plain }
            }
            Kind::EfMixture { component, other, components } => {
                let is_named = family.name() == component.name();
                let constant = component.constant_name().zip(component.constant());
                Self {
                    name: Some(if is_named { family.name() } else { "ef_mixture" }),
                    component: (!is_named).then_some(component.name()),
                    other_component: other.map(|other| other.name()),
                    components: Some(Components::Number(components)),
                    constant: constant.into_iter().map(|(name, value)| (name.into(), value)).collect(),
                    ..plain
                }
            }
            _ => plain,
        }
    }
}
