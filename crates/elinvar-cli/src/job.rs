//! What is to be done, checked: the model with its data, the family and the plan.

use elinvar::family::Kind;
use elinvar::model::{
    DesignMatrix, Direction, LinearRegression, LogisticRegression, PoissonRate, PoissonRegression, Proportion,
};
use elinvar::rule::StepSize;
use elinvar::run::components::MOST_COMPONENTS;
use elinvar::target::Target;
use elinvar::{Family, Plan};
use elinvar_data::{Columns, Intercept, Outcome, RegressionData, Selection, Table, breast_cancer};

use crate::args::{Components, FitArgs, ModelName};
use crate::error::Failure;
use crate::family::family;

const PRIOR_PRECISION: f64 = 1.0;
const SIGMA_SCALE: f64 = 2.5;
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
}

/// Where the model comes from.
pub(crate) struct About {
    pub(crate) model: ModelName,
    /// The file as it was named; `None` for the embedded table.
    pub(crate) file: Option<String>,
    pub(crate) target: String,
    /// Columns of the design matrix.
    pub(crate) columns: Vec<String>,
    pub(crate) intercept: Intercept,
    pub(crate) n_rows: usize,
    pub(crate) fingerprint: String,
    pub(crate) prior_precision: f64,
    pub(crate) sigma_scale: Option<f64>,
    /// The column of exposures of a rate.
    pub(crate) exposure: Option<String>,
    pub(crate) concentration: Option<f64>,
}

impl Job {
    /// Checks everything that can be checked before the first draw.
    pub(crate) fn new(args: &FitArgs) -> Result<Self, Failure> {
        let name = args.model.unwrap_or(ModelName::Logistic);
        let family = family(args, name)?;
        check_owners(args, name)?;
        let data = data(args, name)?;
        let about = About {
            model: name,
            file: args.file.as_ref().map(|file| file.display().to_string()),
            target: data.target.clone(),
            columns: data.names.clone(),
            intercept: intercept(args),
            n_rows: data.n_rows(),
            fingerprint: data.fingerprint.clone(),
            prior_precision: prior_precision(args),
            sigma_scale: (name == ModelName::Linear).then(|| args.sigma_scale.unwrap_or(SIGMA_SCALE)),
            exposure: args.exposure.clone(),
            concentration: (name == ModelName::Direction).then(|| args.concentration.unwrap_or(CONCENTRATION)),
        };
        let model = model(data, &about)?;
        let plan = plan(args);
        check_size(args, &family, model.dim(), about.n_rows)?;
        family.check().and_then(|()| plan.resolve(&*model)).map_err(|e| Failure::input(e.to_string()))?;
        Ok(Self { model, about, family, plan, diagnostic_draws: args.diagnostic_draws })
    }
}

/// Refuses a flag that belongs to another model.
fn check_owners(args: &FitArgs, name: ModelName) -> Result<(), Failure> {
    let columns = args.features.is_some() || args.exclude.is_some() || args.no_intercept;
    let prior = args.prior_precision.is_some() || args.prior_sd.is_some();
    let given = [
        ("--sigma-scale", args.sigma_scale.is_some(), name == ModelName::Linear, "the model linear"),
        ("--exposure", args.exposure.is_some(), name == ModelName::Rate, "the model rate"),
        ("--concentration", args.concentration.is_some(), name == ModelName::Direction, "the model direction"),
        ("--features, --exclude or --no-intercept", columns, name.is_regression(), "a regression"),
        ("--prior-precision or --prior-sd", prior, name.is_regression(), "a regression"),
        ("--minibatch", args.minibatch.is_some(), name.is_regression(), "a regression"),
    ];
    match given.iter().find(|(_, is_given, owned, _)| *is_given && !owned) {
        Some((flag, _, _, owner)) => Err(Failure::input(format!(
            "{flag} belongs to {owner} and means nothing for {}: leave it out",
            name.name()
        ))),
        None => Ok(()),
    }
}

fn intercept(args: &FitArgs) -> Intercept {
    if args.no_intercept { Intercept::None } else { Intercept::First }
}

fn prior_precision(args: &FitArgs) -> f64 {
    args.prior_sd.map(|sd| 1.0 / (sd * sd)).or(args.prior_precision).unwrap_or(PRIOR_PRECISION)
}

fn data(args: &FitArgs, model: ModelName) -> Result<RegressionData, Failure> {
    let features = match (&args.features, &args.exclude) {
        (Some(list), _) => Columns::Only(list.clone()),
        (None, Some(list)) => Columns::Except(list.clone()),
        (None, None) => Columns::All,
    };
    let outcome = match model {
        ModelName::Logistic => Outcome::Binary,
        ModelName::Linear => Outcome::Real,
        ModelName::Poisson => Outcome::Count,
        ModelName::Rate => return single_column(args, model, Outcome::Count),
        ModelName::Proportion => return single_column(args, model, Outcome::Binary),
        ModelName::Direction => return single_column(args, model, Outcome::Real),
    };
    let Some(file) = &args.file else {
        if args.model.is_some() {
            return Err(Failure::input(format!(
                "{0} needs a table: elinvar fit {0} FILE.csv --target COLUMN",
                model.name()
            )));
        }
        if args.target.is_some() {
            return Err(Failure::input(
                "--target needs a model and a table: elinvar fit logistic FILE.csv --target COLUMN",
            ));
        }
        let selection = Selection { features, intercept: intercept(args), ..Selection::new("y", outcome) };
        return Ok(RegressionData::from_table(&breast_cancer(), &selection)?);
    };
    let Some(target) = &args.target else {
        let columns = match Table::read(file, &Columns::Only(vec![String::new()])) {
            Err(elinvar_data::Error::NoSuchColumn { available, .. }) => available,
            Err(error) => return Err(error.into()),
            Ok(table) => table.names().to_vec(),
        };
        let listed = columns.join(", ");
        return Err(Failure::input(format!(
            "{}: say which column is to be explained, --target COLUMN; the columns are {listed}",
            file.display()
        )));
    };
    let selection = Selection { features, intercept: intercept(args), ..Selection::new(target, outcome) };
    let data = RegressionData::read(file, &selection)?;
    if model == ModelName::Linear && data.names.iter().any(|name| name == "sigma") {
        return Err(Failure::input(format!(
            "{}: the name of the column \"sigma\" is taken by the noise of the model; rename the column or leave it out",
            file.display()
        )));
    }
    Ok(data)
}

/// The column of a model without coefficients; a rate has its exposures as the one feature.
fn single_column(args: &FitArgs, model: ModelName, outcome: Outcome) -> Result<RegressionData, Failure> {
    let (Some(file), Some(target)) = (&args.file, &args.target) else {
        return Err(Failure::input(format!(
            "{0} needs a table and a column: elinvar fit {0} FILE.csv --target COLUMN",
            model.name()
        )));
    };
    let names: Vec<String> = std::iter::once(target).chain(&args.exposure).cloned().collect();
    Ok(RegressionData::columns(&Table::read(file, &Columns::Only(names))?, outcome)?)
}

fn model(data: RegressionData, about: &About) -> Result<Box<dyn Target>, Failure> {
    let n_cols = data.n_cols();
    let build = || -> Result<Box<dyn Target>, elinvar::Error> {
        match about.model {
            ModelName::Rate if n_cols == 1 => {
                return Ok(Box::new(PoissonRate::new(data.y)?.with_exposures(&data.features)?));
            }
            ModelName::Rate => return Ok(Box::new(PoissonRate::new(data.y)?)),
            ModelName::Proportion => return Ok(Box::new(Proportion::new(&data.y)?)),
            ModelName::Direction => {
                return Ok(Box::new(Direction::new(&data.y, about.concentration.unwrap_or(CONCENTRATION))?));
            }
            ModelName::Logistic | ModelName::Linear | ModelName::Poisson => {}
        }
        let x = DesignMatrix::new(data.features, n_cols, data.names)?;
        Ok(match about.model {
            ModelName::Logistic => Box::new(LogisticRegression::new(x, data.y, about.prior_precision)?),
            ModelName::Poisson => Box::new(PoissonRegression::new(x, data.y, about.prior_precision)?),
            _ => {
                let scale = about.sigma_scale.unwrap_or(SIGMA_SCALE);
                Box::new(LinearRegression::new(x, data.y, about.prior_precision)?.with_noise_scale(scale)?)
            }
        })
    };
    build().map_err(|error| Failure::Model(error.to_string()))
}

fn plan(args: &FitArgs) -> Plan {
    let mut plan = Plan::default();
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.n_draws = args.draws_per_step.unwrap_or(plan.n_draws);
    plan.restarts = args.restarts.unwrap_or(plan.restarts);
    plan.minibatch = args.minibatch.or(plan.minibatch);
    plan.rule = args.rule.unwrap_or(plan.rule);
    plan.curvature = args.curvature.unwrap_or(plan.curvature);
    if let Some(beta) = args.step_size {
        plan.step_size = StepSize::Constant(beta);
        plan.mixing_step_size = StepSize::Constant(beta);
    }
    plan.stop.max_steps = args.max_steps.map_or(plan.stop.max_steps, |n| n as u64);
    plan.stop.remaining_nats = args.tolerance.unwrap_or(plan.stop.remaining_nats);
    plan
}

fn check_size(args: &FitArgs, family: &Family, dim: usize, n_rows: usize) -> Result<(), Failure> {
    if let Some(dims) = &args.dims {
        let size = |group: &Vec<usize>| group.iter().fold(1usize, |size, length| size.saturating_mul(*length));
        let total = dims.0.iter().fold(0usize, |total, group| total.saturating_add(size(group)));
        if total != dim {
            return Err(Failure::input(format!("--dims {dims} has {total} parameters; the model has {dim}")));
        }
    }
    if let Some(size) = args.minibatch.filter(|size| *size > n_rows) {
        return Err(Failure::input(format!("--minibatch {size}: the table has {n_rows} rows; give at most {n_rows}")));
    }
    if let Some(rank) = args.rank.filter(|rank| *rank > dim) {
        return Err(Failure::input(format!("--rank {rank}: the model has {dim} parameters; give at most {dim}")));
    }
    if let Some(Components::Number(components)) = args.components {
        // Precision, factor, covariance, two gradients, curvature and room for a step.
        check_memory("--components", components, 8 * family.covariance.n_entries(dim))?;
    }
    if let Some(draws) = args.draws_per_step {
        let grows = matches!(family.kind, Kind::MogAuto | Kind::Auto);
        let most = if grows { MOST_COMPONENTS } else { family.n_components() };
        check_memory("--draws-per-step", draws, dim * most)?;
    }
    if let Some(restarts) = args.restarts {
        check_memory("--restarts", restarts, KEPT_NUMBERS)?;
    }
    check_memory("--diagnostic-draws", args.diagnostic_draws, dim)
}

/// Refuses what would not fit into memory.
pub(crate) fn check_memory(flag: &str, count: usize, width: usize) -> Result<(), Failure> {
    let most = MOST_NUMBERS / width.max(1);
    if count > most {
        return Err(Failure::input(format!("{flag} {count} does not fit into memory; give at most {most}")));
    }
    Ok(())
}
