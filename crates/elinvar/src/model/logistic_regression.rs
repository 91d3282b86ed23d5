//! Logistic regression.

mod expectation;

use super::DesignMatrix;
use super::glm::{Glm, Likelihood};
use super::kernels;
use crate::Error;

/// Labels y_n = ±1 with p(y_n | z) = σ(y_n x_nᵀz), and the prior z ~ N(0, I/δ) on every coefficient (mathematics §9.1).
///
/// Σ_n log σ(t_n) with t_n = y_n x_nᵀz; gradient Σ y_n σ(−t_n) x_n; Hessian −Σ σ(t_n) σ(−t_n) x_n x_nᵀ.
///
/// ```
/// use elinvar::model::{DesignMatrix, LogisticRegression};
/// use elinvar::research::target::Target;
///
/// let x = DesignMatrix::new(vec![-1.0, 0.5, 2.0], 1, vec!["dose".into()])?.with_intercept();
/// let model = LogisticRegression::from_labels(x, vec![0.0, 1.0, 1.0], 0.1)?;
/// assert_eq!(model.about().names, ["intercept", "dose"]);
/// # Ok::<(), elinvar::Error>(())
/// ```
pub type LogisticRegression = Glm<Bernoulli>;

/// The likelihood of [`LogisticRegression`].
#[derive(Clone, Debug)]
pub struct Bernoulli;

impl Likelihood for Bernoulli {
    #[inline]
    fn block(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
        kernels::logistic_block(y, eta, value, curvature);
    }

    fn add_values(y: &[f64], eta: &mut [f64], _: [&mut [f64]; 2], _: f64, sums: &mut [f64]) {
        kernels::logistic_values_block(y, eta, sums);
    }

    fn expectation_block(
        y: &[f64],
        eta: &mut [f64],
        variance: &mut [f64],
        outputs: [&mut [f64]; 2],
        node: &mut [f64],
    ) -> usize {
        expectation::by_width(y, eta, variance, outputs, node)
    }
}

impl LogisticRegression {
    /// The model for labels −1 and +1.
    ///
    /// # Errors
    /// If the number of labels is not the number of rows, a label is neither −1 nor +1, or δ is not positive.
    pub fn new(x: DesignMatrix, y: Vec<f64>, prior_precision: f64) -> Result<Self, Error> {
        check_labels(&y, [-1.0, 1.0])?;
        Self::with_constants(x, y, Vec::new(), prior_precision)
    }

    /// The model for labels 0 and 1.
    ///
    /// # Errors
    /// If the number of labels is not the number of rows, a label is neither 0 nor 1, or δ is not positive.
    pub fn from_labels(x: DesignMatrix, labels: Vec<f64>, prior_precision: f64) -> Result<Self, Error> {
        check_labels(&labels, [0.0, 1.0])?;
        Self::new(x, labels.into_iter().map(|label| 2.0 * label - 1.0).collect(), prior_precision)
    }
}

fn check_labels(labels: &[f64], allowed: [f64; 2]) -> Result<(), Error> {
    match labels.iter().position(|label| !allowed.contains(label)) {
        None => Ok(()),
        Some(i) => Err(Error::Data {
            place: format!("label of row {}", i + 1),
            problem: format!("{} is neither {} nor {}", labels[i], allowed[0], allowed[1]),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Answer, Ask, Draws, Target, Want};

    #[test]
    fn labels_are_checked_and_both_codings_agree() {
        let x = || DesignMatrix::new(vec![0.3, -1.2, 2.0], 1, vec!["x".into()]).unwrap();
        let message = LogisticRegression::new(x(), vec![1.0, 0.0, -1.0], 1.0).unwrap_err().to_string();
        assert!(message.contains("row 2"), "{message}");
        assert!(LogisticRegression::from_labels(x(), vec![1.0, f64::NAN, 0.0], 1.0).is_err());
        assert!(LogisticRegression::new(x(), vec![1.0; 2], 1.0).is_err());
        assert!(LogisticRegression::new(x(), vec![1.0; 3], 0.0).is_err());
        let a = LogisticRegression::new(x(), vec![1.0, -1.0, 1.0], 1.0).unwrap();
        let b = LogisticRegression::from_labels(x(), vec![1.0, 0.0, 1.0], 1.0).unwrap();
        assert_eq!(a.responses(), b.responses());
    }

    #[test]
    fn a_far_draw_keeps_a_finite_density() {
        let x = DesignMatrix::new(vec![1.0, -1.0], 1, vec!["x".into()]).unwrap();
        let model = LogisticRegression::new(x, vec![1.0, 1.0], 1.0).unwrap();
        let mut out = Answer::new(1, 1);
        model.evaluate(&Ask::all(Draws::new(1, &[1e5]), Want::Gradients), &mut out).unwrap();
        assert!((out.log_p()[0] + 1e5).abs() < 1e-9 && (out.grad(0)[0] + 1.0).abs() < 1e-12);
    }
}
