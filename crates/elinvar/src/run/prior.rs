//! Whether a family can be fitted under the declared prior.

use crate::Error;
use crate::family::Approximation;
use crate::target::{Prior, Support};

/// Refuses a prior without a closed form under this family, or outside its domain, with what to use instead.
pub(super) fn check_prior(q: &Approximation, prior: Prior) -> Result<(), Error> {
    let (parameter, value) = match prior {
        Prior::None => return Ok(()),
        Prior::Gaussian { precision, .. } => ("prior precision", precision),
        Prior::StudentT { precision, a } if precision > 0.0 => ("a of the t prior", a.min(precision)),
        Prior::StudentT { precision, .. } => ("prior precision", precision),
    };
    let family = q.family();
    let evaluated = |wanted: String, instead: &str| Err(Error::Unsupported { wanted, instead: instead.into() });
    if family.support() == Support::Circle || family.support() != Support::Real && !matches!(prior, Prior::Gaussian { .. })
    {
        return evaluated(format!("this prior, declared, under `{family}`"), "evaluate the prior as part of the target");
    }
    if !(value > 0.0 && value.is_finite()) {
        return Err(Error::Domain { parameter, value, reason: "it is a positive number" });
    }
    match prior {
        Prior::StudentT { .. } if family.name() != "student_t" => evaluated(
            format!("a t prior that shares w with `{family}`"),
            "use `student_t`, or evaluate the prior as part of the target",
        ),
        Prior::Gaussian { leading, .. } if leading > q.dim() => {
            Err(Error::Shape { what: "coordinates under the prior", expected: q.dim(), found: leading })
        }
        _ => Ok(()),
    }
}
