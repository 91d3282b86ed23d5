//! Coordinates that bend with one direction, the driver: along it means shift and widths change (mathematics §11.6).
//!
//! With t the component of x along the driver and every other component y_i:
//!
//! y_i = m_i(t) + e^{s_i(t)} u_i,  m_i and s_i cubics in t, both straight beyond where states were seen.
//!
//! The driver stays as it is, so that the map is triangular: its inverse is a line, and log |∂x/∂u| = Σ s_i(t).

use crate::linalg::{axpy, dot};

/// Coefficients of a shift: 1, t, t² − 1 and t³ − 3t.
pub(super) const SHIFT: usize = 4;
/// Coefficients of a log width, of the same.
pub(super) const WIDTH: usize = 4;
/// Largest size of a log width, so that it never leaves the range of numbers.
const WIDEST: f64 = 30.0;

/// The reflection I − 2vvᵀ that takes a direction to an axis, or nothing at all.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    axis: usize,
    /// The unit vector v; empty if the direction is an axis.
    across: Vec<f64>,
}

impl Mirror {
    /// To the axis that a unit vector is nearest to.
    pub(super) fn of(direction: &[f64]) -> Self {
        let d = direction.len();
        let axis = (0..d).max_by(|a, b| direction[*a].abs().total_cmp(&direction[*b].abs())).unwrap_or(0);
        let mut across = direction.to_vec();
        across[axis] -= if direction[axis] < 0.0 { -1.0 } else { 1.0 };
        let size = dot(&across, &across).sqrt();
        if size < 1e-9 {
            across.clear();
        }
        across.iter_mut().for_each(|v| *v /= size);
        Self { axis, across }
    }

    /// x ↦ (I − 2vvᵀ) x, its own inverse and transpose.
    pub(crate) fn reflect(&self, x: &mut [f64]) {
        if !self.across.is_empty() {
            let along = dot(&self.across, x);
            axpy(-2.0 * along, &self.across, x);
        }
    }
}

/// The map of one driver.
#[derive(Clone, Debug)]
pub(crate) struct Bend {
    mirror: Mirror,
    /// [`SHIFT`] numbers for each component.
    shift: Vec<f64>,
    /// [`WIDTH`] numbers for each component.
    width: Vec<f64>,
    /// Where polynomials end: those of shifts and of widths.
    ends: [f64; 2],
}

/// Polynomials in t and their slopes, straight beyond ±end.
fn polynomials(t: f64, end: f64) -> ([f64; SHIFT], [f64; SHIFT]) {
    let c = t.clamp(-end, end);
    let slopes = [0.0, 1.0, 2.0 * c, 3.0 * c * c - 3.0];
    let beyond = t - c;
    let values = [1.0, t, c * c - 1.0 + slopes[2] * beyond, c * c * c - 3.0 * c + slopes[3] * beyond];
    (values, slopes)
}

/// What a bend is at one value of t, for one component: shift, its slope, log width, its slope.
pub(super) struct Local {
    pub(super) shift: f64,
    pub(super) shift_slope: f64,
    pub(super) log_width: f64,
    pub(super) width_slope: f64,
}

impl Bend {
    /// Along a unit vector, with nothing bent yet.
    pub(super) fn along(driver: &[f64], ends: [f64; 2]) -> Self {
        let d = driver.len();
        Self { mirror: Mirror::of(driver), shift: vec![0.0; SHIFT * d], width: vec![0.0; WIDTH * d], ends }
    }

    /// The component that drives, after the reflection.
    pub(super) fn axis(&self) -> usize {
        self.mirror.axis
    }

    /// Sets what a component does.
    pub(super) fn set(&mut self, component: usize, shift: &[f64], width: &[f64]) {
        self.shift[SHIFT * component..SHIFT * (component + 1)].copy_from_slice(shift);
        self.width[WIDTH * component..WIDTH * (component + 1)].copy_from_slice(width);
    }

    /// The polynomials of shifts and of widths at t.
    pub(super) fn features(&self, t: f64) -> ([f64; SHIFT], [f64; WIDTH]) {
        let (shifts, widths) = (polynomials(t, self.ends[0]).0, polynomials(t, self.ends[1]).0);
        (shifts, widths)
    }

    /// x as seen from the driver.
    pub(super) fn reflect(&self, x: &mut [f64]) {
        self.mirror.reflect(x);
    }

    /// What it is at t, for one component.
    pub(super) fn component(&self, i: usize, t: f64) -> Local {
        self.local(i, &self.at(t))
    }

    fn local(&self, i: usize, at: &[([f64; SHIFT], [f64; SHIFT]); 2]) -> Local {
        let (shift, width) = (&self.shift[SHIFT * i..SHIFT * (i + 1)], &self.width[WIDTH * i..WIDTH * (i + 1)]);
        let log_width = dot(width, &at[1].0[..WIDTH]);
        let clamped = log_width.clamp(-WIDEST, WIDEST);
        Local {
            shift: dot(shift, &at[0].0),
            shift_slope: dot(shift, &at[0].1),
            log_width: clamped,
            width_slope: if clamped == log_width { dot(width, &at[1].1[..WIDTH]) } else { 0.0 },
        }
    }

    fn at(&self, t: f64) -> [([f64; SHIFT], [f64; SHIFT]); 2] {
        [polynomials(t, self.ends[0]), polynomials(t, self.ends[1])]
    }

    /// u ↦ x, in place.
    pub(crate) fn forward(&self, point: &mut [f64]) {
        self.each(point, |local, value| local.shift + local.log_width.exp() * value);
    }

    /// x ↦ u, in place.
    pub(crate) fn backward(&self, point: &mut [f64]) {
        self.each(point, |local, value| (value - local.shift) * (-local.log_width).exp());
    }

    /// Maps every component but the one that drives, as seen from the driver.
    fn each(&self, point: &mut [f64], map: impl Fn(Local, f64) -> f64) {
        self.reflect(point);
        let at = self.at(point[self.mirror.axis]);
        for (i, value) in point.iter_mut().enumerate() {
            if i != self.mirror.axis {
                *value = map(self.local(i, &at), *value);
            }
        }
        self.reflect(point);
    }

    /// The gradient of log p + log |∂x/∂u| by u, in place of that of log p by x, at a point u, which is lost; returns
    /// log |∂x/∂u|.
    pub(crate) fn pull(&self, point: &mut [f64], gradient: &mut [f64]) -> f64 {
        self.reflect(point);
        self.reflect(gradient);
        let at = self.at(point[self.mirror.axis]);
        let (mut by_driver, mut log_jacobian) = (0.0, 0.0);
        for (i, (u, g)) in point.iter().zip(gradient.iter_mut()).enumerate() {
            if i != self.mirror.axis {
                let local = self.local(i, &at);
                let width = local.log_width.exp();
                by_driver += *g * (local.shift_slope + local.width_slope * width * u) + local.width_slope;
                log_jacobian += local.log_width;
                *g *= width;
            }
        }
        gradient[self.mirror.axis] += by_driver;
        self.reflect(gradient);
        log_jacobian
    }
}

#[cfg(test)]
mod tests;
