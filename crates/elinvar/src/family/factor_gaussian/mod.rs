//! Gaussian with factor covariance: z | w ~ N(μ + A w, Σ), w ~ N(0, I_k) (mathematics §3.5).

mod factors;
mod gradient;

use factors::{FactorWork, Factors};

use super::{Approximation, Batch, DrawPlan, Family, Kind, State, StepRequest, Taken};
use crate::Error;
use crate::block::{Diagonal, LocationBlock, LocationGradient, Move, ScaleMatrix};
use crate::linalg::axpy;
use crate::random::Purpose;
use crate::rule::{AdamLikeMemory, AdamLikeRequest};
use crate::target::{Contraction, Covariance, Evaluations, Prior};

/// N(μ, Σ + AAᵀ), seen as a mean mixture over k normal factors; usually Σ is diagonal.
///
/// Paper: §4.3.
#[derive(Debug, PartialEq)]
pub struct FactorGaussian<S = Diagonal> {
    block: LocationBlock<S>,
}

impl<S: Clone> Clone for FactorGaussian<S> {
    fn clone(&self) -> Self {
        Self { block: self.block.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.block.clone_from(&source.block);
    }
}

impl<S: ScaleMatrix> FactorGaussian<S> {
    /// The family member with B = [μ, A].
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no column of A.
    pub fn new(block: LocationBlock<S>) -> Result<Self, Error> {
        if block.n_columns() < 2 {
            return Err(Error::Shape { what: "columns of B", expected: 2, found: block.n_columns() });
        }
        Ok(Self { block })
    }

    /// (B, P) with B = [μ, A].
    pub fn block(&self) -> &LocationBlock<S> {
        &self.block
    }

    /// k.
    pub fn rank(&self) -> usize {
        self.block.n_columns() - 1
    }
}

impl<S: ScaleMatrix> Approximation for FactorGaussian<S> {
    type Work = FactorWork;
    type Gradient = LocationGradient;

    fn family(&self) -> Family {
        Family { kind: Kind::RankK { rank: self.rank() }, covariance: S::COVARIANCE }
    }

    fn dim(&self) -> usize {
        self.block.dim()
    }

    fn covariance_kind(&self) -> Covariance {
        S::COVARIANCE
    }

    fn takes_values_alone(&self) -> bool {
        true
    }

    fn n_blocks(&self) -> usize {
        1
    }

    fn work(&self, plan: &DrawPlan) -> FactorWork {
        FactorWork::new(&self.block, plan)
    }

    fn batch(&self, plan: &DrawPlan) -> Batch {
        Batch::new(self.dim(), plan.n_draws, 0, usize::from(plan.curvature.wants_centre()))
    }

    fn gradient_buffer(&self) -> LocationGradient {
        LocationGradient::like(&self.block)
    }

    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut FactorWork, batch: &mut Batch) {
        work.fill_noise(seed, purpose, step);
        self.place(work, batch);
    }

    fn weigh(&self, work: &mut FactorWork, batch: &Batch) -> bool {
        work.weigh(batch)
    }

    fn contraction<'w>(&self, work: &'w FactorWork) -> Contraction<'w> {
        Contraction::shared(&work.weight, work.weight.len())
    }

    fn elbo(&self, log_p: &[f64], prior: &Prior, _work: &FactorWork, batch: &Batch) -> (f64, f64) {
        super::batch::mean_difference(log_p, prior, batch, 0..batch.n)
    }

    fn gradient(
        &self,
        evaluations: &Evaluations,
        curvature: &[f64],
        prior: &Prior,
        work: &mut FactorWork,
        batch: &Batch,
        out: &mut LocationGradient,
    ) -> bool {
        self.accumulate(evaluations, curvature, prior, work, batch, out);
        out.is_finite()
    }

    fn step(&mut self, gradient: &LocationGradient, request: StepRequest, work: &mut FactorWork) -> Taken {
        let wanted = Move { rule: request.rule, beta: request.beta, max_kl: request.max_kl };
        self.block.advance(gradient, &work.identity, &work.identity, wanted, &mut work.location)
    }

    fn add_momentum(&self, before: &Self, ratio: f64, work: &mut FactorWork, gradient: &mut LocationGradient) -> bool {
        self.block.add_momentum(&before.block, ratio, &work.identity, &mut work.location, gradient);
        true
    }

    fn chart_len(&self) -> usize {
        self.block.chart_len()
    }

    fn chart(&self, out: &mut [f64]) {
        self.block.chart(out);
    }

    fn chart_gradient(&self, gradient: &LocationGradient, work: &mut FactorWork, out: &mut [f64]) {
        self.block.chart_gradient(1.0, gradient, &mut work.location, out);
    }

    fn set_chart(&mut self, coordinates: &[f64], work: &mut FactorWork) -> bool {
        self.block.set_chart(coordinates, &mut work.location)
    }

    fn adam_like_memory(&self) -> Option<AdamLikeMemory> {
        (S::COVARIANCE == Covariance::Diagonal).then(|| AdamLikeMemory::new(self.block.b().len()))
    }

    fn start_from_prior(&mut self, prior: &Prior) -> bool {
        self.block.start_from_prior(prior.in_optimum(1.0))
    }

    fn adam_like_step(
        &mut self,
        gradient: &LocationGradient,
        prior: &Prior,
        request: AdamLikeRequest,
        memory: &mut AdamLikeMemory,
        work: &mut FactorWork,
    ) -> Taken {
        let prior = prior.in_optimum(1.0);
        let (identity, location) = (&work.identity, &mut work.location);
        Taken::by_one(self.block.advance_adam_like(gradient, identity, prior, request, memory, location))
    }

    fn inner(&self, one: &LocationGradient, two: &LocationGradient, work: &mut FactorWork) -> f64 {
        self.block.inner(one, two, &work.identity, &mut work.location)
    }

    fn natural_len(&self) -> usize {
        self.block.natural_len()
    }

    fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]) {
        self.block.add_natural(&reference.block, offset, sum);
    }

    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let block = LocationBlock::from_natural(&reference.block, sum, share)?;
        Some(Self { block })
    }

    fn log_density(&self, z: &[f64]) -> f64 {
        let factors = Factors::of(&self.block);
        let (q, _) = factors.quadratic(&self.block, z);
        0.5 * (factors.log_det(&self.block) - q - self.dim() as f64 * std::f64::consts::TAU.ln())
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        let (_, score) = Factors::of(&self.block).quadratic(&self.block, z);
        out.copy_from_slice(&score);
    }

    fn hessian(&self, _z: &[f64], out: &mut [f64]) {
        // −(Σ + AAᵀ)⁻¹ = −P + XXᵀ.
        let d = self.dim();
        let factors = Factors::of(&self.block);
        let precision = self.block.scale().precision();
        out.fill(0.0);
        match S::COVARIANCE {
            Covariance::Full => axpy(-1.0, precision, out),
            Covariance::Diagonal => (0..d).for_each(|i| out[i * d + i] = -precision[i]),
        }
        for x in factors.x.chunks_exact(d) {
            crate::block::Full::add_outer(1.0, x, out);
        }
    }

    fn mean(&self) -> Vec<f64> {
        self.block.column(0).to_vec()
    }

    fn covariance(&self) -> Vec<f64> {
        let d = self.dim();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        for a in self.block.b()[d..].chunks_exact(d) {
            crate::block::Full::add_outer(1.0, a, &mut cov);
        }
        cov
    }

    fn entropy(&self) -> Option<f64> {
        let log_det = Factors::of(&self.block).log_det(&self.block);
        Some(0.5 * (self.dim() as f64 * (1.0 + std::f64::consts::TAU.ln()) - log_det))
    }

    fn state(&self) -> State {
        State::of(self.family(), std::slice::from_ref(&self.block), vec![0.0])
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        match state.family.kind {
            Kind::RankK { .. } => Self::new(state.single(state.family.n_columns())?),
            _ => Err(Error::Unsupported {
                wanted: format!("reading `{}` as `rank_k`", state.family),
                instead: "read it as the family it is".into(),
            }),
        }
    }
}
