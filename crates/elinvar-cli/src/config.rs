//! The settings of a fit, every choice made, as `config.toml` holds them.

use std::collections::BTreeMap;

use elinvar::family::Kind;
use elinvar::target::Covariance;
use elinvar::{Family, Plan};
use elinvar_data::Intercept;
use serde::Serialize;

use crate::job::{About, Job};

#[derive(Serialize)]
struct Config<'a> {
    elinvar: &'static str,
    diagnostic_draws: usize,
    data: Data<'a>,
    model: Model<'a>,
    family: FamilySettings,
    plan: &'a Plan,
}

#[derive(Serialize)]
struct Data<'a> {
    /// Left out for the embedded table.
    file: Option<&'a str>,
    target: &'a str,
    features: &'a [String],
    intercept: bool,
    rows: usize,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct Model<'a> {
    name: &'static str,
    /// Left out for models whose prior is fixed.
    prior_precision: Option<f64>,
    sigma_scale: Option<f64>,
    exposure: Option<&'a str>,
    concentration: Option<f64>,
}

#[derive(Default, Serialize)]
struct FamilySettings {
    name: &'static str,
    covariance: &'static str,
    components: Option<Components>,
    rank: Option<usize>,
    shape: Option<Shape>,
    lambda: Option<f64>,
    component: Option<&'static str>,
    law: Option<&'static str>,
    product: Option<bool>,
    dims: Option<String>,
    constant: BTreeMap<&'static str, f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Shape {
    Number(f64),
    /// `learn`.
    Word(&'static str),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Components {
    Number(usize),
    /// `auto`.
    Word(&'static str),
}

impl FamilySettings {
    fn new(family: &Family) -> Self {
        let covariance = match family.covariance {
            Covariance::Full => "full",
            Covariance::Diagonal => "diagonal",
        };
        let plain = Self { name: family.name(), covariance, ..Self::default() };
        match family.kind {
            Kind::Mog { components } => Self { components: Some(Components::Number(components)), ..plain },
            Kind::MogAuto => Self { components: Some(Components::Word("auto")), ..plain },
            Kind::RankK { rank } => Self { rank: Some(rank), ..plain },
            Kind::StudentT { learn: true, .. } => Self { shape: Some(Shape::Word("learn")), ..plain },
            Kind::StudentT { a, .. } => Self { shape: Some(Shape::Number(a)), ..plain },
            Kind::Nig { lambda } | Kind::Snig { lambda } => Self { lambda: Some(lambda), ..plain },
            Kind::ScaleMixture { law, product } => {
                Self { law: Some(law.name()), product: Some(product), constant: law.constants().collect(), ..plain }
            }
            Kind::Matrix { layout, .. } => {
                let group = |lengths: &[u32]| lengths.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
                Self { dims: Some(layout.groups().map(group).collect::<Vec<_>>().join(",")), ..plain }
            }
            Kind::EfMixture { component, components } => Self {
                component: Some(component.name()),
                components: Some(Components::Number(components)),
                constant: component.constant_name().zip(component.constant()).into_iter().collect(),
                ..plain
            },
            _ => plain,
        }
    }
}

/// The file's text: what was asked for; what was kept of it is in the fit. `plan` has every automatic choice made.
pub(crate) fn text(job: &Job, plan: &Plan) -> Result<String, toml::ser::Error> {
    let About { model, file, target, columns, intercept, n_rows, fingerprint, .. } = &job.about;
    let About { prior_precision, sigma_scale, exposure, concentration, .. } = &job.about;
    let has_intercept = *intercept == Intercept::First && model.is_regression();
    toml::to_string(&Config {
        elinvar: env!("CARGO_PKG_VERSION"),
        diagnostic_draws: job.diagnostic_draws,
        data: Data {
            file: file.as_deref(),
            target,
            features: &columns[usize::from(has_intercept)..],
            intercept: has_intercept,
            rows: *n_rows,
            fingerprint,
        },
        model: Model {
            name: model.name(),
            prior_precision: model.is_regression().then_some(*prior_precision),
            sigma_scale: *sigma_scale,
            exposure: exposure.as_deref(),
            concentration: *concentration,
        },
        family: FamilySettings::new(&job.family),
        plan,
    })
}
