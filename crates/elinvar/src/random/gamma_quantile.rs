//! The quantile function of Gamma(a, 1), so that one low-discrepancy coordinate makes one mixing variable.

use super::sobol::normal_quantile;

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
mod tests {
    use super::*;

    const U: [f64; 7] = [f64::EPSILON / 2.0, 1e-6, 0.02, 0.5, 0.875, 0.999, 1.0 - f64::EPSILON / 2.0];

    #[test]
    fn agrees_with_40_digit_arithmetic() {
        let table: [(f64, [f64; 7]); 8] = [
            (
                0.3,
                [
                    4.5860102724659713e-54,
                    6.9726990964093485e-21,
                    1.514147144569685e-6,
                    0.073131135866951896,
                    0.73971347667961095,
                    4.6189360427913334,
                    33.169553612604871,
                ],
            ),
            (
                1.0,
                [
                    1.1102230246251566e-16,
                    1.0000005000003333e-6,
                    0.020202707317519449,
                    0.69314718055994531,
                    2.0794415416798359,
                    6.9077552789821362,
                    36.736800569677101,
                ],
            ),
            (
                1.5,
                [
                    2.7927428785172406e-11,
                    0.00012090524360062141,
                    0.09241590951432907,
                    1.1829869421876691,
                    2.8697067070500022,
                    8.1331180981190645,
                    38.698157745310439,
                ],
            ),
            (
                2.5,
                [
                    6.7111146557054287e-7,
                    0.0064480801032485482,
                    0.37594446738953341,
                    2.1757300955477637,
                    4.3123826612185938,
                    10.257502826216438,
                    42.097516118260656,
                ],
            ),
            (
                7.25,
                [
                    0.021960132276100501,
                    0.55273176706651327,
                    2.8374508648415258,
                    6.9195296744833915,
                    10.387963135745271,
                    18.456389841364777,
                    54.82954358502221,
                ],
            ),
            (
                40.0,
                [
                    7.5661043724943123,
                    16.753150234308063,
                    28.10642204481073,
                    39.667165010689099,
                    47.354571922962437,
                    62.419612007882395,
                    115.84804307149903,
                ],
            ),
            (
                300.0,
                [
                    179.08352560817905,
                    224.74061625126691,
                    265.5095332343895,
                    299.66673259043924,
                    320.02193649727447,
                    356.38558144264813,
                    465.06517292873523,
                ],
            ),
            (
                999.0,
                [
                    761.20013777207893,
                    855.88979360704733,
                    935.164803436064,
                    998.66668644675249,
                    1035.4610789052708,
                    1099.5292282815752,
                    1281.0294029220788,
                ],
            ),
        ];
        for (shape, expected) in table {
            let quantile = GammaQuantile::new(shape).unwrap();
            for (u, x) in U.into_iter().zip(expected) {
                let error = quantile.at(u) / x - 1.0;
                assert!(error.abs() < 1e-12, "a = {shape}, u = {u}: relative error {error:e}");
            }
        }
    }

    #[test]
    fn expansion_for_large_shapes() {
        // scipy.special.gammaincinv and gammainccinv; the error is measured in standard deviations √a.
        let table = [
            (
                1000.0,
                [
                    762.0705370261866,
                    856.8146512793919,
                    936.132320265703,
                    999.6666864269652,
                    1036.4792749439575,
                    1100.5780982933145,
                    1282.1590384247147,
                ],
            ),
            (
                20_000.0,
                [
                    18861.030161418472,
                    19334.94797080018,
                    19710.62979002868,
                    19999.66666765434,
                    20162.79045485996,
                    20439.87621662943,
                    21183.232422595927,
                ],
            ),
        ];
        for (shape, expected) in table {
            let quantile = GammaQuantile::new(shape).unwrap();
            for (u, x) in U.into_iter().zip(expected) {
                let error = (quantile.at(u) - x) / f64::sqrt(shape);
                let z = normal_quantile(u).abs();
                assert!(error.abs() < 1e-9 * (1.0 + z.powi(4)), "a = {shape}, u = {u}: error {error:e} √a");
            }
        }
    }

    #[test]
    fn never_zero_and_increasing() {
        for shape in [1e-3, 0.05, 0.19, 0.21, 0.9, 1.1, 3.0, 12.0, 150.0, 999.9, 1000.0, 1e9] {
            let quantile = GammaQuantile::new(shape).unwrap();
            let mut last = 0.0;
            for i in 0..4000 {
                let x = quantile.at((f64::from(i) + 0.5) / 4000.0);
                assert!(x >= last && x > 0.0 && x.is_finite(), "a = {shape}, i = {i}: {x} after {last}");
                last = x;
            }
        }
        assert!(GammaQuantile::new(0.0).is_none() && GammaQuantile::new(f64::INFINITY).is_none());
    }

    #[test]
    #[ignore = "a measurement"]
    fn nanoseconds_per_quantile() {
        for shape in [0.5, 1.5, 2.5, 5.0, 20.0, 100.0, 500.0, 999.0, 2000.0] {
            let quantile = GammaQuantile::new(shape).unwrap();
            let start = std::time::Instant::now();
            let sum: f64 = (0..100_000).map(|i| quantile.at((f64::from(i) + 0.5) / 1e5)).sum();
            println!("a = {shape}: {:.0} ns (mean {})", start.elapsed().as_nanos() as f64 / 1e5, sum / 1e5);
        }
    }
}
