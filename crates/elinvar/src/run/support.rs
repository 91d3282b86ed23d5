//! Whether a family lives where the target does.

use crate::Error;
use crate::component::ComponentKind;
use crate::family::Family;
use crate::target::Support;

/// Refuses a family on another support than the target's, with the families that would fit.
pub(crate) fn check_support(family: Family, of_family: Support, of_target: Support) -> Result<(), Error> {
    if of_family == of_target {
        return Ok(());
    }
    let fits = |name: &&&'static str| {
        ComponentKind::new(name, None).is_ok_and(|component| component.standard().support() == of_target)
    };
    let words: Vec<&str> = ComponentKind::NAMES.iter().filter(fits).copied().collect();
    let instead = match of_target {
        Support::Real => {
            "use a family on all real numbers, such as `gaussian` or `mog`, or declare the support of the target \
                          with `on`"
                .to_string()
        }
        Support::Simplex => "use `dirichlet`, or put the target on all real numbers with `Constrained`".into(),
        _ => format!(
            "use `ef_mixture` with one of the components {}, or put the target on all real numbers with `Constrained`",
            words.join(", ")
        ),
    };
    Err(Error::Unsupported {
        wanted: format!("`{family}`, which lives on {of_family}, for a target on {of_target}"),
        instead,
    })
}
