//! The driver of a bend, turned until gradients fit, together with shifts and widths (mathematics §11.6).

use super::bend::{Bend, SHIFT, WIDTH};
use super::bending::{Cloud, Tried};
use crate::linalg::cholesky::{self, Workspace};
use crate::linalg::{axpy, dot};
use crate::tuning::bends as tuning;

/// Parameters of one component.
const OWN: usize = SHIFT + WIDTH;

/// A bend whose driver is the best near that of another one, and the cloud inside it.
///
/// Drivers are guessed; that of a bent Gaussian is where all residuals vanish, so Gauss–Newton steps find it. Shifts
/// and widths move along in each step, and are then fitted anew.
pub(super) fn turned(cloud: &Cloud, mut tried: Tried) -> Tried {
    if cloud.d > tuning::MOST_TURNED {
        return tried;
    }
    for _ in 0..tuning::TURNS {
        let before = tried.left;
        let Some(turn) = turn(cloud, &tried.bend) else { break };
        // Half a right angle is no small turn.
        let mut share = (1.0 / dot(&turn, &turn).sqrt()).min(1.0);
        for _ in 0..tuning::SHORTER_TURNS {
            let mut driver: Vec<f64> = turn.iter().map(|t| share * t).collect();
            driver[tried.bend.axis()] = 1.0;
            let length = dot(&driver, &driver).sqrt();
            driver.iter_mut().for_each(|w| *w /= length);
            tried.bend.reflect(&mut driver);
            if let Some(next) = Tried::along(cloud, &driver).filter(|next| next.left < before) {
                tried = next;
                break;
            }
            share *= 0.3;
        }
        if tried.left > (1.0 - tuning::LEAST_TURN) * before {
            break;
        }
    }
    tried
}

/// By how much the driver should move towards every other axis, as seen from itself; 0 for its own.
fn turn(cloud: &Cloud, bend: &Bend) -> Option<Vec<f64>> {
    let (d, n, axis) = (cloud.d, cloud.len(), bend.axis());
    let (mut x, mut g) = (cloud.x.clone(), cloud.g.clone());
    x.chunks_exact_mut(d).chain(g.chunks_exact_mut(d)).for_each(|point| bend.reflect(point));
    let mut matrix = vec![0.0; d * d];
    let mut right = vec![0.0; d];
    let mut across = vec![0.0; d];
    for i in (0..d).filter(|i| *i != axis) {
        let mut own = [[0.0; OWN]; OWN];
        let mut own_right = [0.0; OWN];
        let mut both = vec![[0.0; OWN]; d];
        for (x, g) in x.chunks_exact(d).zip(g.chunks_exact(d)) {
            let t = x[axis];
            let (shifts, widths) = bend.features(t);
            let local = bend.component(i, t);
            let (narrow, wide) = ((-local.log_width).exp(), local.log_width.exp());
            let (u, v) = ((x[i] - local.shift) * narrow, g[i] * wide);
            let residual = u + v;
            let weight = 1.0 / (1.0 + residual * residual / tuning::LARGE);
            let by_t = local.width_slope * (v - u) - local.shift_slope * narrow;
            for (k, (across, x)) in across.iter_mut().zip(x).enumerate() {
                *across = if k == axis { 0.0 } else { by_t * x };
            }
            across[i] -= t * narrow + g[axis] * wide;
            let mut slope = [0.0; OWN];
            let (by_shift, by_width) = slope.split_at_mut(SHIFT);
            by_shift.iter_mut().zip(&shifts).for_each(|(slope, feature)| *slope = -feature * narrow);
            by_width.iter_mut().zip(&widths).for_each(|(slope, feature)| *slope = feature * (v - u));
            for a in 0..OWN {
                own_right[a] -= weight * slope[a] * residual;
                for b in 0..OWN {
                    own[a][b] += weight * slope[a] * slope[b];
                }
            }
            axpy(-weight * residual, &across, &mut right);
            for (k, column) in matrix.chunks_exact_mut(d).enumerate() {
                axpy(weight * across[k], &across, column);
                for (both, slope) in both[k].iter_mut().zip(&slope) {
                    *both += weight * across[k] * slope;
                }
            }
        }
        // What shifts and widths take up by themselves: the Schur complement.
        let flat: Vec<f64> = own.iter().flatten().copied().collect();
        let mut damped = flat.clone();
        damped.iter_mut().step_by(OWN + 1).for_each(|v| *v += tuning::RIDGE * n as f64 + 1e-9 * *v);
        let mut factor = vec![0.0; OWN * OWN];
        cholesky::factor(OWN, &damped, &mut factor, &mut Workspace::new(OWN)).ok()?;
        cholesky::solve_factor(OWN, &factor, &mut own_right);
        both.iter_mut().for_each(|both| cholesky::solve_factor(OWN, &factor, both));
        for k in 0..d {
            right[k] -= dot(&both[k], &own_right);
            for j in 0..d {
                matrix[k * d + j] -= dot(&both[k], &both[j]);
            }
        }
    }
    let scale = matrix.iter().step_by(d + 1).copied().fold(0.0, f64::max);
    matrix.iter_mut().step_by(d + 1).for_each(|v| *v += 1e-6 * scale + f64::MIN_POSITIVE);
    matrix[axis * (d + 1)] = scale.max(1.0);
    right[axis] = 0.0;
    let mut factor = vec![0.0; d * d];
    cholesky::factor(d, &matrix, &mut factor, &mut Workspace::new(d)).ok()?;
    cholesky::solve_factor(d, &factor, &mut right);
    cholesky::solve_factor_transposed(d, &factor, &mut right);
    right[axis] = 0.0;
    (right.iter().all(|r| r.is_finite()) && dot(&right, &right) > 0.0).then_some(right)
}
