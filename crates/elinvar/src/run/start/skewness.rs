//! The directions in which the target is most skewed, and shifts along them.

use super::draft::Draft;
use crate::Error;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, DrawPlan, NoiseKey};
use crate::law::SkewnessOfShift;
use crate::linalg::{axpy, dot};
use crate::random::{Noise, Purpose, Stream};
use crate::tuning;

/// A unit direction in coordinates whitened by a Gaussian, and the third cumulant of the target along it.
pub(super) type Skewed = (Vec<f64>, f64);

/// The `count` directions in which the target is most skewed, each orthogonal to those before it.
///
/// To first order in h = log q − log p the third cumulant tensor of the target is T = −E[∇³h], and by integration by
/// parts T(u, u, ·) = E[((uᵀx)² − 1)(−∇h)], so that gradients suffice; u ← T(u, u, ·)/|T(u, u, ·)| climbs to a maximum
/// of T(u, u, u). Where independent skewed variables have been turned, the maxima are their directions and orthogonal.
pub(super) fn most_skewed(
    evaluator: &mut Evaluator<'_>,
    gaussian: &Approximation,
    (count, seed): (usize, u64),
) -> Result<Vec<Skewed>, Error> {
    let d = gaussian.dim();
    let n_draws = tuning::start::SKEWNESS_DRAWS;
    let draw_plan = DrawPlan { noise: Noise::QuasiMonteCarlo, ..DrawPlan::independent(n_draws) };
    let mut estimator = gaussian.estimator(&draw_plan);
    let mut batch = estimator.batch(gaussian);
    estimator.draw(gaussian, NoiseKey { seed, purpose: Purpose::Start, step: 1 }, &mut batch);
    let (_, mut pull) = evaluator.gradients(batch.draws.view())?;

    let (scale, mut x) = (gaussian.locations()[0].scale(), vec![0.0; d * n_draws]);
    let mut offset = batch.draws.view().as_slice().to_vec();
    offset.chunks_exact_mut(d).for_each(|z| axpy(-1.0, gaussian.locations()[0].column(0), z));
    scale.whiten(&offset, &mut x);
    scale.whiten_gradient(&mut pull);
    axpy(1.0, &x, &mut pull);

    let contract = |u: &[f64], before: &[Skewed], out: &mut [f64]| {
        out.fill(0.0);
        for (x, pull) in x.chunks_exact(d).zip(pull.chunks_exact(d)) {
            let along = dot(u, x);
            let weight = (along * along - 1.0) / tuning::start::SKEWNESS_DRAWS as f64;
            if pull.iter().all(|v| v.is_finite()) {
                axpy(weight, pull, out);
            }
        }
        leave(before, out);
    };
    let mut stream = Stream::open(seed, Purpose::Start, 2, 0);
    let mut found: Vec<Skewed> = Vec::with_capacity(count);
    let (mut u, mut next) = (vec![0.0; d], vec![0.0; d]);
    while found.len() < count {
        let mut best = (vec![0.0; d], 0.0);
        best.0[found.len() % d] = 1.0;
        for _ in 0..tuning::start::SKEWNESS_CLIMBS {
            stream.fill_normal(&mut u);
            leave(&found, &mut u);
            normalise(&mut u);
            for _ in 0..tuning::start::SKEWNESS_ITERATIONS {
                contract(&u, &found, &mut next);
                if !normalise(&mut next) {
                    break;
                }
                u.copy_from_slice(&next);
            }
            contract(&u, &found, &mut next);
            let third = dot(&u, &next);
            if third > best.1 {
                best = (u.clone(), third);
            }
        }
        found.push(best);
    }
    Ok(found)
}

/// Makes a vector orthogonal to these directions; one of more of them than there are coordinates stays.
fn leave(before: &[Skewed], u: &mut [f64]) {
    if before.len() < u.len() {
        before.iter().for_each(|(direction, _)| axpy(-dot(direction, u), direction, u));
    }
}

fn normalise(u: &mut [f64]) -> bool {
    let norm = dot(u, u).sqrt();
    if !(norm > 0.0 && norm.is_finite()) {
        return false;
    }
    u.iter_mut().for_each(|v| *v /= norm);
    true
}

/// Gives the family a shift along each direction with about its third cumulant, at the mean and covariance of the
/// Gaussian. No shift is small: α = 0 is a stationary point of the expected flow (mathematics §3.5).
pub(super) fn shift(
    draft: &mut Draft,
    of_law: impl Fn(f64) -> Option<SkewnessOfShift>,
    gaussian: &Approximation,
    directions: &[Skewed],
) {
    for (direction, third) in directions {
        let Some(SkewnessOfShift { mean: mean_u, variance: var_u, length }) = of_law(*third) else { return };
        // Several shifts in less coordinates share the variance that there is.
        let crowd = directions.len().div_ceil(direction.len()) as f64;
        let longest = (tuning::start::LARGEST_SHIFT_SHARE / (crowd * var_u)).sqrt();
        let length = length.max(tuning::start::SMALLEST_SHIFT).min(longest);
        let scale = gaussian.locations()[0].scale();
        let mut alpha: Vec<f64> = direction.iter().map(|u| length * u).collect();
        // (Σ − Var(u) ααᵀ)⁻¹, κ = |α|² in whitened coordinates.
        let (b, precision) = &mut draft.blocks[0];
        scale.take_out(var_u, &alpha, length * length, precision);
        scale.unwhiten(&mut alpha);
        axpy(-mean_u, &alpha, &mut b[..direction.len()]);
        b.extend_from_slice(&alpha);
    }
}
