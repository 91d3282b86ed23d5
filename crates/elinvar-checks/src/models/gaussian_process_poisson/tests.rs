use super::*;

fn model() -> GaussianProcessPoisson {
    GaussianProcessPoisson::new(vec![-1.5, -0.2, 0.4, 1.9], vec![3.0, 0.0, 5.0, 2.0]).unwrap()
}

/// Another route to |f̃|²: fᵀK⁻¹f.
#[test]
fn the_density_of_the_process_itself() {
    let (model, z) = (model(), [0.3f64, -0.2, 0.5, -1.0, 0.8, 0.1]);
    let (rho, alpha) = (z[0].exp(), z[1].exp());
    let mut f = [0.0; 4];
    model.log_rates(&z, &mut f).unwrap();
    // Elimination of [K | f]: its pivots give fᵀK⁻¹f.
    let mut k: Vec<Vec<f64>> = (0..4)
        .map(|i| {
            let entry = |j: usize| alpha * alpha * (-0.5 * ((model.x[i] - model.x[j]) / rho).powi(2)).exp();
            (0..4).map(|j| entry(j) + if i == j { 1e-10 } else { 0.0 }).chain([f[i]]).collect()
        })
        .collect();
    let mut square = 0.0;
    for i in 0..4 {
        square += k[i][4] * k[i][4] / k[i][i];
        let pivot_row = k[i].clone();
        for row in &mut k[i + 1..] {
            let ratio = row[i] / pivot_row[i];
            row.iter_mut().zip(&pivot_row).for_each(|(entry, pivot)| *entry -= ratio * pivot);
        }
    }
    let tau = std::f64::consts::TAU;
    let mut expected = -0.5 * (4.0 * tau.ln() + square);
    let factorial_24: f64 = (1..=24).map(|i| f64::from(i).ln()).sum();
    expected += 25.0 * 4f64.ln() - factorial_24 + 24.0 * rho.ln() - 4.0 * rho + z[0];
    expected += 2f64.ln() - 0.5 * (alpha / 2.0).powi(2) - (2.0 * tau.sqrt()).ln() + z[1];
    for (f, (k, log_factorial)) in f.iter().zip([(3.0, 6f64.ln()), (0.0, 0.0), (5.0, 120f64.ln()), (2.0, 2f64.ln())]) {
        expected += k * f - f.exp() - log_factorial;
    }
    let found = model.gradient(&z, &mut [0.0; 6]).unwrap();
    assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found} {expected}");
}

#[test]
fn both_whitenings_are_one_density() {
    let (prior, posterior) = (model(), model().with_whitening(Whitening::Posterior));
    let z = [0.3, -0.2, 0.5, -1.0, 0.8, 0.1];
    let mut white = z;
    let log_volume = posterior
        .with_process(&z, |process: Process<'_, FULL>| {
            white[2..].iter_mut().zip(&process.values[4..]).for_each(|(out, t)| *out = t[0]);
            process.log_volume[0]
        })
        .unwrap();
    let a = posterior.gradient(&z, &mut [0.0; 6]).unwrap();
    let b = prior.gradient(&white, &mut [0.0; 6]).unwrap();
    assert!((a - b - log_volume).abs() < 1e-12 * a.abs(), "{a} {b} {log_volume}");
    // log |∂f̃/∂u| by differences of f̃, which is linear in u: elimination of the 4 × 4 matrix.
    let white_at =
        |z: &[f64]| posterior.with_process(z, |p: Process<'_, VALUE>| [4, 5, 6, 7].map(|i| p.values[i][0])).unwrap();
    let base = white_at(&z);
    let mut jacobian: Vec<[f64; 4]> = (0..4)
        .map(|j| {
            let mut moved = z;
            moved[2 + j] += 1.0;
            let at = white_at(&moved);
            [0, 1, 2, 3].map(|i| at[i] - base[i])
        })
        .collect();
    let mut log_det = 0.0;
    for i in 0..4 {
        let pivot_row = jacobian[i];
        log_det += pivot_row[i].abs().ln();
        for other in &mut jacobian[i + 1..] {
            let ratio = other[i] / pivot_row[i];
            other.iter_mut().zip(pivot_row).for_each(|(entry, pivot)| *entry -= ratio * pivot);
        }
    }
    assert!((log_det - log_volume).abs() < 1e-12, "{log_det} {log_volume}");
    let (mut f, mut g) = ([0.0; 4], [0.0; 4]);
    prior.log_rates(&white, &mut f).unwrap();
    posterior.log_rates(&z, &mut g).unwrap();
    assert!(f.iter().zip(g).all(|(f, g)| (f - g).abs() < 1e-12));
}

#[test]
fn posterior_whitening_centres_the_process_on_the_counts() {
    let counts = vec![400.0, 900.0, 1600.0, 2500.0];
    let model = GaussianProcessPoisson::new(vec![-4.0, -1.0, 2.0, 5.0], counts.clone()).unwrap();
    let model = model.with_whitening(Whitening::Posterior);
    let (z, mut hessian) = ([0.0, 1.5, 0.0, 0.0, 0.0, 0.0], [0.0; 36]);
    let mut f = [0.0; 4];
    model.log_rates(&z, &mut f).unwrap();
    assert!(f.iter().zip(&counts).all(|(f, k)| (f - k.ln()).abs() < 0.02), "{f:?}");
    model.hessian(&z, &mut hessian).unwrap();
    for i in 2..6 {
        for j in 2..6 {
            let expected = if i == j { -1.0 } else { 0.0 };
            assert!((hessian[i * 6 + j] - expected).abs() < 0.02, "{i} {j}: {}", hessian[i * 6 + j]);
        }
    }
}

#[test]
fn what_cannot_be_factorised_is_refused_for_this_point_only() {
    let n = 30;
    let model = GaussianProcessPoisson::new((0..n).map(f64::from).collect(), vec![1.0; n as usize]).unwrap();
    let mut z = vec![0.0; n as usize + 2];
    (z[0], z[1]) = (5.0, 12.0);
    assert!(model.gradient(&z, &mut vec![0.0; n as usize + 2]).unwrap_err().recoverable);
    assert!(GaussianProcessPoisson::new(vec![1.0], vec![0.5]).is_err());
}
