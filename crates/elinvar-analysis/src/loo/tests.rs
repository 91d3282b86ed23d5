//! Against ArviZ, and against the fits without each row.

use elinvar::model::{DesignMatrix, LinearRegression, NoisePrior};
use elinvar::random::{Purpose, Stream};
use elinvar::target::Prior;
use elinvar::{Family, Plan};
use serde::Deserialize;

use super::pointwise;
use crate::response::{Normal, Regression};

/// What `arviz.loo` says of log densities that a formula makes; written by `arviz_loo.py` beside this file.
#[derive(Deserialize)]
struct Reference {
    n_draws: usize,
    elpd: Vec<f64>,
    pareto_k: Vec<f64>,
    elpd_loo: f64,
    se: f64,
    p_loo: f64,
}

/// The log density of row i at draw s: that of y_i = i/4 − 2 under N(μ_s, 1), where μ_s walks over a wide normal law.
fn log_density(i: usize, s: usize, n_draws: usize) -> f64 {
    // A lattice through the unit interval, and its logistic quantile.
    let u = ((s + 1) as f64 * 0.618_033_988_749_894_9).fract();
    let centre = (u / (1.0 - u)).ln() * 0.12 + 0.1 * ((s % 7) as f64 - 3.0) / n_draws as f64;
    let y = i as f64 / 4.0 - 2.0;
    -0.5 * (y - centre) * (y - centre) - 0.5 * std::f64::consts::TAU.ln()
}

#[test]
fn numbers_are_those_of_arviz() {
    let reference: Reference = serde_json::from_str(include_str!("arviz_loo.json")).unwrap();
    let n = reference.elpd.len();
    let mut elpds = Vec::new();
    let mut p_loo = 0.0;
    for i in 0..n {
        let logs: Vec<f64> = (0..reference.n_draws).map(|s| log_density(i, s, reference.n_draws)).collect();
        let (elpd, lpd, k) = pointwise::left_out(&logs);
        // Sums in another order: 1e-9 is what is left of 1e-12 where k is large.
        assert!((elpd - reference.elpd[i]).abs() < 1e-9, "row {i}: {elpd} {}", reference.elpd[i]);
        assert!((k - reference.pareto_k[i]).abs() < 1e-9, "row {i}: {k} {}", reference.pareto_k[i]);
        p_loo += lpd - elpd;
        elpds.push(elpd);
    }
    let (total, count) = (elpds.iter().sum::<f64>(), n as f64);
    let variance = elpds.iter().map(|e| (e - total / count).powi(2)).sum::<f64>() / count;
    assert!((total - reference.elpd_loo).abs() < 1e-8 && (p_loo - reference.p_loo).abs() < 1e-8);
    assert!(((count * variance).sqrt() - reference.se).abs() < 1e-8);
    // Both kinds of rows are among them.
    assert!(reference.pareto_k.iter().any(|k| *k > 0.6) && reference.pareto_k.iter().any(|k| *k < 0.3));
}

/// log p(y_i | other rows) of a linear regression with normal prior and known scale of σ's prior, by quadrature over
/// log σ: given σ the predictive law is normal, with mean and variance by the normal equations.
fn exact(rows: &[[f64; 2]], y: &[f64], leave: usize) -> f64 {
    let log_normal = |y: f64, mean: f64, variance: f64| {
        -0.5 * (y - mean).powi(2) / variance - 0.5 * (std::f64::consts::TAU * variance).ln()
    };
    let (mut top, mut terms) = (f64::NEG_INFINITY, Vec::new());
    for step in 0..4_000 {
        let log_sigma = -4.0 + 0.002 * f64::from(step);
        let variance = (2.0 * log_sigma).exp();
        // Rows one after the other: the predictive densities of those that stay are the evidence, that of the one that
        // is left out comes last.
        let (mut mean, mut cov) = ([0.0; 2], [[4.0, 0.0], [0.0, 4.0]]);
        let mut evidence = 0.0;
        let mut last = 0.0;
        let order = (0..y.len()).filter(|i| *i != leave).chain([leave]);
        for i in order {
            let x = rows[i];
            let cx = [cov[0][0] * x[0] + cov[0][1] * x[1], cov[1][0] * x[0] + cov[1][1] * x[1]];
            let (centre, spread) = (x[0] * mean[0] + x[1] * mean[1], x[0] * cx[0] + x[1] * cx[1] + variance);
            let log = log_normal(y[i], centre, spread);
            if i == leave {
                last = log;
                continue;
            }
            evidence += log;
            for a in 0..2 {
                mean[a] += cx[a] / spread * (y[i] - centre);
                (0..2).for_each(|b| cov[a][b] -= cx[a] * cx[b] / spread);
            }
        }
        // Half-normal prior of σ with scale 2, and the Jacobian of its logarithm.
        let prior = -variance / 8.0 + log_sigma;
        top = top.max(evidence + prior);
        terms.push((evidence + prior, last));
    }
    let weights: Vec<f64> = terms.iter().map(|(w, _)| (w - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    (weights.iter().zip(&terms).map(|(w, (_, last))| w * last.exp()).sum::<f64>() / total).ln()
}

#[test]
fn sums_are_those_of_fits_without_each_row() {
    const N: usize = 30;
    let mut stream = Stream::open(5, Purpose::Start, 0, 0);
    let rows: Vec<[f64; 2]> = (0..N).map(|_| [1.0, stream.normal()]).collect();
    let y: Vec<f64> = rows.iter().map(|x| 0.5 - x[1] + 0.6 * stream.normal()).collect();
    let design = DesignMatrix::new(rows.concat(), 2, vec!["a".into(), "b".into()]).unwrap();
    let target = LinearRegression::new(design.clone(), y.clone(), 1.0)
        .and_then(|model| model.with_coefficient_prior(Prior::normal(vec![0.0; 2], &[2.0; 2])))
        .and_then(|model| model.with_noise_prior(NoisePrior::HalfNormal { scale: 2.0 }))
        .unwrap();
    let posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    // Draws of the posterior itself, by weights of those of the fit.
    let weighted = posterior.importance(&target, 40_000, 1).unwrap();
    let chosen = elinvar::posterior::resample(&weighted.log_weights, 8_000, &mut stream);
    let mut draws = elinvar::target::DrawBuffer::zeros(3, chosen.len());
    chosen.iter().enumerate().for_each(|(s, from)| draws.get_mut(s).copy_from_slice(weighted.draws.get(*from)));
    let all: Vec<usize> = (0..N).collect();
    let regression = Regression::plain(&Normal, &design, &y);
    let found = pointwise::of(&regression, posterior.transforms(), &draws, &all);
    let mut off = 0.0;
    for (i, (elpd, _, k)) in found.iter().enumerate() {
        let truth = exact(&rows, &y, i);
        // The error of a weighted average of 8,000 draws is of the order 0.01; outlying rows have more.
        assert!(*k < 0.7 && (elpd - truth).abs() < 0.03, "row {i}: {elpd} {truth}, k {k}");
        off += elpd - truth;
    }
    assert!(off.abs() < 0.1, "{off}");
}
