//! A centre and a covariance from states and gradients: for a Gaussian they are exact, whatever the states (mathematics
//! §11.3).

use super::frame::add_gram;
use super::{Coordinates, Frame, Part};
use crate::linalg::cholesky::{self, Workspace};
use crate::linalg::products::{add_product, mirror_lower};
use crate::linalg::{axpy, dot, eigen};
use crate::tuning::chains as tuning;

/// Singular values of states and gradients, squared, below this share of the largest are no directions of their span.
const SPAN: f64 = 1e-10;

/// Coordinates whose innermost frame is matched to states and gradients.
pub(crate) struct Matched {
    /// The new coordinates.
    pub(crate) coordinates: Coordinates,
    /// Whether they are about those before.
    pub(crate) settled: bool,
}

/// [`matched`], where states are many enough to say something of all directions, or where a Gaussian that is matched to
/// half of the chains has smaller residual gradients at the states of the others than the present one; otherwise the
/// present one, which is then settled: in many dimensions few states of a law that is no Gaussian match their own
/// noise.
pub(crate) fn adapted(coordinates: &Coordinates, part: Part<'_>) -> Option<Matched> {
    let (d, states) = (coordinates.dim(), part.len());
    let few = d > tuning::FEW_COORDINATES && states < tuning::STATES_TO_MATCH * d;
    if few && !is_better_elsewhere(coordinates, part) {
        return Some(Matched { coordinates: coordinates.clone(), settled: true });
    }
    matched(coordinates, part)
}

/// Whether what is matched to the states of every second pair of chains is better for those of the others.
fn is_better_elsewhere(coordinates: &Coordinates, part: Part<'_>) -> bool {
    let d = coordinates.dim();
    let of_pairs = |parity: usize| {
        let chosen = |numbers: &[f64]| -> Vec<f64> {
            let states = numbers.chunks_exact(d).enumerate();
            let mine = states.filter(|(s, _)| s % part.n % (part.n / 2) % 2 == parity);
            mine.flat_map(|(_, state)| state.iter().copied()).collect()
        };
        coordinates.seen_from(&chosen(part.z), &chosen(part.by_z))
    };
    let (x, g, _) = of_pairs(0);
    let Some((frame, _)) = matched_at(&Frame::unit(d), x, g) else { return true };
    let (x, g, _) = of_pairs(1);
    let before = residual(d, &x, &g);
    let (x, g, _) = Coordinates::straight(frame).seen_from(&x, &g);
    let after = residual(d, &x, &g);
    after.is_nan() || before.is_nan() || after < (1.0 - tuning::WORTH_MATCHING) * before
}

/// The median over states of |∇log p + x|², which is 0 where p is the Gaussian.
fn residual(d: usize, x: &[f64], g: &[f64]) -> f64 {
    let states = x.chunks_exact(d).zip(g.chunks_exact(d));
    let mut squares: Vec<f64> =
        states.map(|(x, g)| x.iter().zip(g).map(|(x, g)| (x + g) * (x + g)).sum::<f64>()).collect();
    squares.sort_by(f64::total_cmp);
    squares.get(squares.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Matches a Gaussian to states and gradients, with one state's worth of weight on the present frame; nothing if the
/// numbers leave the range of arithmetic.
///
/// In the coordinates of the present frame, with n states of mean x̄ and covariance, and likewise of gradients, the
/// covariance S solves S U S + S = V with V = I + Σ(x − x̄)(x − x̄)ᵀ + n/(n + 1) x̄x̄ᵀ and U the same of gradients
/// without I. Where states and gradients span a part of the space only, S is the identity on the rest, and the equation
/// is solved in that part.
pub(crate) fn matched(coordinates: &Coordinates, part: Part<'_>) -> Option<Matched> {
    let (z, by_z) = part.worth_matching(coordinates);
    let (u, by_u, _) = coordinates.seen_from(&z, &by_z);
    let (frame, settled) = matched_at(coordinates.innermost(), u, by_u)?;
    Some(Matched { coordinates: coordinates.with_innermost(frame), settled })
}

/// The same for points and gradients in the coordinates of a frame: the new frame, and whether it is about the one
/// before.
pub(super) fn matched_at(frame: &Frame, mut x: Vec<f64>, mut g: Vec<f64>) -> Option<(Frame, bool)> {
    let d = frame.dim();
    let n = x.len() / d;
    if n < 2 {
        return None;
    }
    let weight = n as f64 / (n as f64 + 1.0);
    let (x_mean, g_mean) = (centre(d, &mut x, weight), centre(d, &mut g, weight));
    let columns = n + 1;
    let basis = (2 * columns <= d / 2).then(|| span(d, &x, &g)).flatten();
    let r = basis.as_ref().map_or(d, |basis| basis.len() / d);
    if let Some(basis) = &basis {
        x = transposed_times(basis, &x, d, r, columns);
        g = transposed_times(basis, &g, d, r, columns);
    }
    let (half, values) = solve(r, &x, &g, columns)?;

    // S = I − BBᵀ + B (Σ_k v_k h_k h_kᵀ) Bᵀ with h_k the columns of `half`.
    let (half, rest) = match &basis {
        None => (half, None),
        Some(basis) => (product(basis, &half, d, r, r), Some(basis)),
    };
    let mut shift = x_mean.clone();
    let mut left = g_mean.clone();
    if let Some(basis) = rest {
        for column in basis.chunks_exact(d) {
            axpy(-dot(column, &g_mean), column, &mut left);
        }
        axpy(1.0, &left, &mut shift);
    }
    for (column, value) in half.chunks_exact(d).zip(&values) {
        axpy(value * dot(column, &g_mean), column, &mut shift);
    }
    shift.iter_mut().for_each(|s| *s *= weight);

    let mut moved = vec![0.0; d];
    cholesky::factor_times(d, frame.factor(), &shift, &mut moved);
    axpy(1.0, frame.centre(), &mut moved);
    let mut covariance = vec![0.0; d * d];
    let mut scaled = vec![0.0; half.len()];
    cholesky::factor_times(d, frame.factor(), &half, &mut scaled);
    add_gram(&scaled, d, &values, &mut covariance);
    if let Some(basis) = rest {
        axpy(1.0, &frame.lower_covariance(), &mut covariance);
        let mut scaled = vec![0.0; basis.len()];
        cholesky::factor_times(d, frame.factor(), basis, &mut scaled);
        add_gram(&scaled, d, &vec![-1.0; r], &mut covariance);
    }
    let (least, most) = extremes(d, r, &half, &values)?;
    let largest = shift.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
    let settled =
        largest < tuning::SETTLED_SHIFT && least > 1.0 / tuning::SETTLED_RATIO && most < tuning::SETTLED_RATIO;
    Some((Frame::new(moved, &covariance)?, settled))
}

/// Takes the mean from the columns and appends it, times the root of its weight, as a further column.
fn centre(d: usize, columns: &mut Vec<f64>, weight: f64) -> Vec<f64> {
    let n = (columns.len() / d) as f64;
    let mut mean = vec![0.0; d];
    columns.chunks_exact(d).for_each(|column| axpy(1.0 / n, column, &mut mean));
    columns.chunks_exact_mut(d).for_each(|column| axpy(-1.0, &mean, column));
    columns.extend(mean.iter().map(|m| weight.sqrt() * m));
    mean
}

/// S = Σ_k v_k h_k h_kᵀ with V = I + XXᵀ = FFᵀ, Fᵀ GGᵀ F = Q diag(w) Qᵀ, h = F Q and v = 2/(1 + √(1 + 4w)).
fn solve(r: usize, x: &[f64], g: &[f64], columns: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let ones = vec![1.0; columns];
    let mut v = vec![0.0; r * r];
    v.iter_mut().step_by(r + 1).for_each(|entry| *entry = 1.0);
    add_gram(x, r, &ones, &mut v);
    mirror_lower(r, &mut v);
    let mut factor = vec![0.0; r * r];
    cholesky::factor(r, &v, &mut factor, &mut Workspace::new(r)).ok()?;
    let mut pulled = vec![0.0; g.len()];
    cholesky::factor_transposed_times(r, &factor, g, &mut pulled);
    let mut u = vec![0.0; r * r];
    add_gram(&pulled, r, &ones, &mut u);
    mirror_lower(r, &mut u);
    if !u.iter().all(|entry| entry.is_finite()) {
        return None;
    }
    let (w, q) = eigen::symmetric(r, &u)?;
    let mut half = vec![0.0; r * r];
    cholesky::factor_times(r, &factor, &q, &mut half);
    Some((half, w.iter().map(|w| 2.0 / (1.0 + (1.0 + 4.0 * w.max(0.0)).sqrt())).collect()))
}

/// The smallest and the largest eigenvalue of S; those outside the span are one.
fn extremes(d: usize, r: usize, half: &[f64], values: &[f64]) -> Option<(f64, f64)> {
    // SS has the same ends as the Gram matrix of its scaled columns, which is r × r.
    let mut gram = vec![0.0; r * r];
    let scaled: Vec<f64> =
        half.chunks_exact(d).zip(values).flat_map(|(h, v)| h.iter().map(move |h| h * v.sqrt())).collect();
    if r == d {
        add_gram(&scaled, d, &vec![1.0; r], &mut gram);
        mirror_lower(r, &mut gram);
    } else {
        gram = transposed_times(&scaled, &scaled, d, r, r);
    }
    let found = eigen::values(r, &gram)?;
    let (least, most) = (found.first().copied()?, found.last().copied()?);
    Some(if r < d { (least.min(1.0), most.max(1.0)) } else { (least, most) })
}

/// An orthonormal basis of the span of two sets of columns.
fn span(d: usize, x: &[f64], g: &[f64]) -> Option<Vec<f64>> {
    let mut all = x.to_vec();
    // Both in units of their own largest column, so that neither hides the other.
    let size = |columns: &[f64]| columns.chunks_exact(d).map(|c| dot(c, c)).fold(0.0, f64::max).sqrt();
    let ratio = size(x) / size(g).max(f64::MIN_POSITIVE);
    all.extend(g.iter().map(|g| g * ratio));
    let n = all.len() / d;
    let gram = transposed_times(&all, &all, d, n, n);
    if !gram.iter().all(|v| v.is_finite()) {
        return None;
    }
    let (values, vectors) = eigen::symmetric(n, &gram)?;
    let floor = SPAN * values.last().copied()?;
    let kept = values.iter().filter(|v| **v > floor).count();
    let mut combined = vectors[(n - kept) * n..].to_vec();
    for (column, value) in combined.chunks_exact_mut(n).zip(&values[n - kept..]) {
        column.iter_mut().for_each(|entry| *entry /= value.sqrt());
    }
    Some(product(&all, &combined, d, n, kept))
}

/// A B for A (m × k) and B (k × n).
fn product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; m * n];
    add_product(a, b, m, k, n, &mut out);
    out
}

/// Aᵀ B for A (d × r) and B (d × n).
fn transposed_times(a: &[f64], b: &[f64], d: usize, r: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; r * n];
    crate::linalg::products::rows_times(a, d, b, &mut out);
    out
}

#[cfg(test)]
mod tests;
