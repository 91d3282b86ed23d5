//! Mixtures of Dirichlet distributions: the law by quadrature over the simplex, derivatives of draws, fits with a known
//! answer, files.

mod fits;
mod formulas;
mod kept;

use elinvar::Family;
use elinvar::block::LogWeights;
use elinvar::family::Approximation;
use elinvar::internals::special::gamma::ln_gamma;

/// The mixture with these weights and concentrations.
fn mixture(weights: &[f64], concentrations: &[&[f64]]) -> Approximation {
    let weights = LogWeights::new(weights.iter().map(|w| w.ln()).collect()).unwrap();
    Approximation::dirichlet(weights, concentrations.iter().map(|a| a.to_vec()).collect()).unwrap()
}

/// log B(a).
fn log_beta(a: &[f64]) -> f64 {
    a.iter().map(|a| ln_gamma(*a)).sum::<f64>() - ln_gamma(a.iter().sum())
}

/// Points of the simplex of three shares with their areas: a trapezoid rule in the log-odds of two breaks of a stick.
fn nodes(step: f64, reach: f64) -> Vec<([f64; 3], f64)> {
    let n = (reach / step) as i32;
    // The break, the rest and the width.
    let breaks: Vec<[f64; 3]> = (-n..=n)
        .map(|k| {
            let t = step * f64::from(k);
            let (v, rest) = (1.0 / (1.0 + (-t).exp()), 1.0 / (1.0 + t.exp()));
            [v, rest, v * rest * step]
        })
        .collect();
    let point = |one: &[f64; 3], two: &[f64; 3]| ([one[0], one[1] * two[0], one[1] * two[1]], one[2] * two[2] * one[1]);
    breaks.iter().flat_map(|one| breaks.iter().map(move |two| point(one, two))).collect()
}
