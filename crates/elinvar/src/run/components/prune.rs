//! Components that the bound does not miss: dead ones are removed, duplicates are merged.

use super::judge::Judged;
use crate::block::{Location, LogWeights, Scale};
use crate::family::Approximation;
use crate::linalg::{axpy, dot, products};
use crate::tuning;

/// What is left of a judged mixture.
pub(super) struct Survivors {
    pub(super) q: Approximation,
    /// The component of the judged mixture that each is; `None` for one that is new.
    pub(super) source: Vec<Option<usize>>,
}

impl Judged {
    /// Removes dead components and merges duplicates, as long as the bound on these draws falls by less than a fraction
    /// of `resolution`.
    pub(super) fn prune(&self, resolution: f64) -> Survivors {
        let affords =
            |smaller: &Survivors| self.change_of_bound(&smaller.q) > -tuning::growth::PRUNING_LOSS * resolution;
        let mut current = Survivors { q: self.q.clone(), source: (0..self.q.n_components()).map(Some).collect() };
        while let Some(smaller) = without_dead(&current).filter(affords) {
            current = smaller;
        }
        let mut refused: Vec<f64> = Vec::new();
        while let Some((divergence, smaller)) = merged(&current, &refused) {
            if affords(&smaller) {
                current = smaller;
            } else {
                refused.push(divergence);
            }
        }
        current
    }
}

/// The mixture without its lightest component, if that is dead.
fn without_dead(present: &Survivors) -> Option<Survivors> {
    let q = &present.q;
    let (mut blocks, mut log) = (q.locations().to_vec(), q.weights().log().to_vec());
    let lightest = (0..log.len()).min_by(|a, b| log[*a].total_cmp(&log[*b]))?;
    if log.len() == 1 || log[lightest].exp() >= tuning::growth::DEAD_WEIGHT / log.len() as f64 {
        return None;
    }
    let mut source = present.source.clone();
    blocks.remove(lightest);
    log.remove(lightest);
    source.remove(lightest);
    Some(Survivors { q: Approximation::mixture(LogWeights::new(log).ok()?, blocks).ok()?, source })
}

/// The mixture with its two most similar components merged, if they are duplicates and were not refused before.
fn merged(present: &Survivors, refused: &[f64]) -> Option<(f64, Survivors)> {
    let q = &present.q;
    let k = q.n_components();
    let covariances: Vec<Vec<f64>> = q.locations().iter().map(covariance).collect();
    let mut closest: Option<(f64, usize, usize)> = None;
    for i in 0..k {
        for j in 0..i {
            let divergence = symmetrised(&q.locations()[i], &covariances[i], &q.locations()[j], &covariances[j]);
            if divergence < closest.map_or(tuning::growth::DUPLICATE_NATS, |(least, ..)| least)
                && !refused.contains(&divergence)
            {
                closest = Some((divergence, i, j));
            }
        }
    }
    let (divergence, i, j) = closest?;
    let (one, two) = (q.weights().weight(i), q.weights().weight(j));
    let (mu_one, mu_two) = (q.locations()[i].column(0), q.locations()[j].column(0));
    let (a, b) = (one / (one + two), two / (one + two));
    let mean: Vec<f64> = mu_one.iter().zip(mu_two).map(|(x, y)| a * x + b * y).collect();
    let difference: Vec<f64> = mu_one.iter().zip(mu_two).map(|(x, y)| x - y).collect();
    let mut cov: Vec<f64> = covariances[i].iter().zip(&covariances[j]).map(|(x, y)| a * x + b * y).collect();
    for (column, v) in cov.chunks_exact_mut(difference.len()).zip(&difference) {
        axpy(a * b * v, &difference, column);
    }
    let (mut blocks, mut log) = (q.locations().to_vec(), q.weights().log().to_vec());
    blocks[j] = Location::new(mean, Scale::from_covariance(q.locations()[j].scale().shape(), &cov)?).ok()?;
    log[j] = (one + two).ln();
    let mut source = present.source.clone();
    source[j] = None;
    blocks.remove(i);
    log.remove(i);
    source.remove(i);
    let q = Approximation::mixture(LogWeights::new(log).ok()?, blocks).ok()?;
    Some((divergence, Survivors { q, source }))
}

fn covariance(block: &Location) -> Vec<f64> {
    let mut out = vec![0.0; block.dim() * block.dim()];
    block.scale().covariance_into(&mut out);
    products::mirror_lower(block.dim(), &mut out);
    out
}

/// KL(1 ‖ 2) + KL(2 ‖ 1).
fn symmetrised(one: &Location, cov_one: &[f64], two: &Location, cov_two: &[f64]) -> f64 {
    let d = one.dim();
    let difference: Vec<f64> = one.column(0).iter().zip(two.column(0)).map(|(x, y)| x - y).collect();
    let mut white = vec![0.0; d];
    let mut half = |block: &Location, cov: &[f64]| {
        let precision = block.scale().precision();
        block.scale().whiten(&difference, &mut white);
        block.scale().shape().trace_with_full(precision, cov) + dot(&white, &white) - d as f64
    };
    0.5 * (half(one, cov_two) + half(two, cov_one))
}
