//! Everything exact about densities of two parameters: sums over a grid whose steps grow with the distance.

use elinvar::Posterior;

/// A grid over the plane with the target's log density: z = centre + scale·sinh t, t in equal steps.
pub(super) struct Plane {
    /// The points, one after the other.
    points: Vec<[f64; 2]>,
    /// log of the area that each stands for.
    log_area: Vec<f64>,
    /// log p, normalised.
    log_p: Vec<f64>,
    /// log ∫p.
    pub(super) log_normaliser: f64,
}

/// Where the grid ends: sinh 8 = 1490 scales from its centre.
const REACH: f64 = 8.0;

impl Plane {
    /// The grid with `n` × `n` points.
    pub(super) fn new(n: usize, centre: [f64; 2], scale: [f64; 2], log_p: impl Fn(&[f64]) -> f64 + Sync) -> Self {
        let step = 2.0 * REACH / (n - 1) as f64;
        let axis = |j: usize| -> Vec<(f64, f64)> {
            let t = (0..n).map(|i| -REACH + step * i as f64);
            t.map(|t| (centre[j] + scale[j] * t.sinh(), (scale[j] * t.cosh() * step).ln())).collect()
        };
        let (first, second) = (axis(0), axis(1));
        let pairs = || first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
        let points: Vec<[f64; 2]> = pairs().map(|(a, b)| [a.0, b.0]).collect();
        let log_area: Vec<f64> = pairs().map(|(a, b)| a.1 + b.1).collect();
        let rows = crate::threads::for_each(n, |i| -> Vec<f64> {
            points[i * n..(i + 1) * n].iter().map(|z| log_p(z)).collect()
        });
        let mut log_p: Vec<f64> = rows.into_iter().flatten().collect();
        let terms = || log_p.iter().zip(&log_area).map(|(p, area)| p + area);
        let top = terms().fold(f64::NEG_INFINITY, f64::max);
        let log_normaliser = top + terms().map(|term| (term - top).exp()).sum::<f64>().ln();
        log_p.iter_mut().for_each(|p| *p -= log_normaliser);
        Self { points, log_area, log_p, log_normaliser }
    }

    /// log q at every point.
    pub(super) fn log_q(&self, q: &Posterior) -> Vec<f64> {
        self.points.iter().map(|z| q.log_density(z)).collect()
    }

    /// The target itself.
    pub(super) fn log_p(&self) -> &[f64] {
        &self.log_p
    }

    /// ∫ exp(log_q): one, unless the grid is too coarse or too small for it.
    pub(super) fn mass(&self, log_q: &[f64]) -> f64 {
        log_q.iter().zip(&self.log_area).map(|(q, area)| (q + area).exp()).sum()
    }

    /// KL(one ‖ two).
    pub(super) fn divergence(&self, one: &[f64], two: &[f64]) -> f64 {
        let term = |((one, two), area): ((&f64, &f64), &f64)| {
            let mass = (one + area).exp();
            if mass > 0.0 { mass * (one - two) } else { 0.0 }
        };
        one.iter().zip(two).zip(&self.log_area).map(term).sum()
    }

    /// Quantiles of a linear function c₁z₁ + c₂z₂, `shares` in increasing order.
    pub(super) fn quantiles(&self, log_density: &[f64], c: [f64; 2], shares: &[f64]) -> Vec<f64> {
        let mut masses: Vec<(f64, f64)> = (self.points.iter().zip(log_density).zip(&self.log_area))
            .map(|((z, density), area)| (c[0] * z[0] + c[1] * z[1], (density + area).exp()))
            .filter(|(_, mass)| *mass > 1e-15)
            .collect();
        masses.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Points with the same value, such as a line of the grid, are one.
        let mut merged: Vec<(f64, f64)> = Vec::new();
        for (value, mass) in masses {
            match merged.last_mut() {
                Some(last) if last.0 == value => last.1 += mass,
                _ => merged.push((value, mass)),
            }
        }
        let total: f64 = merged.iter().map(|(_, mass)| mass).sum();
        // The distribution function has passed half of a mass at its place.
        let mut below = 0.0;
        let curve: Vec<(f64, f64)> = merged
            .into_iter()
            .map(|(value, mass)| {
                below += mass;
                (value, (below - 0.5 * mass) / total)
            })
            .collect();
        shares.iter().map(|share| between(&curve, *share)).collect()
    }

    /// The marginal density of coordinate `j` as (value, density), in increasing order.
    pub(super) fn marginal(&self, log_density: &[f64], j: usize, scale: f64, centre: f64) -> Vec<(f64, f64)> {
        let n = self.points.len().isqrt();
        let step = 2.0 * REACH / (n - 1) as f64;
        let mut sums = vec![0.0; n];
        for (i, (density, area)) in log_density.iter().zip(&self.log_area).enumerate() {
            sums[if j == 0 { i / n } else { i % n }] += (density + area).exp();
        }
        let at = |k: usize| {
            let t = -REACH + step * k as f64;
            (centre + scale * t.sinh(), sums[k] / (scale * t.cosh() * step))
        };
        (0..n).map(at).collect()
    }
}

/// Where a rising curve of (value, share) reaches a share.
fn between(curve: &[(f64, f64)], share: f64) -> f64 {
    let after = curve.partition_point(|(_, reached)| *reached < share).clamp(1, curve.len() - 1);
    let ((a, low), (b, high)) = (curve[after - 1], curve[after]);
    a + (b - a) * (share - low) / (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A product of t distributions with 3 degrees of freedom and scales 1 and 2, whose quantiles are known.
    #[test]
    fn sums_over_the_grid_are_those_of_the_density() {
        let t3 = |x: f64| (1.0 + x * x / 3.0).powi(2);
        let log_p = |z: &[f64]| -t3(z[0] - 0.3).ln() - t3((z[1] + 1.0) / 2.0).ln();
        let plane = Plane::new(321, [0.0, 0.0], [0.5, 0.5], log_p);
        // ∫(1 + x²/3)⁻² dx = π√3/2.
        let expected = (std::f64::consts::PI * 3f64.sqrt() / 2.0).ln() * 2.0 + 2f64.ln();
        assert!((plane.log_normaliser - expected).abs() < 1e-6, "{} {expected}", plane.log_normaliser);
        let quantiles = plane.quantiles(plane.log_p(), [1.0, 0.0], &[0.005, 0.5, 0.995]);
        for (found, expected) in quantiles.iter().zip([0.3 - 5.840909, 0.3, 0.3 + 5.840909]) {
            assert!((found - expected).abs() < 0.01, "{quantiles:?}");
        }
        assert!(plane.divergence(plane.log_p(), plane.log_p()) == 0.0);
        assert!((plane.mass(plane.log_p()) - 1.0).abs() < 1e-12);
    }
}
