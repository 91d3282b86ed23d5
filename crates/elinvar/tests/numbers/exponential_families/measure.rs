//! The law of a component as nodes and weights, made from nothing but its log density.

use std::f64::consts::PI;

use elinvar::component::Component;
use elinvar::internals::special::legendre::integrate;
use elinvar::target::Support;

/// A coordinate u ∈ ℝ of z in which densities fall off smoothly on both sides.
#[derive(Clone, Copy)]
pub(crate) struct Coordinate {
    support: Support,
    centre: f64,
    scale: f64,
}

impl Coordinate {
    pub(crate) fn of(c: &Component) -> Self {
        let (mean, variance) = c.mean_and_variance();
        let (centre, scale) = match c.support() {
            Support::Real => (mean, variance.sqrt()),
            Support::Circle => (mean, 1.0),
            _ => (0.0, 1.0),
        };
        Self { support: c.support(), centre, scale }
    }

    /// (z, dz/du).
    pub(crate) fn at(&self, u: f64) -> (f64, f64) {
        match self.support {
            Support::Real | Support::Circle => (self.centre + self.scale * u, self.scale),
            Support::Positive => (u.exp(), u.exp()),
            Support::Unit => {
                let z = if u > 0.0 { 1.0 / (1.0 + (-u).exp()) } else { u.exp() / (1.0 + u.exp()) };
                (z, 1.0 / (2.0 + u.exp() + (-u).exp()))
            }
            other => panic!("no coordinate for {other}"),
        }
    }

    pub(crate) fn inverse(&self, z: f64) -> f64 {
        match self.support {
            Support::Positive => z.ln(),
            Support::Unit => (z / (1.0 - z)).ln(),
            Support::Circle => {
                let turns = (z - self.centre) / (2.0 * PI);
                2.0 * PI * (turns - turns.round())
            }
            _ => (z - self.centre) / self.scale,
        }
    }
}

/// Trapezoid nodes in u over the range where the density in u is above e^{−depth} of its peak.
pub(crate) struct Measure {
    pub(crate) coordinate: Coordinate,
    pub(crate) low: f64,
    /// Distance of the nodes.
    pub(crate) step: f64,
    /// Standard deviation of u.
    pub(crate) width: f64,
    /// (u, z, weight); the weights sum to the total mass.
    pub(crate) nodes: Vec<(f64, f64, f64)>,
}

impl Measure {
    pub(crate) fn of(c: &Component) -> Self {
        let coordinate = Coordinate::of(c);
        let log_mass = |u: f64| {
            let (z, slope) = coordinate.at(u);
            let value = c.log_density(z) + slope.ln();
            if value > -1e200 { value } else { -1e200 * (1.0 + u.abs()) }
        };
        let (low, high) = match c.support() {
            Support::Circle => (-PI, PI),
            _ => range(log_mass, 200.0),
        };
        let n = 30_000;
        let step = (high - low) / f64::from(n);
        // A periodic function has its last node where the first one is.
        let last = if c.support() == Support::Circle { n - 1 } else { n };
        let nodes: Vec<_> = (0..=last)
            .map(|i| {
                let u = low + f64::from(i) * step;
                (u, coordinate.at(u).0, log_mass(u).exp() * step)
            })
            .collect();
        let total: f64 = nodes.iter().map(|node| node.2).sum();
        let centre = nodes.iter().map(|&(u, _, w)| u * w).sum::<f64>() / total;
        let width = (nodes.iter().map(|&(u, _, w)| (u - centre).powi(2) * w).sum::<f64>() / total).sqrt();
        Self { coordinate, low, step, width, nodes }
    }

    /// A length in u on which the density varies: its width, but in log z or logit z never much more than one.
    pub(crate) fn unit(&self) -> f64 {
        self.width.min(1.0)
    }

    /// dz/du at z.
    pub(crate) fn stretch(&self, z: f64) -> f64 {
        self.coordinate.at(self.coordinate.inverse(z)).1
    }

    /// ∫ f(z) q(z) dz.
    pub(crate) fn expectation(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.nodes.iter().filter(|node| node.2 > 0.0).map(|&(_, z, w)| w * f(z)).sum()
    }

    /// Points from the lower to the upper tail, at these probabilities.
    pub(crate) fn quantiles(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut found = Vec::new();
        let mut mass = 0.0;
        for &(_, z, w) in &self.nodes {
            mass += w;
            while probabilities.get(found.len()).is_some_and(|&p| mass > p) {
                found.push(z);
            }
        }
        found
    }

    /// Q(z), on the circle counted from the mean direction; `c` may differ from the member the measure was made for.
    pub(crate) fn cdf(&self, c: &Component, z: f64) -> f64 {
        let start = match c.support() {
            Support::Circle => self.coordinate.inverse(c.mean_and_variance().0),
            _ => self.low,
        };
        let density = |u: f64| {
            let (z, slope) = self.coordinate.at(u);
            [c.log_density(z).exp() * slope]
        };
        integrate(start, self.coordinate.inverse(z), 400, density)[0]
    }
}

/// The interval in which a unimodal g is above its peak less `depth`.
fn range(g: impl Fn(f64) -> f64, depth: f64) -> (f64, f64) {
    let (mut low, mut high) = (-700.0, 700.0);
    for _ in 0..200 {
        let (one, two) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if g(one) < g(two) { low = one } else { high = two }
    }
    let mode = 0.5 * (low + high);
    let peak = g(mode);
    let edge = |direction: f64| {
        let (mut inside, mut outside) = (0.0, 1e-9);
        while g(mode + direction * outside) > peak - depth && outside < 1e3 {
            (inside, outside) = (outside, 2.0 * outside);
        }
        for _ in 0..40 {
            let middle = 0.5 * (inside + outside);
            if g(mode + direction * middle) > peak - depth { inside = middle } else { outside = middle }
        }
        mode + direction * outside
    };
    (edge(-1.0), edge(1.0))
}

/// The derivative of a function by five points at distance h.
pub(crate) fn slope(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "{what}: found {found:e}, expected {expected:e}, error {error:e} > {tolerance:e}");
}
