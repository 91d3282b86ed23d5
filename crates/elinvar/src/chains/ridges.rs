//! Where log p is largest at a given distance along a line: tails that bend away from it (mathematics §11.5).

use super::ensemble::Faults;
use super::{Coordinates, Trail};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::{axpy, dot};
use crate::target::Draws;
use crate::tuning::tails as tuning;

/// Points with gradients by z, from anywhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    pub(super) z: Vec<f64>,
    pub(super) by_z: Vec<f64>,
}

/// log p(u) and its gradient at some points, the points in z and what no density can be.
pub(super) struct Asked {
    pub(super) log_p: Vec<f64>,
    pub(super) by_u: Vec<f64>,
    pub(super) probes: Probes,
    pub(super) faults: Faults,
}

/// Asks for log p(u) and its gradient.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(super) fn ask(evaluator: &mut Evaluator<'_>, coordinates: &Coordinates, u: &[f64]) -> Result<Asked, Error> {
    let d = coordinates.dim();
    let (mut z, mut trail) = (vec![0.0; u.len()], Trail::default());
    coordinates.to_z(u, &mut z, &mut trail);
    let (mut log_p, mut by_z) = evaluator.gradients(Draws::new(d, &z))?;
    let mut faults = Faults::default();
    for (log_p, by_z) in log_p.iter_mut().zip(by_z.chunks_exact_mut(d)) {
        if !log_p.is_finite() || !by_z.iter().all(|g| g.is_finite()) {
            faults.note(if log_p.is_finite() { f64::NAN } else { *log_p });
            *log_p = f64::NEG_INFINITY;
            by_z.fill(0.0);
        }
    }
    let (mut by_u, mut log_jacobian) = (vec![0.0; u.len()], vec![0.0; log_p.len()]);
    coordinates.pull(&by_z, &mut by_u, &mut log_jacobian, &mut trail);
    log_p.iter_mut().zip(&log_jacobian).for_each(|(log_p, log)| *log_p += log);
    Ok(Asked { log_p, by_u, probes: Probes { z, by_z }, faults })
}

/// The highest place that was found at a distance along a line.
#[derive(Clone, Debug)]
pub(super) struct Ridge {
    pub(super) u: Vec<f64>,
    /// log p(u).
    pub(super) log_p: f64,
    /// Distance from the line.
    pub(super) aside: f64,
    /// Across the line: the gradient, and how far to go along it.
    across: Vec<f64>,
    reach: f64,
    by_z: (Vec<f64>, Vec<f64>),
}

/// Climbs across lines from the points t w and −t w of each, only where that may matter: where log p would come within
/// reach of its Gaussian value. Returns the ridges, log p at the centre, points on the ridges, and faults.
///
/// # Errors
/// As [`ask`].
pub(super) fn ridges(
    evaluator: &mut Evaluator<'_>,
    coordinates: &Coordinates,
    lines: &[&[f64]],
    t: f64,
) -> Result<(Vec<Ridge>, f64, Probes, Faults), Error> {
    let d = coordinates.dim();
    let mut u = vec![0.0; d * (2 * lines.len() + 1)];
    for (pair, line) in u.chunks_exact_mut(2 * d).zip(lines) {
        axpy(t, line, &mut pair[..d]);
        axpy(-t, line, &mut pair[d..]);
    }
    let asked = ask(evaluator, coordinates, &u)?;
    let mut faults = asked.faults;
    let centre = asked.log_p[2 * lines.len()];
    let level = centre - 0.5 * t * t + tuning::LOW;
    let mut found: Vec<Ridge> = (0..2 * lines.len())
        .map(|k| {
            let range = k * d..(k + 1) * d;
            Ridge {
                u: u[range.clone()].to_vec(),
                log_p: asked.log_p[k],
                aside: 0.0,
                across: across(&asked.by_u[range.clone()], lines[k / 2]),
                reach: 1.0,
                by_z: (asked.probes.z[range.clone()].to_vec(), asked.probes.by_z[range].to_vec()),
            }
        })
        .collect();
    for _ in 0..tuning::CLIMBS {
        let mut active: Vec<(f64, usize)> = found
            .iter()
            .enumerate()
            .filter_map(|(k, ridge)| {
                let size = dot(&ridge.across, &ridge.across);
                let promised = ridge.log_p + 0.5 * size.min(1e12);
                (size > 0.5 && ridge.log_p.is_finite() && promised > level && ridge.reach > 1e-9)
                    .then_some((promised, k))
            })
            .collect();
        active.sort_by(|a, b| b.0.total_cmp(&a.0));
        active.truncate(tuning::MOST_RIDGES);
        if active.is_empty() {
            break;
        }
        let mut tried = Vec::with_capacity(active.len() * d);
        for (_, k) in &active {
            let ridge = &found[*k];
            tried.extend(ridge.u.iter().zip(&ridge.across).map(|(u, g)| u + ridge.reach * g));
        }
        let asked = ask(evaluator, coordinates, &tried)?;
        faults += asked.faults;
        for (at, (_, k)) in active.iter().enumerate() {
            let range = at * d..(at + 1) * d;
            let next = across(&asked.by_u[range.clone()], lines[k / 2]);
            let ridge = &mut found[*k];
            let size = dot(&ridge.across, &ridge.across);
            // The curvature along the step, by the difference of gradients.
            let bend = (size - dot(&ridge.across, &next)) / size / ridge.reach;
            let newton = if bend > 0.0 { 1.0 / bend } else { 2.0 * ridge.reach };
            if asked.log_p[at] > ridge.log_p {
                let line = lines[k / 2];
                ridge.u.copy_from_slice(&tried[range.clone()]);
                let along = dot(&ridge.u, line);
                ridge.aside = (dot(&ridge.u, &ridge.u) - along * along).max(0.0).sqrt();
                ridge.log_p = asked.log_p[at];
                ridge.reach = newton;
                ridge.across = next;
                ridge.by_z = (asked.probes.z[range.clone()].to_vec(), asked.probes.by_z[range].to_vec());
            } else {
                ridge.reach = newton.min(0.25 * ridge.reach).max(0.01 * ridge.reach);
            }
        }
    }
    let mut probes = Probes::default();
    for ridge in found.iter().filter(|ridge| ridge.log_p > level) {
        probes.z.extend_from_slice(&ridge.by_z.0);
        probes.by_z.extend_from_slice(&ridge.by_z.1);
    }
    Ok((found, centre, probes, faults))
}

/// The part of a vector across a unit vector.
fn across(vector: &[f64], unit: &[f64]) -> Vec<f64> {
    let mut left = vector.to_vec();
    axpy(-dot(vector, unit), unit, &mut left);
    left
}
