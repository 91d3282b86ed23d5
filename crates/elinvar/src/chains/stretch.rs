//! Coordinates in which a law on a line is normal: x = T(u) with F(T(u)) = Φ(u), component by component (mathematics
//! §11.7).

use crate::special::normal::normal_cdf;

/// Knots of a spline lie at multiples of this, up to [`END`] on both sides; beyond them it is straight.
const STEP: f64 = 1.0 / 16.0;
const END: f64 = 5.0;
const KNOTS: usize = 161;
/// Places per unit of the smaller scale at which a law is summed.
const PLACES: usize = 6_000;

/// log f and its slope at a place on the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) t: f64,
    pub(super) log_f: f64,
    pub(super) slope: f64,
}

/// A rising map of the line: a natural cubic spline through knots.
#[derive(Clone, Debug)]
pub(super) struct Spline {
    values: Vec<f64>,
    second: Vec<f64>,
}

impl Spline {
    /// The map under which N(0, 1) becomes the law whose log density is given at some places, ascending, cubic between
    /// them and straight beyond; nothing if it does not fall on both sides or the map does not rise.
    pub(super) fn of(places: &[Place]) -> Option<Self> {
        let (first, last) = (places.first()?, places.last()?);
        let finite = |p: &Place| p.log_f.is_finite() && p.slope.is_finite();
        if places.len() < 4 || !places.iter().all(finite) || first.slope <= 0.0 || last.slope >= 0.0 {
            return None;
        }
        let top = places.iter().map(|p| p.log_f).fold(f64::NEG_INFINITY, f64::max);
        // Sums begin and end where the straight ends have fallen by 40 nats, and are denser near the middle.
        let fallen = |p: &Place| ((p.log_f - top + 40.0) / p.slope.abs()).max(0.0);
        let (low, high) = (first.t - fallen(first), last.t + fallen(last));
        let grid: Vec<f64> = (0..=PLACES)
            .map(|k| {
                let s = 2.0 * k as f64 / PLACES as f64 - 1.0;
                let side = if s < 0.0 { -low } else { high };
                s.signum() * side * s.abs().powi(3).mul_add(0.8, 0.2 * s.abs())
            })
            .collect();
        let density: Vec<f64> = grid.iter().map(|t| (log_density(places, *t) - top).exp()).collect();
        let (mut below, mut above) = (vec![0.0; grid.len()], vec![0.0; grid.len()]);
        for k in 1..grid.len() {
            below[k] = below[k - 1] + 0.5 * (grid[k] - grid[k - 1]) * (density[k] + density[k - 1]);
        }
        for k in (0..grid.len() - 1).rev() {
            above[k] = above[k + 1] + 0.5 * (grid[k + 1] - grid[k]) * (density[k] + density[k + 1]);
        }
        let total = above[0];
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let mut values = Vec::with_capacity(KNOTS);
        let mut k = 1;
        for knot in 0..KNOTS {
            let u = STEP * knot as f64 - END;
            // By the smaller of both tails, which has no rounding of its own.
            let (share, lower) = (normal_cdf(-u.abs()) * total, u < 0.0);
            while k + 1 < grid.len() && if lower { below[k] < share } else { above[k] > share } {
                k += 1;
            }
            let (a, b) = if lower { (below[k - 1], below[k]) } else { (above[k - 1], above[k]) };
            // Between places the logarithm of a tail is nearly straight.
            let part = if a > 0.0 && b > 0.0 && a != b {
                (share.ln() - a.ln()) / (b.ln() - a.ln())
            } else if a != b {
                (share - a) / (b - a)
            } else {
                0.5
            };
            values.push(grid[k - 1] + part.clamp(0.0, 1.0) * (grid[k] - grid[k - 1]));
        }
        let spline = Self { second: second_slopes(&values), values };
        let rises = |knot: usize| {
            let u = STEP * knot as f64 - END;
            [0.0, 0.25, 0.5, 0.75].iter().all(|part| spline.at(u + part * STEP)[1] > 0.0)
        };
        (0..KNOTS).all(rises).then_some(spline)
    }

    /// T, T′ and T″ at u.
    pub(super) fn at(&self, u: f64) -> [f64; 3] {
        let place = ((u + END) / STEP).clamp(0.0, (KNOTS - 1) as f64);
        let k = (place as usize).min(KNOTS - 2);
        let inside = u.clamp(-END, END);
        let b = (inside + END) / STEP - k as f64;
        let a = 1.0 - b;
        let (y0, y1, m0, m1) = (self.values[k], self.values[k + 1], self.second[k], self.second[k + 1]);
        let value = a * y0 + b * y1 + ((a * a * a - a) * m0 + (b * b * b - b) * m1) * STEP * STEP / 6.0;
        let slope = (y1 - y0) / STEP + ((3.0 * b * b - 1.0) * m1 - (3.0 * a * a - 1.0) * m0) * STEP / 6.0;
        let second = if inside == u { a * m0 + b * m1 } else { 0.0 };
        [value + slope * (u - inside), slope, second]
    }

    /// The u at which the map has a value.
    fn inverse(&self, value: f64) -> f64 {
        let (first, last) = (self.values[0], self.values[KNOTS - 1]);
        if value <= first {
            return -END + (value - first) / self.at(-END)[1];
        }
        if value >= last {
            return END + (value - last) / self.at(END)[1];
        }
        let k = self.values.partition_point(|v| *v <= value).clamp(1, KNOTS - 1) - 1;
        let (mut low, mut high) = (STEP * k as f64 - END, STEP * (k + 1) as f64 - END);
        let mut u = 0.5 * (low + high);
        for _ in 0..60 {
            let [here, slope, _] = self.at(u);
            let off = here - value;
            if off > 0.0 {
                high = u
            } else {
                low = u
            }
            let newton = u - off / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - u).abs() <= 1e-15 * END {
                return next;
            }
            u = next;
        }
        u
    }
}

/// log f between and beyond places.
fn log_density(places: &[Place], t: f64) -> f64 {
    let k = places.partition_point(|p| p.t <= t);
    if k == 0 || k == places.len() {
        let end = places[k.saturating_sub(1)];
        return end.log_f + end.slope * (t - end.t);
    }
    let (p, q) = (places[k - 1], places[k]);
    let width = q.t - p.t;
    let (b, a) = ((t - p.t) / width, (q.t - t) / width);
    a * a * (a + 3.0 * b) * p.log_f + b * b * (b + 3.0 * a) * q.log_f + a * b * width * (a * p.slope - b * q.slope)
}

/// Second derivatives of the natural cubic spline at its knots.
fn second_slopes(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let (mut second, mut upper) = (vec![0.0; n], vec![0.0; n]);
    for k in 1..n - 1 {
        let pivot = 4.0 - upper[k - 1];
        upper[k] = 1.0 / pivot;
        let right = 6.0 * (values[k + 1] - 2.0 * values[k] + values[k - 1]) / (STEP * STEP);
        second[k] = (right - second[k - 1]) / pivot;
    }
    for k in (1..n - 1).rev() {
        second[k] -= upper[k] * second[k + 1];
    }
    second
}

/// Maps of single components, where there are any.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    splines: Vec<Option<Spline>>,
}

impl Stretch {
    pub(super) fn new(splines: Vec<Option<Spline>>) -> Self {
        Self { splines }
    }

    /// u ↦ x, in place.
    pub(crate) fn forward(&self, point: &mut [f64]) {
        for (value, spline) in point.iter_mut().zip(&self.splines) {
            if let Some(spline) = spline {
                *value = spline.at(*value)[0];
            }
        }
    }

    /// x ↦ u, in place.
    pub(crate) fn backward(&self, point: &mut [f64]) {
        for (value, spline) in point.iter_mut().zip(&self.splines) {
            if let Some(spline) = spline {
                *value = spline.inverse(*value);
            }
        }
    }

    /// The gradient of log p + log |∂x/∂u| by u in place of that of log p by x; returns log |∂x/∂u|.
    pub(crate) fn pull(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let mut log_jacobian = 0.0;
        for ((u, g), spline) in point.iter().zip(gradient).zip(&self.splines) {
            if let Some(spline) = spline {
                let [_, slope, second] = spline.at(*u);
                *g = *g * slope + second / slope;
                log_jacobian += slope.ln();
            }
        }
        log_jacobian
    }
}

#[cfg(test)]
mod tests;
