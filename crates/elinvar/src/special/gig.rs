//! Moments of the generalised inverse Gaussian law (mathematics §4).

use std::f64::consts::LN_2;

use super::bessel_k::{BesselK, bessel_k};

/// GIG(p, A, b), density ∝ s^{p−1} exp{−½(As + b/s)}, A > 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gig {
    /// p.
    pub p: f64,
    /// A.
    pub a: f64,
    /// b; where it is zero, the smallest number is taken for which every moment can be written.
    pub b: f64,
}

/// What is needed of a generalised inverse Gaussian law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GigMoments {
    /// E\[s\].
    pub mean: f64,
    /// E[1/s].
    pub mean_inverse: f64,
    /// Var[1/s].
    pub variance_inverse: f64,
}

/// Below it Var[1/s] ~ b⁻² would overflow.
const SMALLEST_B: f64 = 1e-120;

impl Gig {
    fn b(&self) -> f64 {
        self.b.max(SMALLEST_B)
    }

    /// x = √(Ab).
    pub(crate) fn x(&self) -> f64 {
        (self.a * self.b()).sqrt()
    }

    /// log ∫ s^{p−1} exp{−½(As + b/s)} ds + x = log{2K_p(x)eˣ} + ½p log(b/A).
    pub(crate) fn log_normaliser_plus_x(&self) -> f64 {
        LN_2 + bessel_k(self.p.abs(), self.x()).log_scaled + 0.5 * self.p * (self.b() / self.a).ln()
    }

    /// Mean of s, mean and variance of 1/s, without cancellation.
    pub(crate) fn moments(&self) -> GigMoments {
        let (p, x) = (self.p, self.x());
        let k = bessel_k(p.abs(), x);
        // K_{p+1}/K_p, K_{p−1}/K_p and K_{p−2}/K_p − (K_{p−1}/K_p)².
        let (above, below) = if p >= 0.0 { (k.upper_ratio, k.ratio) } else { (k.ratio, k.upper_ratio) };
        let spread = if p <= 0.0 {
            k.turan()
        } else if p <= 1.0 {
            spread_below_one(p, x)
        } else {
            // With u = p − 2 it is {K_{u+2}/K_u − (K_{u+1}/K_u)²}/(K_p/K_u)².
            let (turan, across) = if p >= 2.0 {
                let lower = bessel_k(p - 2.0, x);
                (lower.turan(), lower.turan() + lower.upper_ratio * lower.upper_ratio)
            } else {
                let near = bessel_k(p - 1.0, x);
                (spread_below_one(2.0 - p, x), near.upper_ratio / near.ratio)
            };
            turan / (across * across)
        };
        let ratio = (self.a / self.b()).sqrt();
        GigMoments { mean: above / ratio, mean_inverse: below * ratio, variance_inverse: spread * ratio * ratio }
    }
}

/// K_{2−q}/K_q − (K_{1−q}/K_q)² for 0 ≤ q ≤ 1.
fn spread_below_one(q: f64, x: f64) -> f64 {
    let first = bessel_k(q, x).ratio;
    let second: BesselK = bessel_k(1.0 - q, x);
    if x < 1.0 {
        return first * (second.upper_ratio - first);
    }
    // With ρ_r = K_{r+1}/K_r the difference ρ_{r+1} − ρ_r at r = −q is ρ_{r+1}ρ_r(2/x − δ), δ = ρ_{r+2} − ρ_{r+1}.
    let growth = second.turan() / second.upper_ratio;
    first * first * second.upper_ratio * (2.0 / x - growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trapezoid sums in log s.
    #[test]
    fn moments_agree_with_quadrature() {
        for p in [-3.2, -0.5, 0.0, 0.3, 0.5, 1.0, 1.4, 1.9, 2.0, 3.5, 12.0] {
            for (a, b) in [(2.0, 3.0), (0.1, 0.02), (5.0, 1e-4), (40.0, 90.0), (1e3, 7.0)] {
                let gig = Gig { p, a, b };
                let x = gig.x();
                let log = |tau: f64| p * tau - 0.5 * (a * tau.exp() + b * (-tau).exp()) + x;
                let step = 2e-3;
                let mut sums = [0.0; 4];
                for i in -20_000..20_000 {
                    let tau = f64::from(i) * step;
                    let mass = log(tau).exp() * step;
                    let s = tau.exp();
                    [1.0, s, 1.0 / s, 1.0 / (s * s)].iter().zip(&mut sums).for_each(|(f, sum)| *sum += f * mass);
                }
                let mean_inverse = sums[2] / sums[0];
                let variance: f64 = (-20_000..20_000)
                    .map(|i| {
                        let tau = f64::from(i) * step;
                        log(tau).exp() * step * ((-tau).exp() - mean_inverse).powi(2) / sums[0]
                    })
                    .sum();
                let found = gig.moments();
                for (what, found, expected) in [
                    ("mean", found.mean, sums[1] / sums[0]),
                    ("inverse", found.mean_inverse, mean_inverse),
                    ("variance", found.variance_inverse, variance),
                ] {
                    assert!((found / expected - 1.0).abs() < 1e-11, "{what} at {gig:?}: {found:e} and {expected:e}");
                }
                assert!((gig.log_normaliser_plus_x() - sums[0].ln()).abs() < 1e-11, "{gig:?}");
            }
        }
    }

    #[test]
    fn nothing_overflows_without_b() {
        for p in [-9.0, -0.5, 0.0, 0.7, 1.5, 6.0] {
            let gig = Gig { p, a: 2.0, b: 0.0 };
            let m = gig.moments();
            assert!(m.mean > 0.0 && m.mean.is_finite() && m.mean_inverse.is_finite(), "{p}: {m:?}");
            assert!(m.variance_inverse.is_finite() && gig.log_normaliser_plus_x().is_finite(), "{p}: {m:?}");
        }
        // Gamma(6, rate 1): E[1/s] = 1/5, Var[1/s] = 1/100.
        let m = Gig { p: 6.0, a: 2.0, b: 0.0 }.moments();
        assert!((m.mean - 6.0).abs() < 1e-13 && (m.mean_inverse - 0.2).abs() < 1e-14);
        assert!((m.variance_inverse - 0.01).abs() < 1e-14, "{m:?}");
    }
}
