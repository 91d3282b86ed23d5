//! The part of a log density that is declared instead of evaluated, with every closed form that a fit needs of it.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::Error;
use crate::linalg::{axpy, dot};

/// A prior whose expectation under every family is known in closed form (mathematics §0.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Prior {
    /// Nothing is declared; `evaluate` returns the whole log density.
    None,
    /// N(0, I/precision) on the first `leading` coordinates.
    Gaussian {
        /// δ > 0.
        precision: f64,
        /// How many coordinates the prior covers, counted from the first.
        leading: usize,
    },
    /// N(mean_i, 1/precision_i), independently for each of the first coordinates; those beyond the lists are flat.
    Normal {
        /// m_i.
        mean: Vec<f64>,
        /// δ_i ≥ 0, as many as there are means; 0 is flat.
        precision: Vec<f64>,
    },
    /// w ~ InverseGamma(a, a), z_i | w ~ N(mean_i, w/precision_i) for the first coordinates, the others flat: the t
    /// prior that shares w with a Student-t approximation (mathematics §2.2).
    StudentT {
        /// m_i.
        mean: Vec<f64>,
        /// δ_i ≥ 0, as many as there are means; 0 is flat.
        precision: Vec<f64>,
        /// a₀ > 0, half the degrees of freedom.
        a: f64,
    },
}

/// A [`Prior::StudentT`], seen as what it is given w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SharedT<'p> {
    mean: &'p [f64],
    precision: &'p [f64],
    pub(crate) a: f64,
}

impl SharedT<'_> {
    /// Number of coordinates that are not flat.
    pub(crate) fn covered(self) -> f64 {
        self.precision.iter().filter(|p| **p > 0.0).count() as f64
    }

    /// Σ δ_i(z_i − m_i)².
    pub(crate) fn square(self, z: &[f64]) -> f64 {
        z.iter().zip(self.mean).zip(self.precision).map(|((z, m), p)| p * (z - m) * (z - m)).sum()
    }

    /// Σ log δ_i.
    pub(crate) fn log_det(self) -> f64 {
        self.precision.iter().filter(|p| **p > 0.0).map(|p| p.ln()).sum()
    }

    /// Where a would settle without the target: a₀ less half the number of flat coordinates of `dim`, whose entropy has
    /// E[log w] with nothing against it (mathematics §2.2).
    pub(crate) fn centre(self, dim: usize) -> f64 {
        self.a - 0.5 * (dim as f64 - self.covered())
    }
}

/// What a prior adds to each entry of the diagonal of P at the optimum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriorPrecision<'p> {
    prior: &'p Prior,
    factor: f64,
}

impl PriorPrecision<'_> {
    pub(crate) fn at(self, i: usize) -> f64 {
        self.prior.precision(i) * self.factor
    }

    /// The whole diagonal, if the prior leaves none of the `dim` coordinates flat.
    pub(crate) fn of_all(self, dim: usize) -> Option<Vec<f64>> {
        (0..dim).map(|i| Some(self.at(i)).filter(|p| *p > 0.0)).collect()
    }
}

impl Prior {
    /// N(mean_i, sd_i²), independently for each of the first coordinates.
    pub fn normal(mean: Vec<f64>, sd: &[f64]) -> Self {
        Prior::Normal { mean, precision: sd.iter().map(|sd| (sd * sd).recip()).collect() }
    }

    /// The t prior with w ~ InverseGamma(a, a) and z_i | w ~ N(0, w/precision) for each of the first `leading`
    /// coordinates.
    pub fn student_t(precision: f64, a: f64, leading: usize) -> Self {
        Prior::StudentT { mean: vec![0.0; leading], precision: vec![precision; leading], a }
    }

    /// Whether nothing is declared.
    pub fn is_none(&self) -> bool {
        *self == Prior::None
    }

    /// m_i, 0 where the prior has no mean.
    pub fn mean(&self, i: usize) -> f64 {
        match self {
            Prior::Normal { mean, .. } | Prior::StudentT { mean, .. } => mean.get(i).copied().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// δ_i, 0 where the prior is flat; that of z | w = 1 for [`Prior::StudentT`].
    pub fn precision(&self, i: usize) -> f64 {
        match *self {
            Prior::None => 0.0,
            Prior::Gaussian { precision, leading } => {
                if i < leading {
                    precision
                } else {
                    0.0
                }
            }
            Prior::Normal { ref precision, .. } | Prior::StudentT { ref precision, .. } => {
                precision.get(i).copied().unwrap_or(0.0)
            }
        }
    }

    /// log p(z), where the prior lives on z alone. What is flat counts nothing.
    ///
    /// For [`Prior::StudentT`] this is the marginal, the multivariate t with 2a degrees of freedom.
    pub fn log_density(&self, z: &[f64]) -> f64 {
        match self {
            Prior::None => 0.0,
            Prior::Gaussian { precision, leading } => {
                let square: f64 = z[..*leading].iter().map(|v| v * v).sum();
                0.5 * *leading as f64 * (precision / TAU).ln() - 0.5 * precision * square
            }
            Prior::Normal { mean, precision } => {
                let term = |((z, m), p): ((&f64, &f64), &f64)| 0.5 * ((p / TAU).ln() - p * (z - m) * (z - m));
                z.iter().zip(mean).zip(precision).filter(|(_, p)| **p > 0.0).map(term).sum()
            }
            Prior::StudentT { mean, precision, a } => {
                let shared = SharedT { mean, precision, a: *a };
                let half = 0.5 * shared.covered();
                libm::lgamma(a + half) - libm::lgamma(*a) + 0.5 * shared.log_det()
                    - half * (TAU * a).ln()
                    - (a + half) * (0.5 * shared.square(z) / a).ln_1p()
            }
        }
    }

    /// out += ∇log p(z), of the marginal for [`Prior::StudentT`].
    pub fn add_score(&self, z: &[f64], out: &mut [f64]) {
        let along = match self.shared() {
            Some(t) => (t.a + 0.5 * t.covered()) / (t.a + 0.5 * t.square(z)),
            None => 1.0,
        };
        self.add_pull(along, z, out);
        self.add_pull_of_means(along, out);
    }

    /// ∂_i log p at z_i, where the prior is independent over the coordinates.
    pub(crate) fn slope(&self, i: usize, z: f64) -> f64 {
        match self {
            Prior::Gaussian { precision, leading } if i < *leading => -precision * z,
            Prior::Normal { .. } => -self.precision(i) * (z - self.mean(i)),
            _ => 0.0,
        }
    }

    /// (z − from)ᵀ∇log p(z), where the prior lives on z alone.
    pub(crate) fn slope_along(&self, z: &[f64], from: &[f64]) -> f64 {
        match self {
            Prior::Gaussian { precision, leading } => {
                let z = &z[..*leading];
                -precision * (dot(z, z) - dot(z, &from[..*leading]))
            }
            Prior::Normal { .. } => z.iter().zip(from).enumerate().map(|(i, (z, f))| (z - f) * self.slope(i, *z)).sum(),
            _ => 0.0,
        }
    }

    /// Adds −cδ_i x_i to out_i.
    fn add_pull(&self, c: f64, x: &[f64], out: &mut [f64]) {
        match self {
            Prior::None => {}
            Prior::Gaussian { precision, leading } => axpy(-precision * c, &x[..*leading], &mut out[..*leading]),
            Prior::Normal { precision, .. } | Prior::StudentT { precision, .. } => {
                out.iter_mut().zip(x).zip(precision).for_each(|((out, x), p)| *out -= c * p * x);
            }
        }
    }

    /// Adds cδ_i m_i to out_i.
    fn add_pull_of_means(&self, c: f64, out: &mut [f64]) {
        if let Prior::Normal { mean, precision } | Prior::StudentT { mean, precision, .. } = self {
            out.iter_mut().zip(mean).zip(precision).for_each(|((out, m), p)| *out += c * p * m);
        }
    }

    /// Adds cδ_i to the diagonal of a matrix: −c∇²log p, of z | w = 1 for [`Prior::StudentT`].
    pub(crate) fn add_precision(&self, c: f64, shape: Shape, entries: &mut [f64]) {
        let diagonal = entries.iter_mut().step_by(shape.stride());
        match self {
            Prior::None => {}
            Prior::Gaussian { precision, leading } => {
                diagonal.take(*leading).for_each(|entry| *entry += precision * c);
            }
            Prior::Normal { precision, .. } | Prior::StudentT { precision, .. } => {
                diagonal.zip(precision).for_each(|(entry, p)| *entry += p * c);
            }
        }
    }

    /// E[∇log p ũᵀ] = −D(BΥ − mυᵀ) and E[−s∇²log p] = s̄D for z = Bũ + √s ε, with D = diag δ, Υ = E\[ũũᵀ\] (`upsilon`,
    /// whose first column is υ) and s̄ = E\[s\], added to the gradients of B and of P (mathematics §0.5). A t prior
    /// that shares w has 1 in place of s̄ (mathematics §2.2).
    pub(crate) fn add_to_block(
        &self,
        b: &[f64],
        upsilon: impl Fn(usize, usize) -> f64,
        s: f64,
        shape: Shape,
        (out_b, out_g): (&mut [f64], &mut [f64]),
    ) {
        let dim = shape.dim();
        for (j, out) in out_b.chunks_exact_mut(dim).enumerate() {
            for (k, column) in b.chunks_exact(dim).enumerate().filter(|(k, _)| upsilon(j, *k) != 0.0) {
                self.add_pull(upsilon(j, k), column, out);
            }
            self.add_pull_of_means(upsilon(j, 0), out);
        }
        self.add_precision(self.factor(s), shape, out_g);
    }

    /// What δ is multiplied by in P at the optimum where E\[s\] = s̄: s̄, or 1 for a prior that shares w.
    fn factor(&self, s: f64) -> f64 {
        if self.shared().is_some() { 1.0 } else { s }
    }

    /// What this prior adds to P at the optimum where E\[s\] = s̄.
    pub(crate) fn in_optimum(&self, s: f64) -> PriorPrecision<'_> {
        PriorPrecision { prior: self, factor: self.factor(s) }
    }

    /// E[log p(z)] from the mean and the variance of each coordinate; NaN for [`Prior::StudentT`], which lives on (z,
    /// w).
    pub(crate) fn expected_log(&self, means: &[f64], variances: &[f64]) -> f64 {
        if self.shared().is_some() {
            return f64::NAN;
        }
        let term = |(i, (mean, variance)): (usize, (&f64, &f64))| {
            let (p, off) = (self.precision(i), mean - self.mean(i));
            if p > 0.0 { 0.5 * ((p / TAU).ln() - p * (off * off + variance)) } else { 0.0 }
        };
        means.iter().zip(variances).enumerate().map(term).sum()
    }

    /// A prior that shares w with the approximation.
    pub(crate) fn shared(&self) -> Option<SharedT<'_>> {
        match self {
            Prior::StudentT { mean, precision, a } => Some(SharedT { mean, precision, a: *a }),
            _ => None,
        }
    }

    /// The prior that a Gaussian can take the place of: a t prior becomes the normal with its covariance.
    pub(crate) fn without_mixing(&self) -> Prior {
        match self {
            Prior::StudentT { mean, precision, a } => {
                let factor = if *a > 1.0 { (a - 1.0) / a } else { 1.0 };
                Prior::Normal { mean: mean.clone(), precision: precision.iter().map(|p| p * factor).collect() }
            }
            prior => prior.clone(),
        }
    }

    /// Whether this is a prior of `dim` coordinates.
    ///
    /// # Errors
    /// [`Error::Domain`] for a constant outside its domain, [`Error::Shape`] for a prior of more coordinates than there
    /// are.
    pub fn check(&self, dim: usize) -> Result<(), Error> {
        let positive = |parameter, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::Domain { parameter, value, reason: "it is a positive number" }),
        };
        let covered = match self {
            Prior::None => 0,
            Prior::Gaussian { precision, leading } => {
                positive("prior precision", *precision)?;
                *leading
            }
            Prior::Normal { mean, precision } | Prior::StudentT { mean, precision, .. } => {
                if let Prior::StudentT { a, .. } = self {
                    positive("a of the t prior", *a)?;
                }
                if precision.len() != mean.len() {
                    let what = "prior precisions (one per mean)";
                    return Err(Error::Shape { what, expected: mean.len(), found: precision.len() });
                }
                if let Some(value) = mean.iter().copied().find(|m| !m.is_finite()) {
                    return Err(Error::Domain { parameter: "prior mean", value, reason: "it is a finite number" });
                }
                if let Some(value) = precision.iter().copied().find(|p| !(*p >= 0.0 && p.is_finite())) {
                    let reason = "it is a positive number, or 0 for a flat prior";
                    return Err(Error::Domain { parameter: "prior precision", value, reason });
                }
                mean.len()
            }
        };
        if covered > dim {
            return Err(Error::Shape { what: "coordinates under the prior", expected: dim, found: covered });
        }
        Ok(())
    }
}
