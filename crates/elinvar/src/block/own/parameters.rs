//! The parameters of a member of a family that somebody has brought, and how they move.

use super::Own;
use crate::Error;
use crate::block::gradient::BlockGradient;
use crate::block::location::Move;
use crate::block::scale::in_range;
use crate::linalg::cholesky::{Workspace, factor, solve_factor, solve_factor_transposed};
use crate::linalg::{axpy, dot};
use crate::rule::{Taken, take};

/// Divergence, in nats per coordinate, beyond which a step is too long whatever was asked for.
const LARGEST_DIVERGENCE: f64 = 20.0;
/// What is added to a Fisher matrix that rounding has made singular, relative to its diagonal: at first, and at most.
const RIDGE: [f64; 2] = [1e-12, 1e3];

/// θ of a member in d coordinates.
#[derive(Debug, PartialEq)]
pub struct OwnParameters {
    own: Own,
    dim: usize,
    theta: Vec<f64>,
}

impl Clone for OwnParameters {
    fn clone(&self) -> Self {
        Self { own: self.own, dim: self.dim, theta: self.theta.clone() }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        (self.own, self.dim) = (source.own, source.dim);
        self.theta.clone_from(&source.theta);
    }
}

/// Memory for a step.
#[derive(Debug)]
pub(crate) struct OwnScratch {
    /// F, and its factor.
    fisher: Vec<f64>,
    factor: Vec<f64>,
    workspace: Workspace,
    /// F⁻¹g.
    direction: Vec<f64>,
    /// θ after a step.
    moved: Vec<f64>,
}

impl OwnScratch {
    pub(crate) fn new(block: &OwnParameters) -> Self {
        let n = block.theta.len();
        Self {
            fisher: vec![0.0; n * n],
            factor: vec![0.0; n * n],
            workspace: Workspace::new(n),
            direction: vec![0.0; n],
            moved: vec![0.0; n],
        }
    }
}

impl OwnParameters {
    /// The member with these parameters in `dim` coordinates.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of them than the family has, [`Error::Domain`] where there is no member.
    pub(crate) fn new(own: Own, dim: usize, theta: Vec<f64>) -> Result<Self, Error> {
        let (expected, found) = (own.family().n_parameters(dim), theta.len());
        if expected != found {
            return Err(Error::Shape { what: "parameters of a family of your own", expected, found });
        }
        if let Some(value) = theta.iter().copied().find(|v| !in_range(&[*v])) {
            return Err(Error::Domain { parameter: "parameter of the family", value, reason: "it is a finite number" });
        }
        if !own.family().is_inside(&theta) {
            let value = theta.first().copied().unwrap_or(0.0);
            let reason = "the family says that it has no member with these parameters (the first is shown)";
            return Err(Error::Domain { parameter: "parameter of the family", value, reason });
        }
        Ok(Self { own, dim, theta })
    }

    /// The parameters θ.
    pub fn values(&self) -> &[f64] {
        &self.theta
    }

    /// The registered family.
    pub(crate) fn own(&self) -> Own {
        self.own
    }

    /// d.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// A zero gradient with the shape of the block.
    pub(crate) fn gradient(&self) -> BlockGradient {
        BlockGradient::zeros(self.theta.len(), 0)
    }

    /// Writes F and its factor.
    fn prepare(&self, scratch: &mut OwnScratch) {
        let n = self.theta.len();
        scratch.fisher.fill(0.0);
        self.own.family().fisher(&self.theta, &mut scratch.fisher);
        let OwnScratch { fisher, factor: l, workspace, .. } = scratch;
        if factor(n, fisher, l, workspace).is_ok() {
            return;
        }
        let mut ridge = RIDGE[0];
        while ridge <= RIDGE[1] {
            for entry in fisher.iter_mut().step_by(n + 1) {
                *entry = entry.abs().max(f64::MIN_POSITIVE) * (1.0 + ridge);
            }
            if factor(n, fisher, l, workspace).is_ok() {
                return;
            }
            ridge *= 10.0;
        }
        l.fill(f64::NAN);
    }

    /// x ← F⁻¹x, with the factor of [`OwnParameters::prepare`].
    fn solve(scratch: &OwnScratch, x: &mut [f64]) {
        solve_factor(x.len(), &scratch.factor, x);
        solve_factor_transposed(x.len(), &scratch.factor, x);
    }

    /// θ ← θ + βF⁻¹g, halved until there is such a member and shortened to the KL bound where there is one.
    pub(crate) fn advance(&mut self, gradient: &BlockGradient, wanted: Move, scratch: &mut OwnScratch) -> Taken {
        self.prepare(scratch);
        let mut direction = std::mem::take(&mut scratch.direction);
        direction.copy_from_slice(&gradient.b);
        Self::solve(scratch, &mut direction);
        // ½ δᵀFδ of a whole step.
        let quadratic = 0.5 * dot(&direction, &gradient.b);
        scratch.direction = direction;
        if !in_range(&scratch.direction) || !quadratic.is_finite() {
            return Taken::nowhere();
        }
        let taken = take(wanted.beta, wanted.max_kl, |beta| {
            scratch.moved.copy_from_slice(&self.theta);
            axpy(beta, &scratch.direction, &mut scratch.moved);
            if !self.has(&scratch.moved) {
                return None;
            }
            let known = self.own.family().divergence(&scratch.moved, &self.theta);
            // Rounding may leave a tiny negative number.
            let kl = known.unwrap_or_else(|| 0.5 * beta * beta * (quadratic + self.quadratic_there(scratch))).max(0.0);
            (kl <= LARGEST_DIVERGENCE * self.dim as f64).then_some(kl)
        });
        let Some((beta, kl)) = taken else { return Taken::nowhere() };
        self.theta.copy_from_slice(&scratch.moved);
        Taken { kl: Some(kl), ..Taken::by_one(beta) }
    }

    /// ½ δᵀFδ of a whole step, with the matrix of where it ends: a step that bends the metric is seen to be long.
    fn quadratic_there(&self, scratch: &mut OwnScratch) -> f64 {
        let OwnScratch { fisher, direction, moved, .. } = scratch;
        fisher.fill(0.0);
        self.own.family().fisher(moved, fisher);
        0.5 * fisher.chunks_exact(direction.len()).zip(&*direction).map(|(f, x)| x * dot(f, direction)).sum::<f64>()
    }

    /// Whether there is a member with these parameters.
    fn has(&self, theta: &[f64]) -> bool {
        in_range(theta) && self.own.family().is_inside(theta)
    }

    /// Adds g₁ᵀF⁻¹g₂ to `sum`.
    pub(crate) fn add_inner(&self, one: &BlockGradient, two: &BlockGradient, scratch: &mut OwnScratch, sum: &mut f64) {
        self.prepare(scratch);
        let mut raised = std::mem::take(&mut scratch.direction);
        raised.copy_from_slice(&two.b);
        Self::solve(scratch, &mut raised);
        *sum += dot(&one.b, &raised);
        scratch.direction = raised;
    }

    /// Adds `ratio` times F(θ − θ_before) to the gradient (mathematics §7.1).
    pub(crate) fn add_momentum(
        &self,
        before: &Self,
        ratio: f64,
        scratch: &mut OwnScratch,
        gradient: &mut BlockGradient,
    ) {
        self.prepare(scratch);
        let n = self.theta.len();
        let moved = self.theta.iter().zip(&before.theta).map(|(now, then)| ratio * (now - then));
        for (column, moved) in scratch.fisher.chunks_exact(n).zip(moved) {
            axpy(moved, column, &mut gradient.b);
        }
    }

    /// The block with `share` times these sums as its parameters, if it exists.
    pub(crate) fn from_sums(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let theta: Vec<f64> = sum.iter().map(|sum| share * sum).collect();
        reference.has(&theta).then_some(Self { own: reference.own, dim: reference.dim, theta })
    }

    /// Writes these parameters to the scratch; false if there is no such member.
    pub(crate) fn propose(&self, theta: &[f64], scratch: &mut OwnScratch) -> bool {
        scratch.moved.copy_from_slice(theta);
        self.has(theta)
    }

    /// Moves to what [`OwnParameters::propose`] was given.
    pub(crate) fn accept(&mut self, scratch: &OwnScratch) {
        self.theta.copy_from_slice(&scratch.moved);
    }
}
