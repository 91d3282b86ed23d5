//! A log likelihood that is a sum over rows of data, as a closure: what mini-batches are made of.

use super::memory::with_memory;
use super::spread;
use crate::target::{About, Answer, Ask, Offers, Parts, Prior, Target, TargetError, Want};

/// A closure over rows as a target; made by [`sum_over_rows`].
#[derive(Clone, Debug)]
pub struct SumOverRows<F> {
    about: About,
    of_row: F,
}

/// The target log p(z) = Σ_n ℓ_n(z) over `n_rows` rows of data: `of_row` returns ℓ_n(z) for row n and *adds* its
/// gradient. With a prior that is declared beside it ([`SumOverRows::normal_prior`]) the sum may be taken over
/// mini-batches ([`Plan::minibatch`](crate::run::Plan::minibatch)).
///
/// ```
/// use elinvar::prelude::*;
/// use elinvar::research::target::sum_over_rows;
///
/// // y = a + b x, with noise of standard deviation 1.
/// let x: Vec<f64> = (0..500).map(|n| f64::from(n % 25) / 10.0).collect();
/// let y: Vec<f64> = x.iter().enumerate().map(|(n, x)| 1.0 + 2.0 * x + (n as f64).sin()).collect();
/// let model = sum_over_rows(2, x.len(), |n, z, gradient| {
///     let residual = y[n] - z[0] - z[1] * x[n];
///     gradient[0] += residual;
///     gradient[1] += residual * x[n];
///     -0.5 * residual * residual
/// })
/// .named(["a", "b"])
/// .normal_prior(0.0, 10.0);
/// let plan = Plan { minibatch: Some(50), ..Plan::default() };
/// let posterior = elinvar::Fit::new(&model).family(Family::gaussian()).plan(plan).run()?;
/// assert!((posterior.approximation().mean()[1] - 2.0).abs() < 0.3);
/// # Ok::<(), Error>(())
/// ```
pub fn sum_over_rows<F>(dim: usize, n_rows: usize, of_row: F) -> SumOverRows<F>
where
    F: Fn(usize, &[f64], &mut [f64]) -> f64 + Sync,
{
    let offers = Offers { item_gradients: true, ..Offers::GRADIENT };
    SumOverRows { about: About { n_rows: Some(n_rows), offers, ..About::new(dim) }, of_row }
}

impl<F> SumOverRows<F> {
    /// The same with names for the coordinates; as many as there are.
    pub fn named<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.about.names = names.into_iter().map(Into::into).collect();
        self.about.parameters = self.about.names.clone();
        self
    }

    /// The same times N(mean, sd²) for each coordinate, which stays whole where a mini-batch is a part of the data.
    pub fn normal_prior(mut self, mean: f64, sd: f64) -> Self {
        let dim = self.about.dim;
        self.about.prior = Prior::Normal { mean: vec![mean; dim], precision: vec![sd.powi(-2); dim] };
        self
    }
}

impl<F> Target for SumOverRows<F>
where
    F: Fn(usize, &[f64], &mut [f64]) -> f64 + Sync,
{
    fn about(&self) -> About {
        self.about.clone()
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let d = self.about.dim;
        let n = ask.rows.len(self.about.n_rows.unwrap_or(0));
        let Parts { log_p, grad, items, .. } = answer.parts_mut();
        if let Want::ItemGradients { draw } = ask.want {
            let z = ask.draws.get(draw);
            for (i, item) in items.chunks_exact_mut(d).take(n).enumerate() {
                item.fill(0.0);
                (self.of_row)(ask.rows.index(i), z, item);
            }
            return Ok(());
        }
        let sum = |z: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            (0..n).map(|i| (self.of_row)(ask.rows.index(i), z, gradient)).sum::<f64>()
        };
        let is_value = matches!(ask.want, Want::Values);
        let points = ask.draws.iter().zip(log_p).zip(grad.chunks_exact_mut(d));
        spread::each(points, &|z, log_p, grad| {
            *log_p = if is_value { with_memory(d, |unused| sum(z, unused)) } else { sum(z, grad) };
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DesignMatrix, LogisticRegression};
    use crate::target::{Draws, Rows};

    /// A logistic regression by hand is that of the library: values, gradients, and those of single rows, of all rows
    /// and of some.
    #[test]
    fn sums_are_those_of_a_model_of_the_library() {
        let x: Vec<f64> = (0..60).map(|k| (1.7 * f64::from(k)).sin()).collect();
        let y: Vec<f64> = (0..20).map(|n| f64::from(n % 3 == 0)).collect();
        let design = DesignMatrix::new(x.clone(), 3, (1..=3).map(|k| format!("x{k}")).collect()).unwrap();
        let known = LogisticRegression::new(design, y.iter().map(|y| 2.0 * y - 1.0).collect(), 1.0).unwrap();
        let own = sum_over_rows(3, 20, |n, z, gradient| {
            let row = &x[3 * n..3 * n + 3];
            let eta: f64 = row.iter().zip(z).map(|(x, z)| x * z).sum();
            let p = 1.0 / (1.0 + (-eta).exp());
            gradient.iter_mut().zip(row).for_each(|(g, x)| *g += (y[n] - p) * x);
            y[n] * eta - eta.exp().ln_1p()
        })
        .normal_prior(0.0, 1.0);
        let z = [0.3, -1.0, 2.0, 0.0, 0.5, -0.7];
        let some = [1, 4, 5, 19];
        for rows in [Rows::All, Rows::Subset(&some)] {
            for want in [Want::Values, Want::Gradients, Want::ItemGradients { draw: 1 }] {
                let ask = Ask { draws: Draws::new(3, &z), rows, want };
                let answers = [&own as &dyn Target, &known].map(|target| {
                    let mut answer = Answer::new(3, 2);
                    answer.set_items(rows.len(20));
                    // Twice: what an answer held before does not count.
                    target.evaluate(&ask, &mut answer).unwrap();
                    target.evaluate(&ask, &mut answer).unwrap();
                    match want {
                        Want::Values => answer.log_p().to_vec(),
                        Want::Gradients => [answer.log_p(), answer.grads()].concat(),
                        _ => answer.items().to_vec(),
                    }
                });
                let [found, truth] = answers;
                assert_eq!(found.len(), truth.len());
                for (found, truth) in found.iter().zip(truth) {
                    assert!((found - truth).abs() < 1e-12, "{want:?}: {found} {truth}");
                }
            }
        }
    }
}
