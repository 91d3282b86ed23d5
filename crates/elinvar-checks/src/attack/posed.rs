//! A problem in coordinates of its own, with the answer there.

use elinvar::random::Stream;

use crate::problems::linear_map::LinearMap;
use crate::problems::{Moments, Problem};

/// A problem that was moved: the coordinates are x with z = A x where z has the density of the target.
pub(super) struct Posed {
    pub(super) problem: Problem,
    pub(super) map: Option<LinearMap>,
    /// The answer in x; `None` where there is none, so that no answer is right.
    pub(super) truth: Option<Moments>,
}

/// A uniform number between two.
pub(super) fn between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * stream.uniform()
}

/// A number between two whose logarithm is uniform.
pub(super) fn log_between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    between(stream, low.ln(), high.ln()).exp()
}

/// One of several.
pub(super) fn one_of<T: Copy>(stream: &mut Stream, choices: &[T]) -> T {
    choices[stream.below(choices.len() as u32) as usize]
}

/// A diagonal matrix whose entries are factors of up to a thousand in both directions.
fn scales(dim: usize, stream: &mut Stream) -> LinearMap {
    let mut map = LinearMap::identity(dim);
    for i in 0..dim {
        let factor = log_between(stream, 1e-3, 1e3);
        map.forward[i * (dim + 1)] = factor;
        map.inverse[i * (dim + 1)] = 1.0 / factor;
        map.log_det += factor.ln();
    }
    map
}

impl Posed {
    /// As it is, or with every coordinate in another unit.
    pub(super) fn rescaled(problem: Problem, stream: &mut Stream) -> Self {
        let dim = problem.target.dim();
        let map = (stream.uniform() < 0.5).then(|| scales(dim, stream));
        let truth = problem.moments.clone().map(|known| match &map {
            None => known,
            Some(map) => {
                let unit = |i: usize| map.inverse[i * (dim + 1)];
                Moments {
                    mean: known.mean.iter().enumerate().map(|(i, m)| unit(i) * m).collect(),
                    sd: known.sd.iter().enumerate().map(|(i, sd)| unit(i) * sd).collect(),
                }
            }
        });
        Self { problem, map, truth }
    }

    /// As it is, in other units, or rotated and stretched; `covariance` is that of z.
    pub(super) fn moved(problem: Problem, covariance: &[f64], stream: &mut Stream) -> Self {
        let dim = problem.target.dim();
        let choice = stream.uniform();
        if choice < 0.6 || dim == 1 {
            return Self::rescaled(problem, stream);
        }
        let condition = log_between(stream, 1.0, 1e3);
        let map = LinearMap::with_condition(dim, condition, 1 + u64::from(stream.below(1 << 30)));
        let truth = problem.moments.as_ref().map(|known| {
            let mut mean = vec![0.0; dim];
            map.solve(&known.mean, &mut mean);
            Moments { mean, sd: sds_through(&map.inverse, covariance, dim) }
        });
        Self { problem, map: Some(map), truth }
    }

    /// [`Posed::moved`] of a problem whose coordinates are not correlated.
    pub(super) fn moved_from_axes(problem: Problem, stream: &mut Stream) -> Self {
        let dim = problem.target.dim();
        let mut covariance = vec![0.0; dim * dim];
        if let Some(known) = &problem.moments {
            for (i, sd) in known.sd.iter().enumerate() {
                covariance[i * (dim + 1)] = sd * sd;
            }
        }
        Self::moved(problem, &covariance, stream)
    }
}

/// Standard deviations of B z when z has the covariance C.
fn sds_through(b: &[f64], covariance: &[f64], dim: usize) -> Vec<f64> {
    let variance = |i: usize| {
        let row = |k: usize| b[k * dim + i];
        let terms = (0..dim * dim).map(|at| row(at % dim) * covariance[at] * row(at / dim));
        terms.sum::<f64>()
    };
    (0..dim).map(|i| variance(i).sqrt()).collect()
}
