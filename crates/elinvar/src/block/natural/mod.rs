//! Natural parameters of one component of a mixture of exponential families (mathematics §5): a product of univariate
//! members, or one Dirichlet distribution over all coordinates.

mod dirichlet;
mod draws;
mod product;
#[cfg(feature = "theory")]
mod whole;

pub(crate) use dirichlet::Dirichlet;
use product::Product;

use super::gradient::BlockGradient;
use super::location::Move;
use super::printed::Outside;
use crate::component::Component;
use crate::rule::{Taken, take};

/// Divergence, in nats per coordinate, beyond which a step is too long whatever was asked for: a rate that is
/// multiplied by 20 is about there. Farther out the next draws overflow.
const LARGEST_DIVERGENCE: f64 = 20.0;

/// One component: a member of an exponential family for each coordinate, all of one family, or a law of all coordinates
/// together.
#[derive(Debug, PartialEq)]
pub struct Natural {
    pub(super) law: Joint,
}

/// What joins the coordinates.
#[derive(Debug, PartialEq)]
pub(super) enum Joint {
    Product(Product),
    Dirichlet(Dirichlet),
}

impl Clone for Natural {
    fn clone(&self) -> Self {
        let law = match &self.law {
            Joint::Product(law) => Joint::Product(law.clone()),
            Joint::Dirichlet(law) => Joint::Dirichlet(law.clone()),
        };
        Self { law }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        match (&mut self.law, &source.law) {
            (Joint::Product(to), Joint::Product(from)) => to.clone_from(from),
            (Joint::Dirichlet(to), Joint::Dirichlet(from)) => to.clone_from(from),
            _ => *self = source.clone(),
        }
    }
}

/// Memory for the step of a block of natural parameters.
#[derive(Debug)]
pub(crate) struct NaturalScratch {
    /// F⁻¹g.
    pub(super) direction: Vec<f64>,
    /// The component after a step.
    pub(super) moved: Natural,
}

impl NaturalScratch {
    pub(crate) fn new(block: &Natural) -> Self {
        Self { direction: vec![0.0; block.natural_len()], moved: block.clone() }
    }
}

/// Calls a method that both laws have.
macro_rules! of_either {
    ($self_:expr, $law:ident => $body:expr) => {
        match &$self_.law {
            Joint::Product($law) => $body,
            Joint::Dirichlet($law) => $body,
        }
    };
}

/// Calls a method with the law of another component, which is of the same kind.
macro_rules! with_other {
    ($self_:expr, $other:expr, $law:ident, $its:ident => $body:expr) => {
        match (&$self_.law, $other) {
            (Joint::Product($law), Joint::Product($its)) => $body,
            (Joint::Dirichlet($law), Joint::Dirichlet($its)) => $body,
            _ => unreachable!("the components of a mixture are alike"),
        }
    };
}

impl Natural {
    /// The product of these members, of which there is at least one.
    pub(crate) fn new(coordinates: Vec<Component>) -> Self {
        Self { law: Joint::Product(Product::new(coordinates)) }
    }

    /// The Dirichlet distribution with these concentrations, if there are two or more and all are positive and finite.
    pub(crate) fn dirichlet(concentrations: Vec<f64>) -> Option<Self> {
        Some(Self { law: Joint::Dirichlet(Dirichlet::new(concentrations)?) })
    }

    /// The Dirichlet distribution with these E[log z_i], if there is one.
    pub(crate) fn dirichlet_with_expectation(m: &[f64]) -> Option<Self> {
        Some(Self { law: Joint::Dirichlet(Dirichlet::with_expectation(m)?) })
    }

    /// The member of each coordinate of a product; none of a law of all coordinates together.
    pub fn coordinates(&self) -> &[Component] {
        match &self.law {
            Joint::Product(law) => &law.coordinates,
            Joint::Dirichlet(_) => &[],
        }
    }

    /// The concentrations a of a Dirichlet distribution; none of a product.
    pub fn concentrations(&self) -> &[f64] {
        match &self.law {
            Joint::Product(_) => &[],
            Joint::Dirichlet(law) => law.concentrations(),
        }
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        match &self.law {
            Joint::Product(law) => law.coordinates.len(),
            Joint::Dirichlet(law) => law.concentrations().len(),
        }
    }

    /// Number of natural parameters of one coordinate.
    pub(crate) fn n_free(&self) -> usize {
        self.natural_len() / self.dim()
    }

    /// A zero gradient with the shape of the block.
    pub(crate) fn gradient(&self) -> BlockGradient {
        BlockGradient::zeros(self.natural_len(), 0)
    }

    /// Number of natural parameters.
    pub(crate) fn natural_len(&self) -> usize {
        of_either!(self, law => law.natural_len())
    }

    /// η ← η + βF⁻¹g, halved until every coordinate stays in its domain and shortened to the KL bound where there is
    /// one. Returns the β taken and the divergence.
    ///
    /// Under [`Rule::Retraction`](crate::rule::Rule::Retraction) a rate ρ = −η with F ∝ 1/ρ² moves to ρ + βδ +
    /// β²δ²/(2ρ), which is positive for every β (mathematics §10.1); other parameters take the plain step under both
    /// rules.
    ///
    /// Paper: §4.1, App. B.5, App. C.
    pub(crate) fn advance(&mut self, gradient: &BlockGradient, wanted: Move, scratch: &mut NaturalScratch) -> Taken {
        self.raise(gradient, &mut scratch.direction);
        if !scratch.direction.iter().all(|v| v.is_finite()) {
            return Taken::nowhere();
        }
        let NaturalScratch { direction, moved } = scratch;
        let taken = take(
            wanted.beta,
            wanted.max_kl,
            |beta| with_other!(self, &mut moved.law, law, moved => law.attempt(wanted.rule, beta, direction, moved)),
        );
        let Some((beta, kl)) = taken else { return Taken::nowhere() };
        self.clone_from(&scratch.moved);
        Taken { kl: Some(kl), ..Taken::by_one(beta) }
    }

    /// Writes F⁻¹g.
    pub(super) fn raise(&self, gradient: &BlockGradient, direction: &mut [f64]) {
        of_either!(self, law => law.raise(gradient, direction));
    }

    /// Writes the component with natural parameters η + β `direction` as printed; where there is none, the quantity
    /// that has no such value.
    pub(super) fn displace(&self, beta: f64, scratch: &mut NaturalScratch) -> Result<(), Outside> {
        let NaturalScratch { direction, moved } = scratch;
        with_other!(self, &mut moved.law, law, moved => law.displace(beta, direction, moved))
            .map_err(|value| Outside { what: "a natural parameter", value })
    }

    /// Adds `weight` times g₁ᵀF⁻¹g₂ to `sum`.
    pub(crate) fn add_inner(&self, weight: f64, one: &BlockGradient, two: &BlockGradient, sum: &mut f64) {
        of_either!(self, law => law.add_inner(weight, one, two, sum));
    }

    /// Adds `ratio` times F(η − η_before) to the gradient (mathematics §7.1).
    pub(crate) fn add_momentum(&self, before: &Self, ratio: f64, gradient: &mut BlockGradient) {
        with_other!(self, &before.law, law, before => law.add_momentum(before, ratio, gradient));
    }

    /// sum += η.
    pub(crate) fn add_natural(&self, sum: &mut [f64]) {
        of_either!(self, law => law.add_natural(sum));
    }

    /// The block with `share` times these sums as natural parameters, if it exists.
    pub(crate) fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        Some(match &reference.law {
            Joint::Product(law) => Self { law: Joint::Product(Product::from_natural(law, sum, share)?) },
            Joint::Dirichlet(_) => Self::dirichlet(sum.iter().map(|sum| share * sum).collect())?,
        })
    }

    /// Writes the free coordinates (mathematics §9.4); there are as many as natural parameters.
    pub(crate) fn chart(&self, out: &mut [f64]) {
        of_either!(self, law => law.chart(out));
    }

    /// Writes `weight` times (∂η/∂chart)ᵀ∇_ηL.
    pub(crate) fn chart_gradient(&self, weight: f64, gradient: &BlockGradient, out: &mut [f64]) {
        of_either!(self, law => law.chart_gradient(weight, gradient, out));
    }

    /// Writes the component with these coordinates to the scratch; false if it cannot be represented.
    pub(crate) fn propose_chart(&self, coordinates: &[f64], scratch: &mut NaturalScratch) -> bool {
        with_other!(self, &mut scratch.moved.law, law, moved => law.propose_chart(coordinates, moved))
    }

    /// Moves to what [`Natural::propose_chart`] or [`Natural::displace`] has found.
    pub(crate) fn accept(&mut self, scratch: &NaturalScratch) {
        self.clone_from(&scratch.moved);
    }
}
