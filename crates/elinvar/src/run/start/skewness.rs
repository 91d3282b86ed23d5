//! The direction in which the target is most skewed, and a shift along it.

use crate::Error;
use crate::block::ScaleMatrix;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Batch, DrawPlan, Gaussian, Kind, State};
use crate::linalg::{axpy, dot};
use crate::random::{Noise, Purpose, Stream};
use crate::target::Covariance;

/// The unit direction x in which the target is most skewed, in coordinates whitened by the Gaussian, and its third cumulant there.
///
/// To first order in h = log q − log p the third cumulant tensor of the target is T = −E[∇³h], and by integration by parts
/// T(u, u, ·) = E[((uᵀx)² − 1)(−∇h)], so that gradients suffice; u ← T(u, u, ·)/|T(u, u, ·)| climbs to a maximum of T(u, u, u).
pub(super) fn most_skewed<S: ScaleMatrix>(
    evaluator: &mut Evaluator<'_>,
    gaussian: &Gaussian<S>,
    seed: u64,
) -> Result<(Vec<f64>, f64), Error> {
    const DRAWS: usize = 1024;
    const CLIMBS: usize = 8;
    const ITERATIONS: usize = 30;
    let d = gaussian.dim();
    let draw_plan = DrawPlan { noise: Noise::QuasiMonteCarlo, ..DrawPlan::independent(DRAWS) };
    let (mut work, mut batch): (_, Batch) = (gaussian.work(&draw_plan), gaussian.batch(&draw_plan));
    gaussian.draw(seed, Purpose::Start, 1, &mut work, &mut batch);
    let (_, mut pull) = evaluator.gradients(batch.draws.view())?;

    let (scale, mut x) = (gaussian.block().scale(), vec![0.0; d * DRAWS]);
    let mut offset = batch.draws.view().as_slice().to_vec();
    offset.chunks_exact_mut(d).for_each(|z| axpy(-1.0, gaussian.block().column(0), z));
    scale.whiten(&offset, &mut x);
    scale.whiten_gradient(&mut pull);
    axpy(1.0, &x, &mut pull);

    let contract = |u: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        for (x, pull) in x.chunks_exact(d).zip(pull.chunks_exact(d)) {
            let along = dot(u, x);
            let weight = (along * along - 1.0) / DRAWS as f64;
            if pull.iter().all(|v| v.is_finite()) {
                axpy(weight, pull, out);
            }
        }
    };
    let mut stream = Stream::open(seed, Purpose::Start, 2, 0);
    let mut best = (vec![0.0; d], 0.0);
    best.0[0] = 1.0;
    let (mut u, mut next) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..CLIMBS {
        stream.fill_normal(&mut u);
        normalise(&mut u);
        for _ in 0..ITERATIONS {
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

/// Gives the family a shift along `direction` with about this third cumulant, at the mean and covariance of the Gaussian.
pub(super) fn shift<S: ScaleMatrix>(state: &mut State, gaussian: &Gaussian<S>, direction: &[f64], third: f64) {
    use std::f64::consts::PI;
    /// α = 0 is a stationary point of the expected flow (mathematics §3.5), so a shift is never smaller than this.
    const SMALLEST: f64 = 0.2;
    /// Largest share of the variance along α that the mixing may explain.
    const LARGEST_SHARE: f64 = 0.6;
    // Mean and variance of u, and the length |α| (whitened) that gives the third cumulant; s̄ = 1 in all three families.
    let (mean_u, var_u, length) = match state.family.kind {
        Kind::Skew => {
            let c = (2.0 / PI).sqrt();
            (c, 1.0 - c * c, (third / (c * (4.0 / PI - 1.0))).cbrt())
        }
        Kind::Nig { lambda } => (1.0, 1.0 / lambda, third * lambda / 3.0),
        _ => (1.0, 1.0, (0.5 * third).cbrt()),
    };
    let length = length.max(SMALLEST).min((LARGEST_SHARE / var_u).sqrt());
    let scale = gaussian.block().scale();
    let d = scale.dim();
    let (mut alpha, mut v) = (direction.iter().map(|u| length * u).collect::<Vec<_>>(), vec![0.0; d]);
    scale.factor_times(&alpha, &mut v);
    // (Σ − Var(u) ααᵀ)⁻¹ = P + Var(u)/(1 − Var(u) κ) Pα(Pα)ᵀ; a diagonal keeps each coordinate's variance instead.
    let block = &mut state.blocks[0];
    match S::COVARIANCE {
        Covariance::Full => S::add_outer(var_u / (1.0 - var_u * length * length), &v, &mut block.precision),
        Covariance::Diagonal => {
            block.precision.iter_mut().zip(&alpha).for_each(|(p, a)| *p /= 1.0 - var_u * a * a);
        }
    }
    scale.unwhiten(&mut alpha);
    axpy(-mean_u, &alpha, &mut block.b);
    block.b.extend_from_slice(&alpha);
}
