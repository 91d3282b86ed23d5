//! Members of the conditionally Gaussian families, made from the plain data of a case.

use crate::state::{BlockState, State, Stated};
use elinvar::family::{Approximation, Family, Kind};
use elinvar::internals::Numbers;
use elinvar::internals::family::BlockGradient;
use elinvar::internals::family::{Batch, DrawPlan, Estimator, FactorEstimator, MeanVarianceEstimator};
use elinvar::target::Covariance;
use serde_json::Value;

use super::dense::{Matrix, difference};
use super::json::{flag, given, matrix};

/// One draw as the vectors list it: z, and w where the family has it.
pub(crate) struct ListedDraw {
    pub(crate) z: Vec<f64>,
    pub(crate) w: Vec<f64>,
}

/// What the checks ask of a member besides the library's own interface.
pub(crate) trait Member {
    /// B, d × r.
    fn b(&self) -> Matrix;
    /// P, full also when the family stores a diagonal.
    fn precision(&self) -> Matrix;
    /// Ω.
    fn omega_matrix(&self) -> Matrix;
    /// G as a full matrix.
    fn g_matrix(&self, gradient: &BlockGradient) -> Matrix;
    /// The estimator and the batch of these draws.
    fn placed(&self, draws: &[ListedDraw], plan: &DrawPlan) -> (Box<dyn Estimator>, Batch);
}

/// The matrix of d² entries, or the diagonal matrix of d.
fn spread(dim: usize, entries: &[f64]) -> Matrix {
    if entries.len() == dim * dim && dim > 1 { Matrix::from_columns(dim, entries) } else { Matrix::diagonal(entries) }
}

/// ε = Lᵀ(z − Bũ)/√s for P = L Lᵀ.
fn standardised(precision: &Matrix, z: &[f64], centre: &[f64], scale: f64) -> Vec<f64> {
    let l = precision.cholesky().expect("a precision is positive definite");
    let eps = l.transposed().times_vector(&difference(z, centre));
    eps.into_iter().map(|v| v / scale.sqrt()).collect()
}

fn centre(b: &Matrix, u: &[f64]) -> Vec<f64> {
    let tilde: Vec<f64> = std::iter::once(1.0).chain(u.iter().copied()).take(b.cols).collect();
    b.times_vector(&tilde)
}

impl Member for Approximation {
    fn b(&self) -> Matrix {
        Matrix::from_columns(self.dim(), self.locations()[0].b())
    }

    fn precision(&self) -> Matrix {
        spread(self.dim(), self.locations()[0].scale().precision())
    }

    fn omega_matrix(&self) -> Matrix {
        let m = self.law().moments();
        match self.locations()[0].n_columns() {
            2 if self.law().is_shifted() => Matrix::from_columns(2, &[m.inv_s, m.u_inv_s, m.u_inv_s, m.uu_inv_s]),
            // Factors are standard normal.
            r => Matrix::diagonal(&vec![m.inv_s; r]),
        }
    }

    fn g_matrix(&self, gradient: &BlockGradient) -> Matrix {
        spread(self.dim(), &gradient.g)
    }

    fn placed(&self, draws: &[ListedDraw], plan: &DrawPlan) -> (Box<dyn Estimator>, Batch) {
        let (b, precision) = (self.b(), Member::precision(self));
        if let Kind::RankK { .. } = self.family().kind {
            let normals = draws.iter().flat_map(|draw| {
                let eps = standardised(&precision, &draw.z, &centre(&b, &draw.w), 1.0);
                draw.w.iter().copied().chain(eps).collect::<Vec<_>>()
            });
            let mut estimator = FactorEstimator::new(self, plan);
            let mut batch = estimator.batch(self);
            estimator.set_noise(&normals.collect::<Vec<_>>());
            estimator.place(self, &mut batch);
            return (Box::new(estimator), batch);
        }
        let law = self.law();
        let w: Vec<f64> = draws.iter().map(|draw| draw.w.first().copied().unwrap_or(1.0)).collect();
        let eps = draws
            .iter()
            .zip(&w)
            .flat_map(|(draw, w)| standardised(&precision, &draw.z, &centre(&b, &[law.shift(*w)]), law.scale(*w)));
        let mut estimator = MeanVarianceEstimator::new(self, plan);
        let mut batch = estimator.batch(self);
        estimator.set_noise(&w, &eps.collect::<Vec<_>>());
        estimator.place(self, &mut batch);
        (Box::new(estimator), batch)
    }
}

/// The family of this name with the constant `par` of a case and `columns` columns of B.
pub(crate) fn kind(name: &str, par: Option<f64>, columns: usize) -> Kind {
    let par = |what: &str| par.unwrap_or_else(|| panic!("`{name}` needs {what}"));
    match name {
        "gaussian" => Kind::Gaussian,
        "student_t" => Family::student_t(par("a")).kind,
        "skew" => Family::skew().kind,
        "emg" => Family::emg().kind,
        "nig" => Family::nig(par("lambda")).kind,
        "snig" => Family::snig(par("lambda")).kind,
        "rank_k" => Kind::RankK { rank: columns - 1 },
        other => panic!("`{other}` is not a family of the engine"),
    }
}

/// The member of the family `name` with the B, Sigma, par and diagonal of a case.
pub(crate) fn member(name: &str, case: &Value) -> Approximation {
    let (b, sigma) = (matrix(case, "B"), matrix(case, "Sigma"));
    let kind = kind(name, given(case, "par").and_then(Value::as_f64), b.cols);
    let (covariance, precision) = if flag(case, "diagonal") {
        (Covariance::Diagonal, sigma.diagonal_entries().iter().map(|v| 1.0 / v).collect())
    } else {
        (Covariance::Full, sigma.inverse().entries)
    };
    let state = State {
        family: Family { kind, covariance },
        dim: b.rows,
        blocks: vec![BlockState { b: b.entries, precision }],
        log_weights: vec![0.0],
    };
    Approximation::from_state(&state).unwrap_or_else(|e| panic!("{name}: {e}"))
}
