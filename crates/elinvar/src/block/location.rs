//! The block (B, P) of a conditionally Gaussian family: z | w ~ N(B ũ(w), s(w) P⁻¹).

use super::gradient::BlockGradient;
use super::scale::{Candidate, LARGEST_SHIFT, Scale, in_range};
use crate::Error;
use crate::linalg::{axpy, dot};
use crate::rule::{Rule, Taken, take};

/// Locations B = [μ, α, …] (d × r, column-major) and the precision P.
#[derive(Debug, PartialEq)]
pub struct Location {
    pub(super) b: Vec<f64>,
    pub(super) scale: Scale,
}

impl Clone for Location {
    fn clone(&self) -> Self {
        Self { b: self.b.clone(), scale: self.scale.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.b.clone_from(&source.b);
        self.scale.clone_from(&source.scale);
    }
}

/// How far a block may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) rule: Rule,
    pub(crate) beta: f64,
    /// Bound on KL(q_new ‖ q_old) of the block.
    pub(crate) max_kl: Option<f64>,
}

/// Memory for the step of a block.
#[derive(Debug)]
pub(crate) struct LocationScratch {
    pub(crate) candidate: Candidate,
    pub(super) direction: Vec<f64>,
    pub(super) shift: Vec<f64>,
    pub(super) moved: Vec<f64>,
    pub(super) white: Vec<f64>,
}

impl LocationScratch {
    pub(crate) fn new(block: &Location) -> Self {
        let n = block.b.len();
        Self {
            candidate: Candidate::new(block.scale.shape()),
            direction: vec![0.0; n],
            shift: vec![0.0; n],
            moved: vec![0.0; n],
            white: vec![0.0; n],
        }
    }
}

/// out = X M for a d × r matrix X and a symmetric r × r matrix M; `out` may hold anything.
pub(super) fn times_small(d: usize, x: &[f64], matrix: &[f64], out: &mut [f64]) {
    let r = x.len() / d;
    out.fill(0.0);
    for j in 0..r {
        for k in 0..r {
            axpy(matrix[j * r + k], &x[k * d..(k + 1) * d], &mut out[j * d..(j + 1) * d]);
        }
    }
}

/// Whether no column of the moved B other than μ is too long for the candidate's noise.
pub(super) fn columns_in_range(scale: &Scale, scratch: &mut LocationScratch) -> bool {
    let d = scale.dim();
    if scratch.moved.len() == d {
        return true;
    }
    let white = &mut scratch.white[d..];
    scale.whiten_candidate(&scratch.candidate, &scratch.moved[d..], white);
    white.chunks_exact(d).all(|w| dot(w, w) <= LARGEST_SHIFT)
}

impl Location {
    /// The block with these columns of B and this precision.
    ///
    /// # Errors
    /// [`Error::Shape`] if B is not a whole number of columns, [`Error::Domain`] if an entry is not finite or a column
    /// other than μ is longer than 1e6 standard deviations of the conditional noise.
    pub fn new(b: Vec<f64>, scale: Scale) -> Result<Self, Error> {
        let d = scale.dim();
        if b.is_empty() || !b.len().is_multiple_of(d) {
            return Err(Error::Shape { what: "entries of B (whole columns)", expected: d, found: b.len() });
        }
        if let Some(value) = b.iter().copied().find(|v| !in_range(&[*v])) {
            return Err(Error::Domain { parameter: "location", value, reason: "locations are finite numbers" });
        }
        let mut white = vec![0.0; b.len()];
        scale.whiten(&b, &mut white);
        if let Some(value) =
            white[d..].chunks_exact(d).map(|w| dot(w, w)).find(|square| square.is_nan() || *square > LARGEST_SHIFT)
        {
            let reason = "a shift or factor is at most 1e6 times as long as the noise is wide";
            return Err(Error::Domain { parameter: "squared length of a column of B", value, reason });
        }
        Ok(Self { b, scale })
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.scale.dim()
    }

    /// r, the number of columns of B.
    pub fn n_columns(&self) -> usize {
        self.b.len() / self.dim()
    }

    /// All of B.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Column j of B; column 0 is μ.
    pub fn column(&self, j: usize) -> &[f64] {
        let d = self.dim();
        &self.b[j * d..(j + 1) * d]
    }

    /// P.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// A zero gradient with the shape of the block.
    pub(crate) fn gradient(&self) -> BlockGradient {
        BlockGradient::zeros(self.b.len(), self.scale.precision().len())
    }

    /// Number of natural parameters: those of P(B − B₀) and of P.
    pub(crate) fn natural_len(&self) -> usize {
        self.b.len() + self.scale.precision().len()
    }

    /// sum += (P(B − B₀), P), the natural parameters with locations relative to those of `reference`.
    ///
    /// Relative, because P B itself loses the digits of B that an ill-conditioned P makes large.
    pub(crate) fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]) {
        let d = self.dim();
        let (location, precision) = sum.split_at_mut(self.b.len());
        for j in 0..self.n_columns() {
            let (b, from) = (self.column(j), reference.column(j));
            offset.iter_mut().zip(b.iter().zip(from)).for_each(|(to, (b, from))| *to = b - from);
            self.scale.add_precision_times(offset, &mut location[j * d..(j + 1) * d]);
        }
        axpy(1.0, self.scale.precision(), precision);
    }

    /// The block with `share` times these sums as natural parameters, if it exists.
    pub(crate) fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let (location, precision) = sum.split_at(reference.b.len());
        let scale =
            Scale::from_precision(reference.scale.shape(), precision.iter().map(|p| share * p).collect()).ok()?;
        let mut b: Vec<f64> = location.iter().map(|v| share * v).collect();
        scale.solve(&mut b);
        axpy(1.0, &reference.b, &mut b);
        Self::new(b, scale).ok()
    }

    /// Moves along the natural gradient; `omega` is Ω = E[ũũᵀ/s] and `omega_inv` its inverse (r × r). Returns the β
    /// taken and, where there is a KL bound, the divergence.
    ///
    /// The displacement is halved as a whole until it is admissible, and shortened to the KL bound where there is one.
    /// A step of zero leaves the state as it was.
    pub(crate) fn advance(
        &mut self,
        gradient: &BlockGradient,
        omega: &[f64],
        omega_inv: &[f64],
        wanted: Move,
        scratch: &mut LocationScratch,
    ) -> Taken {
        if !gradient.is_finite() {
            return Taken::nowhere();
        }
        times_small(self.dim(), &gradient.b, omega_inv, &mut scratch.direction);
        if wanted.rule == Rule::Retraction {
            self.scale.solve(&mut scratch.direction);
        }
        let mut ready = false;
        let taken = take(wanted.beta, wanted.max_kl, |beta| {
            self.attempt(gradient, omega, wanted, beta, std::mem::replace(&mut ready, true), scratch)
        });
        let Some((beta, kl)) = taken else { return Taken::nowhere() };
        std::mem::swap(&mut self.b, &mut scratch.moved);
        self.scale.accept(&mut scratch.candidate);
        Taken { kl: wanted.max_kl.map(|_| kl), ..Taken::by_one(beta) }
    }

    /// Writes the state after a step β to the scratch; its KL divergence from the present one if a bound asks for it,
    /// else 0.
    ///
    /// E_w KL(q_new(z|w) ‖ q(z|w)) = ½{tr(PΣ⁺) − d − log|PΣ⁺|} + ½ tr(ΔBᵀ P ΔB Ω).
    fn attempt(
        &self,
        gradient: &BlockGradient,
        omega: &[f64],
        wanted: Move,
        beta: f64,
        direction_ready: bool,
        scratch: &mut LocationScratch,
    ) -> Option<f64> {
        let (d, r) = (self.dim(), self.n_columns());
        if !self.scale.propose(wanted.rule, beta, &gradient.g, direction_ready, &mut scratch.candidate) {
            return None;
        }
        scratch.shift.copy_from_slice(&scratch.direction);
        if wanted.rule != Rule::Retraction {
            self.scale.solve_candidate(&scratch.candidate, &mut scratch.shift);
        }
        scratch.shift.iter_mut().for_each(|v| *v *= beta);
        scratch.moved.copy_from_slice(&self.b);
        axpy(1.0, &scratch.shift, &mut scratch.moved);
        if !in_range(&scratch.moved) {
            return None;
        }
        if !columns_in_range(&self.scale, scratch) {
            return None;
        }
        if wanted.max_kl.is_none() {
            return Some(0.0);
        }
        self.scale.whiten(&scratch.shift, &mut scratch.white);
        let mut location = 0.0;
        for j in 0..r {
            for k in 0..r {
                location +=
                    omega[j * r + k] * dot(&scratch.white[j * d..(j + 1) * d], &scratch.white[k * d..(k + 1) * d]);
            }
        }
        let kl = 0.5 * (self.scale.divergence(&mut scratch.candidate) + location);
        kl.is_finite().then_some(kl)
    }

    /// g₁ᵀF⁻¹g₂ for two gradients in the metric of the joint: tr(∇₁ᵀΣ∇₂Ω⁻¹) + ½tr(ΣG₁ΣG₂).
    pub(crate) fn inner(
        &self,
        one: &BlockGradient,
        two: &BlockGradient,
        omega_inv: &[f64],
        scratch: &mut LocationScratch,
    ) -> f64 {
        let (d, r) = (self.dim(), self.n_columns());
        scratch.direction.copy_from_slice(&one.b);
        scratch.shift.copy_from_slice(&two.b);
        self.scale.whiten_gradient(&mut scratch.direction);
        self.scale.whiten_gradient(&mut scratch.shift);
        let mut sum = 0.0;
        for j in 0..r {
            for k in 0..r {
                let product = dot(&scratch.direction[j * d..(j + 1) * d], &scratch.shift[k * d..(k + 1) * d]);
                sum += omega_inv[j * r + k] * product;
            }
        }
        sum + 0.5 * self.scale.trace_product(&one.g, &two.g, &mut scratch.candidate)
    }
}
