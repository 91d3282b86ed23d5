//! q(z) = Σ_c π_c Π_i q_{c,i}(z_i): finite mixtures of products of univariate exponential families (mathematics §5).

mod chart;
mod density;
mod draw;
mod gradient;
mod step;

pub use draw::EfMixtureWork;

use super::{
    Approximation, Batch, BlockState, DrawPlan, Family, Kind, State, StepRequest, Taken, finite_mixture as mixture,
};
use crate::Error;
use crate::block::LogWeights;
use crate::component::{Component, ComponentKind};
use crate::estimate::Sampling;
use crate::random::Purpose;
use crate::target::{Contraction, Covariance, Evaluations, Prior, Support};

/// A mixture whose components are products over the coordinates of members of one exponential family.
///
/// A [`BlockState`] of it holds the usual parameters of one component, coordinate after coordinate, in `b`; its `precision` is
/// empty. For Birnbaum–Saunders components each coordinate has a hidden label of its own, which never leaves the component.
///
/// Paper: App. B.5, App. C.
#[derive(Debug, PartialEq)]
pub struct EfMixture {
    weights: LogWeights,
    dim: usize,
    /// Component after component, each with its d coordinates.
    members: Vec<Component>,
    /// Whether η = −ρ with F ∝ 1/ρ², so that the step of a positive rate applies.
    is_rate: bool,
}

impl Clone for EfMixture {
    fn clone(&self) -> Self {
        let Self { weights, dim, members, is_rate } = self;
        Self { weights: weights.clone(), dim: *dim, members: members.clone(), is_rate: *is_rate }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.weights.clone_from(&source.weights);
        (self.dim, self.is_rate) = (source.dim, source.is_rate);
        self.members.clone_from(&source.members);
    }
}

/// Gradient of the bound of an [`EfMixture`].
#[derive(Clone, Debug)]
pub struct EfMixtureGradient {
    /// ∇_η L / π_c for each component, coordinate after coordinate.
    pub natural: Vec<f64>,
    /// E_c\[h\], up to a constant common to all components.
    pub expected_h: Vec<f64>,
}

impl EfMixture {
    /// The mixture with these weights; `members` has the d coordinates of one component after those of the other.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers do not agree, [`Error::Unsupported`] if the members are not of one family.
    pub fn new(weights: LogWeights, members: Vec<Component>) -> Result<Self, Error> {
        let k = weights.len();
        if k == 0 || members.is_empty() || !members.len().is_multiple_of(k) {
            return Err(Error::Shape {
                what: "coordinates of all components",
                expected: k.max(1),
                found: members.len(),
            });
        }
        let kind = members[0].kind();
        if let Some(other) = members.iter().find(|member| member.kind() != kind) {
            return Err(Error::Unsupported {
                wanted: format!("a mixture of `{}` and `{}`", kind.name(), other.kind().name()),
                instead: "give all components one family".into(),
            });
        }
        Ok(Self { weights, dim: members.len() / k, is_rate: step::is_rate(&members[0]), members })
    }

    /// log π.
    pub fn weights(&self) -> &LogWeights {
        &self.weights
    }

    /// K.
    pub fn n_components(&self) -> usize {
        self.weights.len()
    }

    /// Which exponential family.
    pub fn component_kind(&self) -> ComponentKind {
        self.members[0].kind()
    }

    /// The coordinates of component `c`.
    pub fn component(&self, c: usize) -> &[Component] {
        &self.members[c * self.dim..(c + 1) * self.dim]
    }

    /// Number of natural parameters of one coordinate.
    fn n_free(&self) -> usize {
        self.members[0].n_free()
    }

    /// Number of natural parameters of one component.
    fn per_component(&self) -> usize {
        self.dim * self.n_free()
    }
}

impl Approximation for EfMixture {
    type Work = EfMixtureWork;
    type Gradient = EfMixtureGradient;

    fn family(&self) -> Family {
        Family::ef_mixture(self.component_kind(), self.n_components())
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn covariance_kind(&self) -> Covariance {
        Covariance::Diagonal
    }

    fn support(&self) -> Support {
        self.members[0].support()
    }

    fn n_blocks(&self) -> usize {
        self.n_components()
    }

    fn takes_curvature(&self) -> bool {
        false
    }

    fn work(&self, plan: &DrawPlan) -> EfMixtureWork {
        EfMixtureWork::new(self, plan)
    }

    fn batch(&self, plan: &DrawPlan) -> Batch {
        Batch::new(self.dim, self.n_components() * plan.n_draws, 0, 0)
    }

    fn gradient_buffer(&self) -> EfMixtureGradient {
        let k = self.n_components();
        EfMixtureGradient { natural: vec![0.0; k * self.per_component()], expected_h: vec![0.0; k] }
    }

    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut EfMixtureWork, batch: &mut Batch) {
        self.fill(seed, purpose, step, work, batch);
        self.place(work, batch);
    }

    fn weigh(&self, work: &mut EfMixtureWork, batch: &Batch) -> bool {
        work.weigh(batch)
    }

    fn contraction<'w>(&self, work: &'w EfMixtureWork) -> Contraction<'w> {
        match work.plan.sampling {
            Sampling::OwnDraws => Contraction::own(&work.weight, work.plan.n_draws),
            Sampling::Mixture | Sampling::Stratified => Contraction::shared(&work.weight, work.n()),
        }
    }

    fn elbo(&self, log_p: &[f64], prior: &Prior, work: &EfMixtureWork, batch: &Batch) -> (f64, f64) {
        mixture::elbo(log_p, prior, &self.weights, &work.plan, batch)
    }

    fn set_baseline(&self, work: &mut EfMixtureWork, h: f64) {
        work.baseline = h;
    }

    fn gradient(
        &self,
        evaluations: &Evaluations,
        _curvature: &[f64],
        prior: &Prior,
        work: &mut EfMixtureWork,
        batch: &Batch,
        out: &mut EfMixtureGradient,
    ) -> bool {
        self.accumulate(evaluations, prior, work, batch, out);
        out.natural.iter().chain(&out.expected_h).all(|v| v.is_finite())
    }

    /// The weights and all components move from the same old state.
    fn step(&mut self, gradient: &EfMixtureGradient, request: StepRequest, work: &mut EfMixtureWork) -> Taken {
        let (h, next) = (&gradient.expected_h, &mut work.next_weights);
        let (_, kl) = self.weights.advance_by(h, request.mixing_beta, request.max_kl, next);
        let mut taken = Taken::before_blocks(kl);
        for c in 0..self.n_components() {
            let own = self.advance(c, gradient, request, work);
            taken = taken.and(own, self.weights.weight(c));
        }
        taken
    }

    fn add_momentum(
        &self,
        before: &Self,
        ratio: f64,
        _work: &mut EfMixtureWork,
        gradient: &mut EfMixtureGradient,
    ) -> bool {
        self.add_displacement(before, ratio, gradient);
        true
    }

    fn chart_len(&self) -> usize {
        self.natural_len()
    }

    fn chart(&self, out: &mut [f64]) {
        self.write_chart(out);
    }

    fn chart_gradient(&self, gradient: &EfMixtureGradient, _work: &mut EfMixtureWork, out: &mut [f64]) {
        self.write_chart_gradient(gradient, out);
    }

    fn set_chart(&mut self, coordinates: &[f64], work: &mut EfMixtureWork) -> bool {
        self.move_to_chart(coordinates, work)
    }

    fn inner(&self, one: &EfMixtureGradient, two: &EfMixtureGradient, _work: &mut EfMixtureWork) -> f64 {
        self.inner_product(one, two)
    }

    fn natural_len(&self) -> usize {
        self.n_components() * (self.per_component() + 1)
    }

    fn add_natural(&self, _reference: &Self, _offset: &mut [f64], sum: &mut [f64]) {
        let (log_weights, rest) = sum.split_at_mut(self.n_components());
        crate::linalg::axpy(1.0, self.weights.log(), log_weights);
        for (member, sum) in self.members.iter().zip(rest.chunks_exact_mut(self.n_free())) {
            crate::linalg::axpy(1.0, &member.natural()[..sum.len()], sum);
        }
    }

    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (log_weights, rest) = sum.split_at(reference.n_components());
        let members = reference.members.iter().zip(rest.chunks_exact(reference.n_free())).map(|(member, sum)| {
            let mut natural = [0.0; 3];
            natural.iter_mut().zip(sum).for_each(|(eta, sum)| *eta = share * sum);
            member.with_natural(natural)
        });
        let members = members.collect::<Option<Vec<_>>>()?;
        let weights = LogWeights::new(log_weights.iter().map(|w| share * w).collect()).ok()?;
        Self::new(weights, members).ok()
    }

    fn log_density(&self, z: &[f64]) -> f64 {
        crate::special::logistic::log_sum_exp(&self.log_joint(z))
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        self.score_at(z, out);
    }

    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        self.hessian_at(z, out);
    }

    fn mean(&self) -> Vec<f64> {
        self.mean_vector()
    }

    fn covariance(&self) -> Vec<f64> {
        self.covariance_matrix()
    }

    fn entropy(&self) -> Option<f64> {
        let parts = self.members.iter().map(Component::entropy);
        if self.n_components() == 1 { parts.sum() } else { None }
    }

    fn check_prior(&self, prior: &Prior) -> Result<(), Error> {
        density::check_prior(self, prior)
    }

    fn state(&self) -> State {
        let block = |c: usize| BlockState {
            b: self
                .component(c)
                .iter()
                .flat_map(|member| member.parameters().into_iter().take(self.n_free()))
                .collect(),
            precision: Vec::new(),
        };
        State {
            family: self.family(),
            dim: self.dim,
            blocks: (0..self.n_components()).map(block).collect(),
            log_weights: self.weights.log().to_vec(),
        }
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        let Kind::EfMixture { component, components } = state.family.kind else {
            return Err(Error::Unsupported {
                wanted: format!("reading `{}` as `ef_mixture`", state.family),
                instead: "read it as the family it is".into(),
            });
        };
        if components != state.blocks.len() {
            return Err(Error::Shape { what: "components", expected: components, found: state.blocks.len() });
        }
        if state.dim == 0 {
            return Err(Error::Domain { parameter: "dimension", value: 0.0, reason: "a posterior has a coordinate" });
        }
        let standard = component.standard();
        let n_free = standard.n_free();
        // A damaged file may claim any size.
        let expected = state.dim.saturating_mul(n_free);
        let mut members = Vec::new();
        for block in &state.blocks {
            for (what, expected, found) in [
                ("parameters of a component", expected, block.b.len()),
                ("entries of the precision of an exponential-family component", 0, block.precision.len()),
            ] {
                if expected != found {
                    return Err(Error::Shape { what, expected, found });
                }
            }
            for values in block.b.chunks_exact(n_free) {
                let mut parameters = [0.0; 3];
                parameters[..n_free].copy_from_slice(values);
                let reason = "the parameters of a component lie in its domain";
                members.push(standard.with_parameters(parameters).ok_or(Error::Domain {
                    parameter: standard.parameter_names()[0],
                    value: values[0],
                    reason,
                })?);
            }
        }
        Self::new(LogWeights::restore(state.log_weights.clone())?, members)
    }
}
