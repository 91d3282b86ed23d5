//! The families and small targets that the integration tests run over, and a run of any family behind one interface.
#![allow(dead_code, unused_imports, reason = "each test program uses a part")]

use elinvar::Posterior;
use elinvar::family::{Approximation, Family};
pub(crate) use elinvar::internals::GradientsOnly;
use elinvar::internals::law::{Logistic, VarianceGamma};
use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar::target::{
    About, Answer, Ask, Covariance, Offers, PointwiseHessian, PointwiseTarget, Support, Target, TargetError, from_fns,
};

/// Every family, each with a full and a diagonal scale matrix.
pub(crate) fn families() -> Vec<Family> {
    let full = every_kind().map(|family| family.with_covariance(Covariance::Full));
    let full = full.into_iter().chain([Family::student_t_learned(), Family::nig_learned(), Family::snig_learned()]);
    full.flat_map(|family| [family, family.diagonal()]).chain([Family::scale_mixture(Logistic).product()]).collect()
}

/// Every family on ℝᵈ with a scale matrix once, in the order of [`Family::NAMES`].
pub(crate) fn every_kind() -> [Family; 11] {
    [
        Family::gaussian(),
        Family::mog(3),
        Family::student_t(3.0),
        Family::skew(),
        Family::emg(),
        Family::nig(2.0),
        Family::snig(2.0),
        Family::rank_k(2),
        Family::skew_k(2),
        Family::emg_k(2),
        Family::scale_mixture(VarianceGamma::new(2.5).unwrap()),
    ]
}

/// Whether a fit moves the constant of its mixing law.
pub(crate) fn is_learned(family: Family) -> bool {
    family.law().is_ok_and(|law| elinvar::internals::Numbers::is_learned(&law))
}

/// The family and its scale matrix in words.
pub(crate) fn label(family: Family) -> String {
    format!("{family} {:?}", family.covariance)
}

/// The member of a family with small numbers in B, P = I and equal weights.
pub(crate) fn standard(family: Family, dim: usize) -> Approximation {
    let precision: Vec<f64> = match family.covariance {
        Covariance::Full => (0..dim * dim).map(|i| f64::from(u8::from(i % (dim + 1) == 0))).collect(),
        Covariance::Diagonal => vec![1.0; dim],
    };
    let k = family.n_components();
    let block = |c: usize| {
        let b = (0..dim * family.n_columns()).map(|i| 0.1 * (i + c) as f64).collect();
        (b, precision.clone())
    };
    let log_weights = vec![-(k as f64).ln(); k];
    Approximation::from_parts(family, dim, (0..k).map(block).collect(), log_weights).unwrap()
}

/// n numbers between −1 and 1.
pub(crate) fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n + 4).map(|_| next()).skip(4).collect()
}

/// A d × d matrix AAᵀ + ½I, or its diagonal.
pub(crate) fn precision(d: usize, covariance: Covariance, seed: u64) -> Vec<f64> {
    let a = numbers(d * d, seed);
    let entry = |i: usize, j: usize| {
        let product: f64 = (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum();
        product + if i == j { 0.5 } else { 0.0 }
    };
    match covariance {
        Covariance::Full => (0..d * d).map(|at| entry(at % d, at / d)).collect(),
        Covariance::Diagonal => (0..d).map(|i| entry(i, i)).collect(),
    }
}

/// KL(q ‖ p) from 10⁵ draws of q, with its standard error.
pub(crate) fn divergence(q: &Posterior, p: &Approximation) -> (f64, f64) {
    let (draws, log_q) = q.sample_with_log_density(100_000, 12);
    let differences: Vec<f64> = draws.view().iter().zip(&log_q).map(|(z, log_q)| log_q - p.log_density(z)).collect();
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Logistic regression on n made-up rows; labels depend on the first coefficients, with noise.
pub(crate) fn logistic(n: usize, d: usize) -> LogisticRegression {
    let (rows, noise) = (numbers(n * d, 11), numbers(n, 12));
    let labels = rows.chunks_exact(d).zip(noise).map(|(x, e)| f64::from(u8::from(x[0] - 0.5 * x[d - 1] + e > 0.1)));
    let labels = labels.collect();
    let names = (1..=d).map(|j| format!("x{j}")).collect();
    LogisticRegression::from_labels(DesignMatrix::new(rows, d, names).unwrap(), labels, 0.3).unwrap()
}

/// A product of Student-t laws with so many degrees of freedom: chains go on for several rounds.
pub(crate) fn heavy_tails(degrees: f64, dim: usize) -> impl Target {
    let log_density = move |z: &[f64], grad: &mut [f64]| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -(degrees + 1.0) * z / (degrees + z * z));
        z.iter().map(|z| -0.5 * (degrees + 1.0) * (z * z / degrees).ln_1p()).sum()
    };
    from_fns(dim, log_density, move |z, hessian| {
        hessian.fill(0.0);
        for (i, z) in z.iter().enumerate() {
            hessian[i * (dim + 1)] = -(degrees + 1.0) * (degrees - z * z) / (degrees + z * z).powi(2);
        }
    })
}

/// A member of any family as a normalised target with second derivatives.
pub(crate) struct Member(pub(crate) Approximation);

impl PointwiseTarget for Member {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        self.0.score(z, grad);
        Ok(self.0.log_density(z))
    }

    fn support(&self) -> Support {
        self.0.support()
    }
}

impl PointwiseHessian for Member {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        self.0.hessian(z, hessian);
        Ok(())
    }
}
