//! The trapezoidal rule for expectations under N(0, 1), which converges geometrically for analytic functions
//! (mathematics §8.9).

use std::f64::consts::TAU;

/// −log of the error that is aimed at.
const DIGITS: f64 = 25.0;
/// Where the rule ends.
const END: f64 = 6.8;
/// Most nodes on either side.
const MOST_NODES: f64 = 2_000.0;

/// Equidistant nodes with weights that sum to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trapezoid {
    spacing: f64,
    last: i32,
    total: f64,
}

impl Trapezoid {
    /// The rule for functions that are analytic up to the distance `strip` from the real line, and times which the
    /// density is small `beyond` as many standard deviations as usual.
    ///
    /// Moved by a ≤ strip off the real line the integral shows the error e^{a²/2 − 2πa/h} of the spacing h.
    pub(crate) fn new(strip: f64, beyond: f64) -> Self {
        let a = strip.min((2.0 * DIGITS).sqrt());
        let spacing = TAU * a / (DIGITS + 0.5 * a * a);
        let last = ((END + beyond) / spacing).ceil().min(MOST_NODES) as i32;
        let mut rule = Self { spacing, last, total: 1.0 };
        rule.total = rule.nodes().map(|(_, weight)| weight).sum();
        rule
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        2 * self.last as usize + 1
    }

    /// Nodes and weights.
    pub(crate) fn nodes(self) -> impl Iterator<Item = (f64, f64)> {
        (-self.last..=self.last).map(move |k| {
            let u = f64::from(k) * self.spacing;
            (u, (-0.5 * u * u).exp() / self.total)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_a_function_with_poles_are_exact() {
        let rule = Trapezoid::new(f64::INFINITY, 0.0);
        let moment = |k: i32| rule.nodes().map(|(u, w)| w * u.powi(k)).sum::<f64>();
        assert!((moment(0) - 1.0).abs() < 1e-15 && moment(1).abs() < 1e-15);
        // Off the real line powers are (2π/h)ᵏ: 50 and 2 500 times e⁻²⁵, twice.
        assert!((moment(2) - 1.0).abs() < 2e-9 && (moment(4) - 3.0).abs() < 1.5e-7);
        // 1/(b² + u²) has poles at ±ib; E is √(π/2) e^{b²/2} erfc(b/√2)/b.
        for b in [0.5f64, 1.0, 3.0] {
            let expected = (0.5 * std::f64::consts::PI).sqrt() * (0.5 * b * b).exp() * libm::erfc(b / 2f64.sqrt()) / b;
            let found: f64 = Trapezoid::new(b, 0.0).nodes().map(|(u, w)| w / (b * b + u * u)).sum();
            assert!((found / expected - 1.0).abs() < 1e-9, "{b}: {found} {expected}");
        }
    }
}
