//! Bends that states and gradients ask for: which direction drives, and how means and widths depend on it (mathematics
//! §11.6).

use super::bend::{Bend, SHIFT, WIDTH};
use super::matching::matched_at;
use super::pinch::Bench;
use super::turning::turned;
use super::{Frame, Layer};
use crate::linalg::{axpy, dot, eigen};
use crate::special::order;
use crate::tuning::bends as tuning;

/// Parameters of one component.
pub(super) const PARAMETERS: usize = SHIFT + WIDTH;

/// Points and gradients in some coordinates in which the law is about N(0, I).
#[derive(Clone, Debug)]
pub(super) struct Cloud {
    pub(super) d: usize,
    pub(super) x: Vec<f64>,
    pub(super) g: Vec<f64>,
}

impl Cloud {
    /// No points yet.
    pub(super) fn empty(d: usize) -> Self {
        Self { d, x: Vec::new(), g: Vec::new() }
    }

    /// One more point.
    pub(super) fn push(&mut self, x: &[f64], g: &[f64]) {
        self.x.extend_from_slice(x);
        self.g.extend_from_slice(g);
    }

    pub(super) fn len(&self) -> usize {
        self.x.len() / self.d
    }

    /// How far gradients are from those of N(0, I): the mean of log(1 + |x + g|²/d), which a few points in a narrow
    /// place do not decide.
    pub(super) fn residual(&self) -> f64 {
        let points = self.x.chunks_exact(self.d).zip(self.g.chunks_exact(self.d));
        let square = |(x, g): (&[f64], &[f64])| x.iter().zip(g).map(|(x, g)| (x + g).powi(2)).sum::<f64>();
        points.map(|point| (square(point) / self.d as f64).ln_1p()).sum::<f64>() / self.len().max(1) as f64
    }

    /// The same of that one of some components for which it is largest: the mean of log(1 + (x_i + g_i)²).
    pub(super) fn worst_residual(&self, components: impl Iterator<Item = usize>) -> f64 {
        let of = |i: usize| {
            let column = self.x.iter().zip(&self.g).skip(i).step_by(self.d);
            column.map(|(x, g)| (x + g).powi(2).ln_1p()).sum::<f64>() / self.len().max(1) as f64
        };
        components.map(of).fold(0.0, f64::max)
    }

    /// The same in the coordinates of a layer.
    pub(super) fn within(&self, layer: &Layer) -> Self {
        let mut inside = self.clone();
        match layer {
            Layer::Straight(frame) => {
                frame.to_x(&self.x, &mut inside.x);
                frame.pull(&self.g, &mut inside.g);
            }
            Layer::Bend(bend) => {
                for (x, g) in inside.x.chunks_exact_mut(self.d).zip(inside.g.chunks_exact_mut(self.d)) {
                    bend.backward(x);
                    bend.pull(&mut x.to_vec(), g);
                }
            }
            Layer::Pinch(pinch) => {
                let mut bench = Bench::default();
                for (x, g) in inside.x.chunks_exact_mut(self.d).zip(inside.g.chunks_exact_mut(self.d)) {
                    pinch.backward(x, &mut bench);
                    pinch.pull(x, g, &mut bench);
                }
            }
            Layer::Stretch(stretch) => {
                for (x, g) in inside.x.chunks_exact_mut(self.d).zip(inside.g.chunks_exact_mut(self.d)) {
                    stretch.backward(x);
                    stretch.pull(x, g);
                }
            }
        }
        inside
    }

    /// The same in the coordinates of a Gaussian matched to it, with these.
    pub(super) fn straightened(&self) -> Option<(Self, Layer)> {
        let layer = Layer::Straight(matched_at(&Frame::unit(self.d), self.x.clone(), self.g.clone())?.0);
        Some((self.within(&layer), layer))
    }
}

/// Bends inside a frame, one after the other while each pays, as layers with what is left of the cloud.
pub(super) fn bends(mut cloud: Cloud, frame: &Frame) -> (Vec<Layer>, Cloud) {
    let mut layers = Vec::new();
    for _ in 0..tuning::MOST {
        let rows = if layers.is_empty() { frame.rows() } else { Vec::new() };
        let Some(Tried { bend, inside, straight, left }) = best(&cloud, &rows) else { break };
        if left > (1.0 - tuning::GAIN) * cloud.residual() {
            break;
        }
        layers.extend([Layer::Bend(bend), straight]);
        cloud = inside;
    }
    (layers, cloud)
}

/// A bend, the cloud inside it in the coordinates of a Gaussian matched to it, and these.
pub(super) struct Tried {
    pub(super) bend: Bend,
    pub(super) inside: Cloud,
    pub(super) straight: Layer,
    /// What is left of the gradients.
    pub(super) left: f64,
}

impl Tried {
    /// Fits shifts and widths along a driver.
    pub(super) fn along(cloud: &Cloud, driver: &[f64]) -> Option<Self> {
        let bend = fitted(cloud, driver);
        let (inside, straight) = cloud.within(&Layer::Bend(bend.clone())).straightened()?;
        let left = inside.residual();
        left.is_finite().then_some(Self { bend, inside, straight, left })
    }
}

/// The bend after which gradients are nearest to those of N(0, I).
fn best(cloud: &Cloud, rows: &[Vec<f64>]) -> Option<Tried> {
    let mut drivers: Vec<(f64, Vec<f64>)> =
        candidates(cloud, rows).into_iter().map(|driver| (promise(cloud, &driver).iter().sum(), driver)).collect();
    order::descending(&mut drivers, |item| item.0);
    let most = if cloud.d <= tuning::FEW_DIMENSIONS { drivers.len() } else { tuning::FITTED };
    let mut found: Vec<Tried> =
        drivers.iter().take(most).filter_map(|(_, driver)| Tried::along(cloud, driver)).collect();
    order::ascending(&mut found, |item| item.left);
    found.truncate(tuning::TURNED);
    found.into_iter().map(|tried| turned(cloud, tried)).min_by(|a, b| a.left.total_cmp(&b.left))
}

/// Directions that may drive: axes and coordinates with large residuals, the directions in which residuals are largest,
/// and those whose squares go with them.
fn candidates(cloud: &Cloud, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (d, n) = (cloud.d, cloud.len());
    let mut axes: Vec<(f64, usize)> = (0..d)
        .map(|i| {
            let column = cloud.x.iter().zip(&cloud.g).skip(i).step_by(d);
            (column.map(|(x, g)| (x + g).powi(2).min(tuning::LARGE)).sum::<f64>(), i)
        })
        .collect();
    order::descending(&mut axes, |item| item.0);
    axes.truncate(tuning::AXES);
    let mut directions: Vec<Vec<f64>> = Vec::new();
    for (_, i) in &axes {
        let mut axis = vec![0.0; d];
        axis[*i] = 1.0;
        directions.push(axis);
        directions.extend(rows.get(*i).cloned());
    }
    if d > tuning::MOST_DIMENSIONS {
        return directions;
    }
    let mut residuals: Vec<f64> = cloud.x.iter().zip(&cloud.g).map(|(x, g)| x + g).collect();
    for r in residuals.chunks_exact_mut(d) {
        let size = dot(r, r).sqrt().max(f64::MIN_POSITIVE);
        // Large ones count less, so that a few points do not decide.
        let weight = 1.0 / (1.0 + size / (d as f64).sqrt());
        r.iter_mut().for_each(|r| *r *= weight);
    }
    let moments = |weight: &dyn Fn(usize) -> f64, vectors: &[f64]| {
        let mut matrix = vec![0.0; d * d];
        for (s, v) in vectors.chunks_exact(d).enumerate() {
            for (j, column) in matrix.chunks_exact_mut(d).enumerate() {
                axpy(weight(s) * v[j] / n as f64, v, column);
            }
        }
        eigen::symmetric(d, &matrix)
    };
    if let Some((_, vectors)) = moments(&|_| 1.0, &residuals) {
        for most in vectors.chunks_exact(d).rev().take(tuning::DIRECTIONS) {
            directions.push(most.to_vec());
            let along: Vec<f64> = residuals.chunks_exact(d).map(|r| dot(r, most)).collect();
            let mean = along.iter().sum::<f64>() / n as f64;
            if let Some((values, squares)) = moments(&|s| along[s] - mean, &cloud.x) {
                let k = if values[0].abs() > values[d - 1].abs() { 0 } else { d - 1 };
                directions.push(squares[k * d..(k + 1) * d].to_vec());
            }
        }
    }
    directions
}

/// The mean squared residual of each component that the first step of a fit along a driver would remove.
fn promise(cloud: &Cloud, driver: &[f64]) -> Vec<f64> {
    let (d, n) = (cloud.d, cloud.len());
    let bend = Bend::along(driver, ends(cloud, driver));
    let (mut x, mut g) = (vec![0.0; d], vec![0.0; d]);
    // Of every component: sums of residual times feature and of squared features.
    let mut sums = vec![[0.0; 12]; d];
    for s in 0..n {
        x.copy_from_slice(&cloud.x[s * d..(s + 1) * d]);
        g.copy_from_slice(&cloud.g[s * d..(s + 1) * d]);
        bend.reflect(&mut x);
        bend.reflect(&mut g);
        let (shift, width) = bend.features(x[bend.axis()]);
        for ((sums, x), g) in sums.iter_mut().zip(&x).zip(&g) {
            let r = x + g;
            let weight = 1.0 / (1.0 + r * r / tuning::LARGE);
            let features = [1.0, shift[1], shift[2], shift[3], width[1] * (g - x), width[2] * (g - x)];
            for (k, f) in features.iter().enumerate() {
                sums[k] += weight * r * f;
                sums[6 + k] += weight * f * f;
            }
        }
    }
    let gain = |sums: &[f64; 12]| (0..6).map(|k| sums[k] * sums[k] / (sums[6 + k] + f64::MIN_POSITIVE)).sum::<f64>();
    let mut gains: Vec<f64> = sums.iter().map(|sums| gain(sums) / n as f64).collect();
    gains[bend.axis()] = 0.0;
    gains
}

/// Where polynomials end, by how far out there are points.
fn ends(cloud: &Cloud, driver: &[f64]) -> [f64; 2] {
    let farthest = cloud.x.chunks_exact(cloud.d).map(|x| dot(x, driver).abs()).fold(0.0, f64::max);
    [(tuning::BEYOND * farthest).clamp(6.0, 30.0), farthest.clamp(2.0, 5.0)]
}

/// Shifts and widths along a driver, by least squares of x + g in the new coordinates.
fn fitted(cloud: &Cloud, driver: &[f64]) -> Bend {
    let (d, n) = (cloud.d, cloud.len());
    let mut bend = Bend::along(driver, ends(cloud, driver));
    let (mut x, mut g) = (cloud.x.clone(), cloud.g.clone());
    x.chunks_exact_mut(d).chain(g.chunks_exact_mut(d)).for_each(|point| bend.reflect(point));
    let features: Vec<_> = x.iter().skip(bend.axis()).step_by(d).map(|t| bend.features(*t)).collect();
    let mut seen = vec![[0.0; 2]; n];
    let axis = bend.axis();
    let promised = promise(cloud, driver);
    for i in (0..d).filter(|i| *i != axis && promised[*i] > tuning::LEAST) {
        seen.iter_mut().enumerate().for_each(|(s, seen)| *seen = [x[s * d + i], g[s * d + i]]);
        let found = component(&seen, &features);
        bend.set(i, &found[..SHIFT], &found[SHIFT..]);
    }
    bend
}

type Features = ([f64; SHIFT], [f64; WIDTH]);

/// Minimises Σ log(1 + ρ²/c) + ridge with ρ = e^{−s}(y − m) + e^{s} g by damped Gauss–Newton steps with weights.
fn component(seen: &[[f64; 2]], features: &[Features]) -> [f64; PARAMETERS] {
    let ridge = tuning::RIDGE * seen.len() as f64;
    let residual = |p: &[f64; PARAMETERS], [y, g]: [f64; 2], (shift, width): &Features| {
        let (m, s) = (dot(&p[..SHIFT], shift), dot(&p[SHIFT..], width).clamp(-20.0, 20.0));
        ((y - m) * (-s).exp(), g * s.exp(), (-s).exp())
    };
    let loss = |p: &[f64; PARAMETERS]| {
        let each = seen.iter().zip(features).map(|(seen, features)| {
            let (u, g, _) = residual(p, *seen, features);
            tuning::LARGE * ((u + g).powi(2) / tuning::LARGE).ln_1p()
        });
        each.sum::<f64>() + ridge * dot(p, p)
    };
    let (start, nothing) = (straight_widths(seen, features), [0.0; PARAMETERS]);
    let mut p = if loss(&start) < loss(&nothing) { start } else { nothing };
    let (mut now, mut damping) = (loss(&p), 1e-3);
    for _ in 0..tuning::STEPS {
        let mut matrix = [[0.0; PARAMETERS]; PARAMETERS];
        let mut right = [0.0; PARAMETERS];
        for (seen, features) in seen.iter().zip(features) {
            let (u, g, narrow) = residual(&p, *seen, features);
            let r = u + g;
            let weight = 1.0 / (1.0 + r * r / tuning::LARGE);
            let mut slope = [0.0; PARAMETERS];
            let (shifts, widths) = slope.split_at_mut(SHIFT);
            shifts.iter_mut().zip(&features.0).for_each(|(slope, feature)| *slope = -feature * narrow);
            widths.iter_mut().zip(&features.1).for_each(|(slope, feature)| *slope = feature * (g - u));
            for i in 0..PARAMETERS {
                right[i] -= weight * slope[i] * r;
                for j in 0..=i {
                    matrix[i][j] += weight * slope[i] * slope[j];
                }
            }
        }
        for i in 0..PARAMETERS {
            right[i] -= ridge * p[i];
            matrix[i][i] += ridge;
        }
        let mut better = false;
        for _ in 0..8 {
            let step = solved(&matrix, &right, damping);
            let mut next = p;
            next.iter_mut().zip(step).for_each(|(p, step)| *p += step);
            let then = loss(&next);
            if then < now {
                better = now - then > 1e-6 * now;
                (p, now, damping) = (next, then, damping * 0.2);
                break;
            }
            damping *= 5.0;
        }
        if !better {
            break;
        }
    }
    p
}

/// Shifts and one width for all t, by linear regression: where they are all there is, y = m(t) − e^{2s} g everywhere.
fn straight_widths(seen: &[[f64; 2]], features: &[Features]) -> [f64; PARAMETERS] {
    let mut matrix = [[0.0; PARAMETERS]; PARAMETERS];
    let mut right = [0.0; PARAMETERS];
    for ([y, g], (shift, _)) in seen.iter().zip(features) {
        let mut column = [0.0; PARAMETERS];
        column[..SHIFT].copy_from_slice(shift);
        column[SHIFT] = -g;
        // Of a steep place the error of y is a small one.
        let weight = 1.0 / (1.0 + y * y + g * g);
        for i in 0..=SHIFT {
            right[i] += weight * column[i] * y;
            for j in 0..=i {
                matrix[i][j] += weight * column[i] * column[j];
            }
        }
    }
    (SHIFT + 1..PARAMETERS).for_each(|i| matrix[i][i] = 1.0);
    let mut p = solved(&matrix, &right, 1e-12);
    p[SHIFT] = 0.5 * p[SHIFT].max(1e-12).ln();
    p
}

/// (A + damping diag A)⁻¹ b for the lower triangle of a positive definite A, by Cholesky's factor.
fn solved(matrix: &[[f64; PARAMETERS]; PARAMETERS], right: &[f64; PARAMETERS], damping: f64) -> [f64; PARAMETERS] {
    let mut l = *matrix;
    let mut x = *right;
    for i in 0..PARAMETERS {
        for j in 0..=i {
            let mut sum = matrix[i][j] * if i == j { 1.0 + damping } else { 1.0 };
            sum -= l[i][..j].iter().zip(&l[j]).map(|(a, b)| a * b).sum::<f64>();
            l[i][j] = if i == j { sum.max(1e-14 * matrix[i][i] + f64::MIN_POSITIVE).sqrt() } else { sum / l[j][j] };
        }
    }
    for i in 0..PARAMETERS {
        for k in 0..i {
            x[i] -= l[i][k] * x[k];
        }
        x[i] /= l[i][i];
    }
    for i in (0..PARAMETERS).rev() {
        for k in i + 1..PARAMETERS {
            x[i] -= l[k][i] * x[k];
        }
        x[i] /= l[i][i];
    }
    x
}
