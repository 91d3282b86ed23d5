//! Density, derivatives and moments of a mean–variance mixture at a point.

use super::MeanVariance;
#[cfg(feature = "theory")]
use crate::block::BlockGradient;
use crate::family::Density;
use crate::law::Forms;
use crate::linalg::{axpy, dot};

impl MeanVariance<'_> {
    /// Q, L and κ of a point; `scratch` holds 2d numbers and returns Lᵀ(z − μ) and Lᵀα.
    pub(super) fn forms(&self, z: &[f64], scratch: &mut [f64]) -> Forms {
        let d = self.block.dim();
        assert_eq!(z.len(), d, "a point has {d} coordinates");
        let difference: Vec<f64> = z.iter().zip(self.block.column(0)).map(|(z, mu)| z - mu).collect();
        let (y, a) = scratch.split_at_mut(d);
        self.block.scale().whiten(&difference, y);
        if self.law.is_shifted() {
            self.block.scale().whiten(self.block.column(1), a);
        } else {
            a.fill(0.0);
        }
        Forms { dim: d, q: dot(y, y), l: dot(y, a), kappa: dot(a, a) }
    }

    /// κ = αᵀPα.
    pub(crate) fn kappa(&self) -> f64 {
        if !self.law.is_shifted() {
            return 0.0;
        }
        let mut white = vec![0.0; self.block.dim()];
        self.block.scale().whiten(self.block.column(1), &mut white);
        dot(&white, &white)
    }

    /// P(z − μ) and Pα.
    fn directions(&self, z: &[f64]) -> (Forms, Vec<f64>, Vec<f64>) {
        let d = self.block.dim();
        let mut white = vec![0.0; 2 * d];
        let forms = self.forms(z, &mut white);
        let (mut r, mut a) = (vec![0.0; d], vec![0.0; d]);
        self.block.scale().factor_times(&white[..d], &mut r);
        self.block.scale().factor_times(&white[d..], &mut a);
        (forms, r, a)
    }

    /// ∇_B H and −2∇_Σ H, where the law has an exact entropy (mathematics §0 (0.3)).
    #[cfg(feature = "theory")]
    pub(crate) fn entropy_gradient(&self) -> Option<BlockGradient> {
        if !self.law.has_exact_entropy() {
            return None;
        }
        let mut out = self.block.gradient();
        let (_, _, v) = self.directions(self.block.column(0));
        self.add_exact_entropy(self.kappa(), &v, &mut out);
        Some(out)
    }

    /// ∇_B and −2∇_Σ of E[log prior].
    #[cfg(feature = "theory")]
    pub(crate) fn prior_gradient(&self, prior: &crate::target::Prior) -> BlockGradient {
        let mut out = self.block.gradient();
        self.add_prior(prior, &mut out);
        out
    }
}

impl Density for MeanVariance<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        let forms = self.forms(z, &mut vec![0.0; 2 * self.block.dim()]);
        0.5 * self.block.scale().log_det_precision() + self.law.log_marginal(forms)
    }

    /// ∇log q = −E[1/s|z] P(z−μ) + E[u/s|z] Pα.
    fn score(&self, z: &[f64], out: &mut [f64]) {
        let (forms, r, a) = self.directions(z);
        let c = self.law.conditional(forms);
        out.fill(0.0);
        axpy(-c.inv_s, &r, out);
        axpy(c.u_inv_s, &a, out);
    }

    /// ∇²log q = −E[1/s|z] P + Var(1/s|z) rrᵀ − Cov(1/s, u/s|z)(raᵀ + arᵀ) + Var(u/s|z) aaᵀ, r = P(z−μ), a = Pα.
    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        let d = self.block.dim();
        let (forms, r, a) = self.directions(z);
        let c = self.law.conditional(forms);
        out.fill(0.0);
        let scale = self.block.scale();
        scale.shape().add_to_full(-c.inv_s, scale.precision(), out);
        for j in 0..d {
            let column = &mut out[j * d..(j + 1) * d];
            axpy(c.var_inv_s * r[j] - c.cov_inv_s_u_inv_s * a[j], &r, column);
            axpy(c.var_u_inv_s * a[j] - c.cov_inv_s_u_inv_s * r[j], &a, column);
        }
    }

    /// E\[z\] = μ + E\[u\] α.
    fn mean(&self) -> Vec<f64> {
        let mut mean = self.block.column(0).to_vec();
        if self.law.is_shifted() {
            axpy(self.law.moments().u, self.block.column(1), &mut mean);
        }
        mean
    }

    /// Cov\[z\] = s̄ Σ + Var(u) ααᵀ.
    fn covariance(&self) -> Vec<f64> {
        let d = self.block.dim();
        let m = self.law.moments();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        cov.iter_mut().for_each(|v| *v *= m.s);
        if self.law.is_shifted() {
            let alpha = self.block.column(1);
            for j in 0..d {
                axpy((m.uu - m.u * m.u) * alpha[j], alpha, &mut cov[j * d..(j + 1) * d]);
            }
        }
        cov
    }

    fn entropy(&self) -> Option<f64> {
        let h = self.law.entropy(self.kappa(), self.block.dim())?;
        Some(h.value - 0.5 * self.block.scale().log_det_precision())
    }

    /// A learned shape moves by gradients.
    fn takes_values_alone(&self) -> bool {
        !self.law.is_learned()
    }
}
