//! q(z) = Σ_c π_c N(z | μ_c, Σ_c): the finite mixture of Gaussians (mathematics §1).

mod density;
mod draw;
mod gradient;

use draw::MogWork;

use super::{Approximation, Batch, DrawPlan, Family, Kind, State, StepRequest, Taken, finite_mixture};
use crate::Error;
use crate::block::{Full, LocationBlock, LocationGradient, LogWeights, Move, ScaleMatrix};
use crate::estimate::Sampling;
use crate::random::Purpose;
use crate::target::{Contraction, Covariance, Evaluations, Prior};

/// A mixture of Gaussians with weights as normalised logarithms.
///
/// Paper: §4.1, eq. (15), eq. (16), App. B.
#[derive(Debug, PartialEq)]
pub struct MixtureOfGaussians<S = Full> {
    weights: LogWeights,
    components: Vec<LocationBlock<S>>,
}

impl<S: Clone> Clone for MixtureOfGaussians<S> {
    fn clone(&self) -> Self {
        Self { weights: self.weights.clone(), components: self.components.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.weights.clone_from(&source.weights);
        self.components.clone_from(&source.components);
    }
}

/// Gradient of the bound of a mixture.
#[derive(Clone, Debug)]
pub struct MogGradient {
    /// For each component ∇_{μ_c} L / π_c and E_c[∇²h].
    pub components: Vec<LocationGradient>,
    /// E_c\[h\], up to a constant common to all components.
    pub expected_h: Vec<f64>,
}

impl<S: ScaleMatrix> MixtureOfGaussians<S> {
    /// The mixture with these weights and components, each a block with one column.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers or dimensions do not agree.
    pub fn new(weights: LogWeights, components: Vec<LocationBlock<S>>) -> Result<Self, Error> {
        if weights.len() != components.len() || components.is_empty() {
            return Err(Error::Shape { what: "components", expected: weights.len().max(1), found: components.len() });
        }
        let dim = components[0].dim();
        for block in &components {
            if block.dim() != dim {
                return Err(Error::Shape { what: "dimension of a component", expected: dim, found: block.dim() });
            }
            if block.n_columns() != 1 {
                return Err(Error::Shape { what: "columns of a component's B", expected: 1, found: block.n_columns() });
            }
        }
        Ok(Self { weights, components })
    }

    /// log π.
    pub fn weights(&self) -> &LogWeights {
        &self.weights
    }

    /// The components' (μ_c, P_c).
    pub fn components(&self) -> &[LocationBlock<S>] {
        &self.components
    }
}

impl<S: ScaleMatrix> Approximation for MixtureOfGaussians<S> {
    type Work = MogWork;
    type Gradient = MogGradient;

    fn family(&self) -> Family {
        Family { kind: Kind::Mog { components: self.components.len() }, covariance: S::COVARIANCE }
    }

    fn dim(&self) -> usize {
        self.components[0].dim()
    }

    fn covariance_kind(&self) -> Covariance {
        S::COVARIANCE
    }

    fn takes_values_alone(&self) -> bool {
        true
    }

    fn n_blocks(&self) -> usize {
        self.components.len()
    }

    fn work(&self, plan: &DrawPlan) -> MogWork {
        MogWork::new(&self.components, plan)
    }

    fn batch(&self, plan: &DrawPlan) -> Batch {
        let k = self.components.len();
        Batch::new(self.dim(), k * plan.n_draws, 0, if plan.curvature.wants_centre() { k } else { 0 })
    }

    fn gradient_buffer(&self) -> MogGradient {
        MogGradient {
            components: self.components.iter().map(LocationGradient::like).collect(),
            expected_h: vec![0.0; self.components.len()],
        }
    }

    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut MogWork, batch: &mut Batch) {
        self.fill_noise(seed, purpose, step, work);
        self.place(work, batch);
    }

    fn weigh(&self, work: &mut MogWork, batch: &Batch) -> bool {
        self.weigh_draws(work, batch)
    }

    fn contraction<'w>(&self, work: &'w MogWork) -> Contraction<'w> {
        match work.plan.sampling {
            Sampling::OwnDraws => Contraction::own(&work.weight, work.plan.n_draws),
            Sampling::Mixture | Sampling::Stratified => Contraction::shared(&work.weight, work.n),
        }
    }

    fn elbo(&self, log_p: &[f64], prior: &Prior, work: &MogWork, batch: &Batch) -> (f64, f64) {
        finite_mixture::elbo(log_p, prior, &self.weights, &work.plan, batch)
    }

    fn set_baseline(&self, work: &mut MogWork, h: f64) {
        work.baseline = h;
    }

    fn gradient(
        &self,
        evaluations: &Evaluations,
        curvature: &[f64],
        prior: &Prior,
        work: &mut MogWork,
        batch: &Batch,
        out: &mut MogGradient,
    ) -> bool {
        self.accumulate(evaluations, curvature, prior, work, batch, out);
        out.components.iter().all(LocationGradient::is_finite) && out.expected_h.iter().all(|h| h.is_finite())
    }

    /// The weights and all components move from the same old state.
    fn step(&mut self, gradient: &MogGradient, request: StepRequest, work: &mut MogWork) -> Taken {
        let wanted = Move { rule: request.rule, beta: request.beta, max_kl: request.max_kl };
        let (h, next) = (&gradient.expected_h, &mut work.next_weights);
        let (_, kl) = self.weights.advance_by(h, request.mixing_beta, request.max_kl, next);
        let mut taken = Taken::before_blocks(kl);
        for (c, (block, gradient)) in self.components.iter_mut().zip(&gradient.components).enumerate() {
            let own = block.advance(gradient, &[1.0], &[1.0], wanted, &mut work.location);
            taken = taken.and(own, self.weights.weight(c));
        }
        taken
    }

    fn add_momentum(&self, before: &Self, ratio: f64, work: &mut MogWork, gradient: &mut MogGradient) -> bool {
        for ((block, from), gradient) in self.components.iter().zip(&before.components).zip(&mut gradient.components) {
            block.add_momentum(from, ratio, &[1.0], &mut work.location, gradient);
        }
        self.weights.add_momentum(&before.weights, ratio, &mut gradient.expected_h);
        true
    }

    /// Logits of the weights, then the components.
    fn chart_len(&self) -> usize {
        self.components.iter().map(|block| block.chart_len() + 1).sum()
    }

    fn chart(&self, out: &mut [f64]) {
        let (logits, rest) = out.split_at_mut(self.components.len());
        logits.copy_from_slice(self.weights.log());
        let own = self.components[0].chart_len();
        self.components.iter().zip(rest.chunks_exact_mut(own)).for_each(|(block, out)| block.chart(out));
    }

    /// What is stored of component c is its gradient over π_c.
    fn chart_gradient(&self, gradient: &MogGradient, work: &mut MogWork, out: &mut [f64]) {
        let (logits, rest) = out.split_at_mut(self.components.len());
        self.weights.chart_gradient(&gradient.expected_h, logits);
        let own = self.components[0].chart_len();
        for (c, (block, out)) in self.components.iter().zip(rest.chunks_exact_mut(own)).enumerate() {
            block.chart_gradient(self.weights.weight(c), &gradient.components[c], &mut work.location, out);
        }
    }

    fn set_chart(&mut self, coordinates: &[f64], work: &mut MogWork) -> bool {
        let (logits, rest) = coordinates.split_at(self.components.len());
        let own = self.components[0].chart_len();
        let mut blocks = self.components.iter().zip(rest.chunks_exact(own));
        // All or none: each component is tried before the first one moves.
        if !blocks.all(|(block, own)| block.propose_chart(own, &mut work.location)) || !self.weights.set_chart(logits) {
            return false;
        }
        for (block, own) in self.components.iter_mut().zip(rest.chunks_exact(own)) {
            block.set_chart(own, &mut work.location);
        }
        true
    }

    /// The metric of component c is π_c times the Gaussian one, and its gradient π_c times what is stored (mathematics §1.2).
    fn inner(&self, one: &MogGradient, two: &MogGradient, work: &mut MogWork) -> f64 {
        let mut sum = finite_mixture::inner_of_weights(&self.weights, &one.expected_h, &two.expected_h);
        for (c, block) in self.components.iter().enumerate() {
            let inner = block.inner(&one.components[c], &two.components[c], &[1.0], &mut work.location);
            sum += self.weights.weight(c) * inner;
        }
        sum
    }

    fn natural_len(&self) -> usize {
        self.components.iter().map(|block| block.natural_len() + 1).sum()
    }

    fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]) {
        let (log_weights, mut rest) = sum.split_at_mut(self.components.len());
        crate::linalg::axpy(1.0, self.weights.log(), log_weights);
        for (block, from) in self.components.iter().zip(&reference.components) {
            let (own, others) = rest.split_at_mut(block.natural_len());
            block.add_natural(from, offset, own);
            rest = others;
        }
    }

    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (log_weights, mut rest) = sum.split_at(reference.components.len());
        let mut components = Vec::with_capacity(log_weights.len());
        for from in &reference.components {
            let (own, others) = rest.split_at(from.natural_len());
            components.push(LocationBlock::from_natural(from, own, share)?);
            rest = others;
        }
        let weights = LogWeights::new(log_weights.iter().map(|w| share * w).collect()).ok()?;
        Self::new(weights, components).ok()
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
        None
    }

    fn state(&self) -> State {
        State::of(self.family(), &self.components, self.weights.log().to_vec())
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        let Kind::Mog { components } = state.family.kind else {
            return Err(Error::Unsupported {
                wanted: format!("reading `{}` as `mog`", state.family),
                instead: "read it as the family it is".into(),
            });
        };
        if components != state.blocks.len() {
            return Err(Error::Shape { what: "components", expected: components, found: state.blocks.len() });
        }
        let weights = LogWeights::restore(state.log_weights.clone())?;
        Self::new(weights, state.blocks(1)?)
    }
}
