//! Names of families in the tables.

use elinvar::Family;
use elinvar::family::Kind;
use elinvar::target::Covariance;

/// The family as the tables name it, with its constants.
pub(crate) fn label(family: Family) -> String {
    let name = match family.kind {
        Kind::Mog { components } => format!("mog {components}"),
        Kind::MogAuto => "mog auto".to_string(),
        Kind::Mixed { law } => match law.constants().next() {
            Some((constant, _)) if law.is_learned() => {
                format!("{}, {} learned", law.name(), if constant == "lambda" { "λ" } else { constant })
            }
            Some((_, value)) => format!("{} {value}", law.name()),
            None => law.name().to_string(),
        },
        Kind::RankK { rank: n } | Kind::SkewK { directions: n } | Kind::EmgK { directions: n } => {
            format!("{} {n}", family.name())
        }
        Kind::ScaleMixture { law, product: true } => return format!("scale_mixture {law}, product"),
        Kind::ScaleMixture { law, .. } => format!("scale_mixture {law}"),
        Kind::Matrix { layout, .. } => {
            let group = |lengths: &[u32]| lengths.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
            format!("matrix {}", layout.groups().map(group).collect::<Vec<_>>().join(", "))
        }
        Kind::EfMixture { component, other, components } => {
            let other = other.map_or(String::new(), |other| format!(" and {}", other.name()));
            format!("{} of {components} {}{other}", family.name(), component.name())
        }
        _ => family.name().to_string(),
    };
    let diagonal = family.covariance == Covariance::Diagonal
        && !matches!(family.kind, Kind::RankK { .. } | Kind::EfMixture { .. });
    if diagonal { format!("{name}, diagonal") } else { name }
}
