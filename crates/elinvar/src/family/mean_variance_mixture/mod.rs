//! z | w ~ N(μ + u(w) α, s(w) Σ), w ~ q(w): one shell for every mixing law.

mod density;
mod draw;
mod gradient;
mod law_of_kind;
mod shape;

use draw::MixtureWork;
pub(crate) use law_of_kind::LawOfKind;

use super::{Approximation, Batch, DrawPlan, Family, State, StepRequest, Taken};
use crate::Error;
use crate::block::{Full, LocationBlock, LocationGradient, ScaleMatrix};
use crate::law::{
    Exponential, HalfNormal, InverseGamma, InverseGaussian, MixingLaw, PointMass, ReciprocalInverseGaussian, ScaleLaw,
};
use crate::random::Purpose;
use crate::rule::{AdamLikeMemory, AdamLikeRequest};
use crate::special::logistic::sigmoid;
use crate::target::{Contraction, Covariance, Evaluations, Prior};

/// A mean–variance mixture with law `L` and scale matrix `S` (mathematics §0.5).
///
/// Paper: §4.2, §4.3, Table 1.
#[derive(Debug, PartialEq)]
pub struct MeanVarianceMixture<L, S> {
    law: L,
    block: LocationBlock<S>,
}

impl<L: Clone, S: Clone> Clone for MeanVarianceMixture<L, S> {
    fn clone(&self) -> Self {
        Self { law: self.law.clone(), block: self.block.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.law.clone_from(&source.law);
        self.block.clone_from(&source.block);
    }
}

/// N(μ, Σ) (mathematics §1.1).
///
/// Paper: §2.
pub type Gaussian<S = Full> = MeanVarianceMixture<PointMass, S>;
/// Student's t with 2a degrees of freedom (mathematics §2).
///
/// Paper: §4.2, App. D.
pub type StudentT<S = Full> = MeanVarianceMixture<InverseGamma, S>;
/// Skew-Gaussian (mathematics §3.2).
///
/// Paper: §4.3, App. E.
pub type SkewGaussian<S = Full> = MeanVarianceMixture<HalfNormal, S>;
/// Exponentially modified Gaussian (mathematics §3.3).
///
/// Paper: App. F.
pub type ExponentiallyModifiedGaussian<S = Full> = MeanVarianceMixture<Exponential, S>;
/// Normal inverse-Gaussian (mathematics §4.1).
///
/// Paper: App. G.
pub type Nig<S = Full> = MeanVarianceMixture<InverseGaussian, S>;
/// Symmetric scale mixture with inverse-Gaussian mixing (mathematics §4.2).
///
/// Paper: App. H.
pub type SymmetricNig<S = Full> = MeanVarianceMixture<ReciprocalInverseGaussian, S>;

/// Gaussian whose scale is random, with any law of the scale (mathematics §10.6).
///
/// Paper: §4.2.
pub type ScaleMixture<S = Full> = MeanVarianceMixture<ScaleLaw, S>;

impl<L: MixingLaw, S: ScaleMatrix> MeanVarianceMixture<L, S> {
    /// The mixture with this law and block; the block has one column (μ), or two (μ, α) if the law shifts.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of columns.
    pub fn new(law: L, block: LocationBlock<S>) -> Result<Self, Error> {
        let expected = if L::SHIFTED { 2 } else { 1 };
        if block.n_columns() != expected {
            return Err(Error::Shape { what: "columns of B", expected, found: block.n_columns() });
        }
        Ok(Self { law, block })
    }

    /// The mixing law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// (B, P).
    pub fn block(&self) -> &LocationBlock<S> {
        &self.block
    }

    /// Ω = E[ũũᵀ/s] and its inverse, r × r in the leading entries.
    pub fn omega(&self) -> ([f64; 4], [f64; 4]) {
        let m = self.law.moments();
        if L::SHIFTED {
            let det = m.inv_s * m.uu_inv_s - m.u_inv_s * m.u_inv_s;
            let omega = [m.inv_s, m.u_inv_s, m.u_inv_s, m.uu_inv_s];
            (omega, [m.uu_inv_s / det, -m.u_inv_s / det, -m.u_inv_s / det, m.inv_s / det])
        } else {
            ([m.inv_s, 0.0, 0.0, 0.0], [1.0 / m.inv_s, 0.0, 0.0, 0.0])
        }
    }
}

impl<L: LawOfKind, S: ScaleMatrix> Approximation for MeanVarianceMixture<L, S> {
    type Work = MixtureWork;
    type Gradient = LocationGradient;

    fn family(&self) -> Family {
        Family { kind: self.law.kind(), covariance: S::COVARIANCE }
    }

    fn dim(&self) -> usize {
        self.block.dim()
    }

    fn covariance_kind(&self) -> Covariance {
        S::COVARIANCE
    }

    /// A learned shape moves by gradients.
    fn takes_values_alone(&self) -> bool {
        !self.law.is_learned()
    }

    fn n_blocks(&self) -> usize {
        1
    }

    fn work(&self, plan: &DrawPlan) -> MixtureWork {
        MixtureWork::new(&self.block, plan)
    }

    fn batch(&self, plan: &DrawPlan) -> Batch {
        self.empty_batch(plan)
    }

    fn gradient_buffer(&self) -> LocationGradient {
        LocationGradient::like(&self.block)
    }

    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut MixtureWork, batch: &mut Batch) {
        self.fill_noise(seed, purpose, step, work);
        self.place(work, batch);
    }

    fn weigh(&self, work: &mut MixtureWork, batch: &Batch) -> bool {
        self.weigh_draws(work, batch)
    }

    fn contraction<'w>(&self, work: &'w MixtureWork) -> Contraction<'w> {
        Contraction::shared(&work.price, work.price.len())
    }

    /// With a learned shape and a t prior that shares w the bound is the one that the shape moves in, on (z, w).
    fn elbo(&self, log_p: &[f64], prior: &Prior, work: &MixtureWork, batch: &Batch) -> (f64, f64) {
        match prior.shared().filter(|_| self.law.is_learned()) {
            Some(shared) => self.joint_elbo(log_p, shared, work, batch),
            None => super::batch::mean_difference(log_p, prior, batch, 0..batch.n),
        }
    }

    fn gradient(
        &self,
        evaluations: &Evaluations,
        curvature: &[f64],
        prior: &Prior,
        work: &mut MixtureWork,
        batch: &Batch,
        out: &mut LocationGradient,
    ) -> bool {
        self.accumulate(evaluations, curvature, prior, work, batch, out);
        self.add_shape(evaluations, prior, work, batch, out);
        out.is_finite()
    }

    fn step(&mut self, gradient: &LocationGradient, request: StepRequest, work: &mut MixtureWork) -> Taken {
        self.advance(gradient, request, work)
    }

    fn add_momentum(&self, before: &Self, ratio: f64, work: &mut MixtureWork, gradient: &mut LocationGradient) -> bool {
        self.block.add_momentum(&before.block, ratio, &self.omega().0, &mut work.location, gradient);
        gradient.shape += ratio * self.shape_displacement(before);
        true
    }

    /// Those of the block, then that of a learned shape, a = 1 + log(1 + eˣ).
    fn chart_len(&self) -> usize {
        self.block.chart_len() + usize::from(self.law.is_learned())
    }

    fn chart(&self, out: &mut [f64]) {
        let (block, shape) = out.split_at_mut(self.block.chart_len());
        self.block.chart(block);
        shape.iter_mut().for_each(|x| *x = self.shape_chart());
    }

    fn chart_gradient(&self, gradient: &LocationGradient, work: &mut MixtureWork, out: &mut [f64]) {
        let (block, shape) = out.split_at_mut(self.block.chart_len());
        self.block.chart_gradient(1.0, gradient, &mut work.location, block);
        shape.iter_mut().for_each(|slope| *slope = gradient.shape * sigmoid(self.shape_chart()));
    }

    fn set_chart(&mut self, coordinates: &[f64], work: &mut MixtureWork) -> bool {
        let (block, shape) = coordinates.split_at(self.block.chart_len());
        let law = shape.first().map_or(Some(self.law), |x| self.with_shape_chart(*x));
        let Some(law) = law.filter(|_| self.block.set_chart(block, &mut work.location)) else { return false };
        self.law = law;
        true
    }

    fn adam_like_memory(&self) -> Option<AdamLikeMemory> {
        let fits = S::COVARIANCE == Covariance::Diagonal && !self.law.is_learned();
        fits.then(|| AdamLikeMemory::new(self.block.b().len()))
    }

    fn start_from_prior(&mut self, prior: &Prior) -> bool {
        self.block.start_from_prior(prior.in_optimum(self.law.moments().s))
    }

    fn adam_like_step(
        &mut self,
        gradient: &LocationGradient,
        prior: &Prior,
        request: AdamLikeRequest,
        memory: &mut AdamLikeMemory,
        work: &mut MixtureWork,
    ) -> Taken {
        let (omega_inv, prior) = (self.omega().1, prior.in_optimum(self.law.moments().s));
        let location = &mut work.location;
        let taken = self.block.advance_adam_like(gradient, &omega_inv, prior, request, memory, location);
        if let Some(slopes) = self.learned().filter(|_| taken > 0.0) {
            let moved = self.law.moved_parameter(gradient.shape / slopes.fisher, taken);
            self.law = self.law.with_parameter(moved);
        }
        Taken::by_one(taken)
    }

    fn inner(&self, one: &LocationGradient, two: &LocationGradient, work: &mut MixtureWork) -> f64 {
        let shape = self.learned().map_or(0.0, |slopes| one.shape * two.shape / slopes.fisher);
        self.block.inner(one, two, &self.omega().1, &mut work.location) + shape
    }

    fn gain_factor(&self) -> f64 {
        self.shape_gain().max(2.0)
    }

    fn natural_len(&self) -> usize {
        self.block.natural_len() + usize::from(self.law.is_learned())
    }

    fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]) {
        let (block, shape) = sum.split_at_mut(self.block.natural_len());
        self.block.add_natural(&reference.block, offset, block);
        // The shape is its own natural parameter (mathematics §2.1).
        shape.iter_mut().for_each(|sum| *sum += self.law.parameter().unwrap_or(0.0));
    }

    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (block, shape) = sum.split_at(reference.block.natural_len());
        let block = LocationBlock::from_natural(&reference.block, block, share)?;
        let law = shape.first().map_or(reference.law, |sum| reference.law.with_parameter(share * sum));
        Some(Self { law, block })
    }

    fn log_density(&self, z: &[f64]) -> f64 {
        let forms = self.forms(z, &mut vec![0.0; 2 * self.dim()]);
        0.5 * self.block.scale().log_det_precision() + self.law.log_marginal(forms)
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
        let h = self.law.entropy(self.kappa(), self.dim())?;
        Some(h.value - 0.5 * self.block.scale().log_det_precision())
    }

    fn state(&self) -> State {
        State::of(self.family(), std::slice::from_ref(&self.block), vec![0.0])
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        let law = L::from_kind(state.family.kind).ok_or_else(|| Error::Unsupported {
            wanted: format!("reading `{}` as `{}`", state.family, L::NAME),
            instead: "read it as the family it is".into(),
        })??;
        Self::new(law, state.single(state.family.n_columns())?)
    }
}
