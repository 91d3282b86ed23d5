//! Whether a mixture is fitted to a pool of past evaluations.

use super::Plan;
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Family, Kind};
use crate::rule::StepSize;
use crate::target::{About, Covariance, Target};
use crate::tuning::pooled::MOST_COORDINATES;

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

    /// The same plan with steps by fresh draws, where it asks for a pool.
    pub(crate) fn without_pool(&self) -> Plan {
        let curvature = if self.curvature == Curvature::Pooled { Curvature::Auto } else { self.curvature };
        Plan { curvature, ..self.clone() }
    }
}
