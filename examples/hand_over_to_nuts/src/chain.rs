//! A chain of nuts-rs in coordinates of one's choice, and what its draws are worth.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings};
use rand::SeedableRng;

/// A log density with its gradient, and how often it was asked for.
pub(crate) struct Counted<'m> {
    pub(crate) log_density: &'m (dyn Fn(&[f64], &mut [f64]) -> f64 + Sync),
    pub(crate) gradients: &'m AtomicU64,
}

/// z = mean + Lx.
pub(crate) struct Coordinates {
    mean: Vec<f64>,
    /// The lower factor of a covariance, column by column; none for z = mean + x.
    factor: Option<Vec<f64>>,
}

impl Coordinates {
    pub(crate) fn plain(mean: Vec<f64>) -> Self {
        Self { mean, factor: None }
    }

    /// Those in which a law with this mean and covariance is round.
    pub(crate) fn around(mean: Vec<f64>, covariance: &[f64]) -> Self {
        let d = mean.len();
        let mut l = vec![0.0; d * d];
        for j in 0..d {
            for i in j..d {
                let rest = covariance[j * d + i] - (0..j).map(|k| l[k * d + i] * l[k * d + j]).sum::<f64>();
                l[j * d + i] = if i == j { rest.sqrt() } else { rest / l[j * d + j] };
            }
        }
        Self { mean, factor: Some(l) }
    }

    fn point(&self, x: &[f64]) -> Vec<f64> {
        let (d, mut z) = (x.len(), self.mean.clone());
        match &self.factor {
            None => z.iter_mut().zip(x).for_each(|(z, x)| *z += x),
            Some(l) => (0..d).for_each(|j| (j..d).for_each(|i| z[i] += l[j * d + i] * x[j])),
        }
        z
    }

    /// Lᵀ times a gradient in z.
    fn pull_back(&self, slope: &[f64], out: &mut [f64]) {
        let d = slope.len();
        match &self.factor {
            None => out.copy_from_slice(slope),
            Some(l) => (0..d).for_each(|j| out[j] = (j..d).map(|i| l[j * d + i] * slope[i]).sum()),
        }
    }
}

/// A density that is not a number at some point: nuts-rs takes it for a divergence.
#[derive(Debug)]
struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the log density is not finite")
    }
}

impl std::error::Error for NotFinite {}

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

struct Density<'m> {
    counted: &'m Counted<'m>,
    coordinates: &'m Coordinates,
    slope: Vec<f64>,
}

impl HasDims for Density<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), self.slope.len() as u64)])
    }
}

impl CpuLogpFunc for Density<'_> {
    type LogpError = NotFinite;
    type ExpandedVector = Vec<f64>;
    type FlowParameters = ();

    fn dim(&self) -> usize {
        self.slope.len()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        self.counted.gradients.fetch_add(1, Ordering::Relaxed);
        let z = self.coordinates.point(position);
        let value = (self.counted.log_density)(&z, &mut self.slope);
        self.coordinates.pull_back(&self.slope, gradient);
        if value.is_finite() { Ok(value) } else { Err(NotFinite) }
    }

    fn expand_vector<R: rand::Rng + ?Sized>(&mut self, _: &mut R, position: &[f64]) -> Result<Vec<f64>, CpuMathError> {
        Ok(self.coordinates.point(position))
    }
}

/// Draws of z after `tune` draws that are left out, from the middle of the coordinates.
pub(crate) fn sample(
    counted: &Counted<'_>,
    coordinates: &Coordinates,
    tune: u64,
    draws: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let d = coordinates.mean.len();
    let settings = DiagNutsSettings { num_tune: tune, num_draws: draws as u64, ..DiagNutsSettings::default() };
    let density = Density { counted, coordinates, slope: vec![0.0; d] };
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut chain = settings.new_chain(0, CpuMath::new(density), &mut rng).expect("the settings are those of nuts-rs");
    chain.set_position(&vec![0.0; d]).expect("the density is finite there");
    let mut draw = || coordinates.point(&chain.draw().expect("a divergence is no error").0);
    (0..tune).for_each(|_| drop(draw()));
    (0..draws).map(|_| draw()).collect()
}

pub(crate) fn mean_and_variance(draws: &[Vec<f64>], i: usize) -> (f64, f64) {
    let n = draws.len() as f64;
    let mean = draws.iter().map(|z| z[i]).sum::<f64>() / n;
    (mean, draws.iter().map(|z| (z[i] - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// The least number of independent draws that the draws are worth, over all coordinates: by sums of pairs of
/// autocorrelations while these are positive (C. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7
/// (1992)).
pub(crate) fn effective_draws(draws: &[Vec<f64>]) -> f64 {
    let n = draws.len();
    let of_coordinate = |i: usize| {
        let (mean, variance) = mean_and_variance(draws, i);
        let correlation = |lag: usize| {
            let products = (0..n - lag).map(|s| (draws[s][i] - mean) * (draws[s + lag][i] - mean));
            products.sum::<f64>() / (n as f64 * variance)
        };
        let pairs = (0..n / 4).map(|k| correlation(2 * k) + correlation(2 * k + 1));
        let time = 2.0 * pairs.take_while(|pair| *pair > 0.0).sum::<f64>() - 1.0;
        n as f64 / time
    };
    (0..draws[0].len()).map(of_coordinate).fold(f64::INFINITY, f64::min)
}
