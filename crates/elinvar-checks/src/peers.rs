//! What peers are compared with: problems, points at which their log densities are known, and what elinvar gives and
//! costs there, as a file for `peers/run.py`, which runs the peers and writes the page.

use std::path::Path;

use elinvar::model::{Banana, Parametrisation};
use elinvar::run::{Correct, Stop};
use elinvar::target::{Answer, Ask, Target, Want};
use elinvar::{Family, Plan, Posterior};
use serde::Serialize;

use crate::answers::{Known, Outcome, fit};
use crate::chains::long;
use crate::evaluations::problems::best_gaussian;
use crate::gradients_only::GradientsOnly;
use crate::posteriordb;
use crate::problems::hierarchical::eight_schools;
use crate::problems::regressions::{
    LogisticRows, breast_cancer, breast_cancer_rows, generated_logistic, generated_rows, sonar, sonar_rows,
};
use crate::problems::{Moments, Problem, tables};
use crate::threads;

const USAGE: &str = "peers DIR of posteriordb, DIR of tables, FILE [--seeds N] [--only TEXT]";
/// Points at which a log density is told.
const N_POINTS: usize = 6;
/// The number of coefficients of the generated regression; it has five times as many rows.
const GENERATED: usize = 50;

/// A log density at a point.
#[derive(Serialize)]
struct Point {
    z: Vec<f64>,
    log_p: f64,
}

/// A known mean and standard deviation.
#[derive(Serialize)]
struct Parameter {
    name: String,
    mean: f64,
    sd: f64,
}

#[derive(Serialize)]
struct SampledFit {
    gradients: u64,
    looked: u64,
    mean: f64,
    sd_ratio: f64,
    right: bool,
    trusted: bool,
    given: String,
}

/// A posterior whose means and standard deviations are asked for.
#[derive(Serialize)]
struct Sampled {
    name: String,
    dim: usize,
    rows: Option<LogisticRows>,
    points: Vec<Point>,
    parameters: Vec<Parameter>,
    fits: Vec<SampledFit>,
}

#[derive(Serialize)]
struct GaussianFit {
    gradients: u64,
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

/// A posterior whose best Gaussian is asked for.
#[derive(Serialize)]
struct Fitted {
    name: String,
    dim: usize,
    rows: Option<LogisticRows>,
    points: Vec<Point>,
    best: GaussianFit,
    fits: Vec<GaussianFit>,
}

#[derive(Serialize)]
struct Everything {
    seeds: usize,
    sampled: Vec<Sampled>,
    fitted: Vec<Fitted>,
}

/// log p, prior included, at draws of a fit.
fn points(target: &dyn Target, posterior: &Posterior) -> Result<Vec<Point>, String> {
    let draws = posterior.sample_z(N_POINTS, 1);
    let mut out = Answer::new(target.dim(), N_POINTS);
    target.evaluate(&Ask::all(draws.view(), Want::Gradients), &mut out).map_err(|e| e.to_string())?;
    let prior = target.about().prior;
    let at = |(z, log_p): (&[f64], &f64)| Point { z: z.to_vec(), log_p: log_p + prior.log_density(z) };
    Ok(draws.view().iter().zip(out.log_p()).map(at).collect())
}

fn gaussian(target: &dyn Target, seed: u64) -> Result<Posterior, String> {
    let stop = Stop { max_seconds: Some(30.0), ..Stop::default() };
    let plan = Plan { seed, stop, ..Plan::default() };
    elinvar::run::fit(&GradientsOnly(target), Family::gaussian(), &plan).map_err(|e| e.to_string())
}

fn told(posterior: &Posterior) -> GaussianFit {
    let q = posterior.approximation();
    GaussianFit { gradients: posterior.counts().gradient, mean: q.mean(), covariance: q.covariance() }
}

fn sampled(known: Known, rows: Option<LogisticRows>, seeds: usize) -> Result<Sampled, String> {
    let fits: Vec<Outcome> = threads::for_each(seeds, |i| fit(&known, true, Correct::WhereNeeded, 1 + i as u64))
        .into_iter()
        .collect::<Result<_, _>>()?;
    let told = |fit: &Outcome| SampledFit {
        gradients: fit.gradients,
        looked: fit.looked,
        mean: fit.errors.mean,
        sd_ratio: fit.errors.sd_ratio,
        right: fit.errors.good(),
        trusted: fit.trusted,
        given: fit.given.clone(),
    };
    let target = known.target.as_ref();
    let printed = target.about().parameters;
    // What the reference has in another form than the target is no part of the comparison.
    let names = known.parameters.unwrap_or_else(|| target.about().names);
    let parameters = names.iter().zip(known.moments.mean.iter().zip(&known.moments.sd));
    let is_coordinates = rows.is_some();
    let parameters = parameters.filter(|(name, _)| is_coordinates || printed.contains(name));
    Ok(Sampled {
        dim: target.dim(),
        rows,
        points: points(target, &gaussian(target, 1)?)?,
        parameters: parameters
            .map(|(name, (mean, sd))| Parameter { name: name.clone(), mean: *mean, sd: *sd })
            .collect(),
        fits: fits.iter().map(told).collect(),
        name: known.name,
    })
}

fn fitted(name: &str, target: Box<dyn Target>, rows: Option<LogisticRows>, seeds: usize) -> Result<Fitted, String> {
    let target = target.as_ref();
    let (best, _) = best_gaussian(target)?;
    let fits = (1..=seeds as u64).map(|seed| Ok(told(&gaussian(target, seed)?))).collect::<Result<_, String>>()?;
    let points = points(target, &best)?;
    Ok(Fitted { name: name.into(), dim: target.dim(), rows, points, best: told(&best), fits })
}

/// The eight schools with standardised effects: those are known by quadrature, where the collection has θ.
fn non_centred(collection: &Path) -> Result<Known, String> {
    let exact = eight_schools(Parametrisation::NonCentred);
    let (target, reference) = posteriordb::with_reference(collection, posteriordb::POSTERIORS[0])?;
    let Moments { mut mean, mut sd } = exact.moments.ok_or("the moments of the eight schools are known")?;
    let names = target.about().parameters;
    for (k, name) in names.iter().enumerate() {
        if let Some(at) = reference.names.iter().position(|other| other == name) {
            (mean[k], sd[k]) = (reference.mean[at], reference.sd[at]);
        }
    }
    Ok(Known { name: exact.name, target, moments: Moments { mean, sd }, parameters: Some(names) })
}

/// The same with effects as they are; the collection writes `θ[j]` where the library writes θj.
fn centred(collection: &Path) -> Result<Known, String> {
    let (_, reference) = posteriordb::with_reference(collection, posteriordb::POSTERIORS[0])?;
    let names = reference.names.iter().map(|name| name.replace(['[', ']'], "")).collect();
    let Problem { name, target, .. } = eight_schools(Parametrisation::Centred);
    Ok(Known { name, target, moments: Moments { mean: reference.mean, sd: reference.sd }, parameters: Some(names) })
}

/// A regression whose coordinates are its parameters.
fn regression(problem: Problem) -> Result<Known, String> {
    let moments = problem.moments.clone().map_or_else(|| long(&problem), Ok)?;
    Ok(Known { name: problem.name, target: problem.target, moments, parameters: None })
}

fn all_sampled(collection: &Path, wanted: &dyn Fn(&str) -> bool, seeds: usize) -> Result<Vec<Sampled>, String> {
    let mut all = Vec::new();
    for name in posteriordb::POSTERIORS.into_iter().skip(1).filter(|name| wanted(name)) {
        let (target, reference) = posteriordb::with_reference(collection, name)?;
        let moments = Moments { mean: reference.mean, sd: reference.sd };
        let known = Known { name: name.into(), target, moments, parameters: Some(reference.names) };
        all.push(sampled(known, None, seeds)?);
    }
    if wanted("eight schools") {
        all.push(sampled(non_centred(collection)?, None, seeds)?);
        all.push(sampled(centred(collection)?, None, seeds)?);
    }
    if wanted("Sonar") {
        all.push(sampled(regression(sonar())?, Some(sonar_rows()), seeds)?);
    }
    let (n, d) = (5 * GENERATED, GENERATED);
    let name = format!("logistic d = {d}");
    if wanted(&name) {
        let target = Box::new(generated_logistic(n, d, 1.0, 11));
        let known = regression(Problem { name, target, log_normaliser: None, moments: None })?;
        all.push(sampled(known, Some(generated_rows(n, d, 1.0, 11)), seeds)?);
    }
    Ok(all)
}

fn all_fitted(
    collection: &Path,
    folder: &Path,
    wanted: &dyn Fn(&str) -> bool,
    seeds: usize,
) -> Result<Vec<Fitted>, String> {
    let mut all = Vec::new();
    let mut add = |name: &str, target: &dyn Fn() -> Result<Box<dyn Target>, String>, rows: Option<LogisticRows>| {
        if wanted(name) {
            all.push(fitted(name, target()?, rows, seeds)?);
        }
        Ok::<(), String>(())
    };
    add("Breast-Cancer", &|| Ok(breast_cancer().target), Some(breast_cancer_rows()))?;
    add("Sonar", &|| Ok(sonar().target), Some(sonar_rows()))?;
    add("kidiq-kidscore_momiq", &|| posteriordb::target(collection, "kidiq-kidscore_momiq"), None)?;
    for (name, read) in tables::NAMES {
        add(name, &|| read(folder), None)?;
    }
    add("banana", &|| Ok(Box::new(Banana::default())), None)?;
    Ok(all)
}

/// `peers DIR DIR FILE [--seeds N] [--only TEXT]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (mut given, mut seeds, mut only) = (Vec::new(), 5, String::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().ok_or_else(|| format!("{word} needs a value: {USAGE}"));
        match word.as_str() {
            "--seeds" => seeds = value()?.parse().map_err(|_| format!("--seeds is a number: {USAGE}"))?,
            "--only" => only = value()?,
            word => given.push(Path::new(word)),
        }
    }
    let [collection, folder, file] = given[..] else { return Err(USAGE.into()) };
    let wanted = |name: &str| name.contains(&only);
    let sampled = all_sampled(collection, &wanted, seeds)?;
    let fitted = all_fitted(collection, folder, &wanted, seeds)?;
    let text = serde_json::to_string(&Everything { seeds, sampled, fitted }).map_err(|e| e.to_string())?;
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
