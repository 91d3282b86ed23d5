//! Beta-binomial over-dispersion.

use super::rising_factorial::{log_ratio, polygamma_rises};
use crate::Error;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Target, TargetError, Transform, Transforms,
    by_point,
};

/// Deaths y_j ~ BetaBinomial(n_j; Kη, K(1−η)) with prior ∝ 1/{η(1−η)(1+K)²}; z = (logit η, log K) (mathematics §9.1).
///
/// Σ_j {log B(Kη + y_j, K(1−η) + n_j − y_j) − log B(Kη, K(1−η))} + log K − 2 log(1 + K), without binomial coefficients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BetaBinomial {
    y: Vec<u64>,
    n: Vec<u64>,
}

/// Cancer deaths and population at risk in 20 cities (Tsutakawa, Shoop & Marienfeld, Statistics in Medicine 4, 1985).
const CANCER_MORTALITY: [(u64, u64); 20] = [
    (0, 1083),
    (0, 855),
    (2, 3461),
    (0, 657),
    (1, 1208),
    (1, 1025),
    (0, 527),
    (2, 1668),
    (1, 583),
    (3, 582),
    (0, 917),
    (1, 857),
    (1, 680),
    (1, 917),
    (54, 53637),
    (0, 874),
    (0, 395),
    (1, 581),
    (3, 588),
    (0, 383),
];

impl BetaBinomial {
    /// The model for `y[j]` events among `n[j]`.
    ///
    /// # Errors
    /// If the lengths differ, there is no data, or y_j > n_j.
    pub fn new(y: Vec<u64>, n: Vec<u64>) -> Result<Self, Error> {
        if y.is_empty() || y.len() != n.len() {
            return Err(Error::Shape { what: "numbers at risk", expected: y.len().max(1), found: n.len() });
        }
        if let Some(j) = (0..y.len()).find(|j| y[*j] > n[*j]) {
            return Err(Error::Data {
                place: format!("row {}", j + 1),
                problem: format!("{} events among {} at risk", y[j], n[j]),
            });
        }
        Ok(Self { y, n })
    }

    /// The model with the cancer-mortality data of 20 cities (Tsutakawa et al. 1985).
    pub fn cancer_mortality() -> Self {
        let (y, n) = CANCER_MORTALITY.into_iter().unzip();
        Self { y, n }
    }

    /// (d₁, d₂, d₃) and (t₁, t₂, t₃): sums of differences of ψ and ψ′ at Kη, K(1−η) and K.
    fn polygamma_sums(&self, at: [f64; 3]) -> [[f64; 3]; 2] {
        let mut sums = [[0.0; 3]; 2];
        for (y, n) in self.y.iter().zip(&self.n) {
            for (i, count) in [*y, n - y, *n].into_iter().enumerate() {
                let [digamma, trigamma] = polygamma_rises(at[i], count);
                sums[0][i] += digamma;
                sums[1][i] += trigamma;
            }
        }
        sums
    }
}

/// Where Kη or K(1 − η) underflows or K overflows.
const OUT_OF_RANGE: &str = "K, Kη or K(1 − η) is too large or too small for a number";

/// (η, 1 − η, K).
fn natural_scale(z: &[f64]) -> (f64, f64, f64) {
    let small = (-z[0].abs()).exp();
    let (upper, lower) = (1.0 / (1.0 + small), small / (1.0 + small));
    let (eta, complement) = if z[0] > 0.0 { (upper, lower) } else { (lower, upper) };
    (eta, complement, z[1].exp())
}

impl PointwiseTarget for BetaBinomial {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let log_p = self.log_density(z)?;
        let (eta, complement, k) = natural_scale(z);
        let [[d1, d2, d3], _] = self.polygamma_sums([k * eta, k * complement, k]);
        grad[0] = eta * complement * k * (d1 - d2);
        grad[1] = k * (eta * d1 + complement * d2 - d3) + 1.0 - 2.0 * k / (1.0 + k);
        Ok(log_p)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        vec!["logit_eta".into(), "log_K".into()]
    }

    fn transforms(&self) -> Transforms {
        Transforms::new(vec![Transform::Logit, Transform::Log]).expect("logit and log need no constants")
    }

    fn constrained_names(&self) -> Vec<String> {
        vec!["eta".into(), "K".into()]
    }
}

impl PointwiseValue for BetaBinomial {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let (eta, complement, k) = natural_scale(z);
        if !(k * eta > 0.0 && k * complement > 0.0 && k.is_finite()) {
            return Err(TargetError::recoverable(OUT_OF_RANGE));
        }
        let mut log_p = 0.0;
        for (y, n) in self.y.iter().zip(&self.n) {
            let (rest, rest_f) = (n - y, (n - y) as f64);
            log_p += log_ratio(k * eta, k + rest_f, -(k * complement + rest_f), *y);
            log_p += log_ratio(k * complement, k, -k * eta, rest);
        }
        let softplus = z[1].max(0.0) + (-z[1].abs()).exp().ln_1p();
        Ok(log_p + z[1] - 2.0 * softplus)
    }
}

impl PointwiseHessian for BetaBinomial {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let (eta, complement, k) = natural_scale(z);
        if !(k * eta > 0.0 && k * complement > 0.0 && k.is_finite()) {
            return Err(TargetError::recoverable(OUT_OF_RANGE));
        }
        let [[d1, d2, d3], [t1, t2, t3]] = self.polygamma_sums([k * eta, k * complement, k]);
        let scale = eta * complement * k;
        hessian[0] = scale * (complement - eta) * (d1 - d2) + scale * scale * (t1 + t2);
        let cross = scale * (d1 - d2 + k * (eta * t1 - complement * t2));
        (hessian[1], hessian[2]) = (cross, cross);
        hessian[3] = k * (eta * d1 + complement * d2 - d3)
            + k * k * (eta * eta * t1 + complement * complement * t2 - t3)
            - 2.0 * k / ((1.0 + k) * (1.0 + k));
        Ok(())
    }
}

impl Target for BetaBinomial {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_k_tends_to_the_binomial() {
        let model = BetaBinomial::cancer_mortality();
        let (y, n) = (model.y.iter().sum::<u64>() as f64, model.n.iter().sum::<u64>() as f64);
        let mut grad = [0.0; 2];
        let z = [-6.8, 40.0];
        let log_p = model.gradient(&z, &mut grad).unwrap();
        let (eta, complement, _) = natural_scale(&z);
        let expected = y * eta.ln() + (n - y) * complement.ln() - z[1];
        assert!((log_p - expected).abs() < 1e-9, "{log_p} and {expected}");
        assert!((grad[1] + 1.0).abs() < 1e-9, "{grad:?}");
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert!(BetaBinomial::new(vec![3], vec![2]).unwrap_err().to_string().contains("row 1"));
        assert!(BetaBinomial::new(vec![], vec![]).is_err());
    }
}
