//! Classes without an order: a linear predictor for each class but the first.

use super::DesignMatrix;
use super::glm::check_precision;
use super::rows::{RegressionRows, methods_of_rows};
use crate::Error;
use crate::linalg::products::{self, GRAM_BLOCK};
use crate::target::by_point::memory::with_memory;
use crate::target::{
    About, Answer, Ask, Concavity, PointwiseHessian, PointwiseTarget, PointwiseValue, Prior, Target, TargetError,
    Transforms, by_point,
};

/// Classes y = 0, …, K−1 with P(y = k) ∝ e^{η_k}, η_k = xᵀβ_k and η_0 = 0: the first class is the reference.
///
/// z = (β_1, …, β_{K−1}), and the prior is the same for each of them. log p is concave.
///
/// ```
/// use elinvar::model::{CategoricalRegression, DesignMatrix};
/// use elinvar::target::Target;
///
/// let x = DesignMatrix::new(vec![-1.0, 0.5, 2.0, 0.1], 1, vec!["dose".into()])?.with_intercept();
/// let classes = ["none", "some", "much"].map(String::from).to_vec();
/// let model = CategoricalRegression::new(x, vec![0.0, 1.0, 2.0, 1.0], classes, 0.1)?;
/// assert_eq!(model.about().parameters, ["some:intercept", "some:dose", "much:intercept", "much:dose"]);
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CategoricalRegression {
    rows: RegressionRows,
    classes: Vec<String>,
    /// Of all coefficients.
    prior: Prior,
}

/// A block of rows under one draw.
struct Block<'a> {
    /// Its first row.
    start: usize,
    rows: &'a [f64],
    /// η of every class but the first, one after the other.
    eta: &'a mut [f64],
    /// The same for probabilities.
    shares: &'a mut [f64],
}

impl CategoricalRegression {
    /// The model for these classes with β_k ~ N(0, I/δ) for the prior precision δ; responses are positions among them.
    ///
    /// # Errors
    /// If there are fewer than two or more than 32 classes, the number of responses is not the number of rows, a
    /// response is no class, or δ is not positive.
    pub fn new(x: DesignMatrix, y: Vec<f64>, classes: Vec<String>, prior_precision: f64) -> Result<Self, Error> {
        check_precision(prior_precision)?;
        let rows = RegressionRows::of_classes(x, y, classes.len())?;
        let prior = Prior::Gaussian { precision: prior_precision, leading: (classes.len() - 1) * rows.x.n_cols() };
        Ok(Self { rows, classes, prior })
    }

    /// The same model with another prior of the coefficients of each class.
    ///
    /// # Errors
    /// As [`Prior::check`].
    pub fn with_coefficient_prior(self, prior: Prior) -> Result<Self, Error> {
        let (p, groups) = (self.rows.x.n_cols(), self.n_predictors());
        prior.check(p)?;
        let prior = match prior {
            Prior::Gaussian { precision, leading } if leading == p => {
                Prior::Gaussian { precision, leading: groups * p }
            }
            prior => Prior::Normal {
                mean: (0..groups * p).map(|i| prior.mean(i % p)).collect(),
                precision: (0..groups * p).map(|i| prior.precision(i % p)).collect(),
            },
        };
        Ok(Self { prior, ..self })
    }

    /// Names of the classes; the first is the reference.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Classes but the first.
    fn n_predictors(&self) -> usize {
        self.classes.len() - 1
    }

    /// Σ_n w_n log p(y_n | z), in blocks of rows that `each` sees with their probabilities.
    fn over_blocks(&self, z: &[f64], mut each: impl FnMut(Block<'_>)) -> f64 {
        let (p, n, m) = (self.rows.x.n_cols(), self.rows.x.n_rows(), self.n_predictors());
        let size = GRAM_BLOCK.min(n);
        with_memory(2 * size * m, |memory| {
            let mut total = 0.0;
            let (eta, shares) = memory.split_at_mut(size * m);
            for start in (0..n).step_by(size) {
                let rows = self.rows.x.rows(start..n.min(start + size));
                let count = rows.len() / p;
                let (eta, shares) = (&mut eta[..count * m], &mut shares[..count * m]);
                products::rows_times(rows, p, z, eta);
                for i in 0..count {
                    let offset = self.rows.offset_of(start + i);
                    let mut top = 0.0_f64;
                    for eta in eta.iter_mut().skip(i).step_by(count) {
                        *eta += offset;
                        top = top.max(*eta);
                    }
                    let mut sum = (-top).exp();
                    for (eta, share) in eta.iter().zip(shares.iter_mut()).skip(i).step_by(count) {
                        *share = (eta - top).exp();
                        sum += *share;
                    }
                    shares.iter_mut().skip(i).step_by(count).for_each(|share| *share /= sum);
                    let own = match self.rows.y[start + i] as usize {
                        0 => 0.0,
                        class => eta[(class - 1) * count + i],
                    };
                    total += self.rows.weight(start + i) * (own - top - sum.ln());
                }
                each(Block { start, rows, eta, shares });
            }
            total
        })
    }

    fn named(&self, columns: &[String]) -> impl Iterator<Item = String> {
        let of = |class: &String| columns.iter().map(|column| format!("{class}:{column}")).collect::<Vec<_>>();
        self.classes[1..].iter().flat_map(of).collect::<Vec<_>>().into_iter()
    }
}

methods_of_rows!(CategoricalRegression);

impl PointwiseValue for CategoricalRegression {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        Ok(self.over_blocks(z, |_| ()))
    }
}

impl PointwiseTarget for CategoricalRegression {
    fn dim(&self) -> usize {
        self.n_predictors() * self.rows.x.n_cols()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        grad.fill(0.0);
        let p = self.rows.x.n_cols();
        Ok(self.over_blocks(z, |Block { start, rows, eta, shares }| {
            let count = rows.len() / p;
            // ∂ℓ/∂η_k = [y = k] − p_k.
            for (k, (eta, shares)) in eta.chunks_exact_mut(count).zip(shares.chunks_exact(count)).enumerate() {
                for (i, (eta, share)) in eta.iter_mut().zip(shares).enumerate() {
                    let is_own = self.rows.y[start + i] == (k + 1) as f64;
                    *eta = self.rows.weight(start + i) * (f64::from(u8::from(is_own)) - share);
                }
            }
            products::add_rows_transposed_times(rows, p, eta, grad);
        }))
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        self.named(self.rows.x.names()).collect()
    }

    fn transforms(&self) -> Transforms {
        self.rows.x.transforms(self.n_predictors(), [])
    }

    fn constrained_names(&self) -> Vec<String> {
        self.named(self.rows.x.table_names()).collect()
    }
}

impl PointwiseHessian for CategoricalRegression {
    /// ∂²ℓ/∂η_k∂η_l = p_k p_l − [k = l] p_k.
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let (p, m) = (self.rows.x.n_cols(), self.n_predictors());
        let d = p * m;
        hessian.fill(0.0);
        with_memory(p * p + GRAM_BLOCK * (p + 1), |memory| {
            let (gram, memory) = memory.split_at_mut(p * p);
            let (curvature, scratch) = memory.split_at_mut(GRAM_BLOCK);
            self.over_blocks(z, |Block { start, rows, shares, .. }| {
                let count = rows.len() / p;
                for k in 0..m {
                    for l in 0..=k {
                        let of = |class: usize| &shares[class * count..(class + 1) * count];
                        for (i, (a, b)) in of(k).iter().zip(of(l)).enumerate() {
                            let own = if k == l { *a } else { 0.0 };
                            curvature[i] = self.rows.weight(start + i) * (a * b - own);
                        }
                        gram.fill(0.0);
                        products::add_weighted_gram(rows, p, &curvature[..count], scratch, gram);
                        products::mirror_lower(p, gram);
                        for (column, sums) in gram.chunks_exact(p).enumerate() {
                            let at = (l * p + column) * d + k * p;
                            hessian[at..at + p].iter_mut().zip(sums).for_each(|(h, sum)| *h += sum);
                        }
                    }
                }
            });
        });
        products::mirror_lower(d, hessian);
        Ok(())
    }
}

impl Target for CategoricalRegression {
    fn about(&self) -> About {
        About { prior: self.prior.clone(), concavity: Concavity::Concave, ..by_point::about_of_model(self) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|k| format!("c{k}")).collect()
    }

    #[test]
    fn probabilities_add_up_to_one_and_two_classes_are_a_logistic_regression() {
        let x = || DesignMatrix::new(vec![1.0, 1.3], 2, vec!["a".into(), "b".into()]).unwrap();
        let z = [0.7, -1.2, 0.3, -0.8, 2.0, 0.1];
        let of =
            |class: f64| CategoricalRegression::new(x(), vec![class], names(4), 1.0).unwrap().log_density(&z).unwrap();
        let etas = [0.0_f64, 0.7 - 1.2 * 1.3, 0.3 - 0.8 * 1.3, 2.0 + 0.1 * 1.3];
        let total: f64 = etas.iter().map(|eta| eta.exp()).sum();
        for (k, eta) in etas.iter().enumerate() {
            assert!((of(k as f64) - (eta.exp() / total).ln()).abs() < 1e-14, "{k}");
        }
        // Far out nothing overflows.
        let far = CategoricalRegression::new(x(), vec![1.0], names(2), 1.0).unwrap();
        assert!((far.log_density(&[-900.0, 0.0]).unwrap() + 900.0).abs() < 1e-9);
        assert_eq!(far.log_density(&[900.0, 0.0]).unwrap(), 0.0);
    }

    #[test]
    fn what_is_no_class_is_named() {
        let x = || DesignMatrix::new(vec![1.0, 2.0], 1, vec!["x".into()]).unwrap();
        let new = |y: [f64; 2], n: usize| CategoricalRegression::new(x(), y.to_vec(), names(n), 1.0);
        assert!(new([0.0, 3.0], 3).unwrap_err().to_string().contains("row 2"));
        assert!(new([0.0, 0.5], 3).is_err() && new([0.0, 1.0], 33).is_err() && new([0.0, 0.0], 1).is_err());
        let weighed = new([0.0, 1.0], 2).unwrap().with_weights(vec![2.0, 1.0]).unwrap();
        assert_eq!(weighed.clone().with_weights(vec![1.0, 1.0]).unwrap().weights(), [1.0, 1.0]);
    }
}
