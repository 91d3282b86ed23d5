//! The settings of a fit, every choice made, as `config.toml` holds them.

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
    model: Model,
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
struct Model {
    name: &'static str,
    prior_precision: f64,
    sigma_scale: Option<f64>,
}

#[derive(Default, Serialize)]
struct FamilySettings {
    name: &'static str,
    covariance: &'static str,
    components: Option<Components>,
    rank: Option<usize>,
    shape: Option<f64>,
    lambda: Option<f64>,
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
            Kind::StudentT { a, .. } => Self { shape: Some(a), ..plain },
            Kind::Nig { lambda } | Kind::Snig { lambda } => Self { lambda: Some(lambda), ..plain },
            _ => plain,
        }
    }
}

/// The file's text: what was asked for; what was kept of it is in the fit. `plan` has every automatic choice made.
pub(crate) fn text(job: &Job, plan: &Plan) -> Result<String, toml::ser::Error> {
    let About { model, file, target, columns, intercept, n_rows, fingerprint, prior_precision, sigma_scale } =
        &job.about;
    let has_intercept = *intercept == Intercept::First;
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
        model: Model { name: model.name(), prior_precision: *prior_precision, sigma_scale: *sigma_scale },
        family: FamilySettings::new(&job.family),
        plan,
    })
}
