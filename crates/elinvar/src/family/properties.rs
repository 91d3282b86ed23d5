//! What is true of all members of a family.

use super::{Family, Kind};
use crate::law::Independent;

impl Family {
    /// The law of the numbers that its columns belong to, where each column has one of its own.
    pub(crate) fn independent(&self) -> Option<Independent> {
        match self.kind {
            Kind::RankK { .. } => Some(Independent::Normal),
            Kind::SkewK { .. } => Some(Independent::HalfNormal),
            Kind::EmgK { .. } => Some(Independent::Exponential),
            _ => None,
        }
    }

    /// Whether each of its members is one block of locations and a scale matrix.
    pub(crate) fn is_one_location(&self) -> bool {
        self.independent().is_some() || self.is_mean_variance()
    }

    /// Whether its members are Gaussians mixed over a law of one number, or over one for each coordinate.
    pub(crate) fn is_mean_variance(&self) -> bool {
        match self.kind {
            Kind::Gaussian => true,
            _ => self.law().is_ok_and(|law| law.mixes()),
        }
    }

    /// Whether it is a Gaussian mixed over a law that includes, as a limit or without shift, no mixing at all.
    pub(crate) fn contains_gaussian(&self) -> bool {
        matches!(self.kind, Kind::SkewK { .. } | Kind::EmgK { .. })
            || self.law().is_ok_and(|law| law.is_learned() || law.is_shifted() && law.keeps_scale())
    }

    /// Whether its members have a shift α, or several.
    pub(crate) fn is_shifted(&self) -> bool {
        matches!(self.kind, Kind::SkewK { .. } | Kind::EmgK { .. }) || self.law().is_ok_and(|law| law.is_shifted())
    }

    /// Whether its members are finite mixtures with weights.
    pub(crate) fn is_mixture(&self) -> bool {
        matches!(self.kind, Kind::Mog { .. } | Kind::MogAuto | Kind::EfMixture { .. } | Kind::Dirichlet { .. })
    }
}
