//! The first mixture of exponential families: a Gaussian start on a scale without bounds, each Gaussian replaced by the
//! member closest to it.

use std::f64::consts::{PI, TAU};

use super::draft::Draft;
use super::over_modes::{heavy, over_modes};
use super::{Start, agreement, bend, start_in};
use crate::Error;
use crate::block::LogWeights;
use crate::component::Component;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Family};
use crate::random::{Purpose, Stream};
use crate::run::Plan;
use crate::run::fitting::Fitting;
use crate::search::search_by;
use crate::special::normal_quantile::normal_quantile;
use crate::target::{Covariance, FreeScale, Support, Target};
use crate::tuning;

/// A start for a mixture of members of one exponential family, or of two in turn.
///
/// On positive numbers and on (0, 1) the start is that of a diagonal mixture of Gaussians for the logarithm or the
/// logit. Angles have no such scale, on which a Gaussian fit could not spread without end: there the modes and their
/// curvature are all.
pub(super) fn ef_mixture(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Start, Error> {
    let components = family.n_components();
    if !target.about().offers.gradient {
        return Err(Error::Unsupported {
            wanted: format!("`{family}` from values of the log density alone"),
            instead: "its steps need a gradient: give the target one, or put it on all real numbers and fit `mog`"
                .into(),
        });
    }
    let free = FreeScale::new(target);
    let gaussians = if target.about().support == Support::Circle {
        around_the_circle(&free, components, plan, fit)?
    } else {
        // Rows cannot be left out where the prior is evaluated with them.
        let plan = Plan { minibatch: None, ..plan.clone() };
        let started = start_in(&free, Family::mog(components).diagonal(), &plan, fit);
        fit.for_another(started)?
    };
    let mut agreement = gaussians.agreement.clone();
    for mode in &mut agreement.modes {
        mode.log_p -= free.log_jacobian(&mode.centre);
        mode.centre.iter_mut().for_each(|y| *y = free.constrain(*y));
    }
    let gaussian = &gaussians.approximation;
    let kinds = (0..).map_while(|c| family.component(c));
    let members = gaussian.locations().iter().zip(kinds).flat_map(|(block, kind)| {
        let (standard, free) = (kind.standard(), &free);
        let coordinates = block.b().iter().zip(block.scale().precision());
        coordinates.map(move |(mean, precision)| nearest(&standard, free, *mean, 1.0 / precision.sqrt()))
    });
    let q = Approximation::ef_mixture(LogWeights::new(gaussian.weights().log().to_vec())?, members.collect())?;
    Ok(Start { approximation: q, agreement, ..gaussians })
}

/// The member with the expected statistics of z(y), y ~ N(mean, sd²): of all members it has the least KL divergence
/// from it.
fn nearest(standard: &Component, free: &FreeScale<'_>, mean: f64, sd: f64) -> Component {
    let node =
        |i: usize| free.constrain(mean + sd * normal_quantile((i as f64 + 0.5) / tuning::start::QUANTILES as f64));
    let nodes: Vec<f64> = (0..tuning::start::QUANTILES).map(node).collect();
    let average = |f: &dyn Fn(f64) -> f64| nodes.iter().map(|z| f(*z)).sum::<f64>() / tuning::start::QUANTILES as f64;
    let expectation = std::array::from_fn(|j| average(&|z| standard.statistics(z)[j]));
    let first = average(&|z| z);
    let variance = average(&|z| (z - first) * (z - first));
    let found = standard.with_expectation(expectation).or_else(|| standard.with_moments(first, variance));
    found.unwrap_or(*standard)
}

/// Gaussians at the modes of a density of angles.
fn around_the_circle(
    free: &FreeScale<'_>,
    components: usize,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Start, Error> {
    let mut found = search_by(fit.evaluator(free, plan), Covariance::Diagonal, plan.seed)?;
    fit.counts += found.counts;
    // A density of period 2π has every mode many times.
    let wrapped = |y: f64| PI - (PI - y).rem_euclid(TAU);
    found.region.centre.iter_mut().for_each(|y| *y = wrapped(*y));
    let mut modes: Vec<crate::search::Mode> = Vec::new();
    for mut mode in std::mem::take(&mut found.modes) {
        mode.centre.iter_mut().for_each(|y| *y = wrapped(*y));
        let near = |a: &f64, b: &f64| 1.0 - (a - b).cos() < 1e-3;
        match modes.iter_mut().find(|known| known.centre.iter().zip(&mode.centre).all(|(a, b)| near(a, b))) {
            Some(known) => known.found_by += mode.found_by,
            None => modes.push(mode),
        }
    }
    found.modes = modes;
    let several = heavy(&found.modes);
    let approximation = if several.len() > 1 && components > 1 {
        over_modes(several, components, Covariance::Diagonal, plan.seed)?
    } else {
        let gaussian = Draft::gaussian(&found.region, Covariance::Diagonal).finish()?;
        let family = Family::mog(components).diagonal();
        let seed = Stream::open(plan.seed, Purpose::Start, 3, 0).next_u64();
        bend(&mut Evaluator::new(free, fit.interrupt()), &gaussian, family, seed)?
    };
    Ok(Start { approximation, counts: fit.counts, agreement: agreement(&found), contained: None, found: Some(found) })
}
