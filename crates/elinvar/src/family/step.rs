//! The step of a member: its weights, its blocks and the constant of its mixing law, all from the same old state.

use super::metric::Omega;
use super::{Approximation, Blocks, Gradient, Kind};
use crate::block::{LocationScratch, Move, NaturalScratch, OwnScratch, RunningMeans, TensorScratch, in_range};
use crate::law::{Law, ShapeSlopes};
use crate::rule::{AdamLikeMemory, AdamLikeRequest, Rule, Taken, largest_step};
use crate::target::{Covariance, Prior};

/// Share of the KL bound of a step that the mixing law may take.
const SHARE: f64 = 0.5;

/// What a step was asked to do.
#[derive(Clone, Copy, Debug)]
pub struct StepRequest {
    /// The rule for precisions and locations.
    pub rule: Rule,
    /// β of the blocks.
    pub beta: f64,
    /// β of what is mixed over: the weights of a mixture, a learned shape. Under [`MatrixUpdate::PaperLiteral`] it is
    /// β₂, that of the precisions.
    ///
    /// [`MatrixUpdate::PaperLiteral`]: crate::rule::MatrixUpdate::PaperLiteral
    pub mixing_beta: f64,
    /// Bound on the KL divergence of each block's step.
    pub max_kl: Option<f64>,
}

/// Memory for the movement of a member.
#[derive(Debug)]
pub struct Scratch {
    pub(super) blocks: BlockScratch,
    pub(super) omega: Omega,
    pub(super) next_weights: Vec<f64>,
}

/// That of its blocks: location blocks share one, each of the others has its own.
#[derive(Debug)]
pub(super) enum BlockScratch {
    Location(LocationScratch),
    Natural(Vec<NaturalScratch>),
    Tensor(Vec<TensorScratch>),
    Own(OwnScratch),
}

impl Scratch {
    /// Memory for members of this shape.
    pub fn new(q: &Approximation) -> Self {
        let blocks = match &q.blocks {
            Blocks::Location(blocks) => BlockScratch::Location(LocationScratch::new(&blocks[0])),
            Blocks::Natural(blocks) => BlockScratch::Natural(blocks.iter().map(NaturalScratch::new).collect()),
            Blocks::Tensor(blocks) => BlockScratch::Tensor(blocks.iter().map(TensorScratch::new).collect()),
            Blocks::Own(block) => BlockScratch::Own(OwnScratch::new(block)),
        };
        Self { blocks, omega: Omega::of(q), next_weights: vec![0.0; q.weights.len()] }
    }
}

impl Approximation {
    /// Moves along the natural gradient.
    ///
    /// # Panics
    /// If the scratch belongs to members of another shape.
    pub(crate) fn advance(&mut self, gradient: &Gradient, request: StepRequest, scratch: &mut Scratch) -> Taken {
        if !in_range(&[gradient.shape]) {
            return Taken::nowhere();
        }
        let mut max_kl = request.max_kl;
        let law = self.law_after(gradient, request);
        // The divergence of the joint is the sum of those of z given w and of w, which share the bound.
        if let (Some(bound), Some(law)) = (&mut max_kl, &law) {
            *bound -= law.kl;
        }
        let wanted = Move { rule: request.rule, beta: request.beta, max_kl };
        let mut taken = Taken::before_blocks(self.advance_weights(gradient, request, &mut scratch.next_weights));
        let weights = &self.weights;
        let mut and = |own: Taken, c: usize| taken = taken.and(own, weights.weight(c));
        match (&mut self.blocks, &mut scratch.blocks) {
            (Blocks::Location(blocks), BlockScratch::Location(scratch_of_block)) => {
                let (omega, omega_inv) = scratch.omega.updated(&self.family);
                for (c, (block, gradient)) in blocks.iter_mut().zip(&gradient.blocks).enumerate() {
                    and(block.advance(gradient, omega, omega_inv, wanted, scratch_of_block), c);
                }
            }
            (Blocks::Natural(blocks), BlockScratch::Natural(scratch)) => {
                let parts = blocks.iter_mut().zip(&gradient.blocks).zip(scratch).enumerate();
                parts.for_each(|(c, ((block, gradient), scratch))| and(block.advance(gradient, wanted, scratch), c));
            }
            (Blocks::Tensor(blocks), BlockScratch::Tensor(scratch)) => {
                let Kind::Matrix { update, .. } = self.family.kind else { unreachable!("tensors belong to `matrix`") };
                for ((block, gradient), scratch) in blocks.iter_mut().zip(gradient.moved_by()).zip(scratch) {
                    // All groups belong to the one component.
                    and(block.advance(gradient, update, wanted, request.mixing_beta, scratch), 0);
                }
            }
            (Blocks::Own(block), BlockScratch::Own(scratch)) => {
                and(block.advance(&gradient.blocks[0], wanted, scratch), 0);
            }
            _ => unreachable!("the scratch was made for members of this shape"),
        }
        let Some(law) = law else { return taken };
        self.set_law(&law.law);
        taken.and(Taken { kl: request.max_kl.map(|_| law.kl), ..Taken::by_one(law.beta) }, 1.0)
    }

    /// Moves the weights of a mixture; returns KL(π_new ‖ π).
    pub(super) fn advance_weights(&mut self, gradient: &Gradient, request: StepRequest, next: &mut [f64]) -> f64 {
        if gradient.expected_h.is_empty() {
            return 0.0;
        }
        self.weights.advance_by(&gradient.expected_h, request.mixing_beta, request.max_kl, next).1
    }

    /// What a learned law says about its constant.
    pub(super) fn learned(&self) -> Option<ShapeSlopes> {
        let law = self.law();
        if law.is_learned() { law.shape_slopes(self.dim()) } else { None }
    }

    /// The law after a step of its constant, where a fit moves it.
    fn law_after(&self, gradient: &Gradient, request: StepRequest) -> Option<MovedLaw> {
        let slopes = self.learned().filter(|_| gradient.is_finite())?;
        let law = self.law();
        let direction = gradient.shape / slopes.fisher;
        let moved = |beta: f64| law.with_parameter(law.moved_parameter(direction, beta));
        let kl = |beta: f64| Some(moved(beta).divergence_from(&law)).filter(|kl| kl.is_finite());
        let mut beta = request.mixing_beta;
        let Some(bound) = request.max_kl else { return Some(MovedLaw { law: moved(beta), beta, kl: 0.0 }) };
        if kl(beta).is_none_or(|kl| kl > SHARE * bound) {
            beta = largest_step(beta, SHARE * bound, 0.05, kl);
        }
        Some(MovedLaw { law: moved(beta), beta, kl: kl(beta).unwrap_or(0.0).max(0.0) })
    }

    /// Takes the constant of a learned law.
    pub(super) fn set_law(&mut self, law: &Law) {
        if let (Kind::Mixed { law: own }, Some(parameter)) = (&mut self.family.kind, law.parameter()) {
            *own = own.with_parameter(parameter);
        }
    }

    /// The same member with the constant of this law.
    pub(crate) fn with_law(mut self, law: &Law) -> Self {
        self.set_law(law);
        self
    }

    /// The memory of the Adam-like rule at its start; `None` if the family has no such step: it needs blocks with
    /// diagonal scale matrices, and one w for all coordinates (mathematics §7.2).
    pub(crate) fn adam_like_memory(&self) -> Option<AdamLikeMemory> {
        let is_product = matches!(self.family.kind, Kind::ScaleMixture { product: true, .. });
        let fits = self.family.covariance == Covariance::Diagonal && !is_product;
        let len: usize = self.locations().iter().map(|block| block.b().len()).sum();
        (fits && len > 0).then(|| AdamLikeMemory::new(len))
    }

    /// Makes every precision that of the prior alone, as the Adam-like rule with bias correction starts; false, and
    /// nothing moves, if the prior leaves a coordinate free.
    pub(crate) fn start_from_prior(&mut self, prior: &Prior) -> bool {
        let precision = prior.in_optimum(self.law().moments().s);
        match &mut self.blocks {
            // All blocks have the same coordinates, so that the first says no or none does.
            Blocks::Location(blocks) => blocks.iter_mut().all(|block| block.start_from_prior(precision)),
            _ => false,
        }
    }

    /// One Adam-like step; the gradient holds the curvature by squared gradients. A family without such a step stays.
    ///
    /// Every component of a mixture has means of its own, and the weights take the step of the other rules (mathematics
    /// §7.5). A learned shape takes its natural-gradient step of the same β: no box has running means of it. The next
    /// step takes s from P with the share kδ of the prior at the shape that there is by then.
    ///
    /// Paper: §4.1.
    pub(crate) fn adam_like_step(
        &mut self,
        gradient: &Gradient,
        prior: &Prior,
        request: AdamLikeRequest,
        memory: &mut AdamLikeMemory,
        scratch: &mut Scratch,
    ) -> Taken {
        let AdamLikeRequest { beta, mixing_beta, max_kl, .. } = request;
        let shaped = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
        let law = self.law_after(gradient, shaped);
        let prior = prior.in_optimum(self.law().moments().s);
        self.advance_weights(gradient, StepRequest { mixing_beta, max_kl, ..shaped }, &mut scratch.next_weights);
        let (Blocks::Location(blocks), BlockScratch::Location(location)) = (&mut self.blocks, &mut scratch.blocks)
        else {
            return Taken::by_one(0.0);
        };
        let (_, omega_inv) = scratch.omega.updated(&self.family);
        let (t, len) = (memory.t + 1, blocks[0].b().len());
        let mut taken = Taken { kl: None, ..Taken::before_blocks(0.0) };
        for ((block, gradient), m) in blocks.iter_mut().zip(&gradient.blocks).zip(memory.m.chunks_exact_mut(len)) {
            let means = RunningMeans { t, m };
            let beta = block.advance_adam_like(gradient, omega_inv, prior, request, means, location);
            taken = taken.and(Taken::by_one(beta), 1.0);
        }
        if taken.largest > 0.0 {
            memory.t = t;
        }
        if let Some(law) = law {
            self.set_law(&law.law);
        }
        taken
    }
}

/// A law whose constant has moved.
struct MovedLaw {
    law: Law,
    beta: f64,
    kl: f64,
}
