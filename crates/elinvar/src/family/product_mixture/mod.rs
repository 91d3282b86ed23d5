//! Independent coordinates with a random scale each: z_i = μ_i + √s_i σ_i ε_i (mathematics §10.6).

mod draw;
mod gradient;

use draw::ProductWork;

use super::{Approximation, Batch, DrawPlan, Family, Kind, State, StepRequest, Taken};
use crate::Error;
use crate::block::{Diagonal, LocationBlock, LocationGradient, Move, ScaleMatrix};
use crate::law::{Conditional, Forms, MixingLaw, ScaleLaw};
use crate::random::Purpose;
use crate::target::{Contraction, Covariance, Evaluations, Prior};

/// A product of scale mixtures of one dimension with one law; it moves by gradients alone.
///
/// With a full matrix and a scale per coordinate the family would be curved, and outside the theory. The per-coordinate Price
/// weights s_i cannot be contracted with Hessians of the target, so that the curvature is p_i E[(z_i − μ_i) ∂_i f].
///
/// Paper: §4.2.
#[derive(Debug, PartialEq)]
pub struct ProductMixture {
    law: ScaleLaw,
    block: LocationBlock<Diagonal>,
}

impl Clone for ProductMixture {
    fn clone(&self) -> Self {
        Self { law: self.law, block: self.block.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.law = source.law;
        self.block.clone_from(&source.block);
    }
}

impl ProductMixture {
    /// The product with this law and block (μ, P).
    ///
    /// # Errors
    /// [`Error::Shape`] unless the block has one column.
    pub fn new(law: ScaleLaw, block: LocationBlock<Diagonal>) -> Result<Self, Error> {
        if block.n_columns() != 1 {
            return Err(Error::Shape { what: "columns of B", expected: 1, found: block.n_columns() });
        }
        Ok(Self { law, block })
    }

    /// The law of the scales.
    pub fn law(&self) -> &ScaleLaw {
        &self.law
    }

    /// (μ, P).
    pub fn block(&self) -> &LocationBlock<Diagonal> {
        &self.block
    }

    /// z_i − μ_i, p_i and the moments of s_i given z_i.
    fn coordinates<'a>(&'a self, z: &'a [f64]) -> impl Iterator<Item = (f64, f64, Conditional)> + 'a {
        assert_eq!(z.len(), self.block.dim(), "a point has {} coordinates", self.block.dim());
        z.iter().zip(self.block.column(0)).zip(self.block.scale().precision()).map(|((z, mu), p)| {
            let r = z - mu;
            (r, *p, self.law.conditional(Forms { dim: 1, q: p * r * r, ..Forms::default() }))
        })
    }

    fn omega(&self) -> (f64, f64) {
        let omega = self.law.moments().inv_s;
        (omega, omega.recip())
    }
}

impl Approximation for ProductMixture {
    type Work = ProductWork;
    type Gradient = LocationGradient;

    fn family(&self) -> Family {
        Family { kind: Kind::ScaleMixture { law: self.law, product: true }, covariance: Covariance::Diagonal }
    }

    fn dim(&self) -> usize {
        self.block.dim()
    }

    fn covariance_kind(&self) -> Covariance {
        Covariance::Diagonal
    }

    fn n_blocks(&self) -> usize {
        1
    }

    fn work(&self, plan: &DrawPlan) -> ProductWork {
        ProductWork::new(&self.block, plan)
    }

    fn batch(&self, plan: &DrawPlan) -> Batch {
        Batch::new(self.block.dim(), plan.n_draws, 0, 0)
    }

    fn gradient_buffer(&self) -> LocationGradient {
        LocationGradient::like(&self.block)
    }

    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut ProductWork, batch: &mut Batch) {
        self.fill_noise(seed, purpose, step, work);
        self.place(work, batch);
    }

    fn weigh(&self, work: &mut ProductWork, batch: &Batch) -> bool {
        let n_kept = batch.n_kept();
        for (weight, kept) in work.weight.iter_mut().zip(&batch.kept) {
            *weight = if *kept { 1.0 / n_kept as f64 } else { 0.0 };
        }
        n_kept > 0
    }

    fn contraction<'w>(&self, work: &'w ProductWork) -> Contraction<'w> {
        Contraction::shared(&work.weight, work.weight.len())
    }

    fn takes_curvature(&self) -> bool {
        false
    }

    fn elbo(&self, log_p: &[f64], prior: &Prior, _work: &ProductWork, batch: &Batch) -> (f64, f64) {
        super::batch::mean_difference(log_p, prior, batch, 0..batch.n)
    }

    fn gradient(
        &self,
        evaluations: &Evaluations,
        _curvature: &[f64],
        prior: &Prior,
        work: &mut ProductWork,
        batch: &Batch,
        out: &mut LocationGradient,
    ) -> bool {
        self.accumulate(evaluations, prior, work, batch, out);
        out.is_finite()
    }

    fn step(&mut self, gradient: &LocationGradient, request: StepRequest, work: &mut ProductWork) -> Taken {
        let (omega, omega_inv) = self.omega();
        let wanted = Move { rule: request.rule, beta: request.beta, max_kl: request.max_kl };
        self.block.advance(gradient, &[omega], &[omega_inv], wanted, &mut work.location)
    }

    fn add_momentum(&self, before: &Self, ratio: f64, work: &mut ProductWork, gradient: &mut LocationGradient) -> bool {
        self.block.add_momentum(&before.block, ratio, &[self.omega().0], &mut work.location, gradient);
        true
    }

    fn chart_len(&self) -> usize {
        self.block.chart_len()
    }

    fn chart(&self, out: &mut [f64]) {
        self.block.chart(out);
    }

    fn chart_gradient(&self, gradient: &LocationGradient, work: &mut ProductWork, out: &mut [f64]) {
        self.block.chart_gradient(1.0, gradient, &mut work.location, out);
    }

    fn set_chart(&mut self, coordinates: &[f64], work: &mut ProductWork) -> bool {
        self.block.set_chart(coordinates, &mut work.location)
    }

    fn inner(&self, one: &LocationGradient, two: &LocationGradient, work: &mut ProductWork) -> f64 {
        self.block.inner(one, two, &[self.omega().1], &mut work.location)
    }

    fn natural_len(&self) -> usize {
        self.block.natural_len()
    }

    fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]) {
        self.block.add_natural(&reference.block, offset, sum);
    }

    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        Some(Self { block: LocationBlock::from_natural(&reference.block, sum, share)?, law: reference.law })
    }

    fn log_density(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.block.dim(), "a point has {} coordinates", self.block.dim());
        let log_q: f64 = z
            .iter()
            .zip(self.block.column(0))
            .zip(self.block.scale().precision())
            .map(|((z, mu), p)| self.law.log_marginal(Forms { dim: 1, q: p * (z - mu) * (z - mu), ..Forms::default() }))
            .sum();
        log_q + 0.5 * self.block.scale().log_det_precision()
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        for (out, (r, p, c)) in out.iter_mut().zip(self.coordinates(z)) {
            *out = -c.inv_s * p * r;
        }
    }

    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (out, (r, p, c)) in out.iter_mut().step_by(self.dim() + 1).zip(self.coordinates(z)) {
            *out = -c.inv_s * p + c.var_inv_s * p * p * r * r;
        }
    }

    fn mean(&self) -> Vec<f64> {
        self.block.column(0).to_vec()
    }

    fn covariance(&self) -> Vec<f64> {
        let d = self.dim();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        let s = self.law.moments().s;
        cov.iter_mut().for_each(|v| *v *= s);
        cov
    }

    fn entropy(&self) -> Option<f64> {
        let one = self.law.entropy(0.0, 1)?;
        Some(self.dim() as f64 * one.value - 0.5 * self.block.scale().log_det_precision())
    }

    /// One block: μ and the diagonal of P.
    fn state(&self) -> State {
        State::of(self.family(), std::slice::from_ref(&self.block), vec![0.0])
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        state.family.check()?;
        match state.family.kind {
            Kind::ScaleMixture { law, product: true } => Self::new(law, state.single(1)?),
            _ => Err(Error::Unsupported {
                wanted: format!("reading `{}` as a product of scale mixtures", state.family),
                instead: "read it as the family it is".into(),
            }),
        }
    }
}
