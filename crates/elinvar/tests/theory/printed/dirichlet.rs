//! App. B.5 with Dirichlet components: counts of categories, and items known in part.

use elinvar::block::LogWeights;
use elinvar::internals::special::gamma::{ln_gamma, trigamma};
use elinvar::model::CategoryShares;

use super::mixtures::{drawn, member};
use super::*;

const COUNTS: [f64; 3] = [4.0, 1.0, 3.0];
/// Items of the first or the second category.
const PARTIAL: f64 = 5.0;

/// η ← η + β∇_m L with a dense Fisher matrix, and draws whose shares z_j move as draws of Beta(a_j, a₀ − a_j) while the
/// others make room.
#[test]
fn a_mixture_of_dirichlet_laws_moves_by_its_natural_parameters() {
    let (laws, pi, n) = ([[2.5, 1.4, 3.0], [6.0, 0.8, 2.2]], [0.35f64, 0.65], 6);
    let weights = LogWeights::new(pi.iter().map(|p| p.ln()).collect()).unwrap();
    let start = Approximation::dirichlet(weights, laws.iter().map(|a| a.to_vec()).collect()).unwrap();
    let target = CategoryShares::new(COUNTS.to_vec()).unwrap().with_partial(&[0, 1], PARTIAL).unwrap();
    let after = one_step(&target, &start, &Plan { seed: SEED, ..Plan::printed(n, BETA, 1) });
    let density = |a: &[f64; 3], z: &[f64]| {
        let log: f64 = a.iter().zip(z).map(|(a, z)| (a - 1.0) * z.ln() - ln_gamma(*a)).sum();
        (log + ln_gamma(a.iter().sum())).exp()
    };
    let mut expected_h = [0.0; 2];
    for (c, a) in laws.iter().enumerate() {
        let total: f64 = a.iter().sum();
        let mut gradient = [0.0; 3];
        for z in drawn(&start, n) {
            let parts = [0, 1].map(|k| density(&laws[k], &z));
            let q = pi[0] * parts[0] + pi[1] * parts[1];
            let pair = z[0] + z[1];
            let of_log_q = |i: usize| (0..2).map(|k| pi[k] * parts[k] / q * (laws[k][i] - 1.0) / z[i]).sum::<f64>();
            let of_log_p = |i: usize| COUNTS[i] / z[i] + if i < 2 { PARTIAL / pair } else { 0.0 };
            let slope: Vec<f64> = (0..3).map(|i| of_log_q(i) - of_log_p(i)).collect();
            let share = parts[c] / q / n as f64;
            for j in 0..3 {
                let law = member("beta", [a[j], total - a[j], 0.0]);
                let own = law.path_derivative(z[j])[0];
                let path = |i: usize| if i == j { own } else { -own * z[i] / (1.0 - z[j]) };
                gradient[j] -= share * (0..3).map(|i| slope[i] * path(i)).sum::<f64>();
            }
            // The uniform prior has the density Γ(3).
            let log_p = 2f64.ln() + (0..3).map(|i| COUNTS[i] * z[i].ln()).sum::<f64>() + PARTIAL * pair.ln();
            expected_h[c] += share * (q.ln() - log_p);
        }
        let entry = |i: usize, j: usize| if i == j { trigamma(a[i]) } else { 0.0 } - trigamma(total);
        let fisher = Matrix::from_columns(3, &(0..9).map(|k| entry(k % 3, k / 3)).collect::<Vec<_>>());
        let moved = plus(a, BETA, &fisher.inverse().times_vector(&gradient));
        same(&format!("a of {c}"), after.naturals()[c].concentrations(), &moved);
    }
    let ratio = (pi[0] / pi[1]).ln() - BETA * (expected_h[0] - expected_h[1]);
    same("log ratio", &[after.weights().log()[0] - after.weights().log()[1]], &[ratio]);
}
