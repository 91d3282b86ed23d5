//! The Adam-like step of a mixture of Gaussians (mathematics §7.5), which the paper names and prints no box of: steps
//! from s = 0, with draws of the mixture as a whole and the mean over the items of the gradients of f.

use elinvar::block::{Location, LogWeights, Scale};
use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::rule::{AdamLike, PrintedStep};
use elinvar::target::Shape;

use super::mixtures::{AtPoint, Mixture};
use super::*;

const STEPS: u64 = 3;
const N_DRAWS: usize = 7;
const N: f64 = ROWS as f64;

fn diagonal_of(m: &Matrix) -> Vec<f64> {
    (0..DIM).map(|i| m.at(i, i)).collect()
}

fn member(q: &Mixture) -> Approximation {
    let block = |(mean, p): (&Vec<f64>, &Matrix)| {
        let scale = Scale::from_precision(Shape::Diagonal(DIM), diagonal_of(p)).unwrap();
        Location::new(mean.clone(), scale).unwrap()
    };
    let weights = LogWeights::new(q.weights.iter().map(|w| w.ln()).collect()).unwrap();
    Approximation::mixture(weights, q.means.iter().zip(&q.precisions).map(block).collect()).unwrap()
}

/// One step of β_c = 0.05 by hand from P = Ns + δ; `m` has the running means of all components.
fn step(q: &mut Mixture, m: &mut [Vec<f64>], t: u64, items: &Items) {
    let AdamLike { gamma1, gamma2, .. } = AdamLike::default();
    let draws = q.draws(N_DRAWS, t - 1);
    let points: Vec<AtPoint> = draws.iter().map(|z| q.at(items, z)).collect();
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let old: Vec<(Vec<f64>, Vec<f64>)> =
        q.means.iter().zip(&q.precisions).map(|(mean, p)| (mean.clone(), diagonal_of(p))).collect();
    let mut logits = Vec::new();
    for (c, (mean, p)) in old.into_iter().enumerate() {
        // The prior is in closed form, as in the boxes.
        let (mut n, mut g_s, mut h) = (plus(&[0.0; DIM], DELTA / N, &mean), vec![0.0; DIM], 0.0);
        for (z, (value, slope, hessian, delta)) in draws.iter().zip(&points) {
            let share = delta[c] / N_DRAWS as f64;
            let (_, gradient, of_f) = items.all(z);
            let of_log_q = diagonal_of(&hessian.plus(-1.0, &of_f).plus(-DELTA, &identity));
            n = plus(&plus(&n, share / N, slope), -share * DELTA / N, z);
            // g∘g, and what ∇² log q says of the item's share of P.
            g_s = (0..DIM).map(|i| g_s[i] + share * ((gradient[i] / N).powi(2) + of_log_q[i] / N)).collect();
            h += share * value;
        }
        // Only the components' part of log q is no −P: s⁺ = γ₂s + (1 − γ₂)(g_s + P/N).
        let s: Vec<f64> =
            (0..DIM).map(|i| gamma2 * (p[i] - DELTA) / N + (1.0 - gamma2) * (g_s[i] + p[i] / N)).collect();
        m[c] = plus(&m[c].iter().map(|m| gamma1 * m).collect::<Vec<_>>(), 1.0 - gamma1, &n);
        let (of_m, of_s) = (1.0 - gamma1.powi(t as i32), 1.0 - gamma2.powi(t as i32));
        let moved = |i: usize| mean[i] - BETA * (m[c][i] / of_m) / ((s[i] + DELTA / N) / of_s).sqrt();
        q.means[c] = (0..DIM).map(moved).collect();
        q.precisions[c] = Matrix::diagonal(&s.iter().map(|s| N * s + DELTA).collect::<Vec<_>>());
        logits.push(q.weights[c].ln() - BETA * h);
    }
    let total: f64 = logits.iter().map(|l| l.exp()).sum();
    q.weights = logits.iter().map(|l| l.exp() / total).collect();
}

/// Three components from s = 0, and nothing of the library between the draws and the new state.
#[test]
fn the_adam_like_step_of_a_mixture() {
    let items = Items::new();
    let means = (0..3).map(location).collect();
    let precisions = vec![Matrix::diagonal(&[DELTA; DIM]); 3];
    let mut q = Mixture { weights: vec![0.5, 0.2, 0.3], means, precisions };
    let plan = options::with(|options| options.step = PrintedStep::AdamLike(AdamLike::default()));
    let plan = Plan { n_draws: N_DRAWS, curvature: Curvature::SquaredMean, ..plan };
    let target = items.target(gaussian_prior());
    let mut run = Run::new(&target, member(&q), &plan).unwrap();
    let mut m = vec![vec![0.0; DIM]; 3];
    for t in 1..=STEPS {
        run.step().unwrap();
        step(&mut q, &mut m, t, &items);
        for (c, block) in run.q().locations().iter().enumerate() {
            same(&format!("step {t}, μ of {c}"), block.column(0), &q.means[c]);
            same(&format!("step {t}, P of {c}"), block.scale().precision(), &diagonal_of(&q.precisions[c]));
        }
        let found: Vec<f64> = run.q().weights().log().iter().map(|log| log.exp()).collect();
        same(&format!("step {t}, π"), &found, &q.weights);
    }
}
