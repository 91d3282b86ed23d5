//! Density, derivatives and moments of a mean–variance mixture at a point.

use super::MeanVarianceMixture;
use crate::block::{LocationGradient, ScaleMatrix};
use crate::law::{Forms, MixingLaw};
use crate::linalg::{axpy, dot};
use crate::target::Covariance;

impl<L: MixingLaw, S: ScaleMatrix> MeanVarianceMixture<L, S> {
    /// Q, L and κ of a point; `scratch` holds 2d numbers and returns Lᵀ(z − μ) and Lᵀα.
    pub(super) fn forms(&self, z: &[f64], scratch: &mut [f64]) -> Forms {
        let d = self.block.dim();
        assert_eq!(z.len(), d, "a point has {d} coordinates");
        let difference: Vec<f64> = z.iter().zip(self.block.column(0)).map(|(z, mu)| z - mu).collect();
        let (y, a) = scratch.split_at_mut(d);
        self.block.scale().whiten(&difference, y);
        if L::SHIFTED {
            self.block.scale().whiten(self.block.column(1), a);
        } else {
            a.fill(0.0);
        }
        Forms { dim: d, q: dot(y, y), l: dot(y, a), kappa: dot(a, a) }
    }

    /// κ = αᵀPα.
    pub fn kappa(&self) -> f64 {
        if !L::SHIFTED {
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

    /// ∇log q = −E[1/s|z] P(z−μ) + E[u/s|z] Pα.
    pub(super) fn score_at(&self, z: &[f64], out: &mut [f64]) {
        let (forms, r, a) = self.directions(z);
        let c = self.law.conditional(forms);
        out.fill(0.0);
        axpy(-c.inv_s, &r, out);
        axpy(c.u_inv_s, &a, out);
    }

    /// ∇²log q = −E[1/s|z] P + Var(1/s|z) rrᵀ − Cov(1/s, u/s|z)(raᵀ + arᵀ) + Var(u/s|z) aaᵀ, r = P(z−μ), a = Pα.
    pub(super) fn hessian_at(&self, z: &[f64], out: &mut [f64]) {
        let d = self.block.dim();
        let (forms, r, a) = self.directions(z);
        let c = self.law.conditional(forms);
        out.fill(0.0);
        let precision = self.block.scale().precision();
        match S::COVARIANCE {
            Covariance::Full => axpy(-c.inv_s, precision, out),
            Covariance::Diagonal => (0..d).for_each(|i| out[i * d + i] = -c.inv_s * precision[i]),
        }
        for j in 0..d {
            let column = &mut out[j * d..(j + 1) * d];
            axpy(c.var_inv_s * r[j] - c.cov_inv_s_u_inv_s * a[j], &r, column);
            axpy(c.var_u_inv_s * a[j] - c.cov_inv_s_u_inv_s * r[j], &a, column);
        }
    }

    /// E\[z\] = μ + E\[u\] α.
    pub(super) fn mean_vector(&self) -> Vec<f64> {
        let mut mean = self.block.column(0).to_vec();
        if L::SHIFTED {
            axpy(self.law.moments().u, self.block.column(1), &mut mean);
        }
        mean
    }

    /// Cov\[z\] = s̄ Σ + Var(u) ααᵀ.
    pub(super) fn covariance_matrix(&self) -> Vec<f64> {
        let d = self.block.dim();
        let m = self.law.moments();
        let mut cov = vec![0.0; d * d];
        self.block.scale().covariance_into(&mut cov);
        cov.iter_mut().for_each(|v| *v *= m.s);
        if L::SHIFTED {
            let alpha = self.block.column(1);
            for j in 0..d {
                axpy((m.uu - m.u * m.u) * alpha[j], alpha, &mut cov[j * d..(j + 1) * d]);
            }
        }
        cov
    }

    /// ∇_B H and −2∇_Σ H, where the law has an exact entropy (mathematics §0 (0.3)).
    pub fn entropy_gradient(&self) -> Option<LocationGradient> {
        if !L::EXACT_ENTROPY {
            return None;
        }
        let mut out = LocationGradient::like(&self.block);
        let (_, _, v) = self.directions(self.block.column(0));
        self.add_exact_entropy(self.kappa(), &v, &mut out);
        Some(out)
    }

    /// ∇_B and −2∇_Σ of E[log prior].
    pub fn prior_gradient(&self, prior: &crate::target::Prior) -> LocationGradient {
        let mut out = LocationGradient::like(&self.block);
        self.add_prior(prior, &mut out);
        out
    }
}
