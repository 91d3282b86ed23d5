use super::*;
use crate::random::test_statistics::{ks_uniform, mean_is};

fn batch(noise: Noise, dim: usize, n: usize, step: u64) -> (Vec<f64>, Vec<[f64; 4]>) {
    let mut source = NoiseSource::new(noise, dim, n);
    let mut eps = vec![0.0; dim * n];
    source.begin(11, Purpose::Draws, step, 0);
    source.fill_eps(&mut eps);
    let w = (0..n)
        .map(|s| {
            let mut noise = source.mixing(s);
            [noise.gamma(2.5), noise.normal(), noise.uniform(), noise.gamma(0.7)]
        })
        .collect();
    (eps, w)
}

#[test]
fn words_round_trip() {
    for noise in Noise::ALL {
        assert_eq!(noise.to_string().parse::<Noise>().unwrap(), noise);
        assert_eq!(serde_json::to_string(&noise).unwrap(), format!("\"{noise}\""));
        assert_eq!(serde_json::from_str::<Noise>(&format!("\"{noise}\"")).unwrap(), noise);
    }
    let message = "sobol".parse::<Noise>().unwrap_err().to_string();
    assert!(message.contains("\"sobol\"") && message.contains("quasi_monte_carlo"), "{message}");
}

#[test]
fn a_batch_depends_on_its_arguments_alone() {
    for noise in Noise::ALL {
        let (dim, n) = (3, 7);
        let first = batch(noise, dim, n, 5);
        assert_eq!(first, batch(noise, dim, n, 5));
        let mut used = NoiseSource::new(noise, dim, n);
        let mut eps = vec![0.0; dim * n];
        used.begin(1, Purpose::Sample, 9, 2);
        used.fill_eps(&mut eps);
        used.mixing(0).gamma(3.0);
        used.begin(11, Purpose::Draws, 5, 0);
        let w: Vec<f64> = (0..n).map(|s| used.mixing(s).gamma(2.5)).collect();
        used.fill_eps(&mut eps);
        assert_eq!(eps, first.0);
        assert_eq!(w[0], first.1[0][0]);
        let other = batch(noise, dim, n, 6);
        assert!(first.0.iter().zip(&other.0).all(|(a, b)| a != b));
        assert!(first.1.iter().zip(&other.1).all(|(a, b)| a[0] != b[0] && a[3] != b[3]));
    }
}

#[test]
fn antithetic_pairs_mirror_eps_and_share_w() {
    let (eps, w) = batch(Noise::Antithetic, 2, 5, 0);
    for k in 0..2 {
        for j in 0..2 {
            assert_eq!(eps[4 * k + j], -eps[4 * k + 2 + j]);
        }
        assert_eq!(w[2 * k], w[2 * k + 1]);
        assert!(w[2 * k][0] != w[2 * k + 2][0] && w[2 * k][3] != w[2 * k + 2][3]);
    }
    assert!(eps[8..].iter().all(|last| !eps[..8].contains(last)));
}

#[test]
fn every_scheme_has_the_same_law_of_a_draw() {
    const N: usize = 6;
    for noise in Noise::ALL {
        let (mut cross, mut normal, mut gamma, mut with_w) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut uniform, mut square) = (Vec::new(), Vec::new());
        for step in 0..20_000 {
            let (eps, w) = batch(noise, 2, N, step);
            let mean = |f: &dyn Fn(usize) -> f64| (0..N).map(f).sum::<f64>() / N as f64;
            cross.push(mean(&|s| eps[2 * s] * eps[2 * s + 1]));
            square.push(mean(&|s| eps[2 * s].powi(2)));
            normal.push(mean(&|s| w[s][1].powi(2)));
            gamma.push(mean(&|s| w[s][0]));
            with_w.push(mean(&|s| (w[s][0] - 2.5) * eps[2 * s].powi(2)));
            uniform.push(w[step as usize % N][2]);
        }
        mean_is(&cross, 0.0, "E[ε₁ε₂]");
        mean_is(&square, 1.0, "E[ε²]");
        mean_is(&normal, 1.0, "E[normal²]");
        mean_is(&gamma, 2.5, "E[gamma]");
        mean_is(&with_w, 0.0, "Cov[w, ε²]");
        ks_uniform(&mut uniform);
    }
}

#[test]
fn quasi_random_w_is_stratified() {
    const N: usize = 64;
    let (_, w) = batch(Noise::QuasiMonteCarlo, 4, N, 0);
    let mut counts = [0; 4];
    // The quartiles of Gamma(2.5, 1).
    for [gamma, ..] in &w {
        counts[[1.337_301_387_6, 2.175_730_095_5, 3.312_856_873_1].iter().filter(|q| gamma > q).count()] += 1;
    }
    assert_eq!(counts, [N / 4; 4]);
    assert_eq!(w.iter().filter(|w| w[1] > 0.0).count(), N / 2);
}

#[test]
fn quasi_random_mixing_numbers_are_spread_evenly() {
    let (dim, n) = (3, 8);
    let mut source = NoiseSource::new(Noise::QuasiMonteCarlo, dim, n);
    source.begin(1, Purpose::Draws, 0, 0);
    let exponential: Vec<f64> = (0..n).map(|s| -source.mixing(s).uniform().ln()).collect();
    assert_eq!(exponential.iter().filter(|&&w| w < 2f64.ln()).count(), n / 2, "{exponential:?}");
}
