//! Whether a density that has no maximum falls off in coordinates in which its scale is one of them (mathematics
//! §11.9).

use super::bending::Cloud;
use super::{Coordinates, Layer, Part, Trail};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::axpy;
use crate::target::Draws;
use crate::tuning::pinches as tuning;

/// Whether the law of the scale has its mass where states are, and all other components are N(0, I) given it as far out
/// as the coordinates go: then a search that went up without end went up a spike that has none.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(super) fn falls_off(evaluator: &mut Evaluator<'_>, found: &Coordinates, part: Part<'_>) -> Result<bool, Error> {
    let [Layer::Pinch(pinch), ..] = found.layers() else { return Ok(false) };
    let &[driver] = pinch.drivers() else { return Ok(false) };
    let [low, high] = pinch.ends()[0];
    let (d, places) = (found.dim(), tuning::PLACES);
    let outside = Coordinates::bent(found.frame().clone(), vec![Layer::Pinch(pinch.clone())]);
    // On the line through the means, and beside it.
    let mut u = vec![0.0; 2 * places * d];
    for (s, u) in u.chunks_exact_mut(d).enumerate() {
        if s >= places {
            u.iter_mut().zip(s..).for_each(|(u, k)| *u = if k % 2 == 0 { 1.0 } else { -1.0 });
        }
        u[driver] = low + (high - low) * (s % places) as f64 / (places - 1) as f64;
    }
    let (mut z, mut trail) = (vec![0.0; u.len()], Trail::default());
    outside.to_z(&u, &mut z, &mut trail);
    let (mut log_p, by_z) = evaluator.gradients(Draws::new(d, &z))?;
    let (mut by_u, mut log_jacobian) = (vec![0.0; u.len()], vec![0.0; 2 * places]);
    outside.pull(&by_z, &mut by_u, &mut log_jacobian, &mut trail);
    axpy(1.0, &log_jacobian, &mut log_p);
    let line = &log_p[..places];
    let top = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() || line[0].max(line[places - 1]) > top - tuning::FALL {
        return Ok(false);
    }
    // Where there is anything, the law must be the one that the coordinates are made for.
    let mut cloud = Cloud::empty(d);
    let points = u.chunks_exact(d).zip(by_u.chunks_exact(d)).zip(&log_p);
    points.filter(|(_, l)| **l > top - tuning::NOTHING_LEFT).for_each(|((u, g), _)| cloud.push(u, g));
    let worst = cloud.worst_residual(pinch.others().iter().copied());
    let mut seen = vec![0.0; part.z.len()];
    outside.to_u(part.z, &mut seen);
    let scales = || seen.iter().skip(driver).step_by(d).copied();
    let (least, most) = (scales().fold(f64::INFINITY, f64::min), scales().fold(f64::NEG_INFINITY, f64::max));
    let spacing = (high - low) / (places - 1) as f64;
    let mass = |(k, l): (usize, &f64)| (low + k as f64 * spacing, (l - top).exp());
    let all: f64 = line.iter().enumerate().map(|at| mass(at).1).sum();
    let within = |t: f64| t > least - spacing && t < most + spacing;
    let unseen: f64 = line.iter().enumerate().map(mass).filter(|(t, _)| !within(*t)).map(|(_, p)| p).sum();
    Ok(worst < tuning::EXACT_FAR_OUT && unseen < tuning::UNSEEN * all)
}
