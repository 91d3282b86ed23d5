//! Sizes that a user can give, checked before memory is taken for them.

use elinvar::Family;
use elinvar::Plan;
use elinvar::family::Kind;
use elinvar::model::Architecture;
use elinvar::run::components::MOST_COMPONENTS;
use elinvar::target::Covariance;
use elinvar_data::RegressionData;

use crate::error::Error;
use crate::models::{Model, ModelName};
use crate::settings::{Components, DIAGNOSTIC_DRAWS, Likelihood, Settings};

/// Draws times parameters that are held in memory at once: 2 GiB.
const MOST_NUMBERS: usize = 1 << 28;
/// Numbers in all matrices of a fit: 8 GiB.
const MOST_ENTRIES: usize = 1 << 30;
/// Matrices of a component: precision, factor, covariance, two gradients, curvature and room for a step.
const MATRICES: usize = 8;
/// Numbers that a fit keeps, most of them in its trace.
const KEPT_NUMBERS: usize = 1 << 16;
/// Numbers that are kept of each draw of a verdict besides its coordinates: densities, weights, their order and tails.
const PER_DRAW: usize = 8;
/// Matrices of a fit that waits to be compared with those of other restarts.
const KEPT_MATRICES: usize = 4;
/// Draws for a verdict, at the least.
const FEWEST_DRAWS: usize = 100;

/// Refuses a network of more parameters than there is room for, before it is made.
pub(crate) fn check_network(settings: &Settings, model: ModelName, rows: &RegressionData) -> Result<(), Error> {
    if model.name() != "network" {
        return Ok(());
    }
    let given = &settings.model;
    let hidden = given.hidden.clone().unwrap_or_else(|| Architecture::default().hidden);
    let is_multiclass = given.likelihood.unwrap_or_default() == Likelihood::Multiclass;
    let n_outputs = if is_multiclass { rows.y.iter().fold(0.0_f64, |most, y| most.max(*y)) as usize + 1 } else { 1 };
    let mut n_inputs = rows.n_cols();
    let mut n_parameters = 0_usize;
    for n_units in hidden.iter().copied().chain([n_outputs]) {
        n_parameters = n_parameters.saturating_add(n_inputs.saturating_add(1).saturating_mul(n_units));
        n_inputs = n_units;
    }
    let most = MOST_NUMBERS / FEWEST_DRAWS;
    if n_parameters <= most {
        return Ok(());
    }
    let from = match &given.hidden {
        _ if n_outputs > most => format!("the target {:?}, with classes up to {},", rows.target, n_outputs - 1),
        Some(hidden) => format!("--hidden {}", listed(hidden)),
        None => format!("a network with {} inputs", rows.n_cols()),
    };
    Err(Error::Parameters { from, n_parameters, problem: format!("at most {most} fit into memory; give fewer") })
}

/// Refuses a full covariance that nobody has asked for, of many more coefficients than rows that cannot be fitted in the
/// directions of the rows: it would take minutes.
pub(crate) fn check_wide(settings: &Settings, family: &Family, model: &dyn Model, n_rows: usize) -> Result<(), Error> {
    /// A full Gaussian of as many coordinates takes about ten seconds.
    const MOST: usize = 1_000;
    let asked = settings.family.name.is_some() || settings.family.covariance.is_some();
    let n_parameters = model.target().dim();
    let Some(rows) = model.regression().filter(|rows| rows.design.row_space().is_none()) else { return Ok(()) };
    let is_wide = n_parameters > MOST && rows.design.n_cols() > n_rows;
    if asked || !is_wide || family.covariance != Covariance::Full {
        return Ok(());
    }
    let problem = format!(
        "under priors that are not normal the {n_rows} rows do not make it smaller, and a full covariance takes minutes; \
         give normal priors, such as --prior 'b ~ normal(0, 2.5)', or --family gaussian --covariance diagonal"
    );
    Err(Error::Parameters { from: "the table, with more columns than rows,".into(), n_parameters, problem })
}

/// Refuses what does not fit the model or the memory, and names the option that was given.
pub(crate) fn check(
    settings: &Settings,
    model: ModelName,
    family: &Family,
    dim: usize,
    n_rows: usize,
) -> Result<(), Error> {
    let (given, plan, standard) = (&settings.family, &settings.plan, Plan::default());
    if let Some(dims) = &given.dims {
        let size = |group: &Vec<usize>| group.iter().fold(1usize, |size, length| size.saturating_mul(*length));
        let total = dims.0.iter().fold(0usize, |total, group| total.saturating_add(size(group)));
        if total != dim {
            return Err(Error::Dims { dims: dims.to_string(), total, dim });
        }
    }
    if let Some(value) = plan.minibatch.filter(|size| *size > n_rows) {
        let what = format!("the table has {n_rows} rows");
        return Err(Error::TooLarge { flag: "--minibatch", value, what, most: n_rows });
    }
    if let Some(value) = given.rank.filter(|rank| *rank > dim) {
        let what = format!("the model has {dim} parameters");
        return Err(Error::TooLarge { flag: "--rank", value, what, most: dim });
    }
    // A family is skewed in three directions at most, and in none that is not there.
    if let Some(value) = given.directions.filter(|directions| *directions > dim.min(3)) {
        let what = if dim < 3 { format!("the model has {dim} parameters") } else { "there are at most three".into() };
        return Err(Error::TooLarge { flag: "--directions", value, what, most: dim.min(3) });
    }
    check_matrices(settings, model, family, dim)?;
    if let Some(rank) = given.rank {
        check_memory("--rank", rank, MATRICES * dim)?;
    }
    if let Some(Components::Number(components)) = given.components {
        check_components(components, plan, MATRICES.saturating_mul(family.covariance.n_entries(dim)))?;
    }
    let most_components = most_components(family);
    if plan.n_draws != standard.n_draws {
        check_memory("--draws-per-step", plan.n_draws, dim.saturating_mul(most_components))?;
    }
    if plan.restarts != standard.restarts {
        let matrices = KEPT_MATRICES.saturating_mul(family.covariance.n_entries(dim)).saturating_mul(most_components);
        check_memory("--restarts", plan.restarts, KEPT_NUMBERS.saturating_add(matrices))?;
    }
    check_verdict(settings, model, dim)
}

/// Components that the fit may come to have.
fn most_components(family: &Family) -> usize {
    if matches!(family.kind, Kind::MogAuto | Kind::Auto) { MOST_COMPONENTS } else { family.n_components() }
}

/// As many draws of a step as fit into memory, where they may become more than they were at first.
pub(crate) fn largest_draws(plan: &Plan, family: &Family, dim: usize) -> usize {
    plan.max_draws.min(MOST_NUMBERS / dim.saturating_mul(most_components(family)).max(1)).max(plan.n_draws)
}

/// Every component has matrices, and a density at the draws of every other one.
fn check_components(components: usize, plan: &Plan, n_entries: usize) -> Result<(), Error> {
    /// Densities and weights.
    const BUFFERS: usize = 2;
    // A mini-batch keeps its number of draws.
    let n_draws = if plan.minibatch.is_some() { plan.n_draws } else { plan.n_draws.max(plan.max_draws) };
    let width = BUFFERS.saturating_mul(n_draws.max(1));
    let most = (MOST_NUMBERS / width).isqrt().min(MOST_NUMBERS / n_entries.max(1)).max(1);
    if components > most {
        return Err(Error::Memory { flag: "--components", count: components, most });
    }
    Ok(())
}

fn check_matrices(settings: &Settings, model: ModelName, family: &Family, dim: usize) -> Result<(), Error> {
    let (n_entries, what) = match &family.kind {
        Kind::Matrix { layout, .. } => (entries_of_sides(layout.groups()), "the matrices over its layers"),
        _ => match family.covariance {
            Covariance::Full => (dim.saturating_mul(dim), "a full covariance of them"),
            Covariance::Diagonal => return Ok(()),
        },
    };
    if MATRICES.saturating_mul(n_entries) <= MOST_ENTRIES {
        return Ok(());
    }
    let (verb, other) = match family.kind {
        Kind::Matrix { .. } => ("do", "--family gaussian --covariance diagonal"),
        _ => ("does", "--covariance diagonal"),
    };
    let problem = format!("{what} {verb} not fit into memory; use {other}, or fewer of them");
    Err(Error::Parameters { from: source(settings, model), n_parameters: dim, problem })
}

/// Numbers in one matrix for each side of each group.
fn entries_of_sides<'a>(groups: impl Iterator<Item = &'a [u32]>) -> usize {
    let square = |n: &u32| (*n as usize).saturating_mul(*n as usize);
    groups.flatten().map(square).fold(0, usize::saturating_add)
}

/// The draws for the verdict: their number, or that of the parameters, is what was given.
fn check_verdict(settings: &Settings, model: ModelName, dim: usize) -> Result<(), Error> {
    let n_draws = settings.diagnostic_draws();
    let width = dim.saturating_add(PER_DRAW);
    let most = MOST_NUMBERS / width;
    if n_draws <= most {
        return Ok(());
    }
    if n_draws != DIAGNOSTIC_DRAWS {
        return check_memory("--diagnostic-draws", n_draws, width);
    }
    let problem = if most < FEWEST_DRAWS {
        "draws of them for a verdict do not fit into memory; give fewer".into()
    } else {
        format!(
            "{n_draws} draws of them for a verdict do not fit into memory; give fewer, or --diagnostic-draws {most}"
        )
    };
    Err(Error::Parameters { from: source(settings, model), n_parameters: dim, problem })
}

/// What the number of parameters comes from.
fn source(settings: &Settings, model: ModelName) -> String {
    match (&settings.model.hidden, model.name()) {
        (Some(hidden), "network") => format!("--hidden {}", listed(hidden)),
        _ => "the table, with its columns,".into(),
    }
}

fn listed(hidden: &[usize]) -> String {
    hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Refuses draws of a kept fit, as many as the flag says, that would not fit into memory; `held` of them for each that
/// is asked for.
///
/// # Errors
/// [`Error::Memory`].
pub fn check_draws(flag: &'static str, count: usize, held: usize, dim: usize) -> Result<(), Error> {
    check_memory(flag, count, held.saturating_mul(dim.saturating_add(PER_DRAW)))
}

/// Refuses a count, given by a flag, of things of this many numbers that would not fit into memory.
///
/// # Errors
/// [`Error::Memory`].
pub fn check_memory(flag: &'static str, count: usize, width: usize) -> Result<(), Error> {
    let most = MOST_NUMBERS / width.max(1);
    if count > most { Err(Error::Memory { flag, count, most }) } else { Ok(()) }
}
