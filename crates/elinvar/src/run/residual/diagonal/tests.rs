use super::super::tests::{GradientsOnly, gaussian, run_to_end};
use super::super::*;
use super::*;
use crate::random::{Purpose, Stream};

/// The best Gaussian with independent coordinates has the mean and the diagonal of the precision.
fn best(mean: &[f64], precision: &[f64]) -> Approximation {
    let own = precision.iter().step_by(mean.len() + 1).copied().collect();
    Approximation::gaussian(mean.to_vec(), Covariance::Diagonal, own).unwrap()
}

#[test]
fn at_the_best_of_a_correlated_gaussian_there_is_no_noise() {
    for (d, hessians) in [3, 20, 120].into_iter().flat_map(|d| [(d, false), (d, true)]) {
        let (stripped, mean, precision) = gaussian(d);
        let target: &dyn Target = if hessians { &stripped.0 } else { &stripped };
        let mut run = ResidualRun::new(target, best(&mean, &precision), &Plan::default()).unwrap();
        let (left, error) = run.advance_once().unwrap().remaining.unwrap();
        assert!(left < 1e-17 && error < 1e-17, "d {d}: {left} ± {error}");
        // All of B is far from zero, its diagonal is not.
        let all = dot(&run.diagonal.as_ref().unwrap().curvature.b, &run.diagonal.as_ref().unwrap().curvature.b);
        assert!(all > 0.1 && run.gradient.iter().all(|v| v.abs() < 1e-8), "d {d}: {all}");
    }
}

#[test]
fn few_steps_find_the_best_of_a_correlated_gaussian() {
    for d in [12, 60] {
        let (stripped, mean, precision) = gaussian(d);
        for target in [&stripped as &dyn Target, &stripped.0] {
            let start = Approximation::gaussian(vec![0.0; d], Covariance::Diagonal, vec![1.0; d]).unwrap();
            let mut run = ResidualRun::new(target, start, &Plan::default()).unwrap();
            assert_eq!(run_to_end(&mut run), StopReason::Converged);
            let gradients = run.evaluator.counts().gradient;
            assert!(gradients <= 20 * d as u64, "{gradients} gradients");
            let (q, best) = (run.reached().unwrap().0, best(&mean, &precision));
            q.mean().iter().zip(&mean).for_each(|(a, b)| assert!((a - b).abs() < 1e-7, "{a} {b}"));
            q.variances().iter().zip(best.variances()).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
        }
    }
}

/// log p = −½zᵀRz − ¼Σz⁴ with R_ii = 1 and R_ij = 0.4: E[−∂²] = 1 + 3/p = p for the best independent p.
fn quartic(d: usize) -> impl Target {
    crate::target::from_fns(
        d,
        |z, grad| {
            let sum: f64 = z.iter().sum();
            grad.iter_mut().zip(z).for_each(|(g, x)| *g = -(0.6 * x + 0.4 * sum) - x * x * x);
            z.iter().map(|x| -0.3 * x * x - 0.25 * x.powi(4)).sum::<f64>() - 0.2 * sum * sum
        },
        |z, hessian| {
            hessian.fill(-0.4);
            (0..z.len()).for_each(|i| hessian[i * z.len() + i] = -1.0 - 3.0 * z[i] * z[i]);
        },
    )
}

/// By Hessians: whitened draws, which regressions take, have fourth powers that are too small (§12.5), and the error
/// that this leaves is no noise.
#[test]
fn the_noise_of_a_diagonal_is_that_of_its_mean() {
    let (d, target) = (8, quartic(8));
    let start = best(&vec![0.0; d], &vec![0.5 * (1.0 + 13.0f64.sqrt()); d * d]);
    let (n, mut signal, mut noise, mut raw) = (400, 0.0, 0.0, 0.0);
    for seed in 0..n {
        let mut run = ResidualRun::new(&target, start.clone(), &Plan { seed, ..Plan::default() }).unwrap();
        let Looking::ByDraws(batch) = &mut run.looking else { panic!("there are no expectations") };
        let look = batch.look(&run.q, &mut run.evaluator, (seed, 0), &mut run.gradient).unwrap();
        let Look::Good { found, .. } = look else { panic!("all draws are good") };
        (signal, noise, raw) = (signal + found.scale.signal, noise + found.scale.noise(), raw + found.scale.raw);
    }
    // At the optimum all of it is noise.
    assert!(signal.abs() < 0.2 * raw && (noise / raw - 1.0).abs() < 0.2, "{signal} {noise} {raw}");
}

#[test]
fn the_end_is_the_best_diagonal_gaussian() {
    let stripped = GradientsOnly(quartic(5));
    let expected = 2.0 / (1.0 + 13.0f64.sqrt());
    for target in [&stripped.0 as &dyn Target, &stripped] {
        let start = Approximation::gaussian(vec![0.5; 5], Covariance::Diagonal, vec![1.0; 5]).unwrap();
        let stop = crate::run::Stop { remaining_nats: 1e-4, ..crate::run::Stop::default() };
        let mut run = ResidualRun::new(target, start, &Plan { stop, ..Plan::default() }).unwrap();
        assert_eq!(run_to_end(&mut run), StopReason::Converged);
        let q = run.reached().unwrap().0;
        q.mean().iter().for_each(|mean| assert!(mean.abs() < 0.01, "{mean}"));
        q.variances().iter().for_each(|v| assert!((v / expected - 1.0).abs() < 0.02, "{v} instead of {expected}"));
    }
}

#[test]
fn a_whole_step_gains_half_of_the_square_of_the_turned_gradient() {
    // ½|Λ⁻¹a|² = ½aᵀ(I + B)⁻¹a, with and without a direction in which the bound curves upwards.
    let found = Findings {
        mean: Norm { raw: 0.0, signal: -1.0 },
        scale: Norm::default(),
        n_pairs: 4,
        n_lost: 0,
        is_determined: true,
        knows_noise: true,
        entries: Entries::Diagonal,
    };
    for (b, inverse) in
        [([0.5, 0.3, 0.3, -0.2], [[0.8, -0.3], [-0.3, 1.5]]), ([-3.0, 0.0, 0.0, 1.0], [[0.5, 0.0], [0.0, 0.5]])]
    {
        let mut diagonal = Diagonal::new(2);
        let mut gradient = [[0.7, -0.4].as_slice(), &b].concat();
        diagonal.keep(&found, &mut gradient);
        assert_eq!(gradient[2..], [b[0], 0.0, 0.0, b[3]]);
        let turned = diagonal.turn(&found, &mut gradient);
        let det = if b[1] == 0.0 { 1.0 } else { 1.5 * 0.8 - 0.09 };
        let expected: f64 =
            (0..4).map(|at| [0.7, -0.4][at / 2] * [0.7, -0.4][at % 2] * inverse[at / 2][at % 2] / det).sum();
        assert!((turned.mean.raw - expected).abs() < 1e-14, "{} instead of {expected}", turned.mean.raw);
        // Noise that is alike in all directions: the mean of the eigenvalues of the inverse.
        let trace = (inverse[0][0] + inverse[1][1]) / det;
        assert!((turned.mean.noise() - 0.5 * trace).abs() < 1e-14, "{}", turned.mean.noise());
    }
}

#[test]
fn looks_at_one_state_are_averaged_by_their_draws() {
    let (mut stream, mut diagonal) = (Stream::open(1, Purpose::Sample, 4, 0), Diagonal::new(2));
    let mut sum = [0.0; 4];
    for n_pairs in [8, 24] {
        let found = Findings {
            mean: Norm::default(),
            scale: Norm::default(),
            n_pairs,
            n_lost: 0,
            is_determined: true,
            knows_noise: true,
            entries: Entries::Diagonal,
        };
        let mut gradient: Vec<f64> = (0..6).map(|_| stream.normal()).collect();
        sum.iter_mut().zip(&gradient[2..]).for_each(|(sum, b)| *sum += n_pairs as f64 / 32.0 * b);
        diagonal.keep(&found, &mut gradient);
    }
    diagonal.curvature.b.iter().zip(sum).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
    diagonal.clear();
    assert_eq!(diagonal.curvature.n_pairs, 0);
}
