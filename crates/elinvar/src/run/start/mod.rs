//! The first member of a family: near the mode, as wide as the curvature there, and bent the way the target is.

mod around;
mod bend;
mod dirichlet;
mod draft;
mod ef_mixture;
mod factors;
mod fitted;
mod guess;
mod over_modes;
mod skewness;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

pub use around::{Placement, start_around};
pub use guess::start_at_guess;

pub(super) use bend::bend;
use draft::Draft;
use fitted::{contained, fitted};
use over_modes::{heavy, over_modes};

use super::contained::Contained;
use super::fitting::Fitting;
use super::values::not_from_values;
use super::{Counts, Plan, check_support};
use crate::Error;
use crate::estimate::Curvature;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Family, Kind, by_factors};
use crate::posterior::Agreement;
use crate::search::{Found, Mode, Scouted, scout, search_by};
use crate::special::order;
use crate::target::{Borrowed, ByDifferences, Covariance, Target, WithPrior};
use crate::tuning::start::COORDINATES_OF_FACTORS;

/// Where a fit begins, with what the search for it found.
#[derive(Clone, Debug)]
pub struct Start {
    /// The first member of the family.
    pub approximation: Approximation,
    /// What it cost.
    pub counts: Counts,
    /// What the searches for modes said.
    pub agreement: Agreement,
    /// The Gaussian that it was made from, where the family contains it and its fit has converged.
    pub(super) contained: Option<Contained>,
    /// The modes and the region themselves, for another family on the same target; none where the target has a guess.
    found: Option<Found>,
}

/// A start for `family` on `target`.
///
/// First the modes are looked for, by climbs from several scaled starts. A Gaussian, one with Kronecker factors
/// included, starts at the mode with the largest mass, with the curvature there; where there is no mode (or a spike
/// without mass), in the best region that a climb has passed. A mixture gives each of several modes its share of the
/// components. Every other start is a Gaussian fit with the same mean and covariance: mixtures spread their components
/// over it, families with a shift point it along the direction in which the target is most skewed. That fit goes by
/// residual scores where it can, and takes the rule, step sizes and KL bound of the default plan in any case: a start
/// is no place for experiments.
///
/// Under the rule `printed` there is no search: the start is N(0, I), for a mixture around points drawn from it.
///
/// # Errors
/// As [`Run::new`](crate::run::Run::new) and [`Run::step`](crate::run::Run::step).
pub fn start(target: &dyn Target, family: Family, plan: &Plan) -> Result<Start, Error> {
    start_in(target, family, plan, &mut Fitting::unkept(&mut |_| ControlFlow::Continue(())))
}

/// [`start`] as a part of a fit; none of its steps is shown.
///
/// # Errors
/// As [`start`], and those of the journal.
pub(super) fn start_in(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Start, Error> {
    family.check()?;
    let about = target.about();
    about.check()?;
    check_support(family, family.support(), about.support)?;
    if !about.offers.gradient
        && matches!(family.kind, Kind::Auto | Kind::MogAuto | Kind::EfMixture { .. } | Kind::Dirichlet { .. })
    {
        return Err(not_from_values(family));
    }
    if let Kind::EfMixture { .. } = family.kind {
        return ef_mixture::ef_mixture(target, family, plan, fit);
    }
    if let Kind::Dirichlet { .. } = family.kind {
        return dirichlet::dirichlet(target, family, plan, fit);
    }
    let is_printed = plan.rule.printed().is_some();
    if is_printed && matches!(family.kind, Kind::Auto | Kind::MogAuto) {
        return Err(Error::Unsupported {
            wanted: format!("rule `printed` for `{family}`"),
            instead: "name the family, and the number of components of a mixture: the paper has no search for them"
                .into(),
        });
    }
    let gaussian = Family { kind: Kind::Gaussian, ..family };
    let scouts = matches!(family.kind, Kind::Gaussian | Kind::Auto) && about.prior.shared().is_none();
    let by_gradients = !about.offers.hessian || plan.curvature == Curvature::LeastChange;
    let scouts = scouts && family.covariance == Covariance::Full;
    if scouts && by_gradients && !is_printed && plan.goes_by_residuals(target, gaussian)? {
        let Scouted { approximation, found, counts, .. } = scout(fit.evaluator(target, plan), plan.seed)?;
        fit.counts += counts;
        return Ok(Start {
            approximation,
            counts: fit.counts,
            agreement: agreement(&found),
            contained: None,
            found: Some(found),
        });
    }
    let is_pooled = plan.goes_by_pool(target, family)?;
    if is_pooled && !about.offers.hessian && (about.guess.is_none() || family.kind == Kind::MogAuto) {
        let Scouted { approximation, found, counts, .. } = scout(fit.evaluator(target, plan), plan.seed)?;
        fit.counts += counts;
        let approximation = match over_heavy_modes(&found, family, family.covariance, plan)? {
            Some(over_modes) => over_modes,
            None => bend(&mut Evaluator::new(target, fit.interrupt()), &approximation, family, plan.seed)?,
        };
        let agreement = agreement(&found);
        return Ok(Start { approximation, counts: fit.counts, agreement, contained: None, found: Some(found) });
    }
    if about.guess.is_some() && !matches!(family.kind, Kind::Auto | Kind::MogAuto) {
        let approximation = start_at_guess(target, family, plan.seed)?;
        return Ok(Start::unsearched(approximation, fit.counts));
    }
    if is_printed {
        // Components at one place would stay together.
        let sd = if family.n_components() > 1 { 1.0 } else { 0.0 };
        let approximation = start_around(family, about.dim, Placement { sd, ..Placement::default() }, plan.seed)?;
        return Ok(Start::unsearched(approximation, fit.counts));
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
        true => search_by(fit.evaluator(target, plan), covariance, plan.seed)?,
        false => search_by_values(target, covariance, plan, fit)?,
    };
    fit.counts += found.counts;
    let stand_in;
    let target: &dyn Target = if about.prior.shared().is_some() {
        // A Gaussian cannot share w with the prior; one with the prior's covariance will do for a start.
        stand_in = WithPrior::new(Borrowed(target), about.prior.without_mixing());
        &stand_in
    } else {
        target
    };
    let started = start_with(target, family, covariance, plan, &found, fit);
    let is_another = about.prior.shared().is_some();
    let (approximation, contained) = if is_another { fit.for_another(started)? } else { started? };
    let contained = contained.filter(|_| !is_another);
    Ok(Start { approximation, counts: fit.counts, agreement: agreement(&found), contained, found: Some(found) })
}

impl Start {
    /// A start for which no mode was looked for.
    fn unsearched(approximation: Approximation, counts: Counts) -> Self {
        Self { approximation, counts, agreement: Agreement::default(), contained: None, found: None }
    }

    /// Adds modes that the search has not met.
    pub(super) fn add_modes(&mut self, modes: Vec<Mode>) {
        if let Some(found) = self.found.as_mut().filter(|_| !modes.is_empty()) {
            found.modes.extend(modes);
            order::descending(&mut found.modes, |item| item.log_mass);
            self.agreement = agreement(found);
        }
    }

    /// The start of another family from the same search.
    pub(super) fn of_family(
        &self,
        target: &dyn Target,
        family: Family,
        plan: &Plan,
        fit: &mut Fitting<'_>,
    ) -> Result<Approximation, Error> {
        match &self.found {
            Some(found) => Ok(start_with(target, family, family.covariance, plan, found, fit)?.0),
            None => start_at_guess(target, family, plan.seed),
        }
    }
}

/// What the searches said, as a record.
fn agreement(found: &Found) -> Agreement {
    let modes = found.modes.iter().map(Mode::record).collect();
    Agreement {
        restarts: Vec::new(),
        searches: found.searches,
        modes,
        unbounded: found.unbounded,
        emptying: found.emptying,
    }
}

/// The search for a target without a gradient, by differences.
fn search_by_values(
    target: &dyn Target,
    covariance: Covariance,
    plan: &Plan,
    fit: &Fitting<'_>,
) -> Result<Found, Error> {
    let by_differences = ByDifferences::new(target);
    let mut found = search_by(fit.evaluator(&by_differences, plan), covariance, plan.seed)?;
    found.counts = as_values(found.counts, &by_differences);
    Ok(found)
}

/// What gradients by differences have really cost.
fn as_values(counts: Counts, by_differences: &ByDifferences<'_>) -> Counts {
    let log_density = counts.log_density + by_differences.n_values() * counts.gradient;
    Counts { log_density, gradient: 0, ..counts }
}

/// A mixture over the modes, if there are several that count and several components.
fn over_heavy_modes(
    found: &Found,
    family: Family,
    covariance: Covariance,
    plan: &Plan,
) -> Result<Option<Approximation>, Error> {
    let modes = heavy(&found.modes);
    let components = match family.kind {
        Kind::Mog { components } => components,
        Kind::MogAuto => modes.len(),
        _ => 1,
    };
    let has_several = modes.len() > 1 && components > 1;
    has_several.then(|| over_modes(modes, components, covariance, plan.seed)).transpose()
}

fn start_with(
    target: &dyn Target,
    family: Family,
    covariance: Covariance,
    plan: &Plan,
    found: &Found,
    fit: &mut Fitting<'_>,
) -> Result<(Approximation, Option<Contained>), Error> {
    let gaussian = Draft::gaussian(&found.region, covariance);
    if let Kind::Matrix { layout, .. } = family.kind {
        let (mean, precision) = &gaussian.blocks[0];
        let blocks = by_factors(mean, precision, layout, family.covariance);
        return Ok((Draft { family, blocks, ..gaussian }.finish()?, None));
    }
    if matches!(family.kind, Kind::Gaussian | Kind::Auto) {
        return Ok((gaussian.finish()?, None));
    }
    if let Some(over_modes) = over_heavy_modes(found, family, covariance, plan)? {
        return Ok((over_modes, None));
    }
    if plan.goes_by_pool(target, family)? {
        // The pool sees to what a fit of the Gaussian would have brought.
        let mut evaluator = Evaluator::new(target, fit.interrupt());
        return Ok((bend(&mut evaluator, &gaussian.finish()?, family, plan.seed)?, None));
    }
    let wanted = match family.kind {
        // Factors are turned by far fewer gradients where the whole covariance is known.
        Kind::RankK { .. } if covariance == Covariance::Diagonal && gaussian.dim <= COORDINATES_OF_FACTORS => {
            Draft::gaussian(&found.region, Covariance::Full)
        }
        _ => gaussian,
    };
    let fitted = fitted(target, wanted, (family, covariance), plan, fit)?;
    let contained = contained(&fitted, family, plan, fit)?;
    if target.about().offers.gradient {
        let mut evaluator = Evaluator::new(target, fit.interrupt());
        let bent = bend(&mut evaluator, &fitted.q, family, plan.seed);
        fit.counts += evaluator.counts();
        let approximation = fit.or_member(bent, target, plan, &fitted.q)?;
        return Ok((approximation, contained));
    }
    let by_differences = ByDifferences::new(target);
    let mut evaluator = Evaluator::new(&by_differences, fit.interrupt());
    let bent = bend(&mut evaluator, &fitted.q, family, plan.seed);
    let approximation = fit.or_member(bent, target, plan, &fitted.q)?;
    fit.counts += as_values(evaluator.counts(), &by_differences);
    Ok((approximation, None))
}
