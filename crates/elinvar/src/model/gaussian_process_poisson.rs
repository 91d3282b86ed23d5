//! Counts whose log rate is a Gaussian process.

use super::NoisePrior;
use crate::Error;
use crate::linalg::products::mirror_lower;
use crate::special::gamma::ln_gamma;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::memory::with_memory;
use crate::target::pointwise::second_order_target;
use crate::target::{PointwiseHessian, PointwiseTarget, TargetError, Transform, Transforms};

/// k_i ~ Poisson(e^{f_i}), f = L f̃ with LLᵀ = K, f̃ ~ N(0, I); z = (log ρ, log α, f̃).
///
/// K_ij = α² exp(−(x_i − x_j)²/(2ρ²)) + 10⁻¹⁰ [i = j], ρ ~ Gamma(shape, rate), α ~ half-normal. The factor is
/// differentiated twice in (log ρ, log α) by carrying its derivatives through the elimination.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianProcessPoisson {
    x: Vec<f64>,
    counts: Vec<f64>,
    log_factorials: f64,
    length_shape: f64,
    length_rate: f64,
    amplitude_prior: NoisePrior,
}

/// Added to the diagonal of K.
const JITTER: f64 = 1e-10;
/// log ρ and log α.
const N_KERNEL: usize = 2;
const OUT_OF_RANGE: &str = "the covariance of the process is not positive definite in double precision";

/// A number with its derivatives by log ρ (1) and log α (2): value, 1, 2, 11, 12, 22.
type Jet = [f64; JET];
const JET: usize = 6;
/// Where the second derivative by two of the parameters stands in a [`Jet`].
const SECOND: [[usize; N_KERNEL]; N_KERNEL] = [[3, 4], [4, 5]];

/// a − b c.
fn subtract_product(a: &mut Jet, b: &Jet, c: &Jet) {
    a[0] -= b[0] * c[0];
    a[1] -= b[0] * c[1] + b[1] * c[0];
    a[2] -= b[0] * c[2] + b[2] * c[0];
    a[3] -= b[0] * c[3] + 2.0 * b[1] * c[1] + b[3] * c[0];
    a[4] -= b[0] * c[4] + b[1] * c[2] + b[2] * c[1] + b[4] * c[0];
    a[5] -= b[0] * c[5] + 2.0 * b[2] * c[2] + b[5] * c[0];
}

/// g(a) for a function with value and first two derivatives `g` at a.
fn chain(a: &Jet, g: [f64; 3]) -> Jet {
    [
        g[0],
        g[1] * a[1],
        g[1] * a[2],
        g[1] * a[3] + g[2] * a[1] * a[1],
        g[1] * a[4] + g[2] * a[1] * a[2],
        g[1] * a[5] + g[2] * a[2] * a[2],
    ]
}

/// Replaces the lower triangle (row by row, row i of i + 1 jets) by its Cholesky factor.
fn factor(n: usize, rows: &mut [Jet]) -> Result<(), TargetError> {
    let start = |i: usize| i * (i + 1) / 2;
    for i in 0..n {
        let (above, own) = rows.split_at_mut(start(i));
        for j in 0..i {
            let row = &above[start(j)..start(j) + j + 1];
            let mut entry = own[j];
            (0..j).for_each(|m| subtract_product(&mut entry, &own[m], &row[m]));
            let pivot = row[j][0];
            // 1/L_jj, and then entry · (1/L_jj) as 0 − entry · (−1/L_jj).
            let inverse = chain(&row[j], [-1.0 / pivot, 1.0 / (pivot * pivot), -2.0 / (pivot * pivot * pivot)]);
            own[j] = [0.0; JET];
            subtract_product(&mut own[j], &entry, &inverse);
        }
        let mut square = own[i];
        (0..i).for_each(|m| subtract_product(&mut square, &own[m], &own[m]));
        if !(square[0] > 0.0 && square.iter().all(|v| v.is_finite())) {
            return Err(TargetError::recoverable(OUT_OF_RANGE));
        }
        let root = square[0].sqrt();
        own[i] = chain(&square, [root, 0.5 / root, -0.25 / (root * square[0])]);
    }
    Ok(())
}

impl GaussianProcessPoisson {
    /// The model for counts at inputs x, with ρ ~ Gamma(25, 4) and α ~ half-normal(2).
    ///
    /// # Errors
    /// If the lengths differ, there is no data, an input is not finite or a count is not a whole number.
    pub fn new(x: Vec<f64>, counts: Vec<f64>) -> Result<Self, Error> {
        if x.is_empty() || x.len() != counts.len() {
            return Err(Error::Shape { what: "counts (one per input)", expected: x.len().max(1), found: counts.len() });
        }
        if let Some(i) = x.iter().position(|v| !v.is_finite()) {
            let problem = format!("{} is not a finite number", x[i]);
            return Err(Error::Data { place: format!("input {}", i + 1), problem });
        }
        if let Some(i) = counts.iter().position(|k| !(*k >= 0.0 && k.is_finite() && k.fract() == 0.0)) {
            let problem = format!("{} is not a count", counts[i]);
            return Err(Error::Data { place: format!("count {}", i + 1), problem });
        }
        let log_factorials = counts.iter().map(|k| ln_gamma(k + 1.0)).sum();
        let amplitude_prior = NoisePrior::HalfNormal { scale: 2.0 };
        Ok(Self { x, counts, log_factorials, length_shape: 25.0, length_rate: 4.0, amplitude_prior })
    }

    /// The same model with another Gamma prior of the length scale ρ and another prior of the amplitude α.
    ///
    /// # Errors
    /// If a constant is not positive.
    pub fn with_priors(self, length_shape: f64, length_rate: f64, amplitude_prior: NoisePrior) -> Result<Self, Error> {
        for (parameter, value) in [("length shape", length_shape), ("length rate", length_rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Domain { parameter, value, reason: "it must be positive" });
            }
        }
        amplitude_prior.check()?;
        Ok(Self { length_shape, length_rate, amplitude_prior, ..self })
    }

    /// Writes f = L f̃, the log rates at z.
    ///
    /// # Errors
    /// A recoverable [`TargetError`] where K cannot be factorised.
    ///
    /// # Panics
    /// If `log_rates` has not one entry per input or z not two more.
    pub fn log_rates(&self, z: &[f64], log_rates: &mut [f64]) -> Result<(), TargetError> {
        assert_eq!((z.len(), log_rates.len()), (self.x.len() + N_KERNEL, self.x.len()), "lengths of z and f");
        self.with_process(z, |_, f| log_rates.iter_mut().zip(f).for_each(|(out, f)| *out = f[0]))
    }

    /// Calls `then` with the jets of the lower triangle of L and of f.
    fn with_process<R>(&self, z: &[f64], then: impl FnOnce(&[Jet], &[Jet]) -> R) -> Result<R, TargetError> {
        let n = self.x.len();
        let triangle = n * (n + 1) / 2;
        with_memory(JET * (triangle + n), |memory| {
            let (rows, f) = memory.as_chunks_mut::<JET>().0.split_at_mut(triangle);
            self.covariance(z, rows);
            factor(n, rows)?;
            let mut rest = &*rows;
            for (i, f) in f.iter_mut().enumerate() {
                let (row, below) = rest.split_at(i + 1);
                *f = [0.0; JET];
                for (entry, z) in row.iter().zip(&z[N_KERNEL..]) {
                    f.iter_mut().zip(entry).for_each(|(f, l)| *f += l * z);
                }
                rest = below;
            }
            Ok(then(rows, f))
        })
    }

    fn names_after(&self, kernel: [&str; N_KERNEL]) -> Vec<String> {
        let white = (1..=self.x.len()).map(|i| format!("f_tilde{i}"));
        kernel.into_iter().map(str::to_owned).chain(white).collect()
    }

    fn covariance(&self, z: &[f64], rows: &mut [Jet]) {
        let inv_square = (-2.0 * z[0]).exp();
        for (i, a) in self.x.iter().enumerate() {
            let row = &mut rows[i * (i + 1) / 2..][..=i];
            for (b, entry) in self.x.iter().zip(&mut *row) {
                // K = exp(2 log α − g/2) with g = (a − b)²/ρ², ∂g/∂log ρ = −2g.
                let g = (a - b) * (a - b) * inv_square;
                let k = (2.0 * z[1] - 0.5 * g).exp();
                *entry = [k, k * g, 2.0 * k, k * g * (g - 2.0), 2.0 * k * g, 4.0 * k];
            }
            row[i][0] += JITTER;
        }
    }
}

impl PointwiseTarget for GaussianProcessPoisson {
    fn dim(&self) -> usize {
        self.x.len() + N_KERNEL
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let [amplitude, amplitude_slope, _] = self.amplitude_prior.log_density(z[1]);
        let rho_rate = self.length_rate * z[0].exp();
        let mut log_p = amplitude + self.length_shape * (z[0] + self.length_rate.ln())
            - rho_rate
            - ln_gamma(self.length_shape)
            - self.log_factorials;
        grad[0] = self.length_shape - rho_rate;
        grad[1] = amplitude_slope;
        for (g, z) in grad[N_KERNEL..].iter_mut().zip(&z[N_KERNEL..]) {
            log_p -= 0.5 * z * z + HALF_LOG_TWO_PI;
            *g = -z;
        }
        self.with_process(z, |rows, f| {
            let (kernel, white) = grad.split_at_mut(N_KERNEL);
            let mut rest = rows;
            for (i, (f, k)) in f.iter().zip(&self.counts).enumerate() {
                let rate = f[0].exp();
                let score = k - rate;
                log_p += k * f[0] - rate;
                kernel[0] += score * f[1];
                kernel[1] += score * f[2];
                let (row, below) = rest.split_at(i + 1);
                white.iter_mut().zip(row).for_each(|(g, l)| *g += score * l[0]);
                rest = below;
            }
            log_p
        })
    }

    fn names(&self) -> Vec<String> {
        self.names_after(["log_rho", "log_alpha"])
    }

    fn transforms(&self) -> Transforms {
        let mut blocks = vec![Transform::Identity; PointwiseTarget::dim(self)];
        blocks[..N_KERNEL].fill(Transform::Log);
        Transforms::new(blocks).expect("identity and log need no constants")
    }

    fn constrained_names(&self) -> Vec<String> {
        self.names_after(["rho", "alpha"])
    }
}

impl PointwiseHessian for GaussianProcessPoisson {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = PointwiseTarget::dim(self);
        hessian.fill(0.0);
        hessian[0] = -self.length_rate * z[0].exp();
        hessian[d + 1] = self.amplitude_prior.log_density(z[1])[2];
        (N_KERNEL..d).for_each(|j| hessian[j * d + j] = -1.0);
        self.with_process(z, |rows, f| {
            let mut rest = rows;
            for (i, (f, k)) in f.iter().zip(&self.counts).enumerate() {
                let rate = f[0].exp();
                let score = k - rate;
                let (row, below) = rest.split_at(i + 1);
                // Column by column, the lower triangle: rows below the diagonal of each column.
                for a in 0..N_KERNEL {
                    let column = &mut hessian[a * d..(a + 1) * d];
                    for b in a..N_KERNEL {
                        column[b] += score * f[SECOND[a][b]] - rate * f[1 + a] * f[1 + b];
                    }
                    let entries = column[N_KERNEL..].iter_mut().zip(row);
                    entries.for_each(|(entry, l)| *entry += score * l[1 + a] - rate * f[1 + a] * l[0]);
                }
                for (j, l_j) in row.iter().enumerate() {
                    let column = &mut hessian[(j + N_KERNEL) * d + N_KERNEL..(j + N_KERNEL + 1) * d];
                    let factor = rate * l_j[0];
                    column[j..].iter_mut().zip(&row[j..]).for_each(|(entry, l)| *entry -= factor * l[0]);
                }
                rest = below;
            }
        })?;
        mirror_lower(d, hessian);
        Ok(())
    }
}

second_order_target!([] GaussianProcessPoisson, this => this);

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> GaussianProcessPoisson {
        GaussianProcessPoisson::new(vec![-1.5, -0.2, 0.4, 1.9], vec![3.0, 0.0, 5.0, 2.0]).unwrap()
    }

    /// Another route: log N(f | 0, K) + log det L is the density of f̃.
    #[test]
    fn the_density_of_the_process_itself() {
        let (model, z) = (model(), [0.3f64, -0.2, 0.5, -1.0, 0.8, 0.1]);
        let (rho, alpha) = (z[0].exp(), z[1].exp());
        let mut f = [0.0; 4];
        model.log_rates(&z, &mut f).unwrap();
        // Elimination of [K | f]: its pivots give det K and fᵀK⁻¹f.
        let mut k: Vec<Vec<f64>> = (0..4)
            .map(|i| {
                let entry = |j: usize| alpha * alpha * (-0.5 * ((model.x[i] - model.x[j]) / rho).powi(2)).exp();
                (0..4).map(|j| entry(j) + if i == j { 1e-10 } else { 0.0 }).chain([f[i]]).collect()
            })
            .collect();
        let (mut log_det, mut square) = (0.0, 0.0);
        for i in 0..4 {
            log_det += k[i][i].ln();
            square += k[i][4] * k[i][4] / k[i][i];
            let pivot_row = k[i].clone();
            for row in &mut k[i + 1..] {
                let ratio = row[i] / pivot_row[i];
                row.iter_mut().zip(&pivot_row).for_each(|(entry, pivot)| *entry -= ratio * pivot);
            }
        }
        let tau = std::f64::consts::TAU;
        let mut expected = -0.5 * (4.0 * tau.ln() + square);
        let factorial_24: f64 = (1..=24).map(|i| f64::from(i).ln()).sum();
        expected += 25.0 * 4f64.ln() - factorial_24 + 24.0 * rho.ln() - 4.0 * rho + z[0];
        expected += 2f64.ln() - 0.5 * (alpha / 2.0).powi(2) - (2.0 * tau.sqrt()).ln() + z[1];
        for (f, (k, log_factorial)) in
            f.iter().zip([(3.0, 6f64.ln()), (0.0, 0.0), (5.0, 120f64.ln()), (2.0, 2f64.ln())])
        {
            expected += k * f - f.exp() - log_factorial;
        }
        let found = model.gradient(&z, &mut [0.0; 6]).unwrap();
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found} {expected}");
        let pivots: f64 = model.with_process(&z, |rows, _| [0, 2, 5, 9].map(|i| rows[i][0].ln()).iter().sum()).unwrap();
        assert!((2.0 * pivots - log_det).abs() < 1e-9, "{pivots} {log_det}");
    }

    #[test]
    fn what_cannot_be_factorised_is_refused_for_this_point_only() {
        let n = 30;
        let model = GaussianProcessPoisson::new((0..n).map(f64::from).collect(), vec![1.0; n as usize]).unwrap();
        let mut z = vec![0.0; n as usize + 2];
        (z[0], z[1]) = (5.0, 12.0);
        assert!(model.gradient(&z, &mut vec![0.0; n as usize + 2]).unwrap_err().recoverable);
        assert!(GaussianProcessPoisson::new(vec![1.0], vec![0.5]).is_err());
    }
}
