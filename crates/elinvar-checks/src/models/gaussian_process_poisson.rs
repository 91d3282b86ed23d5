//! Counts whose log rate is a Gaussian process.

use serde::{Deserialize, Serialize};

use super::kernel_jet::{
    FULL, Jet, N_KERNEL, SECOND, VALUE, add_product, add_scaled, factor, invert, logarithm, row, row_start,
};
use elinvar::Error;
use elinvar::internals::special::gamma::ln_gamma;
use elinvar::internals::special::normal::HALF_LOG_TWO_PI;
use elinvar::model::NoisePrior;
use elinvar::target::{PointwiseHessian, PointwiseTarget, PointwiseValue, TargetError, Transform, Transforms};

/// Which coordinates of the process are standardised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Whitening {
    /// u = f̃: standard normal before the data are seen, far from it after many counts.
    Prior,
    /// f̃ = B⁻¹LᵀWy + M⁻ᵀu with MMᵀ = B = I + LᵀWL: about standard normal given ρ, α and the data, where the log rates
    /// are taken as measured by y_i = log(k_i + ½) with precision W_ii = k_i + ½.
    Posterior,
}

/// k_i ~ Poisson(e^{f_i}), f = L f̃ with LLᵀ = K, f̃ ~ N(0, I); z = (log ρ, log α, u) with u = f̃ or another
/// [`Whitening`].
///
/// K_ij = α² exp(−(x_i − x_j)²/(2ρ²)) + 10⁻¹⁰ [i = j], ρ ~ Gamma(shape, rate), α ~ half-normal. The density is exact in
/// both coordinates. Factors and inverses are differentiated twice in (log ρ, log α) by carrying derivatives through
/// the elimination.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GaussianProcessPoisson {
    x: Vec<f64>,
    counts: Vec<f64>,
    log_factorials: f64,
    length_shape: f64,
    length_rate: f64,
    amplitude_prior: NoisePrior,
    whitening: Whitening,
}

/// Added to the diagonal of K.
const JITTER: f64 = 1e-10;

/// f and f̃ as affine functions of u with coefficients that depend on the kernel.
struct Process<'a, const J: usize> {
    /// ∂f_i/∂u_j, row by row.
    rates: &'a [Jet<J>],
    /// ∂f̃_i/∂u_j, row by row.
    white: &'a [Jet<J>],
    /// f, then f̃.
    values: &'a [Jet<J>],
    /// log |∂f̃/∂u|.
    log_volume: Jet<J>,
}

impl Process<'_, FULL> {
    /// For each f_i and f̃_i: its jet, its coefficients, and the first two derivatives of its term of log p.
    fn terms<'a>(&'a self, counts: &'a [f64]) -> impl Iterator<Item = (&'a Jet<FULL>, &'a [Jet<FULL>], [f64; 2])> {
        let n = counts.len();
        let rates = self.rates.chunks_exact(n).zip(counts).zip(&self.values[..n]).map(|((row, k), f)| {
            let rate = f[0].exp();
            (f, row, [k - rate, -rate])
        });
        let white = self.white.chunks_exact(n).zip(&self.values[n..]).map(|(row, t)| (t, row, [-t[0], -1.0]));
        rates.chain(white)
    }
}

impl GaussianProcessPoisson {
    /// The model for counts at inputs x, with ρ ~ Gamma(25, 4) and α ~ half-normal(2).
    ///
    /// # Errors
    /// If the lengths differ, there is no data, an input is not finite or a count is not a whole number.
    pub(crate) fn new(x: Vec<f64>, counts: Vec<f64>) -> Result<Self, Error> {
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
        let (length_shape, length_rate, whitening) = (25.0, 4.0, Whitening::Prior);
        Ok(Self { x, counts, log_factorials, length_shape, length_rate, amplitude_prior, whitening })
    }

    /// The same model in other coordinates.
    pub(crate) fn with_whitening(self, whitening: Whitening) -> Self {
        Self { whitening, ..self }
    }

    /// Writes f, the log rates at z.
    ///
    /// # Errors
    /// A recoverable [`TargetError`] where K cannot be factorised.
    ///
    /// # Panics
    /// If `log_rates` has not one entry per input or z not two more.
    pub(crate) fn log_rates(&self, z: &[f64], log_rates: &mut [f64]) -> Result<(), TargetError> {
        assert_eq!((z.len(), log_rates.len()), (self.x.len() + N_KERNEL, self.x.len()), "lengths of z and f");
        self.with_process(z, |process: Process<'_, VALUE>| {
            log_rates.iter_mut().zip(process.values).for_each(|(out, f)| *out = f[0])
        })
    }

    fn with_process<const J: usize, R>(
        &self,
        z: &[f64],
        then: impl FnOnce(Process<'_, J>) -> R,
    ) -> Result<R, TargetError> {
        let n = self.x.len();
        let mut memory = vec![[0.0; J]; 2 * row_start(n) + 2 * n * n + 2 * n];
        let (l, rest) = memory.split_at_mut(row_start(n));
        let (m, rest) = rest.split_at_mut(row_start(n));
        let (rates, rest) = rest.split_at_mut(n * n);
        let (white, values) = rest.split_at_mut(n * n);
        let (f, t) = values.split_at_mut(n);
        self.covariance(z, l);
        factor(n, l)?;
        let mut log_volume = [0.0; J];
        t.iter_mut().zip(&z[N_KERNEL..]).for_each(|(t, u)| t[0] = *u);
        match self.whitening {
            Whitening::Prior => white.iter_mut().step_by(n + 1).for_each(|entry| entry[0] = 1.0),
            Whitening::Posterior => {
                self.posterior_precision(l, m);
                factor(n, m)?;
                (0..n).for_each(|i| add_scaled(&mut log_volume, -1.0, &logarithm(&row(m, i)[i])));
                invert(n, m);
                self.standardise(l, m, white, f, t);
            }
        }
        for i in 0..n {
            f[i] = [0.0; J];
            for (j, l) in row(l, i).iter().enumerate() {
                add_product(&mut f[i], l, &t[j]);
                let sums = rates[i * n..(i + 1) * n].iter_mut().zip(&white[j * n..(j + 1) * n]);
                sums.for_each(|(sum, white)| add_product(sum, l, white));
            }
        }
        Ok(then(Process { rates, white, values, log_volume }))
    }

    /// Writes the lower triangle of B = I + LᵀWL.
    fn posterior_precision<const J: usize>(&self, l: &[Jet<J>], out: &mut [Jet<J>]) {
        for i in 0..self.x.len() {
            let out = &mut out[row_start(i)..][..=i];
            out[i][0] = 1.0;
            for (q, k) in self.counts.iter().enumerate().skip(i) {
                let l = row(l, q);
                let mut weighted = [0.0; J];
                add_scaled(&mut weighted, k + 0.5, &l[i]);
                out.iter_mut().zip(l).for_each(|(out, l)| add_product(out, &weighted, l));
            }
        }
    }

    /// From X = M⁻¹ and u in `t`: writes Xᵀ into `white` and f̃ = Xᵀ(XLᵀWy + u) into `t`; `free` is memory.
    fn standardise<const J: usize>(
        &self,
        l: &[Jet<J>],
        x: &[Jet<J>],
        white: &mut [Jet<J>],
        free: &mut [Jet<J>],
        t: &mut [Jet<J>],
    ) {
        let n = self.x.len();
        free.fill([0.0; J]);
        for (q, k) in self.counts.iter().enumerate() {
            let measured = (k + 0.5) * (k + 0.5).ln();
            free.iter_mut().zip(row(l, q)).for_each(|(sum, l)| add_scaled(sum, measured, l));
        }
        for i in 0..n {
            for (j, x) in row(x, i).iter().enumerate() {
                add_product(&mut t[i], x, &free[j]);
                white[j * n + i] = *x;
            }
        }
        free.copy_from_slice(t);
        for (t, white) in t.iter_mut().zip(white.chunks_exact(n)) {
            *t = [0.0; J];
            white.iter().zip(&*free).for_each(|(white, v)| add_product(t, white, v));
        }
    }

    fn log_density_of<const J: usize>(&self, z: &[f64], process: &Process<'_, J>) -> f64 {
        let n = self.x.len();
        let length = self.length_shape * (z[0] + self.length_rate.ln()) - self.length_rate * z[0].exp();
        let mut log_p = self.amplitude_prior.log_density(z[1])[0] + length - ln_gamma(self.length_shape);
        log_p += process.log_volume[0] - n as f64 * HALF_LOG_TWO_PI - self.log_factorials;
        log_p += process.values[..n].iter().zip(&self.counts).map(|(f, k)| k * f[0] - f[0].exp()).sum::<f64>();
        log_p - 0.5 * process.values[n..].iter().map(|t| t[0] * t[0]).sum::<f64>()
    }

    fn names_after(&self, kernel: [&str; N_KERNEL]) -> Vec<String> {
        let letter = match self.whitening {
            Whitening::Prior => "f_tilde",
            Whitening::Posterior => "u",
        };
        let white = (1..=self.x.len()).map(|i| format!("{letter}{i}"));
        kernel.into_iter().map(str::to_owned).chain(white).collect()
    }

    fn covariance<const J: usize>(&self, z: &[f64], rows: &mut [Jet<J>]) {
        let inv_square = (-2.0 * z[0]).exp();
        for (i, a) in self.x.iter().enumerate() {
            let row = &mut rows[row_start(i)..][..=i];
            for (b, entry) in self.x.iter().zip(&mut *row) {
                // K = exp(2 log α − g/2) with g = (a − b)²/ρ², ∂g/∂log ρ = −2g.
                let g = (a - b) * (a - b) * inv_square;
                let k = (2.0 * z[1] - 0.5 * g).exp();
                let jet = [k, k * g, 2.0 * k, k * g * (g - 2.0), 2.0 * k * g, 4.0 * k];
                entry.copy_from_slice(&jet[..J]);
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
        grad[0] = self.length_shape - self.length_rate * z[0].exp();
        grad[1] = self.amplitude_prior.log_density(z[1])[1];
        grad[N_KERNEL..].fill(0.0);
        self.with_process(z, |process: Process<'_, FULL>| {
            let (kernel, u) = grad.split_at_mut(N_KERNEL);
            (0..N_KERNEL).for_each(|a| kernel[a] += process.log_volume[1 + a]);
            for (value, row, [slope, _]) in process.terms(&self.counts) {
                (0..N_KERNEL).for_each(|a| kernel[a] += slope * value[1 + a]);
                u.iter_mut().zip(row).for_each(|(g, entry)| *g += slope * entry[0]);
            }
            self.log_density_of(z, &process)
        })
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
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

impl PointwiseValue for GaussianProcessPoisson {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        self.with_process(z, |process: Process<'_, VALUE>| self.log_density_of(z, &process))
    }
}

impl PointwiseHessian for GaussianProcessPoisson {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = PointwiseTarget::dim(self);
        hessian.fill(0.0);
        hessian[0] = -self.length_rate * z[0].exp();
        hessian[d + 1] = self.amplitude_prior.log_density(z[1])[2];
        // Column by column, the lower triangle.
        self.with_process(z, |process: Process<'_, FULL>| {
            for a in 0..N_KERNEL {
                (a..N_KERNEL).for_each(|b| hessian[a * d + b] += process.log_volume[SECOND[a][b]]);
            }
            for (value, row, [slope, curvature]) in process.terms(&self.counts) {
                for a in 0..N_KERNEL {
                    let column = &mut hessian[a * d..(a + 1) * d];
                    let factor = curvature * value[1 + a];
                    (a..N_KERNEL).for_each(|b| column[b] += slope * value[SECOND[a][b]] + factor * value[1 + b]);
                    let entries = column[N_KERNEL..].iter_mut().zip(row);
                    entries.for_each(|(out, entry)| *out += slope * entry[1 + a] + factor * entry[0]);
                }
                for (j, entry) in row.iter().enumerate() {
                    let column = &mut hessian[(j + N_KERNEL) * d + N_KERNEL..(j + N_KERNEL + 1) * d];
                    let factor = curvature * entry[0];
                    column[j..].iter_mut().zip(&row[j..]).for_each(|(out, entry)| *out += factor * entry[0]);
                }
            }
        })?;
        (0..d).for_each(|j| (j + 1..d).for_each(|i| hessian[i * d + j] = hessian[j * d + i]));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
