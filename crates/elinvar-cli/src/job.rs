//! What is to be done, checked: the model with its data, the family and the plan.

use elinvar::family::{AnyApproximation, Kind};
use elinvar::model::Architecture;
use elinvar::run::components::MOST_COMPONENTS;
use elinvar::run::start_at_guess;
use elinvar::target::Target;
use elinvar::{Family, Plan};
use elinvar_data::{ColumnTransform, DesignColumn, Scaling};

use crate::error::Failure;
use crate::family::family;
use crate::held_out::HeldOut;
use crate::model::{Model, model};
use crate::prior::Priors;
use crate::rows::{Rows, check_single};
use crate::settings::{Components, Likelihood, ModelName, Settings};

/// Of the weights of a network.
const PRIOR_PRECISION: f64 = 1.0;
const CONCENTRATION: f64 = 1.0;
/// Draws times parameters that are held in memory at once: 2 GiB.
const MOST_NUMBERS: usize = 1 << 28;
/// Numbers that a fit keeps, most of them in its trace.
const KEPT_NUMBERS: usize = 1 << 16;

/// A fit that can be started.
pub(crate) struct Job {
    pub(crate) model: Box<dyn Target>,
    pub(crate) about: About,
    pub(crate) family: Family,
    pub(crate) plan: Plan,
    pub(crate) diagnostic_draws: usize,
    /// Where the fit begins, if not where a search leads.
    pub(crate) start: Option<AnyApproximation>,
    /// Rows on which the fit is tested.
    pub(crate) held_out: Option<HeldOut>,
    /// The settings with every choice made.
    pub(crate) resolved: Settings,
}

/// Where the model comes from.
pub(crate) struct About {
    pub(crate) model: ModelName,
    /// The file as it was named; `None` for the embedded table.
    pub(crate) file: Option<String>,
    pub(crate) target: String,
    /// Columns of the design matrix.
    pub(crate) columns: Vec<String>,
    pub(crate) kinds: Vec<DesignColumn>,
    /// Whether the settings ask for scaled columns.
    pub(crate) scaling_is_asked: bool,
    /// What was done to these columns.
    pub(crate) transforms: Vec<ColumnTransform>,
    /// Rows of the fit.
    pub(crate) n_rows: usize,
    /// Rows that were read, with those that are held out.
    pub(crate) n_read: usize,
    /// Rows that were dropped because a cell was missing.
    pub(crate) n_dropped: usize,
    pub(crate) fingerprint: String,
    pub(crate) priors: Priors,
    /// Standard deviation of the response of a linear regression.
    pub(crate) sd_of_y: Option<f64>,
    pub(crate) sigma_scale: Option<f64>,
    pub(crate) concentration: Option<f64>,
    pub(crate) network: Option<Network>,
}

/// What a network is made of.
pub(crate) struct Network {
    pub(crate) architecture: Architecture,
    pub(crate) likelihood: Likelihood,
}

impl About {
    pub(crate) fn has_intercept(&self) -> bool {
        self.kinds.first() == Some(&DesignColumn::Intercept)
    }

    /// Whether columns were shifted or scaled.
    pub(crate) fn is_scaled(&self) -> bool {
        self.transforms.iter().any(|t| t.shift != 0.0 || t.scale != 1.0)
    }
}

impl Job {
    /// Checks everything that can be checked before the first draw.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let name = settings.model.name.unwrap_or(ModelName::Logistic);
        if name != ModelName::Network {
            // What needs no data comes first.
            family(&settings.family, name, None)?;
        }
        check_owners(settings, name)?;
        let mut rows = Rows::load(settings, name)?;
        let about = about(settings, name, &rows);
        let test = rows.test.take();
        let Model { target, layers, network } = model(rows.train, &about)?;
        let family = family(&settings.family, name, layers.as_ref())?;
        let plan = settings.plan.clone();
        check_size(settings, &family, target.dim(), about.n_rows)?;
        let library = |e: elinvar::Error| Failure::input(e.to_string());
        family.check().map_err(library)?;
        let resolved_plan = plan.resolve(&*target).map_err(library)?;
        let start =
            network.as_ref().map(|network| start_at_guess(network, family, plan.seed)).transpose().map_err(library)?;
        let resolved = settings.resolved(&about, &family, &resolved_plan);
        let held_out = test.map(|data| HeldOut::new(data, &about, network));
        let diagnostic_draws = settings.diagnostic_draws();
        Ok(Self { model: target, about, family, plan, diagnostic_draws, start, held_out, resolved })
    }
}

fn about(settings: &Settings, model: ModelName, rows: &Rows) -> About {
    let given = &settings.model;
    let by_data = Priors::by_data(model, &rows.train);
    let sd_of_y = match by_data {
        Priors::ByData { spread, .. } if model == ModelName::Linear => Some(spread),
        _ => None,
    };
    let priors = match given.prior_sd.map(|sd| 1.0 / (sd * sd)).or(given.prior_precision) {
        Some(precision) => Priors::Given { precision },
        None if model.is_linear() => by_data,
        None => Priors::Given { precision: PRIOR_PRECISION },
    };
    let sigma_scale = given.sigma_scale.unwrap_or(priors.sigma_scale());
    let standard = Architecture::default();
    About {
        model,
        file: settings.data.file.clone(),
        target: rows.train.target.clone(),
        columns: rows.train.names.clone(),
        kinds: rows.train.kinds.clone(),
        scaling_is_asked: settings.data.scaling.is_some_and(|scaling| scaling != Scaling::None),
        transforms: rows.transforms.clone(),
        n_rows: rows.train.n_rows(),
        n_read: rows.n_read,
        n_dropped: rows.n_dropped,
        fingerprint: rows.fingerprint.clone(),
        priors,
        sd_of_y,
        sigma_scale: (model == ModelName::Linear).then_some(sigma_scale),
        concentration: (model == ModelName::Direction).then(|| given.concentration.unwrap_or(CONCENTRATION)),
        network: (model == ModelName::Network).then(|| Network {
            architecture: Architecture {
                hidden: given.hidden.clone().unwrap_or(standard.hidden),
                activation: given.activation.unwrap_or(standard.activation),
            },
            likelihood: given.likelihood.unwrap_or(Likelihood::Gaussian),
        }),
    }
}

/// Refuses a setting that belongs to another model.
fn check_owners(settings: &Settings, name: ModelName) -> Result<(), Failure> {
    let given = &settings.model;
    let prior = given.prior_precision.is_some() || given.prior_sd.is_some();
    let network = given.hidden.is_some() || given.activation.is_some() || given.likelihood.is_some();
    let is_network = name == ModelName::Network;
    let no_intercept = settings.data.intercept == Some(false) && is_network;
    let owners = [
        ("--sigma-scale", given.sigma_scale.is_some(), name == ModelName::Linear, "the model linear"),
        ("--exposure", given.exposure.is_some(), name == ModelName::Rate, "the model rate"),
        ("--concentration", given.concentration.is_some(), name == ModelName::Direction, "the model direction"),
        ("--hidden, --activation or --likelihood", network, is_network, "the model network"),
        ("--no-intercept", no_intercept, false, "a model with coefficients"),
        ("--prior-precision or --prior-sd", prior, name.is_regression(), "a regression"),
        ("--minibatch", settings.plan.minibatch.is_some(), name.is_regression(), "a regression"),
        ("--restarts", settings.plan.restarts > 1, !is_network, "a model whose start is searched for"),
    ];
    check_single(settings, name)?;
    match owners.iter().find(|(_, is_given, owned, _)| *is_given && !owned) {
        Some((flag, _, _, owner)) => Err(Failure::input(format!(
            "{flag} belongs to {owner} and means nothing for {}: leave it out",
            name.name()
        ))),
        None => Ok(()),
    }
}

fn check_size(settings: &Settings, family: &Family, dim: usize, n_rows: usize) -> Result<(), Failure> {
    let (given, plan, standard) = (&settings.family, &settings.plan, Plan::default());
    if let Some(dims) = &given.dims {
        let size = |group: &Vec<usize>| group.iter().fold(1usize, |size, length| size.saturating_mul(*length));
        let total = dims.0.iter().fold(0usize, |total, group| total.saturating_add(size(group)));
        if total != dim {
            return Err(Failure::input(format!("--dims {dims} has {total} parameters; the model has {dim}")));
        }
    }
    if let Some(size) = plan.minibatch.filter(|size| *size > n_rows) {
        return Err(Failure::input(format!("--minibatch {size}: the table has {n_rows} rows; give at most {n_rows}")));
    }
    if let Some(rank) = given.rank.filter(|rank| *rank > dim) {
        return Err(Failure::input(format!("--rank {rank}: the model has {dim} parameters; give at most {dim}")));
    }
    if let Some(Components::Number(components)) = given.components {
        // Precision, factor, covariance, two gradients, curvature and room for a step.
        check_memory("--components", components, 8 * family.covariance.n_entries(dim))?;
    }
    if plan.n_draws != standard.n_draws {
        let grows = matches!(family.kind, Kind::MogAuto | Kind::Auto);
        let most = if grows { MOST_COMPONENTS } else { family.n_components() };
        check_memory("--draws-per-step", plan.n_draws, dim * most)?;
    }
    if plan.restarts != standard.restarts {
        check_memory("--restarts", plan.restarts, KEPT_NUMBERS)?;
    }
    check_memory("--diagnostic-draws", settings.diagnostic_draws(), dim)
}

/// Refuses what would not fit into memory.
pub(crate) fn check_memory(flag: &str, count: usize, width: usize) -> Result<(), Failure> {
    let most = MOST_NUMBERS / width.max(1);
    if count > most {
        return Err(Failure::input(format!("{flag} {count} does not fit into memory; give at most {most}")));
    }
    Ok(())
}
