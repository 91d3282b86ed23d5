//! Integrals over w > 0 against a positive function that is known by its logarithm: what a law is asked when nothing
//! but its density is known (mathematics §10.9).

/// Terms on one side of the peak, at most; each is about a third of a width from the next.
const MOST_TERMS: i32 = 20_000;
/// Nats below the peak at which a term no longer counts.
const NEGLIGIBLE: f64 = 46.0;

/// Total mass and moments of w under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Integral {
    /// The logarithm of the total mass.
    pub(super) log_total: f64,
    /// E\[w\].
    pub(super) mean: f64,
    /// E\[(w − E\[w\])²\] and E\[(w − E\[w\])³\].
    pub(super) central: [f64; 2],
    /// E[1/w].
    pub(super) mean_inverse: f64,
    /// Var[1/w].
    pub(super) variance_inverse: f64,
    /// Whether the sums have ended: false where a moment that was asked for does not exist.
    pub(super) is_finite: bool,
}

/// Highest powers of 1/w and of w whose moments are wanted; higher ones mean nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Powers {
    pub(super) down: f64,
    pub(super) up: f64,
}

impl Integral {
    /// By the trapezoid rule in τ = log w, with `log_density` that of w; its product with w must have one peak in τ.
    /// The error of the rule is about exp(−2πa/h) for functions that are analytic within a of the line: a = π/4 for one
    /// that falls like exp(−w²), and 5e-15 with the largest step h.
    pub(super) fn new(start: f64, powers: Powers, log_density: impl Fn(f64) -> f64) -> Self {
        let log_term = |tau: f64| {
            let value = log_density(tau.exp()) + tau;
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        };
        let (at, peak, width) = summit(start.ln(), &log_term);
        let step = (0.4 * width).min(0.15);
        let w = at.exp();
        // Moments of w and 1/w in units of the peak's, around 1: nothing cancels where w hardly varies.
        let (mut total, mut ups, mut downs) = (0.0, [0.0; 3], [0.0; 2]);
        let mut add = |tau: f64| {
            let log_mass = log_term(tau) - peak;
            let mass = log_mass.exp();
            let (up, down) = ((tau - at).exp_m1(), (at - tau).exp_m1());
            total += mass;
            if mass > 0.0 {
                ups[0] += mass * up;
                ups[1] += mass * up * up;
                ups[2] += mass * up * up * up;
                downs[0] += mass * down;
                downs[1] += mass * down * down;
            }
            log_mass
        };
        add(at);
        let mut is_finite = true;
        for (direction, power) in [(-step, powers.down), (step, powers.up)] {
            let mut j = 0;
            is_finite &= loop {
                j += 1;
                let distance = step * f64::from(j);
                let log_mass = add(at + direction * f64::from(j));
                if log_mass + power * distance < -NEGLIGIBLE {
                    break true;
                }
                if j == MOST_TERMS || distance > 600.0 {
                    break false;
                }
            };
        }
        let [m1, m2, m3] = ups.map(|sum| sum / total);
        let [n1, n2] = downs.map(|sum| sum / total);
        let central = [(m2 - m1 * m1) * w * w, (m3 - 3.0 * m1 * m2 + 2.0 * m1 * m1 * m1) * w * w * w];
        Self {
            log_total: peak + (total * step).ln(),
            mean: (1.0 + m1) * w,
            central,
            mean_inverse: (1.0 + n1) / w,
            variance_inverse: (n2 - n1 * n1) / (w * w),
            is_finite,
        }
    }
}

/// Where the function is highest, how high, and how wide it is there: climbs from `start` by steps that grow while they
/// rise and shrink until the function falls by less than a quarter on both sides.
fn summit(start: f64, log_term: &impl Fn(f64) -> f64) -> (f64, f64, f64) {
    let (mut at, mut height, mut step) = (start, log_term(start), 0.5);
    for _ in 0..400 {
        let (left, right) = (log_term(at - step), log_term(at + step));
        if left > height || right > height {
            let is_right = right > left;
            (at, height) = if is_right { (at + step, right) } else { (at - step, left) };
            step *= 1.5;
            continue;
        }
        let fall = height - left.min(right);
        if fall < 0.25 || step < 1e-12 {
            // A parabola through the three; a plateau is as wide as a step.
            let curvature = (2.0 * height - left - right) / (step * step);
            return (at, height, curvature.max(step.powi(-2) * 0.01).sqrt().recip());
        }
        step *= 0.5;
    }
    (at, height, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::gamma::ln_gamma;

    /// Gamma laws of shapes from 0.7 to 400, in units from 10⁻³ to 10³: every moment in closed form.
    #[test]
    fn moments_of_gamma_laws() {
        for (shape, scale) in [(2.5_f64, 1.0), (30.0, 1e-3), (400.0, 1e3), (3.1, 50.0)] {
            let log_density = |w: f64| (shape - 1.0) * (w / scale).ln() - w / scale - ln_gamma(shape) - f64::ln(scale);
            for start in [0.01 * scale, shape * scale, 1e4 * scale] {
                let found = Integral::new(start, Powers { down: 2.0, up: 3.0 }, log_density);
                let near = |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 1e-10, "{found} {truth}");
                assert!(found.is_finite && found.log_total.abs() < 1e-10, "{shape} {scale}: {found:?}");
                near(found.mean, shape * scale);
                near(found.central[0], shape * scale * scale);
                near(found.central[1], 2.0 * shape * scale.powi(3));
                near(found.mean_inverse, 1.0 / (scale * (shape - 1.0)));
                near(found.variance_inverse, 1.0 / (scale * scale * (shape - 1.0).powi(2) * (shape - 2.0)));
            }
        }
    }

    /// The mean of a law whose density falls like w^{−3/2} does not exist, that of 1/w does.
    #[test]
    fn moments_that_do_not_exist() {
        let stable = |w: f64| -1.5 * w.ln() - 1.0 / w;
        assert!(!Integral::new(2.0, Powers { down: 0.0, up: 1.0 }, stable).is_finite);
        assert!(Integral::new(2.0, Powers { down: 1.0, up: 0.0 }, stable).is_finite);
    }
}
