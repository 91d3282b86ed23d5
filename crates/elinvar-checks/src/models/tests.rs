use elinvar::target::{PointwiseHessian, PointwiseTarget, PointwiseValue};

use super::*;

fn numbers(n: usize, frequency: f64) -> Vec<f64> {
    (0..n).map(|i| (frequency * i as f64 + 0.3).sin()).collect()
}

/// Values alone, gradients and Hessians against each other and against five-point differences.
fn check<M: PointwiseHessian + PointwiseValue>(name: &str, model: &M, z: &[f64]) {
    let d = z.len();
    let gradient = |z: &[f64]| {
        let mut grad = vec![0.0; d];
        let log_p = model.gradient(z, &mut grad).unwrap();
        (log_p, grad)
    };
    let (log_p, grad) = gradient(z);
    assert!((model.log_density(z).unwrap() - log_p).abs() <= 1e-12 * log_p.abs(), "{name}");
    let mut hessian = vec![0.0; d * d];
    model.hessian(z, &mut hessian).unwrap();
    let size = hessian.iter().chain(&grad).fold(1.0f64, |m, v| m.max(v.abs()));
    for i in 0..d {
        let h = 1e-3;
        let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|steps| {
            let mut moved = z.to_vec();
            moved[i] += steps * h;
            gradient(&moved)
        });
        let slope = (a.0 - 8.0 * b.0 + 8.0 * c.0 - e.0) / (12.0 * h);
        assert!((grad[i] - slope).abs() < 1e-7 * size, "{name}: {} and {slope}", grad[i]);
        for j in 0..d {
            let bend = (a.1[j] - 8.0 * b.1[j] + 8.0 * c.1[j] - e.1[j]) / (12.0 * h);
            let found = hessian[j * d + i];
            assert!((found - bend).abs() < 1e-7 * size, "{name}: {found} and {bend}");
            assert_eq!(found, hessian[i * d + j], "{name}: not symmetric");
        }
    }
}

#[test]
fn derivatives_agree_with_differences() {
    check("arma11", &Arma11::new(numbers(60, 0.7)).unwrap(), &[0.2, 0.4, -0.3, 0.1]);
    let mixture = OrderedMixture::new(numbers(80, 1.3).into_iter().map(|v| 4.0 * v).collect()).unwrap();
    check("ordered mixture", &mixture, &[-0.8, 0.5, 0.2, -0.1, 0.3]);
    let (x, counts) = (numbers(7, 2.1), (0..7).map(|i| f64::from(i % 4)).collect());
    let process = GaussianProcessPoisson::new(x, counts).unwrap();
    let z: Vec<f64> = [1.6, 0.2].into_iter().chain(numbers(7, 0.9)).collect();
    check("process", &process, &z);
    check("process by its posterior", &process.with_whitening(Whitening::Posterior), &z);
}

#[test]
fn a_narrow_component_far_away_is_not_there() {
    // The second component is at 1e17 standard deviations from every datum: what is left is log w N(y | μ₁, σ₁²), and
    // log p moves with log σ₂ as its prior alone does.
    let mixture = OrderedMixture::new(numbers(80, 1.3)).unwrap();
    let (mut one, mut two) = ([0.0; 5], [0.0; 5]);
    let at = |log_sigma: f64| [0.37, 4.7, 1.6, log_sigma, 6.0];
    let low = mixture.gradient(&at(-15.0), &mut one).unwrap();
    let high = mixture.gradient(&at(-14.0), &mut two).unwrap();
    assert!((high - low - 0.5 * (one[3] + two[3])).abs() < 1e-6, "{low} {high} {one:?}");
}
