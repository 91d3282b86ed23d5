//! Scales that states and gradients show: a component given which all others are Gaussian (mathematics §11.9).
//!
//! Where y given t is Gaussian, −∇_y log p = P(t) y − b(t) at every state, whatever law the states have. With P and b
//! linear in 1, e^{κt} and e^{2κt} that is a linear regression without noise, and only the driver and κ are searched.

use super::bending::Cloud;
use super::frame::add_gram;
use super::matching::matched_at;
use super::pinch::{Pinch, Term};
use super::{Coordinates, Frame, Layer, Part};
use crate::linalg::cholesky::{self, Workspace};
use crate::linalg::products::{mirror_lower, rows_times};
use crate::linalg::{axpy, dot, eigen};
use crate::tuning::pinches as tuning;

/// Coordinates with a scale, in which the gradients of all other components at states that they were not fitted to are
/// those of N(0, I) given the scale.
pub(super) fn pinched(now: &Coordinates, part: Part<'_>) -> Option<Coordinates> {
    let d = now.dim();
    if !(2..=tuning::MOST_DIMENSIONS).contains(&d) {
        return None;
    }
    let (z, by_z) = part.worth_matching(now);
    let (x, g, _) = Coordinates::straight(now.frame().clone()).seen_from(&z, &by_z);
    let (frame, _) = matched_at(now.frame(), x, g)?;
    let n = z.len() / d;
    let kept = n.min(tuning::STATES_EACH * d + tuning::STATES);
    let (mut some_z, mut some_g) = (Vec::with_capacity(kept * d), Vec::with_capacity(kept * d));
    for k in 0..kept {
        let s = k * n / kept;
        some_z.extend_from_slice(&z[s * d..(s + 1) * d]);
        some_g.extend_from_slice(&by_z[s * d..(s + 1) * d]);
    }
    let mut best: Option<Fit> = None;
    for driver in promising(&frame, &some_z, &some_g) {
        let Some(rows) = Rows::new(&frame, driver, &some_z, &some_g) else { continue };
        if let Some(fit) = rows.searched().filter(|fit| best.as_ref().is_none_or(|best| fit.left < best.left)) {
            best = Some(Fit { driver, ..fit });
        }
    }
    let best = best.filter(|best| best.left < tuning::NEAR)?;
    let rows = Rows::new(&frame, best.driver, &some_z, &some_g)?;
    // Where nothing depends on the driver it is no scale, and κ is anything.
    if rows.fit(best.kappa, &[0], true).is_none_or(|fit| fit.left < tuning::INDEPENDENT) {
        return None;
    }
    let fit = rows.refined(best.kappa)?;
    let pinch = rows.pinch(best.driver, &fit)?;
    let outer = apart(&frame, best.driver)?;
    let (x, g, _) = Coordinates::straight(outer.clone()).seen_from(&z, &by_z);
    let layer = Layer::Pinch(pinch);
    let inside = Cloud { d, x, g }.within(&layer);
    let inner = matched_at(&Frame::unit(d), inside.x, inside.g)?.0;
    let found = Coordinates::bent(outer, vec![layer, Layer::Straight(inner)]);
    (found.roughness(&z, &by_z) < tuning::EXACT).then_some(found)
}

/// The same Gaussian but for the correlations of one coordinate, so that it is a component by itself.
fn apart(frame: &Frame, driver: usize) -> Option<Frame> {
    let d = frame.dim();
    let mut covariance = frame.lower_covariance();
    mirror_lower(d, &mut covariance);
    for i in (0..d).filter(|i| *i != driver) {
        covariance[i * d + driver] = 0.0;
        covariance[driver * d + i] = 0.0;
    }
    Frame::new(frame.centre().to_vec(), &covariance)
}

/// Coordinates with which the curvature in all others changes most, those first: by the size of E[t r xᵀ], r being the
/// residual gradients, which is that of the third derivatives along t.
fn promising(frame: &Frame, z: &[f64], by_z: &[f64]) -> Vec<usize> {
    let d = frame.dim();
    let (x, mut r, _) = Coordinates::straight(frame.clone()).seen_from(z, by_z);
    axpy(1.0, &x, &mut r);
    for r in r.chunks_exact_mut(d) {
        let weight = 1.0 / (1.0 + dot(r, r) / d as f64);
        r.iter_mut().for_each(|r| *r *= weight);
    }
    let n = x.len() / d;
    let (mut both, mut alike) = (vec![0.0; n * n], vec![0.0; n * n]);
    rows_times(&r, d, &r, &mut both);
    rows_times(&x, d, &x, &mut alike);
    both.iter_mut().zip(&alike).for_each(|(both, alike)| *both *= alike);
    let mut sizes: Vec<(f64, usize)> = frame
        .rows()
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let t: Vec<f64> = x.chunks_exact(d).map(|x| dot(x, row)).collect();
            let size: f64 = both.chunks_exact(n).zip(&t).map(|(column, t_s)| t_s * dot(column, &t)).sum();
            (size, i)
        })
        .collect();
    sizes.sort_by(|a, b| b.0.total_cmp(&a.0));
    sizes.into_iter().take(tuning::TRIED).map(|(_, i)| i).collect()
}

/// States and gradients as a driver sees them.
struct Rows {
    /// The number of other components.
    m: usize,
    t: Vec<f64>,
    /// (y, −1) of every state, times the root of its weight.
    design: Vec<f64>,
    /// −∇_y log p, likewise.
    slopes: Vec<f64>,
}

/// What a driver does, by regression.
struct Fit {
    driver: usize,
    kappa: f64,
    /// What is left of gradients at states that were not fitted to: the mean of log(1 + ρ²), ρ² being in units of the
    /// mean square of what there is.
    left: f64,
    /// For every term and every other component, m + 1 numbers.
    coefficients: Vec<f64>,
    /// The powers of e^{κt} that there are.
    powers: Vec<i32>,
}

impl Rows {
    fn new(frame: &Frame, driver: usize, z: &[f64], by_z: &[f64]) -> Option<Self> {
        let d = frame.dim();
        let (x, g, _) = Coordinates::straight(apart(frame, driver)?).seen_from(z, by_z);
        let n = x.len() / d;
        let (mut t, mut design, mut slopes) = (Vec::with_capacity(n), Vec::new(), Vec::new());
        for (x, g) in x.chunks_exact(d).zip(g.chunks_exact(d)) {
            let square: f64 = g.iter().zip(0..).filter(|(_, i)| *i != driver).map(|(g, _)| g * g).sum();
            // Where p is narrow, gradients are large.
            let root = (1.0 / (1.0 + square / (d - 1) as f64)).sqrt();
            t.push(x[driver]);
            let others = |numbers: &[f64], sign: f64, out: &mut Vec<f64>| {
                out.extend((0..d).filter(|i| *i != driver).map(|i| sign * root * numbers[i]));
            };
            others(x, 1.0, &mut design);
            design.push(-root);
            others(g, -1.0, &mut slopes);
        }
        Some(Self { m: d - 1, t, design, slopes })
    }

    /// The best κ of a coarse grid.
    fn searched(&self) -> Option<Fit> {
        let grid = tuning::KAPPAS.iter().flat_map(|kappa| [*kappa, -kappa]);
        grid.filter_map(|kappa| self.fit(kappa, &[0, 1, 2], true)).min_by(|a, b| a.left.total_cmp(&b.left))
    }

    /// κ by golden section around one, and no more terms than needed, fitted to all states.
    fn refined(&self, kappa: f64) -> Option<Fit> {
        let left = |kappa: f64, powers: &[i32]| self.fit(kappa, powers, true).map_or(f64::INFINITY, |fit| fit.left);
        let golden = |start: f64, powers: &[i32]| {
            let share = 0.5 * (5f64.sqrt() - 1.0);
            let (mut low, mut high) = (start / tuning::BRACKET, start * tuning::BRACKET);
            let (mut a, mut b) = (high - share * (high - low), low + share * (high - low));
            let (mut at_a, mut at_b) = (left(a, powers), left(b, powers));
            for _ in 0..tuning::SECTIONS {
                if at_a < at_b {
                    (high, b, at_b) = (b, a, at_a);
                    a = high - share * (high - low);
                    at_a = left(a, powers);
                } else {
                    (low, a, at_a) = (a, b, at_b);
                    b = low + share * (high - low);
                    at_b = left(b, powers);
                }
            }
            let kappa = 0.5 * (low + high);
            (left(kappa, powers), kappa)
        };
        let (full, kappa) = golden(kappa, &[0, 1, 2]);
        let enough = (tuning::ENOUGH * full).max(tuning::ROUNDING);
        // Terms that are not needed would be rounding errors, and large ones far out.
        for (powers, start) in [(&[1][..], kappa), (&[1], 2.0 * kappa), (&[0, 1], kappa), (&[0, 1], 2.0 * kappa)] {
            let (left, kappa) = golden(start, powers);
            if left <= enough {
                return self.fit(kappa, powers, false);
            }
        }
        self.fit(kappa, &[0, 1, 2], false)
    }

    /// The regression for one κ: on two states of three and tried on the third, or on all.
    fn fit(&self, kappa: f64, powers: &[i32], is_tried: bool) -> Option<Fit> {
        let (m, n, columns) = (self.m, self.t.len(), powers.len() * (self.m + 1));
        let is_fitted = |s: usize| !is_tried || s % 3 != 2;
        if (0..n).filter(|s| is_fitted(*s)).count() < columns + tuning::SPARE {
            return None;
        }
        // One matrix for left and right sides: (X, Y)ᵀ(X, Y).
        let width = columns + m;
        let mut all = Vec::with_capacity(n * width);
        for (s, t) in self.t.iter().enumerate() {
            let row = &self.design[s * (m + 1)..(s + 1) * (m + 1)];
            for power in powers {
                let size = (f64::from(*power) * kappa * t).exp();
                all.extend(row.iter().map(|v| size * v));
            }
            all.extend_from_slice(&self.slopes[s * m..(s + 1) * m]);
        }
        // Of columns of about the same size.
        let mut scales = vec![0.0; width];
        all.chunks_exact(width).for_each(|row| scales.iter_mut().zip(row).for_each(|(s, v)| *s += v * v));
        scales.iter_mut().for_each(|s| *s = (*s / n as f64).sqrt().max(f64::MIN_POSITIVE));
        all.chunks_exact_mut(width).for_each(|row| row.iter_mut().zip(&scales).for_each(|(v, s)| *v /= s));
        if !all.iter().all(|v| v.is_finite()) {
            return None;
        }
        let mut gram = vec![0.0; width * width];
        let weights: Vec<f64> = (0..n).map(|s| f64::from(u8::from(is_fitted(s)))).collect();
        add_gram(&all, width, &weights, &mut gram);
        mirror_lower(width, &mut gram);
        let mut matrix = vec![0.0; columns * columns];
        for (to, from) in matrix.chunks_exact_mut(columns).zip(gram.chunks_exact(width)) {
            to.copy_from_slice(&from[..columns]);
        }
        matrix.iter_mut().step_by(columns + 1).for_each(|v| *v *= 1.0 + tuning::RIDGE);
        let mut factor = vec![0.0; columns * columns];
        cholesky::factor(columns, &matrix, &mut factor, &mut Workspace::new(columns)).ok()?;
        let right = gram.chunks_exact(width).skip(columns).flat_map(|column| column[..columns].iter().copied());
        let mut solution: Vec<f64> = right.collect();
        cholesky::solve_factor(columns, &factor, &mut solution);
        cholesky::solve_factor_transposed(columns, &factor, &mut solution);
        let mut left = 0.0;
        if is_tried {
            let (mut square, mut held) = (Vec::with_capacity(n / 3), 0.0);
            for row in all.chunks_exact(width).skip(2).step_by(3) {
                let own = solution.chunks_exact(columns).zip(&row[columns..]).zip(&scales[columns..]);
                square.push(own.map(|((c, y), scale)| ((y - dot(c, row)) * scale).powi(2)).sum::<f64>());
                held += row[columns..].iter().zip(&scales[columns..]).map(|(y, s)| (y * s).powi(2)).sum::<f64>();
            }
            let mean = held / square.len() as f64;
            left = square.iter().map(|square| (square / mean).ln_1p()).sum::<f64>() / square.len() as f64;
        }
        for (column, scale) in solution.chunks_exact_mut(columns).zip(&scales[columns..]) {
            column.iter_mut().zip(&scales).for_each(|(c, s)| *c *= scale / s);
        }
        left.is_finite().then(|| Fit { driver: 0, kappa, left, coefficients: solution, powers: powers.to_vec() })
    }

    /// The map of a fit, as far out as its precision is one.
    fn pinch(&self, driver: usize, fit: &Fit) -> Option<Pinch> {
        let (m, columns) = (self.m, fit.powers.len() * (self.m + 1));
        let mut terms = Vec::new();
        for (f, power) in fit.powers.iter().enumerate() {
            let of = |i: usize| &fit.coefficients[i * columns + f * (m + 1)..][..m + 1];
            let mut precision = vec![0.0; m * m];
            for i in 0..m {
                for j in 0..m {
                    precision[j * m + i] = 0.5 * (of(i)[j] + of(j)[i]);
                }
            }
            if fit.powers.len() < 3 {
                without_negative(m, &mut precision)?;
            }
            let pull = (0..m).map(|i| of(i)[m]).collect();
            terms.push(Term { exponents: vec![f64::from(*power) * fit.kappa], precision, pull });
        }
        let (low, high) = self.t.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), t| (l.min(*t), h.max(*t)));
        let far = tuning::BEYOND / fit.kappa.abs();
        let end = |from: f64, sign: f64| {
            let mut end = from;
            for k in 1..=tuning::ENDS {
                let t = from + sign * far * k as f64 / tuning::ENDS as f64;
                if !is_precision(m, &terms, t) {
                    break;
                }
                end = t;
            }
            end
        };
        let middle = 0.5 * (low + high);
        if ![low, middle, high].iter().all(|t| is_precision(m, &terms, *t)) {
            return None;
        }
        let ends = [end(low, -1.0), end(high, 1.0)];
        Some(Pinch::new(m + 1, vec![driver], terms, vec![ends]))
    }
}

/// Takes away what a matrix has of negative curvature, and of rounding.
fn without_negative(m: usize, matrix: &mut [f64]) -> Option<()> {
    let (values, vectors) = eigen::symmetric(m, matrix)?;
    let least = tuning::NOTHING * values.last().copied()?.max(0.0);
    let kept: Vec<f64> = values.iter().map(|v| if *v > least { *v } else { 0.0 }).collect();
    matrix.fill(0.0);
    add_gram(&vectors, m, &kept, matrix);
    mirror_lower(m, matrix);
    Some(())
}

/// Whether the precision at t is positive definite by more than rounding.
fn is_precision(m: usize, terms: &[Term], t: f64) -> bool {
    let mut matrix = vec![0.0; m * m];
    terms.iter().for_each(|term| axpy((term.exponents[0] * t).exp(), &term.precision, &mut matrix));
    let mut factor = vec![0.0; m * m];
    let found = cholesky::factor(m, &matrix, &mut factor, &mut Workspace::new(m));
    found.is_ok() && (0..m).all(|i| factor[i * (m + 1)].powi(2) > tuning::PIVOT * matrix[i * (m + 1)])
}
