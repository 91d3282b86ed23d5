//! The law of a scale, which is that of the density on the line through the conditional means of all other components
//! where these are Gaussian given it (mathematics §11.9).

use super::bending::Cloud;
use super::pinch::Pinch;
use super::profile::Place;
use super::stretch::Stretch;
use super::{Coordinates, Frame, Layer, Part, Trail};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::axpy;
use crate::target::Draws;
use crate::tuning::pinches as tuning;

/// The outer map of coordinates with one scale, that scale, and where the map of it ends.
fn of_one(found: &Coordinates) -> Option<(Coordinates, &Pinch, usize, [f64; 2])> {
    let [Layer::Pinch(pinch), ..] = found.layers() else { return None };
    let &[driver] = pinch.drivers() else { return None };
    let outside = Coordinates::bent(found.frame().clone(), vec![Layer::Pinch(pinch.clone())]);
    Some((outside, pinch, driver, pinch.ends()[0]))
}

/// Places that are as far from one another.
fn evenly([low, high]: [f64; 2]) -> impl Iterator<Item = f64> {
    (0..tuning::PLACES).map(move |k| low + (high - low) * k as f64 / (tuning::PLACES - 1) as f64)
}

/// log p, with the volume of the map, and its gradients at points u.
fn densities(evaluator: &mut Evaluator<'_>, outside: &Coordinates, u: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let d = outside.dim();
    let (mut z, mut trail) = (vec![0.0; u.len()], Trail::default());
    outside.to_z(u, &mut z, &mut trail);
    let (mut log_p, by_z) = evaluator.gradients(Draws::new(d, &z))?;
    let (mut by_u, mut log_jacobian) = (vec![0.0; u.len()], vec![0.0; log_p.len()]);
    outside.pull(&by_z, &mut by_u, &mut log_jacobian, &mut trail);
    axpy(1.0, &log_jacobian, &mut log_p);
    Ok((log_p, by_u))
}

/// A corner for each of several scales: all other components are 1 or −1, which of them takes turns.
fn corners(d: usize, driver: usize, scales: &[f64]) -> Vec<f64> {
    let mut u = vec![0.0; scales.len() * d];
    for (s, (u, t)) in u.chunks_exact_mut(d).zip(scales).enumerate() {
        u.iter_mut().zip(s..).for_each(|(u, k)| *u = if k % 2 == 0 { 1.0 } else { -1.0 });
        u[driver] = *t;
    }
    u
}

/// How far the gradients of the worst of the other components are from those of N(0, I) at some points.
fn worst(pinch: &Pinch, d: usize, u: &[f64], by_u: &[f64]) -> f64 {
    Cloud { d, x: u.to_vec(), g: by_u.to_vec() }.worst_residual(pinch.others().iter().copied())
}

/// Coordinates in which the scale is N(0, 1), too, if its law can be followed and all other components are N(0, I)
/// given it wherever it has mass.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(super) fn stretched(evaluator: &mut Evaluator<'_>, found: &Coordinates) -> Result<Option<Coordinates>, Error> {
    let Some((outside, pinch, driver, mut ends)) = of_one(found) else { return Ok(None) };
    let d = found.dim();
    for _ in 0..tuning::CLOSER {
        let at: Vec<f64> = evenly(ends).collect();
        let mut u = vec![0.0; at.len() * d];
        u.chunks_exact_mut(d).zip(&at).for_each(|(u, t)| u[driver] = *t);
        let (log_p, by_u) = densities(evaluator, &outside, &u)?;
        let top = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let down_to = |nats: f64| (0..at.len()).filter(|k| log_p[*k] > top - nats).collect::<Vec<usize>>();
        let there = down_to(tuning::NOTHING_LEFT);
        let (Some(first), Some(last)) = (there.first(), there.last()) else { return Ok(None) };
        if last - first <= at.len() / 2 {
            ends = [at[first.saturating_sub(1)], at[(last + 1).min(at.len() - 1)]];
            continue;
        }
        let matters = down_to(tuning::MATTERS);
        let scales: Vec<f64> = matters.iter().map(|k| at[*k]).collect();
        let on = |numbers: &[f64]| -> Vec<f64> {
            matters.iter().flat_map(|k| numbers[k * d..(k + 1) * d].iter().copied()).collect()
        };
        let beside = corners(d, driver, &scales);
        let (_, by_beside) = densities(evaluator, &outside, &beside)?;
        let left = worst(pinch, d, &on(&u), &on(&by_u)).max(worst(pinch, d, &beside, &by_beside));
        if left.is_nan() || left > tuning::EXACT {
            return Ok(None);
        }
        let slopes = by_u.iter().skip(driver).step_by(d);
        let places = at.iter().zip(&log_p).zip(slopes);
        let places: Vec<Place> =
            places.map(|((t, log_p), slope)| Place { t: *t, log_p: *log_p, slope: *slope }).collect();
        return Ok(Stretch::of(driver, &places).map(|stretch| {
            let layers = vec![Layer::Pinch(pinch.clone()), Layer::Stretch(stretch), Layer::Straight(Frame::unit(d))];
            Coordinates::bent(found.frame().clone(), layers)
        }));
    }
    Ok(None)
}

/// Whether the law of the scale has its mass where states are, and all other components are N(0, I) given it as far out
/// as the coordinates go: then a search that went up without end went up a spike that has none.
///
/// # Errors
/// As [`stretched`].
pub(super) fn falls_off(evaluator: &mut Evaluator<'_>, found: &Coordinates, part: Part<'_>) -> Result<bool, Error> {
    let Some((outside, pinch, driver, ends)) = of_one(found) else { return Ok(false) };
    let (d, places, at) = (found.dim(), tuning::PLACES, evenly(ends).collect::<Vec<f64>>());
    // On the line through the means, and beside it.
    let mut u = vec![0.0; places * d];
    u.chunks_exact_mut(d).zip(&at).for_each(|(u, t)| u[driver] = *t);
    u.extend(corners(d, driver, &at));
    let (log_p, by_u) = densities(evaluator, &outside, &u)?;
    let line = &log_p[..places];
    let top = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() || line[0].max(line[places - 1]) > top - tuning::FALL {
        return Ok(false);
    }
    // Where there is anything, the law must be the one that the coordinates are made for.
    let there: Vec<usize> = (0..2 * places).filter(|s| line[s % places] > top - tuning::MATTERS).collect();
    let on = |numbers: &[f64]| -> Vec<f64> {
        there.iter().flat_map(|s| numbers[s * d..(s + 1) * d].iter().copied()).collect()
    };
    let left = worst(pinch, d, &on(&u), &on(&by_u));
    let mut seen = vec![0.0; part.z.len()];
    outside.to_u(part.z, &mut seen);
    let scales = || seen.iter().skip(driver).step_by(d).copied();
    let (least, most) = (scales().fold(f64::INFINITY, f64::min), scales().fold(f64::NEG_INFINITY, f64::max));
    let spacing = (ends[1] - ends[0]) / (places - 1) as f64;
    let mass = |(t, l): (f64, &f64)| (t, (l - top).exp());
    let all: f64 = evenly(ends).zip(line).map(|at| mass(at).1).sum();
    let within = |t: f64| t > least - spacing && t < most + spacing;
    let unseen: f64 = evenly(ends).zip(line).map(mass).filter(|(t, _)| !within(*t)).map(|(_, p)| p).sum();
    Ok(left < tuning::EXACT && unseen < tuning::UNSEEN * all)
}
