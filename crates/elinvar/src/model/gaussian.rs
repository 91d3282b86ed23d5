//! A multivariate Gaussian target.

use crate::Error;
use crate::linalg::{cholesky, dot, products};
use crate::target::{About, Answer, Ask, Concavity, Derivatives, Draws, Offers, Parts, Room, Target, TargetError};

/// N(m, P⁻¹), times a constant: log p(z) = log Z + ½ log|P| − (d/2) log 2π − ½ (z−m)ᵀP(z−m).
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    mean: Vec<f64>,
    prec: Vec<f64>,
    log_peak: f64,
}

impl Gaussian {
    /// The normalised density (log Z = 0) with mean m and precision P, a symmetric d × d matrix.
    ///
    /// # Errors
    /// If a size is wrong, P is not symmetric or not positive definite.
    pub fn new(mean: Vec<f64>, precision: Vec<f64>) -> Result<Self, Error> {
        let d = mean.len();
        if let Some(bad) = mean.iter().find(|v| !v.is_finite()) {
            return Err(Error::Domain { parameter: "mean", value: *bad, reason: "it must be finite" });
        }
        let log_det = log_det(d, &precision, "the precision of the Gaussian")?;
        let log_peak = 0.5 * (log_det - d as f64 * std::f64::consts::TAU.ln());
        Ok(Self { mean, prec: precision, log_peak })
    }

    /// The same density times Z.
    pub fn with_log_normaliser(self, log_z: f64) -> Self {
        Self { log_peak: self.log_peak + log_z, ..self }
    }

    /// m.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// P, column by column.
    pub fn precision(&self) -> &[f64] {
        &self.prec
    }

    /// Writes m − z, P(m − z) and log p at every draw.
    fn scores(&self, draws: Draws<'_>, deviation: &mut [f64], score: &mut [f64], log_p: &mut [f64]) {
        let d = self.mean.len();
        for (row, z) in deviation.chunks_exact_mut(d).zip(draws.iter()) {
            row.iter_mut().zip(z.iter().zip(&self.mean)).for_each(|(r, (z, m))| *r = m - z);
        }
        score.fill(0.0);
        products::add_product(&self.prec, deviation, d, d, draws.len(), score);
        for ((log_p, g), r) in log_p.iter_mut().zip(score.chunks_exact(d)).zip(deviation.chunks_exact(d)) {
            *log_p = self.log_peak - 0.5 * dot(g, r);
        }
    }
}

/// log|A| of a symmetric positive definite d × d matrix.
pub(super) fn log_det(d: usize, matrix: &[f64], what: &'static str) -> Result<f64, Error> {
    let l = factor(d, matrix, what)?;
    Ok(cholesky::log_det(d, &l))
}

/// The lower Cholesky factor of a symmetric positive definite d × d matrix.
pub(super) fn factor(d: usize, matrix: &[f64], what: &'static str) -> Result<Vec<f64>, Error> {
    if d == 0 || matrix.len() != d * d {
        return Err(Error::Shape { what, expected: d.max(1) * d.max(1), found: matrix.len() });
    }
    for j in 0..d {
        for i in 0..j {
            let (a, b) = (matrix[j * d + i], matrix[i * d + j]);
            if (a - b).abs() > 1e-12 * (a.abs() + b.abs()) {
                return Err(Error::Domain { parameter: what, value: a, reason: "the matrix must be symmetric" });
            }
        }
    }
    let mut l = vec![0.0; d * d];
    cholesky::factor(d, matrix, &mut l, &mut cholesky::Workspace::new(d))
        .map_err(|pivot| Error::NotPositiveDefinite { what, pivot })?;
    Ok(l)
}

impl Target for Gaussian {
    fn about(&self) -> About {
        let d = self.mean.len();
        let offers = Offers { values: true, hessian: true, ..Offers::GRADIENT };
        let room = Room { per_draw: d, ..Room::default() };
        About { offers, derivatives: Derivatives::Known, concavity: Concavity::Concave, room, ..About::new(d) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let n = ask.draws.as_slice().len();
        let Parts { log_p, grad, mut curvature, scratch, .. } = answer.parts_mut();
        self.scores(ask.draws, scratch.take(n), &mut grad[..n], log_p);
        let Some(contraction) = ask.contraction() else { return Ok(()) };
        for k in 0..contraction.len() {
            curvature.add_matrix(k, -contraction.weights(k).iter().sum::<f64>(), &self.prec);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Want;

    #[test]
    fn the_peak_is_the_known_constant_and_bad_precisions_are_refused() {
        let target = Gaussian::new(vec![1.0, -1.0], vec![4.0, 0.0, 0.0, 9.0]).unwrap().with_log_normaliser(2.0);
        let mut out = Answer::new(2, 1);
        target.evaluate(&Ask::all(Draws::new(2, &[1.0, -1.0]), Want::Gradients), &mut out).unwrap();
        assert!((out.log_p()[0] - (2.0 + 6f64.ln() - std::f64::consts::TAU.ln())).abs() < 1e-14);
        assert!(Gaussian::new(vec![0.0; 2], vec![1.0, 2.0, 2.0, 1.0]).is_err());
        assert!(Gaussian::new(vec![0.0; 2], vec![1.0, 0.2, 0.1, 1.0]).is_err());
        assert!(Gaussian::new(vec![0.0; 2], vec![1.0]).is_err());
    }
}
