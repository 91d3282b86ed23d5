//! Which constants a family may have.

use super::{Family, Kind};
use crate::Error;
use crate::law::{Law, MOST_DIRECTIONS};
use crate::target::Covariance;

impl Family {
    /// Whether the constants lie in their domains.
    ///
    /// # Errors
    /// [`Error::Domain`] with the constant that does not.
    pub fn check(&self) -> Result<(), Error> {
        let domain = |parameter, value, reason| Err(Error::Domain { parameter, value, reason });
        match self.kind {
            Kind::Mixed { law } => law.check(),
            Kind::ScaleMixture { law, .. } if !law.is_scale() => Err(Error::Unsupported {
                wanted: format!("`{}` as the law of a random scale", law.name()),
                instead: format!("use one of {}", Law::scale_names().collect::<Vec<_>>().join(", ")),
            }),
            Kind::ScaleMixture { product: true, .. } if self.covariance == Covariance::Full => Err(Error::Unsupported {
                wanted: "a full scale matrix with a random scale per coordinate, which has no natural gradient of this kind,".into(),
                instead: "use a diagonal one, or one scale for all coordinates".into(),
            }),
            Kind::RankK { rank: 0 } => {
                domain("rank", 0.0, "a factor covariance needs at least one column; use `gaussian`")
            }
            Kind::SkewK { directions } | Kind::EmgK { directions } if !(1..=MOST_DIRECTIONS).contains(&directions) => {
                domain("directions", directions as f64, "a family is skewed in one, two or three directions of its own")
            }
            Kind::Mog { components: 0 }
            | Kind::EfMixture { components: 0, .. }
            | Kind::Dirichlet { components: 0 } => {
                domain("components", 0.0, "a mixture needs at least one component")
            }
            Kind::EfMixture { component, other: Some(other), components } => {
                let (of_one, of_other) = (component.standard().support(), other.standard().support());
                if of_one != of_other {
                    return Err(Error::Unsupported {
                        wanted: format!("a mixture of `{}` and `{}`", component.name(), other.name()),
                        instead: "take two families of numbers on the same support, such as gamma and log_normal".into(),
                    });
                }
                if components < 2 {
                    return domain("components", components as f64, "a mixture of two families has a component of each");
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
