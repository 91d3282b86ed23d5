//! Whether a mixture is fitted to a pool of past evaluations.

use super::Plan;
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Family, Kind};
use crate::rule::StepSize;
use crate::target::{About, Covariance, Target};
use crate::tuning::pooled::{MOST_COORDINATES, USUAL_COORDINATES};

impl Plan {
    /// Whether a fit of `family`, a mixture with a given number of components or a growing one, goes by a pool of past
    /// evaluations, as the plan asks.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the plan asks for it and it cannot.
    pub(crate) fn goes_by_pool(&self, target: &dyn Target, family: Family) -> Result<bool, Error> {
        if self.curvature != Curvature::Pooled {
            return Ok(false);
        }
        let usual = Plan::default();
        let About { dim, offers, prior, .. } = target.about();
        let refuse = |of: &str, instead: &str| {
            let wanted = format!("curvature `pooled` {of}");
            Err(Error::Unsupported { wanted, instead: instead.into() })
        };
        if !matches!(family.kind, Kind::Mog { .. } | Kind::MogAuto) || family.covariance != Covariance::Full {
            return refuse(&format!("for `{family}`"), "fit a `mog` with full covariances, or leave it out");
        }
        if !offers.gradient || prior.shared().is_some() {
            return refuse("for a target without gradients or with a t prior", "leave it out");
        }
        if dim > MOST_COORDINATES {
            return refuse(&format!("in {dim} coordinates"), "leave it out: it has been measured in up to 128");
        }
        let draws = (self.noise, self.sampling, self.average) == (usual.noise, usual.sampling, usual.average);
        let is_free = self.rule == usual.rule
            && self.step_size == StepSize::Auto
            && self.mixing_step_size == StepSize::Auto
            && self.max_kl.is_some()
            && self.minibatch.is_none();
        if !(draws && is_free) {
            return refuse(
                "with a rule, draws, step size, KL bound or mini-batch of one's own",
                "leave these at their defaults: it chooses its own steps",
            );
        }
        Ok(true)
    }

    /// The plan of a fit of `family` from the library's own start: a mixture goes by a pool where the target has
    /// gradients only and the plan leaves its way to the library.
    pub(crate) fn or_by_pool(&self, target: &dyn Target, family: Family) -> Plan {
        let About { dim, offers, .. } = target.about();
        let has_several = match family.kind {
            Kind::Mog { components } => components > 1,
            Kind::MogAuto => true,
            _ => false,
        };
        let is_usual = self.curvature == Curvature::Auto && !offers.hessian && dim <= USUAL_COORDINATES;
        let by_pool = Plan { curvature: Curvature::Pooled, ..self.clone() };
        let is_possible = has_several && is_usual && matches!(by_pool.goes_by_pool(target, family), Ok(true));
        if is_possible { by_pool } else { self.clone() }
    }

    /// Whether a fit of `family` that residual scores do not bring to its end goes on by a pool: a full `gaussian` from
    /// gradients alone, where the plan leaves its way to the library.
    pub(crate) fn may_go_on_by_pool(&self, target: &dyn Target, family: Family) -> bool {
        let About { dim, offers, prior, .. } = target.about();
        self.curvature == Curvature::Auto
            && family == Family::gaussian()
            && offers.gradient
            && !offers.hessian
            && prior.shared().is_none()
            && dim <= MOST_COORDINATES
    }

    /// The same plan with steps by fresh draws, where it asks for a pool.
    pub(crate) fn without_pool(&self) -> Plan {
        let curvature = if self.curvature == Curvature::Pooled { Curvature::Auto } else { self.curvature };
        Plan { curvature, ..self.clone() }
    }
}
