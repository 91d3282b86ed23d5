//! The step of a tensor: W and all its factors at once.

use super::{Stack, Tensor};
use crate::block::gradient::BlockGradient;
use crate::block::location::Move;
use crate::block::scale::{Candidate, LARGEST, in_range};
use crate::linalg::{axpy, dot};
use crate::rule::{MatrixUpdate, Rule, Taken, take};

/// Largest difference of log |P_j|/d_j between factors before they are put back into balance.
const BALANCE: f64 = 9.0;
/// The same for the printed step, whose factors are put back only before they overflow: they are what it prints.
const LITERAL_BALANCE: f64 = 80.0;

/// Memory for the step of a tensor.
#[derive(Debug)]
pub(crate) struct TensorScratch {
    /// One tensor.
    pub(super) stack: Stack,
    /// One for each factor.
    pub(super) candidates: Vec<Candidate>,
    /// Room for a matrix of the longest mode.
    pub(super) matrix: Vec<f64>,
    /// Step of W, W after it, and directions of the factors.
    direction: Vec<f64>,
    moved: Vec<f64>,
    pub(super) directions: Vec<f64>,
}

impl TensorScratch {
    pub(crate) fn new(tensor: &Tensor) -> Self {
        let factors = tensor.factors();
        Self {
            stack: Stack::new(tensor.size()),
            candidates: factors.iter().map(|factor| Candidate::new(factor.shape())).collect(),
            matrix: vec![0.0; factors.iter().map(|factor| factor.precision().len()).max().unwrap_or(0)],
            direction: vec![0.0; tensor.size()],
            moved: vec![0.0; tensor.size()],
            directions: vec![0.0; tensor.n_entries()],
        }
    }
}

impl Tensor {
    /// W⁺ = W + β∇_W ×_j V_j and P_j⁺ = P_j + β₂G_j, or with the second-order term of [`Rule::Retraction`], all at the
    /// old point (mathematics §6.3, §10.1, §10.5). β₂ = `factor_beta` under [`MatrixUpdate::PaperLiteral`] and β
    /// elsewhere; where a step is shortened, both are by the same share. Returns the β taken; a step of zero leaves the
    /// state as it was.
    ///
    /// Paper: §5, eq. (29), eq. (30), eq. (31), App. I.
    pub(crate) fn advance(
        &mut self,
        gradient: &BlockGradient,
        update: MatrixUpdate,
        wanted: Move,
        factor_beta: f64,
        scratch: &mut TensorScratch,
    ) -> Taken {
        if !gradient.is_finite() {
            return Taken::nowhere();
        }
        let BlockGradient { b: w, g } = gradient;
        let TensorScratch { stack, candidates, direction, moved, directions, matrix } = scratch;
        stack.set(w);
        self.solve(stack);
        direction.copy_from_slice(stack.values());
        directions.copy_from_slice(g);
        let (mut rule, mut of_factors) = (wanted.rule, wanted.beta);
        match update {
            MatrixUpdate::Joint => self.share_scale(directions, matrix),
            MatrixUpdate::Blockwise => {}
            MatrixUpdate::PaperLiteral => (rule, of_factors) = (Rule::NaturalGradient, factor_beta),
        }
        // A whole step takes β₂ to the last bit.
        let beta_of_factors = |beta: f64| {
            let is_whole = beta == wanted.beta;
            if is_whole { of_factors } else { beta * (of_factors / wanted.beta) }
        };
        // ‖ΔW‖² in the metric of q is β² times this.
        let square = dot(direction, w);
        let mut ready = false;
        let taken = take(wanted.beta, wanted.max_kl, |beta| {
            let ready = std::mem::replace(&mut ready, true);
            let factor_beta = beta_of_factors(beta);
            let step = Attempt { rule, beta, factor_beta, ready, wants_kl: wanted.max_kl.is_some() };
            self.attempt(step, direction, directions, square, candidates, moved)
        });
        let Some((beta, kl)) = taken else { return Taken::nowhere() };
        self.w.copy_from_slice(moved);
        self.factors.iter_mut().zip(&mut *candidates).for_each(|(factor, candidate)| factor.accept(candidate));
        let is_literal = update == MatrixUpdate::PaperLiteral;
        self.rebalance(if is_literal { LITERAL_BALANCE } else { BALANCE }, candidates);
        Taken { kl: wanted.max_kl.map(|_| kl), ..Taken::by_one(beta) }
    }

    /// G_j ← G_j − (1 − 1/K) x̄ P_j with x̄ the mean of tr(V_jG_j)/d_j, which is the same number for every factor: the
    /// change of scale that each of K factors asks for is made by all of them together.
    fn share_scale(&self, g: &mut [f64], scratch: &mut [f64]) {
        let k = self.factors.len() as f64;
        let x = self.mean_scale(g, scratch);
        self.each_mut(g, |_, factor, own| axpy(-(1.0 - 1.0 / k) * x, factor.precision(), own));
    }

    /// The mean over the factors of tr(V_jG_j)/d_j.
    pub(super) fn mean_scale(&self, g: &[f64], scratch: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        self.each(g, |j, _, own| sum += self.mean_eigenvalue(j, own, scratch));
        sum / self.factors.len() as f64
    }

    /// Writes the state after a step to the candidates and `moved`; its KL divergence from the present one if that is
    /// wanted, else 0.
    ///
    /// 2 KL(q_new ‖ q) = Π_j tr(P_jV_j⁺) − D + Σ_j D₋ⱼ log(|P_j⁺|/|P_j|) + ⟨ΔW, ΔW ×_j P_j⟩.
    fn attempt(
        &self,
        step: Attempt,
        direction: &[f64],
        directions: &[f64],
        square: f64,
        candidates: &mut [Candidate],
        moved: &mut [f64],
    ) -> Option<f64> {
        let Attempt { rule, beta, factor_beta, ready, wants_kl } = step;
        let mut admissible = true;
        self.each(directions, |j, factor, own| {
            let candidate = &mut candidates[j];
            // Every candidate needs its direction, whatever became of the one before.
            admissible &= factor.propose(rule, factor_beta, own, ready, candidate);
        });
        moved.copy_from_slice(&self.w);
        axpy(beta, direction, moved);
        if !(admissible && in_range(moved) && self.candidates_in_range(candidates)) {
            return None;
        }
        if !wants_kl {
            return Some(0.0);
        }
        let (mut trace, mut log_det) = (1.0, 0.0);
        for (j, (factor, candidate)) in self.factors.iter().zip(candidates).enumerate() {
            let d = factor.dim();
            let change = factor.log_det_candidate(candidate) - factor.log_det_precision();
            trace *= factor.divergence(candidate) + d as f64 - change;
            log_det += self.others(j) * change;
        }
        let kl = 0.5 * (trace - self.w.len() as f64 + log_det + beta * beta * square);
        kl.is_finite().then_some(kl)
    }

    /// Whether the product of the candidates, and so every draw from it, stays in range.
    pub(super) fn candidates_in_range(&self, candidates: &[Candidate]) -> bool {
        let (mut smallest, mut largest) = (1.0, 1.0);
        for (factor, candidate) in self.factors.iter().zip(candidates) {
            let pivots = candidate.factor.iter().step_by(factor.shape().stride());
            let (least, most) = pivots.fold((f64::INFINITY, 0.0f64), |(a, b), p| (a.min(*p), b.max(*p)));
            (smallest, largest) = (smallest * least * least, largest * most * most);
        }
        smallest > 1.0 / LARGEST && largest < LARGEST
    }

    /// Multiplies the factors by numbers whose product is one, so that log |P_j|/d_j are equal, if they have drifted
    /// further apart than this: neither q nor any later step is changed by it, and no factor overflows.
    fn rebalance(&mut self, most_apart: f64, candidates: &mut [Candidate]) {
        let scales = self.scales();
        let scales = &scales[..self.factors.len()];
        let most = scales.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let least = scales.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        if most - least > most_apart {
            self.equalise(candidates);
        }
    }

    /// Makes log |P_j|/d_j equal.
    fn equalise(&mut self, candidates: &mut [Candidate]) {
        let balance = self.balance();
        let mut fine = true;
        for ((factor, candidate), c) in self.factors.iter().zip(&mut *candidates).zip(balance) {
            candidate.precision.iter_mut().zip(factor.precision()).for_each(|(to, p)| *to = c * p);
            // A factor is a function of its precision, bit by bit: a file holds the precision alone.
            fine &= factor.refactor(candidate);
        }
        if fine {
            self.factors.iter_mut().zip(candidates).for_each(|(factor, candidate)| factor.accept(candidate));
        }
    }
}

/// One try of a step.
#[derive(Clone, Copy)]
struct Attempt {
    rule: Rule,
    /// β of W.
    beta: f64,
    /// That of the factors.
    factor_beta: f64,
    /// Whether the part of the candidates that does not depend on β is there.
    ready: bool,
    wants_kl: bool,
}
