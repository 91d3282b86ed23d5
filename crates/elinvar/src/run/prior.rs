//! Whether a family can be fitted under the declared prior.

use crate::Error;
use crate::family::Approximation;
use crate::target::{Prior, Support};

/// Refuses a prior without a closed form under this family, or outside its domain, with what to use instead.
pub(super) fn check_prior(q: &Approximation, prior: &Prior) -> Result<(), Error> {
    prior.check(q.dim())?;
    let (family, is_shared) = (q.family(), prior.shared().is_some());
    // A normal prior may be declared on every support but the circle, where it is not periodic, and the simplex, where
    // its normaliser would be another.
    let is_foreign = match family.support() {
        Support::Real => false,
        Support::Circle | Support::Simplex => !prior.is_none(),
        _ => is_shared,
    };
    if is_foreign {
        return Err(Error::Unsupported {
            wanted: format!("this prior, declared, under `{family}`"),
            instead: "evaluate the prior as part of the target".into(),
        });
    }
    if is_shared && family.name() != "student_t" {
        return Err(Error::Unsupported {
            wanted: format!("a t prior that shares w with `{family}`"),
            instead: "use `student_t`, or evaluate the prior as part of the target".into(),
        });
    }
    Ok(())
}
