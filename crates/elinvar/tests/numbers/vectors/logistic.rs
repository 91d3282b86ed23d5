//! Logistic targets of the vectors, evaluated as a run evaluates them.

use elinvar::family::{Approximation, Batch, Estimator};
use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar::target::{CurvatureMut, Evaluations, Prior, Rows, SecondOrder, Target};
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
    ) -> (Evaluations, Vec<f64>) {
        let d = q.dim();
        let Prior::Gaussian { precision, .. } = self.prior else { panic!("the items have a Gaussian prior") };
        let draws = batch.draws.view();
        let mut out = Evaluations::new(d, draws.len());
        let mut curvature = vec![0.0; q.n_components() * q.family().covariance.n_entries(d)];
        let contraction = work.contraction();
        let view = CurvatureMut::new(q.family().covariance, d, &mut curvature);
        self.model.evaluate_and_contract(draws, self.rows(), contraction, &mut out, view).expect("an evaluation");
        let (log_p, grads, _) = out.parts_mut();
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
        let draws = elinvar::target::Draws::new(d, z);
        let contraction = elinvar::target::Contraction::shared(&[1.0], 1);
        let (mut out, mut hessian) = (Evaluations::new(d, 1), vec![0.0; d * d]);
        let view = CurvatureMut::new(elinvar::target::Covariance::Full, d, &mut hessian);
        self.model.evaluate_and_contract(draws, self.rows(), contraction, &mut out, view).expect("an evaluation");
        let Prior::Gaussian { precision, .. } = self.model.prior() else { panic!("the model declares its prior") };
        hessian.iter_mut().for_each(|v| *v *= self.factor);
        (0..d).for_each(|i| hessian[i * d + i] -= precision);
        let grad = out.grad(0).iter().zip(z).map(|(g, z)| self.factor * g - precision * z).collect();
        (self.factor * out.log_p()[0] + self.prior.log_density(z), grad, hessian)
    }
}
