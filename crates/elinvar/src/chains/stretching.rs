//! Components whose law is far from normal, asked for along their axes, and the maps that make them so (mathematics
//! §11.7).

use super::bending::Cloud;
use super::ridges::{Asked, ask};
use super::stretch::{Place, Spline, Stretch};
use super::{Coordinates, Layer};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::tuning::stretches as tuning;

/// Where an axis is asked, on both sides.
const PLACES: [f64; 21] =
    [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0];

/// Maps for the components that ask for one, as a layer inside, with the cloud in its coordinates.
///
/// # Errors
/// A fatal error of the target; [`crate::Error::Interrupted`].
pub(super) fn stretched(
    evaluator: &mut Evaluator<'_>,
    coordinates: &Coordinates,
    cloud: &Cloud,
    most: usize,
) -> Result<Option<(Layer, Cloud)>, Error> {
    let d = cloud.d;
    let far = along(evaluator, coordinates, &(0..d).collect::<Vec<_>>(), &[tuning::FAR])?;
    let centre = far.last().map_or(f64::NAN, |place| place.log_f);
    let mut asked: Vec<(f64, usize)> = (0..d)
        .map(|i| {
            let excess = far[2 * i].log_f.max(far[2 * i + 1].log_f) - centre + 0.5 * tuning::FAR * tuning::FAR;
            let (own, explained) = marginal(cloud, i);
            let wrong = if explained > tuning::EXPLAINED * own { explained } else { 0.0 };
            ((excess / tuning::EXCESS).max(wrong / tuning::WRONG), i)
        })
        .filter(|(size, _)| *size > 1.0)
        .collect();
    asked.sort_by(|a, b| b.0.total_cmp(&a.0));
    asked.truncate(most / (2 * PLACES.len()));
    if asked.is_empty() {
        return Ok(None);
    }
    let axes: Vec<usize> = asked.iter().map(|(_, i)| *i).collect();
    let places = along(evaluator, coordinates, &axes, &PLACES)?;
    let Some(centre) = places.last().copied() else { return Ok(None) };
    let mut splines: Vec<Option<Spline>> = vec![None; d];
    for (axis, own) in axes.iter().zip(places.chunks_exact(2 * PLACES.len())) {
        // The slope at the centre is that of a cubic through the places beside it.
        let slope = cubic_slope(own[1], own[0]);
        let mut law = vec![Place { slope, ..centre }];
        for side in 0..2 {
            // A side ends where nothing is left, or where there is no density.
            for place in own.iter().skip(side).step_by(2) {
                let end = law.iter().map(|p| p.log_f).fold(f64::NEG_INFINITY, f64::max) - tuning::NOTHING;
                if !place.log_f.is_finite() || !place.slope.is_finite() {
                    break;
                }
                law.push(*place);
                if place.log_f < end {
                    break;
                }
            }
        }
        law.sort_by(|a, b| a.t.total_cmp(&b.t));
        splines[*axis] = Spline::of(&law);
    }
    if splines.iter().all(Option::is_none) {
        return Ok(None);
    }
    // A section is not the law of a component: where states contradict it, it is not taken.
    let trial = cloud.within(&Layer::Stretch(Stretch::new(splines.clone())));
    let mut taken = false;
    for (i, spline) in splines.iter_mut().enumerate() {
        if spline.is_some() && own_residual(&trial, i) > tuning::WORSE * own_residual(cloud, i) + tuning::SLACK {
            *spline = None;
        }
        taken |= spline.is_some();
    }
    if !taken {
        return Ok(None);
    }
    let layer = Layer::Stretch(Stretch::new(splines));
    let inside = cloud.within(&layer);
    Ok(Some((layer, inside)))
}

/// How far the gradients of one component are from normal, and how much of that depends on the component alone, by its
/// second and third Hermite polynomial.
fn marginal(cloud: &Cloud, i: usize) -> (f64, f64) {
    let n = cloud.states;
    let (mut sums, mut norms, mut all) = ([0.0; 2], [0.0; 2], 0.0);
    for (x, g) in cloud.x.iter().zip(&cloud.g).skip(i).step_by(cloud.d).take(cloud.states) {
        let r = x + g;
        let weight = 1.0 / (1.0 + r * r);
        for (k, h) in [x * x - 1.0, x * x * x - 3.0 * x].iter().enumerate() {
            sums[k] += weight * r * h;
            norms[k] += weight * h * h;
        }
        all += weight * r * r;
    }
    let explained: f64 = sums.iter().zip(norms).map(|(sum, norm)| sum * sum / (norm + f64::MIN_POSITIVE)).sum();
    (all / n as f64, explained / n as f64)
}

fn own_residual(cloud: &Cloud, i: usize) -> f64 {
    let column = cloud.x.iter().zip(&cloud.g).skip(i).step_by(cloud.d).take(cloud.states);
    column.map(|(x, g)| (x + g).powi(2).ln_1p()).sum::<f64>() / cloud.states as f64
}

/// The slope in the middle of the cubic with two values and slopes.
fn cubic_slope(p: Place, q: Place) -> f64 {
    1.5 * (q.log_f - p.log_f) / (q.t - p.t) - 0.25 * (p.slope + q.slope)
}

/// log p and its slope at t and −t on some axes, for each distance; last the centre, whose slope is that of the first.
fn along(
    evaluator: &mut Evaluator<'_>,
    coordinates: &Coordinates,
    axes: &[usize],
    distances: &[f64],
) -> Result<Vec<Place>, Error> {
    let d = coordinates.dim();
    let mut u = vec![0.0; d * (2 * axes.len() * distances.len() + 1)];
    let mut marks = Vec::new();
    for axis in axes {
        for t in distances.iter().flat_map(|t| [*t, -*t]) {
            u[marks.len() * d + axis] = t;
            marks.push((*axis, t));
        }
    }
    marks.push((axes.first().copied().unwrap_or(0), 0.0));
    let Asked { log_p, by_u, .. } = ask(evaluator, coordinates, &u)?;
    let places =
        marks.iter().enumerate().map(|(k, (axis, t))| Place { t: *t, log_f: log_p[k], slope: by_u[k * d + axis] });
    Ok(places.collect())
}
