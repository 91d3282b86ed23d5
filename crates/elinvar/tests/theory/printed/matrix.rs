//! The matrix-variate box, eq. (29) to (31), with β₁ for W and β₂ for both precisions, from the draws that the target
//! is asked about.

use std::sync::Mutex;

use elinvar::Family;
use elinvar::rule::StepSize;
use elinvar::target::{About, Answer, Ask, TargetError, Want};

use super::*;

const D: usize = 2;
const P: usize = 3;

/// log p = −½(z − m)ᵀΛ(z − m) of a vectorised matrix, which keeps the points it was asked about.
struct Overheard {
    target: elinvar::model::Gaussian,
    draws: Mutex<Vec<Vec<f64>>>,
}

impl Target for Overheard {
    fn about(&self) -> About {
        self.target.about()
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        assert!(matches!(ask.want, Want::Gradients), "the box has no Hessian");
        self.draws.lock().unwrap().extend((0..ask.draws.len()).map(|s| ask.draws.get(s).to_vec()));
        self.target.evaluate(ask, answer)
    }
}

/// A positive definite matrix of any size.
fn definite(n: usize, shift: f64) -> Matrix {
    let entry = |i: usize, j: usize| if i == j { 1.2 + shift + 0.3 * i as f64 } else { 0.25 / (1 + i + j) as f64 };
    Matrix::from_columns(n, &(0..n * n).map(|k| entry(k % n, k / n)).collect::<Vec<_>>())
}

/// A single draw, as printed, and seven; step sizes apart by three orders, alike, and the other way round.
#[test]
fn the_matrix_variate_gaussian_moves_by_its_box_with_two_step_sizes() {
    let mode: Vec<f64> = (0..D * P).map(|i| (i as f64 * 1.3).cos()).collect();
    let lambda = definite(D * P, 0.9);
    for (n, beta_1, beta_2) in [(1, 1e-2, 1e-5), (1, 0.05, 0.05), (7, 0.1, 0.02), (7, 0.01, 0.3)] {
        let target = elinvar::model::Gaussian::new(mode.clone(), lambda.entries.clone()).unwrap();
        let target = Overheard { target, draws: Mutex::default() };
        let w: Vec<f64> = (0..D * P).map(|i| 0.5 * (i as f64 + 0.4).sin()).collect();
        let (u_inv, v_inv) = (definite(D, 0.0), definite(P, 0.4));
        let blocks = vec![(w.clone(), [&u_inv.entries[..], &v_inv.entries].concat())];
        let start = Approximation::from_parts(Family::matrix(D, P).unwrap(), D * P, blocks, vec![0.0]).unwrap();
        let plan = Plan { mixing_step_size: StepSize::Constant(beta_2), seed: SEED, ..Plan::printed(n, beta_1, 1) };
        let after = one_step(&target, &start, &plan);
        let draws = target.draws.lock().unwrap().clone();
        assert_eq!(draws.len(), n, "the step asks at its draws and nowhere else");

        let matrix = |entries: &[f64]| Matrix::from_columns(D, entries);
        let (u, v) = (u_inv.inverse(), v_inv.inverse());
        let (mut w_new, mut u_new, mut v_new) = (matrix(&w), u_inv.clone(), v_inv.clone());
        for z in &draws {
            // G = ∇h(Z) = −∇log p(Z) − U⁻¹(Z − W)V⁻¹.
            let score = u_inv.times(&matrix(&difference(z, &w))).times(&v_inv);
            let g = matrix(&lambda.times_vector(&difference(z, &mode))).plus(-1.0, &score);
            let share = 1.0 / n as f64;
            w_new = w_new.plus(-share * beta_1, &u.times(&g).times(&v));
            u_new = u_new.plus(share * beta_2, &g.times(&v).times(&g.transposed()));
            v_new = v_new.plus(share * beta_2, &g.transposed().times(&u).times(&g));
        }
        let (group, label) = (&after.tensors()[0], format!("S = {n}, β₁ = {beta_1}, β₂ = {beta_2}"));
        same(&format!("{label}: W"), group.w(), &w_new.entries);
        same(&format!("{label}: U⁻¹"), group.factors()[0].precision(), &u_new.entries);
        same(&format!("{label}: V⁻¹"), group.factors()[1].precision(), &v_new.entries);
    }
}
