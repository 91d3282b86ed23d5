//! Logistic targets of the vectors, evaluated as a run evaluates them.

use elinvar::family::Approximation;
use elinvar::internals::family::{Batch, Estimator};
use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar::target::{Answer, Ask, Contraction, Covariance, CurvatureMut, Draws, Parts, Prior, Rows, Target, Want};
use serde_json::Value;

use super::json::{matrix, number, vector};

/// Whether the prior is declared or part of what is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PriorForm {
    Declared,
    Evaluated,
}

/// Items (X, y) with the factor N/M and the rows of the mini-batch.
pub(crate) struct Items {
    pub(crate) model: LogisticRegression,
    rows: Option<Vec<u32>>,
    factor: f64,
    prior: Prior,
}

impl Items {
    /// The items of a case; without `batch` all of them.
    pub(crate) fn of(case: &Value) -> Self {
        let x = matrix(case, "X");
        let names = (0..x.cols).map(|i| format!("x{i}")).collect();
        let (n_rows, dim) = (x.rows, x.cols);
        let design = DesignMatrix::new(x.transposed().entries, dim, names).expect("a design matrix");
        let precision = number(case, "prior_precision");
        let model = LogisticRegression::new(design, vector(case, "y"), precision).expect("a logistic regression");
        let rows: Option<Vec<u32>> =
            super::json::given(case, "batch").map(|_| vector(case, "batch").iter().map(|i| *i as u32).collect());
        let total = case["N"].as_f64().unwrap_or(n_rows as f64);
        let factor = rows.as_ref().map_or(1.0, |rows| total / rows.len() as f64);
        Self { model, rows, factor, prior: Prior::Gaussian { precision, leading: dim } }
    }

    pub(crate) fn gaussian_prior(&self) -> Prior {
        self.prior.clone()
    }

    fn rows(&self) -> Rows<'_> {
        self.rows.as_ref().map_or(Rows::All, |rows| Rows::Subset(rows))
    }

    /// log p, its gradient and its contracted Hessian at a batch, likelihood scaled by N/M.
    pub(crate) fn evaluate(
        &self,
        q: &Approximation,
        work: &dyn Estimator,
        batch: &Batch,
        form: PriorForm,
    ) -> (Answer, Vec<f64>) {
        let d = q.dim();
        let Prior::Gaussian { precision, .. } = self.prior else { panic!("the items have a Gaussian prior") };
        let draws = batch.draws.view();
        let contraction = work.contraction();
        let mut out = Answer::new(d, draws.len()).with_curvature(q.family().covariance, contraction.len());
        let ask = Ask { draws, rows: self.rows(), want: Want::Hessian(contraction) };
        self.model.evaluate(&ask, &mut out).expect("an evaluation");
        let mut curvature = out.curvature().to_vec();
        let Parts { log_p, grad: grads, .. } = out.parts_mut();
        log_p.iter_mut().chain(grads.iter_mut()).chain(&mut curvature).for_each(|v| *v *= self.factor);
        if form == PriorForm::Evaluated {
            for (log_p, z) in log_p.iter_mut().zip(draws.iter()) {
                *log_p += self.prior.log_density(z);
            }
            grads.iter_mut().zip(draws.as_slice()).for_each(|(g, z)| *g -= precision * z);
            let mut view = CurvatureMut::new(q.family().covariance, d, &mut curvature);
            for k in 0..contraction.len() {
                view.add_identity(k, -precision * contraction.weights(k).iter().sum::<f64>());
            }
        }
        (out, curvature)
    }

    /// log p(D, z) with its gradient and Hessian, prior included.
    pub(crate) fn at(&self, z: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let d = z.len();
        let want = Want::Hessian(Contraction::shared(&[1.0], 1));
        let mut out = Answer::new(d, 1).with_curvature(Covariance::Full, 1);
        let ask = Ask { draws: Draws::new(d, z), rows: self.rows(), want };
        self.model.evaluate(&ask, &mut out).expect("an evaluation");
        let mut hessian = out.curvature().to_vec();
        let precision = self.model.about().prior.precision(0);
        hessian.iter_mut().for_each(|v| *v *= self.factor);
        (0..d).for_each(|i| hessian[i * d + i] -= precision);
        let grad = out.grad(0).iter().zip(z).map(|(g, z)| self.factor * g - precision * z).collect();
        (self.factor * out.log_p()[0] + self.prior.log_density(z), grad, hessian)
    }
}
