//! `elinvar inits`: start points and an inverse metric for chains of Stan.

use std::path::PathBuf;

use crate::error::Failure;
use elinvar::Posterior;
use elinvar::posterior::{GivenBy, resample_distinct};
use elinvar::random::{Purpose, Stream};
use elinvar::target::{DrawBuffer, Support};
use elinvar_analysis::Kept;
use elinvar_analysis::check_memory;
use elinvar_analysis::place::NewFolder;
use elinvar_analysis::shell;
use elinvar_analysis::stan::{self, Layout};

use crate::Outcome;
use crate::note::warn_of_weights;
use crate::print::print;
use crate::run_args::{InitsArgs, Metric, Resampling, is_stan_name};

/// Draws from which start points are chosen by their weights, and covariances estimated that are not known.
const POOL: usize = 10_000;
/// Draws of the pool for each chain.
const POOL_PER_CHAIN: usize = 10;
/// Numbers of memory for each coordinate of a chain: its pool, and the text of its file.
const PER_CHAIN: usize = 2 * POOL_PER_CHAIN;

/// Draws and writes.
pub(crate) fn run(args: &InitsArgs) -> Result<Outcome, Failure> {
    let kept = Kept::open(&args.run)?;
    let posterior = &kept.posterior;
    let (dim, width) = (posterior.dim(), posterior.transforms().n_constrained());
    if dim != width {
        return Err(Failure::input(format!(
            "{}: the fit has {width} parameters of {dim} coordinates, which Stan would count in its own way",
            args.run.display()
        )));
    }
    check_memory("--chains", args.chains, PER_CHAIN.saturating_mul(dim + 1))?;
    let layout = layout(&kept, args)?;
    let folder = folder(args)?;
    let place = NewFolder::of(&folder)?;

    let mut files = Vec::with_capacity(args.chains + 1);
    let mut x = vec![0.0; width];
    for (chain, z) in starts(&kept, args)?.view().iter().enumerate() {
        posterior.transforms().constrain(z, &mut x);
        if let Some(i) = x.iter().position(|value| !value.is_finite()) {
            let name = &posterior.names()[i];
            return Err(Failure::input(format!(
                "a start point has no finite {name}; try --resample psis or another --seed"
            )));
        }
        files.push((format!("init_{}.json", chain + 1), layout.json(&x)));
    }
    files.push(("inverse_metric.json".into(), metric(posterior, &layout, args)?));
    place.write(&files)?;

    // With several chains CmdStan itself puts _1, _2, … before the dot.
    let first = if args.chains == 1 { "init_1.json" } else { "init.json" };
    let kind = if args.metric == Metric::Dense { "dense_e" } else { "diag_e" };
    let names: Vec<&str> = layout.names().collect();
    let text = format!(
        "{} and an inverse metric in {}; the Stan program must declare {}{}\n\n\
         Next: ./model sample num_chains={} algorithm=hmc metric={kind} metric_file={} data file=data.json init={}\n",
        if args.chains == 1 { "1 start point".into() } else { format!("{} start points", args.chains) },
        folder.display(),
        names.join(", "),
        if names.len() == 1 { "" } else { " in this order" },
        args.chains,
        shell::word(&folder.join("inverse_metric.json")),
        shell::word(&folder.join(first)),
    );
    print(&text)?;
    Ok(Outcome::Done)
}

fn folder(args: &InitsArgs) -> Result<PathBuf, Failure> {
    match &args.out {
        Some(folder) => Ok(folder.clone()),
        None if args.run.is_dir() => Ok(args.run.join("inits")),
        None => Err(Failure::input(format!("{}: this is a file; name a new folder with --out", args.run.display()))),
    }
}

/// The coefficients of a regression as one vector, unless they keep their names.
fn layout(kept: &Kept, args: &InitsArgs) -> Result<Layout, Failure> {
    let names = kept.posterior.names();
    let model = kept.settings.as_ref().map(|settings| settings.model.name.is_none_or(|model| model.has_coefficients()));
    let n_coefficients = if model == Some(true) && !args.by_name {
        names.iter().position(|name| name == "sigma").unwrap_or(names.len())
    } else {
        0
    };
    let own_intercept = args.intercept.as_deref().filter(|_| n_coefficients > 0);
    if args.intercept.is_some() && names.first().map(String::as_str) != Some("intercept") {
        return Err(Failure::input("--intercept names a parameter that this fit does not have: leave it out"));
    }
    let skipped = usize::from(own_intercept.is_some());
    let renamed: Vec<String> = (0..names.len())
        .map(|i| match own_intercept {
            Some(name) if i == 0 => name.into(),
            _ if i < n_coefficients => format!("{}[{}]", args.vector, i + 1 - skipped),
            _ => names[i].clone(),
        })
        .collect();
    let layout = Layout::new(renamed.iter().map(String::as_str));
    if let Some(name) = layout.names().find(|name| !is_stan_name(name)) {
        let remedy = if args.by_name { "leave out --by-name" } else { "rename the column" };
        return Err(Failure::input(format!("Stan has no parameter named \"{name}\": {remedy}")));
    }
    let mut sorted: Vec<&str> = layout.names().collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::input(format!("two parameters would be named {}: choose another name", pair[0])));
    }
    Ok(layout)
}

/// One draw for each chain.
fn starts(kept: &Kept, args: &InitsArgs) -> Result<DrawBuffer, Failure> {
    let posterior = &kept.posterior;
    let job = match (args.resample, posterior.corrected(), posterior.given_by()) {
        (None, Some(corrected), _) => return Ok(corrected.draws(args.chains)),
        (Some(Resampling::Psis), ..) => {
            let needs = |e| Failure::input(format!("--resample psis needs the model and its data: {e}"));
            kept.job().map_err(needs)?
        }
        (None, None, GivenBy::Weights) => match kept.job() {
            Ok(job) => job,
            // Any start will do where the model is not at hand.
            Err(_) => return Ok(posterior.sample_z(args.chains, args.seed)),
        },
        _ => return Ok(posterior.sample_z(args.chains, args.seed)),
    };
    let pool = POOL.max(args.chains.saturating_mul(POOL_PER_CHAIN));
    let weighted = posterior.importance(job.target(), pool, args.seed).map_err(Failure::of_fit)?;
    if args.resample.is_some() {
        warn_of_weights(&weighted.diagnostics);
    }
    let mut stream = Stream::open(args.seed, Purpose::Sample, u64::MAX, 0);
    // Different ones: chains that start at the same point say nothing about each other.
    let chosen = resample_distinct(&weighted.log_weights, args.chains, &mut stream);
    let mut draws = DrawBuffer::zeros(posterior.dim(), args.chains);
    for s in 0..args.chains {
        draws.get_mut(s).copy_from_slice(weighted.draws.get(chosen[s % chosen.len()]));
    }
    Ok(draws)
}

/// The covariance of the unconstrained parameters, in Stan's order.
fn metric(posterior: &Posterior, layout: &Layout, args: &InitsArgs) -> Result<String, Failure> {
    let dim = posterior.dim();
    let covariance = match posterior.approximation().support() {
        Support::Positive => of_draws(posterior, args.seed, f64::ln),
        Support::Unit => of_draws(posterior, args.seed, |x| x.ln() - (-x).ln_1p()),
        _ => in_file_units(posterior),
    };
    let order = layout.order();
    // The mean of both: symmetric to the last bit.
    let at = |i: usize, j: usize| covariance[order[i] * dim + order[j]];
    let entry = |i: usize, j: usize| 0.5 * (at(i, j) + at(j, i));
    if let Some(i) = (0..dim).find(|i| !(entry(*i, *i) > 0.0 && entry(*i, *i).is_finite())) {
        let name = &posterior.names()[order[i]];
        return Err(Failure::input(format!("{name} has no variance in this fit, and so the fit no metric")));
    }
    Ok(match args.metric {
        Metric::Diagonal => stan::diagonal_metric(&(0..dim).map(|i| entry(i, i)).collect::<Vec<_>>()),
        Metric::Dense => stan::dense_metric(&(0..dim * dim).map(|k| entry(k / dim, k % dim)).collect::<Vec<_>>(), dim),
    })
}

/// The covariance of coefficients in the units of the file: a Stan program has the columns as they are.
fn in_file_units(posterior: &Posterior) -> Vec<f64> {
    let mut covariance = posterior.approximation().covariance();
    posterior.transforms().unscale_covariance(&mut covariance);
    covariance
}

/// The covariance of `to` of every coordinate, for one that Stan transforms and the fit does not.
fn of_draws(posterior: &Posterior, seed: u64, to: impl Fn(f64) -> f64) -> Vec<f64> {
    let dim = posterior.dim();
    let draws = posterior.sample_z(POOL, seed);
    let points: Vec<Vec<f64>> = draws.view().iter().map(|z| z.iter().map(|x| to(*x)).collect()).collect();
    let n = points.len() as f64;
    let mean: Vec<f64> = (0..dim).map(|i| points.iter().map(|point| point[i]).sum::<f64>() / n).collect();
    let product = |i: usize, j: usize| points.iter().map(|p| (p[i] - mean[i]) * (p[j] - mean[j])).sum::<f64>();
    (0..dim * dim).map(|k| product(k / dim, k % dim) / (n - 1.0)).collect()
}
