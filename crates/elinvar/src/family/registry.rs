//! Which code belongs to which family: the only place that knows them all.

use super::ef_mixture::{EfMixture, EfMixtureEstimator};
use super::factor::{Factor, FactorEstimator};
use super::gaussian_mixture::{GaussianMixture, GaussianMixtureEstimator};
use super::mean_variance::{MeanVariance, MeanVarianceEstimator};
use super::own::{OwnEstimator, OwnMember};
use super::product::{Product, ProductEstimator};
use super::tensor::{TensorEstimator, TensorProduct};
use super::{Approximation, Density, DrawPlan, Estimator, Kind};

/// A member as its own family reads it.
pub(crate) enum Member<'q> {
    MeanVariance(MeanVariance<'q>),
    GaussianMixture(GaussianMixture<'q>),
    Factor(Factor<'q>),
    Product(Product<'q>),
    EfMixture(EfMixture<'q>),
    Tensor(TensorProduct<'q>),
    Own(OwnMember<'q>),
}

impl<'q> Member<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        match q.family().kind {
            Kind::Mog { .. } | Kind::MogAuto => Self::GaussianMixture(GaussianMixture::of(q)),
            Kind::RankK { .. } | Kind::SkewK { .. } | Kind::EmgK { .. } => Self::Factor(Factor::of(q)),
            Kind::ScaleMixture { product: true, .. } => Self::Product(Product::of(q)),
            Kind::EfMixture { .. } | Kind::Dirichlet { .. } => Self::EfMixture(EfMixture::of(q)),
            Kind::Matrix { .. } => Self::Tensor(TensorProduct::of(q)),
            Kind::OwnFamily { .. } => Self::Own(OwnMember::of(q)),
            _ => Self::MeanVariance(MeanVariance::of(q)),
        }
    }

    /// Its density.
    pub(crate) fn density(&self) -> &(dyn Density + 'q) {
        match self {
            Self::MeanVariance(member) => member,
            Self::GaussianMixture(member) => member,
            Self::Factor(member) => member,
            Self::Product(member) => member,
            Self::EfMixture(member) => member,
            Self::Tensor(member) => member,
            Self::Own(member) => member,
        }
    }

    /// What turns draws as the plan says into gradients.
    pub(crate) fn estimator(&self, q: &Approximation, plan: &DrawPlan) -> Box<dyn Estimator> {
        match self {
            Self::MeanVariance(_) => Box::new(MeanVarianceEstimator::new(q, plan)),
            Self::GaussianMixture(_) => Box::new(GaussianMixtureEstimator::new(q, plan)),
            Self::Factor(_) => Box::new(FactorEstimator::new(q, plan)),
            Self::Product(_) => Box::new(ProductEstimator::new(q, plan)),
            Self::EfMixture(_) => Box::new(EfMixtureEstimator::new(q, plan)),
            Self::Tensor(_) => Box::new(TensorEstimator::new(q, plan)),
            Self::Own(_) => Box::new(OwnEstimator::new(q, plan)),
        }
    }
}
