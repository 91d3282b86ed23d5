//! A component in units in which a law on the line is N(0, 1): t = h(v), cubics between places with the slopes of h
//! (mathematics §11.9).

use super::profile::{Place, between};
use crate::special::normal::normal_density;
use crate::special::normal_quantile::normal_quantile;

/// Quantiles beyond which h goes on straight.
const LAST: f64 = 7.0;
/// Distance of two places in v at least.
const APART: f64 = 0.05;
/// Parts of the way between two places of a profile, for its integral.
const PARTS: usize = 32;

/// The map of one component.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    axis: usize,
    v: Vec<f64>,
    t: Vec<f64>,
    /// dt/dv.
    slope: Vec<f64>,
}

/// h and its first two derivatives at one v.
struct Local {
    t: f64,
    slope: f64,
    bend: f64,
}

impl Stretch {
    /// That of a component whose log density has these values and slopes, at places that ascend.
    pub(super) fn of(axis: usize, places: &[Place]) -> Option<Self> {
        let top = places.iter().map(|place| place.log_p).fold(f64::NEG_INFINITY, f64::max);
        let (mut at, mut density) = (Vec::new(), Vec::new());
        for pair in places.windows(2) {
            for part in 0..PARTS {
                let t = pair[0].t + (pair[1].t - pair[0].t) * part as f64 / PARTS as f64;
                at.push(t);
                density.push((between(pair[0], pair[1], t) - top).exp());
            }
        }
        if at.is_empty() || !density.iter().all(|p| p.is_finite()) {
            return None;
        }
        // The mass below each place and above it, so that neither tail is a difference of two numbers near one.
        let cells: Vec<f64> =
            (1..at.len()).map(|k| 0.5 * (at[k] - at[k - 1]) * (density[k] + density[k - 1])).collect();
        let total: f64 = cells.iter().sum();
        let mut above = vec![0.0; at.len()];
        (0..cells.len()).rev().for_each(|k| above[k] = above[k + 1] + cells[k]);
        let mut below = 0.0;
        let (mut v, mut t, mut slope): (Vec<f64>, Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new(), Vec::new());
        let densities = at.iter().zip(&density).zip(above.iter().zip(cells.iter().chain([&0.0])));
        for ((at, density), (above, cell)) in densities {
            let quantile = match below < *above {
                true => normal_quantile(below / total),
                false => -normal_quantile(above / total),
            };
            below += cell;
            let is_near = v.last().is_some_and(|last| quantile - last < APART);
            if quantile.is_nan() || quantile.abs() >= LAST || is_near {
                continue;
            }
            v.push(quantile);
            t.push(*at);
            slope.push(normal_density(quantile) * total / density);
        }
        let found = Self { axis, v, t, slope };
        found.is_monotone().then_some(found)
    }

    /// Whether h ascends between all places: a cubic does where neither slope is more than three times the chord's.
    fn is_monotone(&self) -> bool {
        let chords = (1..self.v.len()).map(|k| (k, (self.t[k] - self.t[k - 1]) / (self.v[k] - self.v[k - 1])));
        let steep = |k: usize, chord: f64| self.slope[k - 1].max(self.slope[k]) < 3.0 * chord;
        self.v.len() >= 8 && self.slope.iter().all(|s| *s > 0.0) && chords.into_iter().all(|(k, c)| steep(k, c))
    }

    /// Between the places k − 1 and k.
    fn inside(&self, k: usize, v: f64) -> Local {
        let width = self.v[k] - self.v[k - 1];
        let (b, chord) = ((v - self.v[k - 1]) / width, (self.t[k] - self.t[k - 1]) / width);
        let (left, right) = (self.slope[k - 1], self.slope[k]);
        // t = t₀ + width · (left b + (3 chord − 2 left − right) b² + (left + right − 2 chord) b³).
        let (second, third) = (3.0 * chord - 2.0 * left - right, left + right - 2.0 * chord);
        Local {
            t: self.t[k - 1] + width * b * (left + b * (second + b * third)),
            slope: left + b * (2.0 * second + 3.0 * b * third),
            bend: (2.0 * second + 6.0 * b * third) / width,
        }
    }

    fn at(&self, v: f64) -> Local {
        let k = self.v.partition_point(|place| *place <= v);
        let end = if k == 0 { 0 } else { self.v.len() - 1 };
        if k == 0 || k == self.v.len() {
            return Local { t: self.t[end] + self.slope[end] * (v - self.v[end]), slope: self.slope[end], bend: 0.0 };
        }
        self.inside(k, v)
    }

    /// v ↦ t, in place.
    pub(crate) fn forward(&self, point: &mut [f64]) {
        point[self.axis] = self.at(point[self.axis]).t;
    }

    /// t ↦ v, in place, by bisection and Newton steps.
    pub(crate) fn backward(&self, point: &mut [f64]) {
        let t = point[self.axis];
        let k = self.t.partition_point(|place| *place <= t);
        let end = if k == 0 { 0 } else { self.v.len() - 1 };
        if k == 0 || k == self.v.len() {
            point[self.axis] = self.v[end] + (t - self.t[end]) / self.slope[end];
            return;
        }
        let (mut low, mut high) = (self.v[k - 1], self.v[k]);
        let mut v = 0.5 * (low + high);
        for _ in 0..60 {
            let local = self.inside(k, v);
            let left = local.t - t;
            if left > 0.0 {
                high = v
            } else {
                low = v
            }
            let newton = v - left / local.slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - v).abs() <= 1e-15 * v.abs().max(1.0) {
                break;
            }
            v = next;
        }
        point[self.axis] = v;
    }

    /// The gradient of log p + log |∂t/∂v| by v, in place of that of log p by t, at a point v; returns log |∂t/∂v|.
    pub(crate) fn pull(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let Local { slope, bend, .. } = self.at(point[self.axis]);
        gradient[self.axis] = slope * gradient[self.axis] + bend / slope;
        slope.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::special::normal::normal_cdf;

    /// Log of a gamma variable: skewed, with a long tail to the left.
    fn stretch() -> Stretch {
        let places: Vec<Place> = (0..=200)
            .map(|k| {
                let t = -30.0 + 0.18 * f64::from(k);
                Place { t, log_p: 0.5 * t - t.exp(), slope: 0.5 - t.exp() }
            })
            .collect();
        Stretch::of(1, &places).unwrap()
    }

    #[test]
    fn points_go_there_and_back_and_slopes_are_those_of_differences() {
        let stretch = stretch();
        for v in [-8.5, -6.0, -2.3, -0.4, 0.0, 1.1, 3.7, 9.0] {
            let mut point = [0.3, v];
            stretch.forward(&mut point);
            stretch.backward(&mut point);
            assert!((point[1] - v).abs() < 1e-12 && point[0] == 0.3, "{v} {point:?}");
            // log p(t) = −t²/2 with the map, by differences of step 1e−5.
            let log_p = |v: f64| {
                let mut point = [0.3, v];
                stretch.forward(&mut point);
                -0.5 * point[1] * point[1] + stretch.pull(&[0.3, v], &mut [0.0; 2])
            };
            let mut point = [0.3, v];
            stretch.forward(&mut point);
            let mut gradient = [0.7, -point[1]];
            stretch.pull(&[0.3, v], &mut gradient);
            let slope = (log_p(v + 1e-5) - log_p(v - 1e-5)) / 2e-5;
            assert!((slope - gradient[1]).abs() < 1e-4 * slope.abs().max(1.0), "{v}: {slope} {}", gradient[1]);
            assert_eq!(gradient[0], 0.7);
        }
    }

    #[test]
    fn a_law_on_the_line_becomes_normal() {
        let (stretch, mut stream) = (stretch(), Stream::open(8, Purpose::Sample, 0, 0));
        let n = 20_000;
        let mut v: Vec<f64> = (0..n)
            .map(|_| {
                let mut point = [0.0, stream.gamma(0.5).max(1e-300).ln()];
                stretch.backward(&mut point);
                point[1]
            })
            .collect();
        v.sort_by(f64::total_cmp);
        // Kolmogorov–Smirnov at 1e−3: 1.95/√n.
        let distance = v.iter().zip(0..).map(|(v, k)| (normal_cdf(*v) - (f64::from(k) + 0.5) / f64::from(n)).abs());
        assert!(distance.fold(0.0, f64::max) < 1.95 / f64::from(n).sqrt());
        // log p(v) is that of N(0, 1), so that chains have nothing to do.
        for place in [-3.0, -1.0, 0.2, 2.5] {
            let mut point = [0.0, place];
            stretch.forward(&mut point);
            let mut gradient = [0.0, 0.5 - point[1].exp()];
            stretch.pull(&[0.0, place], &mut gradient);
            assert!((gradient[1] + place).abs() < 0.01, "{place} {}", gradient[1]);
        }
    }

    #[test]
    fn a_density_that_is_none_gives_no_map() {
        let place = |t: f64, log_p: f64| Place { t, log_p, slope: 0.0 };
        assert!(Stretch::of(0, &[place(0.0, f64::NAN), place(1.0, 0.0)]).is_none());
        assert!(Stretch::of(0, &[place(0.0, 0.0)]).is_none());
    }
}
