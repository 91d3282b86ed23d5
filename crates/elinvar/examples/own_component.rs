//! A component of your own for finite mixtures, where elinvar has none: proportions whose log-odds are normal.
//!
//! `cargo run --release -p elinvar --example own_component`

use elinvar::conformance;
use elinvar::prelude::*;
use elinvar::research::component::{Derivatives, Own, OwnComponent, Range};
use elinvar::research::random::MixingNoise;
use elinvar::research::target::Support;

/// The law of z between 0 and 1 with log{z/(1 − z)} ~ N(μ, σ²); t = (l, l²) of l = log{z/(1 − z)}, η = (μ/σ², −1/2σ²).
#[derive(Debug)]
struct LogitNormal;

impl LogitNormal {
    fn mean_and_variance_of_logit(eta: [f64; 2]) -> (f64, f64) {
        let variance = -0.5 / eta[1];
        (eta[0] * variance, variance)
    }
}

impl OwnComponent for LogitNormal {
    fn name(&self) -> &'static str {
        "logit_normal"
    }

    fn support(&self) -> Support {
        Support::Unit
    }

    fn parameters(&self) -> &'static [(&'static str, Range)] {
        &[("location", Range::Real), ("scale", Range::Negative)]
    }

    fn standard(&self) -> [f64; 2] {
        [0.0, -0.5]
    }

    /// −log z − log(1 − z), with its derivatives.
    fn log_base(&self, z: f64) -> Derivatives {
        let rest = 1.0 - z;
        [-z.ln() - rest.ln(), 1.0 / rest - 1.0 / z, 1.0 / (rest * rest) + 1.0 / (z * z)]
    }

    fn statistics(&self, z: f64) -> [Derivatives; 2] {
        let slope = 1.0 / (z * (1.0 - z));
        let l = [(z / (1.0 - z)).ln(), slope, (2.0 * z - 1.0) * slope * slope];
        [l, [l[0] * l[0], 2.0 * l[0] * l[1], 2.0 * (l[1] * l[1] + l[0] * l[2])]]
    }

    fn log_partition(&self, eta: [f64; 2]) -> f64 {
        let (mean, variance) = Self::mean_and_variance_of_logit(eta);
        0.5 * (mean * mean / variance + (std::f64::consts::TAU * variance).ln())
    }

    fn expectation(&self, eta: [f64; 2]) -> [f64; 2] {
        let (mean, variance) = Self::mean_and_variance_of_logit(eta);
        [mean, mean * mean + variance]
    }

    fn fisher(&self, eta: [f64; 2]) -> [[f64; 2]; 2] {
        let (mean, variance) = Self::mean_and_variance_of_logit(eta);
        let both = 2.0 * mean * variance;
        [[variance, both], [both, 2.0 * variance * variance + 4.0 * mean * mean * variance]]
    }

    fn sample(&self, eta: [f64; 2], noise: &mut dyn MixingNoise) -> f64 {
        let (mean, variance) = Self::mean_and_variance_of_logit(eta);
        1.0 / (1.0 + (-mean - variance.sqrt() * noise.normal()).exp())
    }

    /// l = μ + σε at fixed ε; there is a default, which integrates.
    fn path_derivative(&self, eta: [f64; 2], z: f64) -> Option<[f64; 2]> {
        let (mean, variance) = Self::mean_and_variance_of_logit(eta);
        let l = (z / (1.0 - z)).ln();
        let stretch = z * (1.0 - z);
        Some([stretch * variance, stretch * variance * (mean + l)])
    }
}

pub(crate) fn main() -> elinvar::Result {
    if let Err(broken) = conformance::component(&LogitNormal) {
        panic!("{broken}");
    }
    let family = Family::ef_mixture(Own::register(LogitNormal)?, 2);

    // A share of which 3 of 10, and in another survey 16 of 20, had said yes: two opinions about one number.
    let yes = [(3.0, 7.0), (16.0, 4.0)];
    let model = from_fn(1, move |z, gradient| {
        let parts = yes.map(|(a, b)| a * z[0].ln() + b * (1.0 - z[0]).ln() + if a > b { 3.9 } else { 0.0 });
        let high = parts[0].max(parts[1]);
        let weights = parts.map(|part| (part - high).exp());
        let total = weights[0] + weights[1];
        let slope = |(a, b): (f64, f64)| a / z[0] - b / (1.0 - z[0]);
        gradient[0] = (weights[0] * slope(yes[0]) + weights[1] * slope(yes[1])) / total;
        high + total.ln()
    })
    .on(Support::Unit);
    let posterior = Fit::new(&model).family(family).run()?;
    println!("{posterior}");

    // A file holds the name of the component, which has to be registered before the file is read.
    let path = std::env::temp_dir().join(format!("elinvar-own-component-{}.fit.json", std::process::id()));
    posterior.save(&path)?;
    assert_eq!(Posterior::load(&path)?.family(), family);
    std::fs::remove_file(&path).map_err(|source| Error::Io { path, source })
}
