//! The direction in which the target is most skewed, and a shift along it.

use super::draft::Draft;
use crate::Error;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, DrawPlan, NoiseKey};
use crate::law::{Law, SkewnessOfShift};
use crate::linalg::{axpy, dot};
use crate::random::{Noise, Purpose, Stream};
use crate::tuning;

/// The unit direction x in which the target is most skewed, in coordinates whitened by the Gaussian, and its third
/// cumulant there.
///
/// To first order in h = log q − log p the third cumulant tensor of the target is T = −E[∇³h], and by integration by
/// parts T(u, u, ·) = E[((uᵀx)² − 1)(−∇h)], so that gradients suffice; u ← T(u, u, ·)/|T(u, u, ·)| climbs to a maximum
/// of T(u, u, u).
pub(super) fn most_skewed(
    evaluator: &mut Evaluator<'_>,
    gaussian: &Approximation,
    seed: u64,
) -> Result<(Vec<f64>, f64), Error> {
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

    let contract = |u: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        for (x, pull) in x.chunks_exact(d).zip(pull.chunks_exact(d)) {
            let along = dot(u, x);
            let weight = (along * along - 1.0) / tuning::start::SKEWNESS_DRAWS as f64;
            if pull.iter().all(|v| v.is_finite()) {
                axpy(weight, pull, out);
            }
        }
    };
    let mut stream = Stream::open(seed, Purpose::Start, 2, 0);
    let mut best = (vec![0.0; d], 0.0);
    best.0[0] = 1.0;
    let (mut u, mut next) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..tuning::start::SKEWNESS_CLIMBS {
        stream.fill_normal(&mut u);
        normalise(&mut u);
        for _ in 0..tuning::start::SKEWNESS_ITERATIONS {
            contract(&u, &mut next);
            if !normalise(&mut next) {
                break;
            }
            u.copy_from_slice(&next);
        }
        contract(&u, &mut next);
        let third = dot(&u, &next);
        if third > best.1 {
            best = (u.clone(), third);
        }
    }
    Ok(best)
}

fn normalise(u: &mut [f64]) -> bool {
    let norm = dot(u, u).sqrt();
    if !(norm > 0.0 && norm.is_finite()) {
        return false;
    }
    u.iter_mut().for_each(|v| *v /= norm);
    true
}

/// Gives the family a shift along `direction` with about this third cumulant, at the mean and covariance of the
/// Gaussian. The shift is never small: α = 0 is a stationary point of the expected flow (mathematics §3.5).
pub(super) fn shift(draft: &mut Draft, law: Law, gaussian: &Approximation, direction: &[f64], third: f64) {
    let Some(SkewnessOfShift { mean: mean_u, variance: var_u, length }) = law.skewness_of_shift(third) else { return };
    let length = length.max(tuning::start::SMALLEST_SHIFT).min((tuning::start::LARGEST_SHIFT_SHARE / var_u).sqrt());
    let scale = gaussian.locations()[0].scale();
    let mut alpha: Vec<f64> = direction.iter().map(|u| length * u).collect();
    // (Σ − Var(u) ααᵀ)⁻¹, κ = |α|² in whitened coordinates.
    let (b, precision) = &mut draft.blocks[0];
    scale.take_out(var_u, &alpha, length * length, precision);
    scale.unwhiten(&mut alpha);
    axpy(-mean_u, &alpha, b);
    b.extend_from_slice(&alpha);
}
