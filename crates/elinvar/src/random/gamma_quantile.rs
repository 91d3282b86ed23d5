//! The quantile function of Gamma(a, 1), so that one low-discrepancy coordinate makes one mixing variable.

use crate::special::normal_quantile::normal_quantile;

/// Above this shape five terms of the Cornish–Fisher expansion are used, below it the equation P(a, x) = u is solved.
const LARGE_SHAPE: f64 = 1000.0;

/// The quantile function of Gamma(a, 1) with what depends on a alone kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct GammaQuantile {
    shape: f64,
    /// log Γ(a + 1).
    log_gamma_1: f64,
}

impl GammaQuantile {
    /// Prepares the quantile function; `None` if the shape is not a positive finite number.
    pub(super) fn new(shape: f64) -> Option<Self> {
        (shape > 0.0 && shape.is_finite()).then(|| Self { shape, log_gamma_1: libm::lgamma(shape + 1.0) })
    }

    /// a.
    pub(super) fn shape(&self) -> f64 {
        self.shape
    }

    /// The x with P(a, x) = u, for u in the open interval (0, 1); never 0.
    pub(super) fn at(&self, u: f64) -> f64 {
        if self.shape >= LARGE_SHAPE {
            return self.cornish_fisher(normal_quantile(u));
        }
        let a = self.shape;
        let (log_p, log_q) = (u.ln(), (-u).ln_1p());
        let mut y = self.start(u, log_p);
        for _ in 0..20 {
            // Halley's method in y = log x for log P = log u, or log Q = log(1 − u) in the upper half: f(y) = log P has
            // f′ = xᵃe⁻ˣ/(Γ(a) P) and f″/f′ = a − x − f′. The logarithm keeps far tails from overshooting.
            let x = y.exp();
            let log_slope = a * y - x - self.log_gamma_1 + a.ln();
            let (excess, first, ratio) = if x < a + 1.0 {
                let log_lower = a * y - x - self.log_gamma_1 + lower_series(a, x).ln();
                let first = (log_slope - log_lower).exp();
                (log_lower - log_p, first, a - x - first)
            } else {
                let log_upper = log_slope + upper_fraction(a, x).ln();
                let first = (log_slope - log_upper).exp();
                (log_upper - log_q, -first, a - x + first)
            };
            let newton = excess / first;
            let step = newton / (1.0 - 0.5 * newton * ratio).max(0.5);
            y -= step.clamp(-5.0, 5.0);
            // The error after a step is of the order of its cube.
            if step.abs() < 1e-5 {
                break;
            }
        }
        y.exp().max(f64::MIN_POSITIVE)
    }

    /// log of a first guess: Wilson and Hilferty's cube, or the leading term of the series for small x.
    fn start(&self, u: f64, log_p: f64) -> f64 {
        let a = self.shape;
        let small = (log_p + self.log_gamma_1) / a;
        let root = 1.0 - 1.0 / (9.0 * a) + normal_quantile(u) / (3.0 * a.sqrt());
        if root > 0.3 && a > 0.2 {
            a.ln() + 3.0 * root.ln()
        } else {
            // P(a, x) Γ(a + 1) = xᵃ (1 − a x/(a + 1) + …): the term is a lower bound and is good while x is small.
            small.min(1.0)
        }
    }

    /// x as an asymptotic series in 1/√a (Abramowitz and Stegun 26.2.49 with the cumulants of the gamma law).
    fn cornish_fisher(&self, z: f64) -> f64 {
        let a = self.shape;
        let r = a.sqrt();
        let z2 = z * z;
        a + r * z + (z2 - 1.0) / 3.0 + z * (z2 - 7.0) / (36.0 * r) - ((3.0 * z2 + 7.0) * z2 - 16.0) / (810.0 * a)
            + z * ((9.0 * z2 + 256.0) * z2 - 433.0) / (38_880.0 * a * r)
    }
}

/// P(a, x) Γ(a + 1) x⁻ᵃ eˣ = Σ xⁿ / ((a+1)…(a+n)), for x < a + 1.
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    while term > 1e-17 * sum {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// Q(a, x) Γ(a) x⁻ᵃ eˣ as Legendre's continued fraction, for x ≥ a + 1.
fn upper_fraction(a: f64, x: f64) -> f64 {
    // Lentz's method for 1/(x+1−a− 1(1−a)/(x+3−a− 2(2−a)/(x+5−a− …))); the denominators are positive for x ≥ a + 1.
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut value = d;
    for i in 1..10_000 {
        let numerator = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests;
