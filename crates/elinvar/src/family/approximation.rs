//! A member of a family as plain data.

use serde::{Deserialize, Serialize};

use super::gaussian_mixture::GaussianMixture;
use super::parts::Written;
use super::registry::Member;
use super::{DrawPlan, Estimator, Family, Gradient, Kind, Layout};
use crate::Error;
use crate::block::{Location, LogWeights, Natural, OwnParameters, Scale, Tensor};
use crate::component::Component;
use crate::estimate::Curvature;
use crate::law::Law;
use crate::rule::MatrixUpdate;
use crate::target::{Covariance, Prior, Shape, Support};

/// The blocks of a member: all of one kind.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Blocks {
    /// (B, P) of each component.
    Location(Vec<Location>),
    /// Exponential-family parameters of each component.
    Natural(Vec<Natural>),
    /// W and the precision factors of each group of coordinates.
    Tensor(Vec<Tensor>),
    /// The parameters of a family that somebody has brought.
    Own(OwnParameters),
}

impl Clone for Blocks {
    fn clone(&self) -> Self {
        match self {
            Self::Location(blocks) => Self::Location(blocks.clone()),
            Self::Natural(blocks) => Self::Natural(blocks.clone()),
            Self::Tensor(blocks) => Self::Tensor(blocks.clone()),
            Self::Own(block) => Self::Own(block.clone()),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Location(to), Self::Location(from)) => to.clone_from(from),
            (Self::Natural(to), Self::Natural(from)) => to.clone_from(from),
            (Self::Tensor(to), Self::Tensor(from)) => to.clone_from(from),
            (Self::Own(to), Self::Own(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

/// A member of a family: what files hold, steps move and posteriors carry.
///
/// ```
/// use elinvar::Family;
/// use elinvar::research::family::Approximation;
/// use elinvar::research::target::Covariance;
///
/// let q = Approximation::gaussian(vec![1.0, 2.0], Covariance::Diagonal, vec![4.0, 0.25])?;
/// assert_eq!(q.mean(), [1.0, 2.0]);
/// assert_eq!(q.variances(), [0.25, 4.0]);
/// assert_eq!(q.family(), Family::gaussian().diagonal());
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Approximation {
    pub(super) family: Family,
    pub(super) weights: LogWeights,
    pub(super) blocks: Blocks,
}

impl Clone for Approximation {
    fn clone(&self) -> Self {
        Self { family: self.family, weights: self.weights.clone(), blocks: self.blocks.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.family = source.family;
        self.weights.clone_from(&source.weights);
        self.blocks.clone_from(&source.blocks);
    }
}

impl Approximation {
    /// The member of a family with one component that has these locations and this precision.
    ///
    /// # Errors
    /// [`Error::Shape`] if B has not as many columns as the family, [`Error::Domain`] for a constant outside its
    /// domain, [`Error::Unsupported`] for a family that is not made of locations and one scale matrix.
    pub fn single(family: Family, block: Location) -> Result<Self, Error> {
        let family = family.with_covariance(block.scale().shape().covariance());
        family.check()?;
        if !family.is_one_location() {
            return Err(Error::Unsupported {
                wanted: format!("`{family}` with one location and one scale matrix"),
                instead: "make it of the blocks that it has".into(),
            });
        }
        let (expected, found) = (family.n_columns(), block.n_columns());
        if expected != found {
            return Err(Error::Shape { what: "columns of B", expected, found });
        }
        Ok(Self { family, weights: LogWeights::one(), blocks: Blocks::Location(vec![block]) })
    }

    /// N(μ, P⁻¹); `precision` has d² entries (column-major, symmetric) when full, d when diagonal.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong number of entries, [`Error::NotPositiveDefinite`] otherwise.
    pub fn gaussian(mean: Vec<f64>, covariance: Covariance, precision: Vec<f64>) -> Result<Self, Error> {
        let scale = Scale::from_precision(Shape::new(covariance, mean.len()), precision)?;
        Self::single(Family::gaussian(), Location::new(mean, scale)?)
    }

    /// The mixture of Gaussians with these weights and components, each a block with one column.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers or dimensions do not agree.
    pub fn mixture(weights: LogWeights, components: Vec<Location>) -> Result<Self, Error> {
        let Some(first) = components.first().filter(|_| weights.len() == components.len()) else {
            return Err(Error::Shape { what: "components", expected: weights.len().max(1), found: components.len() });
        };
        let (shape, n) = (first.scale().shape(), components.len());
        for block in &components {
            if block.scale().shape() != shape {
                let (expected, found) = (shape.dim(), block.dim());
                return Err(Error::Shape { what: "dimension of a component", expected, found });
            }
            if block.n_columns() != 1 {
                return Err(Error::Shape { what: "columns of a component's B", expected: 1, found: block.n_columns() });
            }
        }
        let family = Family::mog(n).with_covariance(shape.covariance());
        Ok(Self { family, weights, blocks: Blocks::Location(components) })
    }

    /// The mixture of products of members of one exponential family with these weights, or of two in turn, the
    /// coordinates of one component after those of the other.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers do not agree, [`Error::Unsupported`] if the members are not of one family, or of
    /// two on the same support in turn.
    pub fn ef_mixture(weights: LogWeights, members: Vec<Component>) -> Result<Self, Error> {
        let k = weights.len();
        if k == 0 || members.is_empty() || !members.len().is_multiple_of(k) {
            return Err(Error::Shape {
                what: "coordinates of all components",
                expected: k.max(1),
                found: members.len(),
            });
        }
        let dim = members.len() / k;
        let (kind, second) = (members[0].kind(), members.get(dim).map_or(members[0].kind(), Component::kind));
        let family = Family::ef_mixture_of_two(kind, second, k);
        family.check()?;
        let is_other = |(at, member): &(usize, &Component)| Some(member.kind()) != family.component(at / dim);
        if let Some((_, other)) = members.iter().enumerate().find(is_other) {
            return Err(Error::Unsupported {
                wanted: format!("a mixture of `{}` and `{}`", kind.name(), other.kind().name()),
                instead: "give all components one family, or two in turn".into(),
            });
        }
        let blocks = members.chunks_exact(dim).map(|own| Natural::new(own.to_vec())).collect();
        Ok(Self { family, weights, blocks: Blocks::Natural(blocks) })
    }

    /// The mixture of Dirichlet distributions with these weights and concentrations.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers do not agree, [`Error::Domain`] for a concentration that is not positive.
    pub fn dirichlet(weights: LogWeights, concentrations: Vec<Vec<f64>>) -> Result<Self, Error> {
        let (k, dim) = (concentrations.len(), concentrations.first().map_or(0, Vec::len));
        if k == 0 || k != weights.len() {
            return Err(Error::Shape { what: "components", expected: weights.len().max(1), found: k });
        }
        if dim < 2 {
            return Err(Error::Shape { what: "coordinates of a simplex", expected: 2, found: dim });
        }
        let mut blocks = Vec::with_capacity(k);
        for a in concentrations {
            if a.len() != dim {
                return Err(Error::Shape { what: "dimension of a component", expected: dim, found: a.len() });
            }
            let worst = a.iter().copied().find(|a| !(*a > 0.0 && a.is_finite())).unwrap_or(f64::INFINITY);
            let reason = "concentrations are positive and their sum is finite";
            let domain = Error::Domain { parameter: "concentration", value: worst, reason };
            blocks.push(Natural::dirichlet(a).ok_or(domain)?);
        }
        Ok(Self { family: Family::dirichlet(k), weights, blocks: Blocks::Natural(blocks) })
    }

    /// The product of these tensor-variate Gaussians over consecutive coordinates.
    ///
    /// # Errors
    /// As [`Layout::new`]; [`Error::Unsupported`] if some factors are full and some diagonal.
    pub fn tensors_of(groups: Vec<Tensor>, update: MatrixUpdate) -> Result<Self, Error> {
        let dims = |group: &Tensor| group.factors().iter().map(Scale::dim).collect::<Vec<_>>();
        let layout = Layout::new(&groups.iter().map(dims).collect::<Vec<_>>())?;
        let covariance = groups[0].factors()[0].shape().covariance();
        if groups.iter().flat_map(Tensor::factors).any(|factor| factor.shape().covariance() != covariance) {
            return Err(Error::Unsupported {
                wanted: "full and diagonal factors in one approximation".into(),
                instead: "make all of them full, or all diagonal".into(),
            });
        }
        let family = Family { kind: Kind::Matrix { layout, update }, covariance };
        Ok(Self { family, weights: LogWeights::one(), blocks: Blocks::Tensor(groups) })
    }

    /// The mixture of exponential families of the same kind with other weights and components.
    #[cfg(feature = "theory")]
    pub(crate) fn with_components(&self, weights: LogWeights, components: Vec<Natural>) -> Self {
        Self { family: self.family, weights, blocks: Blocks::Natural(components) }
    }

    /// Which family this is.
    pub fn family(&self) -> Family {
        self.family
    }

    /// d.
    pub fn dim(&self) -> usize {
        match &self.blocks {
            Blocks::Location(blocks) => blocks[0].dim(),
            Blocks::Natural(blocks) => blocks[0].dim(),
            Blocks::Tensor(blocks) => blocks.iter().map(Tensor::size).sum(),
            Blocks::Own(block) => block.dim(),
        }
    }

    /// Where its draws live.
    pub fn support(&self) -> Support {
        self.family.support()
    }

    /// Number of components.
    pub fn n_components(&self) -> usize {
        self.weights.len()
    }

    /// log π; a single 0 for a family with one component.
    pub fn weights(&self) -> &LogWeights {
        &self.weights
    }

    /// The blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// (B, P) of every component; empty for a family that is not made of them.
    pub fn locations(&self) -> &[Location] {
        match &self.blocks {
            Blocks::Location(blocks) => blocks,
            _ => &[],
        }
    }

    /// The parameters of every component of a mixture of exponential families; empty for others.
    pub fn naturals(&self) -> &[Natural] {
        match &self.blocks {
            Blocks::Natural(blocks) => blocks,
            _ => &[],
        }
    }

    /// The groups of a `matrix`; empty for others.
    pub fn tensors(&self) -> &[Tensor] {
        match &self.blocks {
            Blocks::Tensor(blocks) => blocks,
            _ => &[],
        }
    }

    /// The parameters of a member of a family of your own; none for others.
    pub fn own(&self) -> Option<&OwnParameters> {
        match &self.blocks {
            Blocks::Own(block) => Some(block),
            _ => None,
        }
    }

    /// The law of w; a point mass where the family has none.
    pub fn law(&self) -> Law {
        self.family.law().expect("the family was checked when the member was made")
    }

    /// How the factors of a `matrix` move.
    pub(crate) fn update(&self) -> MatrixUpdate {
        match self.family.kind {
            Kind::Matrix { update, .. } => update,
            _ => MatrixUpdate::default(),
        }
    }

    /// What turns draws as the plan says into gradients.
    pub(crate) fn estimator(&self, plan: &DrawPlan) -> Box<dyn Estimator> {
        Member::of(self).estimator(self, plan)
    }

    /// A zero gradient of the right shape.
    pub(crate) fn zero_gradient(&self) -> Gradient {
        let (blocks, n_weights) = match &self.blocks {
            Blocks::Location(blocks) => (blocks.iter().map(Location::gradient).collect::<Vec<_>>(), blocks.len()),
            Blocks::Natural(blocks) => (blocks.iter().map(Natural::gradient).collect(), blocks.len()),
            Blocks::Tensor(blocks) => (blocks.iter().map(Tensor::gradient).collect(), 0),
            Blocks::Own(block) => (vec![block.gradient()], 0),
        };
        let n_weights = if self.family.is_mixture() { n_weights } else { 0 };
        let literal = if self.update() == MatrixUpdate::PaperLiteral { blocks.clone() } else { Vec::new() };
        Gradient { blocks, expected_h: vec![0.0; n_weights], shape: 0.0, literal }
    }

    /// How many numbers hold the contracted curvature of a step.
    pub(crate) fn curvature_len(&self, curvature: Curvature) -> usize {
        match (&self.blocks, curvature) {
            (Blocks::Tensor(blocks), Curvature::ItemGradients | Curvature::SquaredMean) => {
                blocks.iter().map(Tensor::n_entries).sum()
            }
            _ => Shape::new(self.family.covariance, self.dim()).n_entries() * self.n_components(),
        }
    }

    /// log q(z).
    ///
    /// # Panics
    /// If z has another number of coordinates.
    pub fn log_density(&self, z: &[f64]) -> f64 {
        Member::of(self).density().log_density(z)
    }

    /// log π_c + log N(z | μ_c, Σ_c) for every component of a `mog`.
    pub(crate) fn log_joint(&self, z: &[f64]) -> Vec<f64> {
        GaussianMixture::of(self).log_joint(z)
    }

    /// [`Approximation::log_joint`] with memory for two points.
    pub(crate) fn log_joint_into(&self, z: &[f64], memory: &mut [f64], logs: &mut [f64]) {
        GaussianMixture::of(self).log_joint_into(z, memory, logs);
    }

    /// Whether it has as many numbers of each kind as another: what memory for the one can hold of the other.
    pub(crate) fn is_shaped_as(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.blocks) == std::mem::discriminant(&other.blocks)
            && self.family.covariance == other.family.covariance
            && self.dim() == other.dim()
            && self.n_components() == other.n_components()
            && self.natural_len() == other.natural_len()
    }

    /// ∇log q(z).
    pub fn score(&self, z: &[f64], out: &mut [f64]) {
        Member::of(self).density().score(z, out);
    }

    /// ∇²log q(z), a full d × d matrix.
    pub fn hessian(&self, z: &[f64], out: &mut [f64]) {
        Member::of(self).density().hessian(z, out);
    }

    /// E\[z\].
    pub fn mean(&self) -> Vec<f64> {
        Member::of(self).density().mean()
    }

    /// Cov\[z\], a full d × d matrix.
    pub fn covariance(&self) -> Vec<f64> {
        Member::of(self).density().covariance()
    }

    /// Var\[z_i\] of every coordinate.
    pub fn variances(&self) -> Vec<f64> {
        Member::of(self).density().variances()
    }

    /// The entropy where there is a rule for it; `None`: average −log q over draws.
    pub fn entropy(&self) -> Option<f64> {
        Member::of(self).density().entropy()
    }

    /// E\[log prior(z)\] in closed form.
    pub(crate) fn expected_log_prior(&self, prior: &Prior) -> f64 {
        Member::of(self).density().expected_log_prior(prior)
    }

    /// Whether a step needs second-order information; a family that moves by gradients alone says no.
    pub(crate) fn takes_curvature(&self) -> bool {
        Member::of(self).density().takes_curvature()
    }

    /// Whether a gradient can be made of values of log p alone.
    pub(crate) fn takes_values_alone(&self) -> bool {
        Member::of(self).density().takes_values_alone()
    }

    /// How many times ½ gᵀF⁻¹g the bound may still rise.
    pub(crate) fn gain_factor(&self) -> f64 {
        Member::of(self).density().gain_factor()
    }
}
