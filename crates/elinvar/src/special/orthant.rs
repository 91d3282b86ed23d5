//! Normal laws restricted to the positive orthant of R^k, k ≤ 3: mass, mean and covariance (mathematics §8.10).

use super::legendre::integrate;
use super::normal::{HALF_LOG_TWO_PI, TruncatedNormal, log_ndtr};

/// Most variables of a law on an orthant.
pub(crate) const MOST_VARIABLES: usize = 3;
/// A part of the integral that is lower than the maximum by this many nats is left out: e⁻³⁷ = 9e−17.
const FALL: f64 = 37.0;
/// Width of a panel of sixteen nodes in units of 1/√K_jj, the shortest length of the integrand.
const PANEL: f64 = 5.7;
/// Most panels: reached where two variables have a correlation of 0.99.
const MOST_PANELS: usize = 16;
/// A diagonal of K that is smaller counts as this: the law is then exponential to the last digit.
const SMALLEST_PRECISION: f64 = 1e-30;

/// The law with density ∝ exp(−½wᵀKw + cᵀw) on w > 0; entries from k on are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrthantNormal {
    /// log ∫ exp(−½wᵀKw + cᵀw) dw over the orthant.
    pub log_mass: f64,
    /// E\[w\].
    pub mean: [f64; MOST_VARIABLES],
    /// Cov\[w\].
    pub covariance: [[f64; MOST_VARIABLES]; MOST_VARIABLES],
}

impl OrthantNormal {
    /// The law with precision K, of which the leading k × k block is read, and slope c = K m at the origin.
    ///
    /// One variable has a closed form. For more, the last one is integrated over numerically, given which the others
    /// have a law of this kind with one variable less: every term of every sum is positive, so that the tails are as
    /// accurate as the bulk. K may be singular where c has a negative part along its null space, as in a mean mixture
    /// over exponentials.
    pub fn new(k: usize, precision: &[[f64; MOST_VARIABLES]; MOST_VARIABLES], c: [f64; MOST_VARIABLES]) -> Self {
        match k {
            0 => Self::default(),
            1 => Self::of_one(precision[0][0].max(SMALLEST_PRECISION), c[0]),
            _ => Slice { last: k - 1, precision, c }.integrated(),
        }
    }

    fn of_one(precision: f64, c: f64) -> Self {
        let sigma = 1.0 / precision.sqrt();
        let t = c * sigma;
        let truncated = TruncatedNormal::new(t);
        // log{√2π Φ(t) e^{t²/2}}: in the lower tail −½t² is the leading part of log Φ.
        let tail = if t > -1.0 { HALF_LOG_TWO_PI + log_ndtr(t) + 0.5 * t * t } else { -truncated.inverse_mills.ln() };
        let mut law = Self { log_mass: tail + sigma.ln(), ..Self::default() };
        law.mean[0] = sigma * truncated.mean;
        law.covariance[0][0] = sigma * sigma * truncated.variance;
        law
    }
}

/// The law as a function of its last variable.
struct Slice<'a> {
    last: usize,
    precision: &'a [[f64; MOST_VARIABLES]; MOST_VARIABLES],
    c: [f64; MOST_VARIABLES],
}

/// What there is at one value of the last variable.
struct Cut {
    /// Log density there, not normalised.
    log: f64,
    slope: f64,
    /// −d² log density, at least the Schur complement.
    curvature: f64,
    others: OrthantNormal,
}

impl Slice<'_> {
    fn at(&self, w: f64) -> Cut {
        let j = self.last;
        let (column, own) = (&self.precision[j], self.precision[j][j]);
        let mut c = self.c;
        for i in 0..j {
            c[i] -= column[i] * w;
        }
        let others = OrthantNormal::new(j, self.precision, c);
        let (mut slope, mut curvature) = (self.c[j] - own * w, own);
        for i in 0..j {
            slope -= column[i] * others.mean[i];
            for h in 0..j {
                curvature -= column[i] * column[h] * others.covariance[i][h];
            }
        }
        Cut { log: (self.c[j] - 0.5 * own * w) * w + others.log_mass, slope, curvature, others }
    }

    /// K_jj less what the other variables explain: no curvature is smaller.
    fn schur(&self) -> f64 {
        let (p, j) = (self.precision, self.last);
        let explained = if j == 1 {
            p[1][0] * p[1][0] / p[0][0].max(SMALLEST_PRECISION)
        } else {
            let det = (p[0][0] * p[1][1] - p[1][0] * p[1][0]).max(SMALLEST_PRECISION);
            let (a, b) = (p[2][0], p[2][1]);
            (a * a * p[1][1] - 2.0 * a * b * p[1][0] + b * b * p[0][0]) / det
        };
        (p[j][j] - explained).max(1e-14 * p[j][j]).max(SMALLEST_PRECISION)
    }

    /// The maximum of the log density on w ≥ 0, to about a tenth of its width.
    fn mode(&self, schur: f64) -> (f64, Cut) {
        let mut cut = self.at(0.0);
        let mut w = 0.0;
        if cut.slope <= 0.0 {
            return (w, cut);
        }
        // The slope falls at least at the rate of the Schur complement.
        let (mut low, mut high) = (0.0, cut.slope / schur);
        for _ in 0..60 {
            let newton = w + cut.slope / cut.curvature.max(schur);
            w = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            cut = self.at(w);
            if cut.slope * cut.slope < 0.01 * cut.curvature {
                break;
            }
            if cut.slope > 0.0 { low = w } else { high = w }
        }
        (w, cut)
    }

    /// Where the density is within e^{−FALL} of its maximum: a bound from the least curvature, halved while it is far
    /// too wide.
    fn window(&self, schur: f64, mode: f64, top: &Cut) -> (f64, f64) {
        let own = self.precision[self.last][self.last];
        let reach = |slope: f64| 2.0 * FALL / (slope + (slope * slope + 2.0 * FALL * schur).sqrt());
        let (down, up) = (reach(0.0).min(mode), reach((-top.slope).max(0.0)));
        if schur > 0.3 * own {
            return (mode - down, mode + up);
        }
        let shrink = |length: f64, sign: f64| {
            let (mut near, mut far) = (0.0, length);
            for _ in 0..12 {
                let middle = 0.5 * (near + far);
                if far - near < 0.15 * far {
                    break;
                }
                if top.log - self.at(mode + sign * middle).log > FALL { far = middle } else { near = middle }
            }
            far
        };
        (mode - if down > 0.0 { shrink(down, -1.0) } else { 0.0 }, mode + shrink(up, 1.0))
    }

    fn integrated(&self) -> OrthantNormal {
        let j = self.last;
        let schur = self.schur();
        let (mode, top) = self.mode(schur);
        let (low, high) = self.window(schur, mode, &top);
        let panels = (high - low) * self.precision[j][j].sqrt() / PANEL;
        let panels = (panels.ceil() as usize).clamp(2, MOST_PANELS);
        // Deviations from the values at the maximum, of which second moments are made without cancellation: 1; then
        // those of the variables; then products and covariances of the others, by rows of the lower triangle.
        let sums: [f64; 10] = integrate(low, high, panels, |w| {
            let cut = self.at(w);
            let density = (cut.log - top.log).exp();
            let mut off = [0.0; MOST_VARIABLES];
            let apart = cut.others.mean.iter().zip(&top.others.mean).map(|(now, then)| now - then);
            off.iter_mut().zip(apart).take(j).for_each(|(off, apart)| *off = apart);
            off[j] = w - mode;
            let mut terms = [0.0; 10];
            terms[0] = density;
            let mut place = 4;
            for i in 0..=j {
                terms[1 + i] = density * off[i];
                for h in 0..=i {
                    terms[place] = density * (off[i] * off[h] + cut.others.covariance[i][h]);
                    place += 1;
                }
            }
            terms
        });
        let mut law = OrthantNormal { log_mass: top.log + sums[0].ln(), mean: top.others.mean, ..Default::default() };
        law.mean[j] = mode;
        let mut place = 4;
        for i in 0..=j {
            law.mean[i] += sums[1 + i] / sums[0];
            for h in 0..=i {
                let product = (sums[1 + i] / sums[0]) * (sums[1 + h] / sums[0]);
                law.covariance[i][h] = sums[place] / sums[0] - product;
                law.covariance[h][i] = law.covariance[i][h];
                place += 1;
            }
        }
        law
    }
}
