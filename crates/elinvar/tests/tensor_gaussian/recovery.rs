//! A Kronecker Gaussian is found again, whatever the order, the factors and the source of curvature.

use elinvar::estimate::Curvature;
use elinvar::family::{AnyApproximation, MatrixUpdate};
use elinvar::target::{Draws, Evaluations, ItemGradients, PointwiseSecondOrder, Rows, Scratch, Target, TargetError};
use elinvar::{Family, Plan};

use crate::example::{divergence, state};
use crate::subjects::{Member, label};

/// A Gaussian as a sum of N items: log p_n = ±a_nᵀz − (z − μ)ᵀP(z − μ)/2N with Σ_n a_n a_nᵀ = P. The signs cancel in the sum and
/// squares of the gradients of single items add to P(1 + O(1/N)).
struct Items {
    p: AnyApproximation,
    /// The columns of a factor of P.
    columns: Vec<f64>,
    repeats: usize,
}

impl Items {
    fn new(p: AnyApproximation) -> Self {
        let d = p.dim();
        let mut hessian = vec![0.0; d * d];
        p.hessian(&p.mean(), &mut hessian);
        // Cholesky by columns.
        let mut columns = vec![0.0; d * d];
        for j in 0..d {
            let mut column: Vec<f64> = (0..d).map(|i| -hessian[j * d + i]).collect();
            for k in 0..j {
                (0..d).for_each(|i| column[i] -= columns[k * d + i] * columns[k * d + j]);
            }
            let root = column[j].sqrt();
            (j..d).for_each(|i| columns[j * d + i] = column[i] / root);
        }
        Self { p, columns, repeats: 50 }
    }

    fn count(&self) -> usize {
        2 * self.p.dim() * self.repeats
    }

    /// ±a of an item, to be scaled.
    fn direction(&self, n: usize) -> (&[f64], f64) {
        let d = self.p.dim();
        let sign = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
        let k = n / 2 % d;
        (&self.columns[k * d..(k + 1) * d], sign / (2.0 * self.repeats as f64).sqrt())
    }
}

impl Target for Items {
    fn dim(&self) -> usize {
        self.p.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        let (d, total) = (self.p.dim(), self.count());
        let mut linear = vec![0.0; d];
        let n = rows.len(total);
        for i in 0..n {
            let (a, c) = self.direction(rows.index(i));
            linear.iter_mut().zip(a).for_each(|(l, a)| *l += c * a);
        }
        let share = n as f64 / total as f64;
        for (s, z) in draws.iter().enumerate() {
            let value: f64 = linear.iter().zip(z).map(|(l, z)| l * z).sum();
            out.log_p_mut()[s] = share * self.p.log_density(z) + value;
            let grad = out.grad_mut(s);
            self.p.score(z, grad);
            grad.iter_mut().zip(&linear).for_each(|(g, l)| *g = share * *g + l);
        }
        Ok(())
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.count())
    }

    fn item_gradients(&self) -> Option<&dyn ItemGradients> {
        Some(self)
    }
}

impl ItemGradients for Items {
    fn item_gradients(
        &self,
        z: &[f64],
        rows: Rows<'_>,
        _scratch: &mut Scratch,
        out: &mut [f64],
    ) -> Result<(), TargetError> {
        let (d, total) = (self.p.dim(), self.count());
        let mut score = vec![0.0; d];
        self.p.score(z, &mut score);
        for (i, out) in out.chunks_exact_mut(d).enumerate().take(rows.len(total)) {
            let (a, c) = self.direction(rows.index(i));
            out.iter_mut().zip(a.iter().zip(&score)).for_each(|(g, (a, s))| *g = c * a + s / total as f64);
        }
        Ok(())
    }
}

fn families() -> Vec<Family> {
    let full = [
        Family::matrix(4, 3).unwrap(),
        Family::tensor(&[3, 2, 2]).unwrap(),
        Family::layers(&[&[3usize, 2][..], &[2, 1], &[2, 2]]).unwrap(),
    ];
    full.into_iter().flat_map(|family| [family, family.diagonal()]).collect()
}

/// Fits with the default plan but for its curvature; KL(q ‖ p) in closed form, and the gradients it took.
fn fitted(family: Family, curvature: Curvature, seed: u64) -> (f64, u64, usize) {
    let p = AnyApproximation::from_state(&state(family, 3)).unwrap();
    let plan = Plan { curvature, seed, ..Plan::default() };
    let posterior = if curvature == Curvature::ItemGradients {
        elinvar::fit(&Items::new(p.clone()), family, &plan).unwrap()
    } else {
        elinvar::fit(&PointwiseSecondOrder(Member(p.clone())), family, &plan).unwrap()
    };
    assert!(posterior.converged(), "{} by {curvature}: not converged", label(family));
    (divergence(posterior.approximation(), &p), posterior.counts().gradient, posterior.trace().len())
}

const SOURCES: [Curvature; 3] =
    [Curvature::Hessian, Curvature::ItemGradients, Curvature::Stein { control_variate: true }];

/// The default plan; the largest divergence and the numbers of gradients are in the table of the families.
#[test]
fn a_member_of_the_family_is_found_again() {
    for family in families() {
        for curvature in SOURCES {
            let (kl, gradients, steps) = fitted(family, curvature, 1);
            println!(
                "{} {:?} by {curvature}: KL {kl:.2e}, {gradients} gradients, {steps} steps",
                label(family),
                family.kind
            );
            assert!(kl < 0.005, "{} by {curvature}: {kl}", label(family));
        }
    }
}

/// The block natural gradients as they are get there as well, on a detour: with β = 1 the scales of two factors overshoot each
/// other, and the trust region has to hold them.
#[test]
fn block_natural_gradients_find_it_with_more_steps() {
    let (mut joint, mut blockwise) = (0, 0);
    for family in families() {
        for seed in 1..=2 {
            let (kl, _, steps) = fitted(family, Curvature::Hessian, seed);
            let (kl_block, _, steps_block) =
                fitted(family.with_update(MatrixUpdate::Blockwise), Curvature::Hessian, seed);
            println!(
                "{} {:?}: {steps} steps to {kl:.1e}, blockwise {steps_block} to {kl_block:.1e}",
                label(family),
                family.kind
            );
            (joint, blockwise) = (joint + steps, blockwise + steps_block);
        }
    }
    println!("{joint} {blockwise}");
}
