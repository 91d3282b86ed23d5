//! The first member of a family: near the mode, as wide as the curvature there, and bent the way the target is.

mod bend;
mod ef_mixture;
mod guess;
mod over_modes;
mod skewness;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

pub use guess::start_at_guess;

pub(super) use bend::bend;
use over_modes::{gaussian_state, heavy, over_modes};

use super::search::{Found, Mode, search_kept};
use super::values::not_from_values;
use super::watch::Watch;
use super::{Counts, Plan, Run, Stop, check_support};
use crate::Error;
use crate::block::{Diagonal, Full, ScaleMatrix};
use crate::evaluate::{Evaluator, Interrupt};
use crate::family::{AnyApproximation, Approximation, Family, Gaussian, Kind, State, by_factors};
use crate::posterior::{Agreement, ModeRecord};
use crate::random::{Purpose, Stream};
use crate::target::{ByDifferences, Covariance, Target, WithPrior};

/// Where a fit begins, with what the search for it found.
#[derive(Clone, Debug)]
pub struct Start {
    /// The first member of the family.
    pub approximation: AnyApproximation,
    /// What it cost.
    pub counts: Counts,
    /// What the searches for modes said.
    pub agreement: Agreement,
}

/// A start for `family` on `target`.
///
/// First the modes are looked for, by climbs from several scaled starts. A Gaussian, one with Kronecker factors included, starts at the mode with the largest mass,
/// with the curvature there; where there is no mode (or a spike without mass), in the best region that a climb has passed. A
/// mixture gives each of several modes its share of the components. Every other start is a short Gaussian fit with the same
/// mean and covariance: mixtures spread their components over it, families with a shift point it along the direction in which
/// the target is most skewed. That fit takes the rule, step sizes and KL bound of the default plan: a start is no place for
/// experiments.
///
/// # Errors
/// As [`Run::new`] and [`Run::step`].
pub fn start(target: &dyn Target, family: Family, plan: &Plan) -> Result<Start, Error> {
    start_watched(target, family, plan, &mut Watch::unkept(&mut |_| ControlFlow::Continue(())))
}

/// [`start`] as a part of a fit; none of its steps is shown.
///
/// # Errors
/// As [`start`], and those of the watch.
pub(super) fn start_watched(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    watch: &mut Watch<'_>,
) -> Result<Start, Error> {
    family.check()?;
    let about = target.about();
    check_support(family, family.support(), about.support)?;
    if !about.offers.gradient && matches!(family.kind, Kind::Auto | Kind::MogAuto | Kind::EfMixture { .. }) {
        return Err(not_from_values(family));
    }
    if let Kind::EfMixture { component, components } = family.kind {
        return ef_mixture::ef_mixture(target, component, components, plan, watch);
    }
    if about.guess.is_some() && !matches!(family.kind, Kind::Auto | Kind::MogAuto) {
        let approximation = start_at_guess(target, family, plan.seed)?;
        return Ok(Start { approximation, counts: Counts::default(), agreement: Agreement::default() });
    }
    let mut covariance = family.covariance;
    if let Kind::Matrix { layout, .. } = family.kind {
        if layout.total() != about.dim {
            let what = "coordinates of the layout of `matrix`";
            return Err(Error::Shape { what, expected: about.dim, found: layout.total() });
        }
        // The factors never see a matrix with all entries, and neither does their start.
        covariance = Covariance::Diagonal;
    }
    let found = match about.offers.gradient {
        true => search_kept(target, covariance, plan.seed, watch.interrupt())?,
        false => search_by_values(target, covariance, plan.seed, watch.interrupt())?,
    };
    let stand_in;
    let target: &dyn Target = if about.prior.shared().is_some() {
        // A Gaussian cannot share w with the prior; one with the prior's covariance will do for a start.
        stand_in = WithPrior::new(target, about.prior.without_mixing(about.dim));
        &stand_in
    } else {
        target
    };
    let (approximation, counts) = match covariance {
        Covariance::Full => start_with::<Full>(target, family, plan, &found, watch)?,
        Covariance::Diagonal => start_with::<Diagonal>(target, family, plan, &found, watch)?,
    };
    Ok(Start { approximation, counts, agreement: agreement(&found) })
}

/// What the searches said, as a record.
fn agreement(found: &Found) -> Agreement {
    let record = |mode: &Mode| ModeRecord {
        centre: mode.centre.clone(),
        log_p: mode.log_p,
        log_mass: Some(mode.log_mass).filter(|mass| mass.is_finite()),
        found_by: mode.found_by,
    };
    let modes = found.modes.iter().map(record).collect();
    Agreement { restarts: Vec::new(), searches: found.searches, modes, unbounded: found.unbounded }
}

/// The search for a target without a gradient, by differences.
fn search_by_values(
    target: &dyn Target,
    covariance: Covariance,
    seed: u64,
    interrupt: Option<&dyn Interrupt>,
) -> Result<Found, Error> {
    let by_differences = ByDifferences::new(target);
    let mut found = search_kept(&by_differences, covariance, seed, interrupt)?;
    found.counts = as_values(found.counts, &by_differences);
    Ok(found)
}

/// What gradients by differences have really cost.
fn as_values(counts: Counts, by_differences: &ByDifferences<'_>) -> Counts {
    let log_density = counts.log_density + by_differences.n_values() * counts.gradient;
    Counts { log_density, gradient: 0, ..counts }
}

fn start_with<S: ScaleMatrix>(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    found: &Found,
    watch: &mut Watch<'_>,
) -> Result<(AnyApproximation, Counts), Error> {
    let gaussian = gaussian_state::<S>(&found.region);
    if let Kind::Matrix { layout, .. } = family.kind {
        let blocks = by_factors(&gaussian.blocks[0], S::COVARIANCE, layout, family.covariance);
        let state = State { family, blocks, ..gaussian };
        return Ok((AnyApproximation::from_state(&state)?, found.counts));
    }
    if matches!(family.kind, Kind::Gaussian | Kind::Auto) {
        return Ok((AnyApproximation::from_state(&gaussian)?, found.counts));
    }
    let modes = heavy(&found.modes);
    let components = match family.kind {
        Kind::Mog { components } => components,
        Kind::MogAuto => modes.len(),
        _ => 1,
    };
    if modes.len() > 1 && components > 1 {
        let state = over_modes::<S>(modes, components, plan.seed)?;
        return Ok((AnyApproximation::from_state(&state)?, found.counts));
    }
    let cautious = Plan::default();
    let short = Plan {
        // The fit that follows must not see the draws from which its start was made.
        seed: Stream::open(plan.seed, Purpose::Start, 3, 0).next_u64(),
        stop: Stop {
            remaining_nats: plan.stop.remaining_nats.max(0.1),
            max_steps: 200.min(plan.stop.max_steps),
            ..plan.stop
        },
        rule: cautious.rule,
        step_size: cautious.step_size,
        max_kl: cautious.max_kl,
        ..plan.clone()
    };
    let mut run = Run::new(target, Gaussian::<S>::from_state(&gaussian)?, &short)?;
    run.evaluator.set_counts(found.counts);
    watch.set_silent(true);
    run.fit_watched(watch)?;
    watch.set_silent(false);
    let mut counts = run.counts();
    if run.evaluator.about().offers.gradient {
        let mut evaluator = Evaluator::new(target, watch.interrupt());
        let approximation = bend(&mut evaluator, run.best(), family, plan.seed)?;
        counts += evaluator.counts();
        return Ok((approximation, counts));
    }
    let by_differences = ByDifferences::new(target);
    let mut evaluator = Evaluator::new(&by_differences, watch.interrupt());
    let approximation = bend(&mut evaluator, run.best(), family, plan.seed)?;
    counts += as_values(evaluator.counts(), &by_differences);
    Ok((approximation, counts))
}
