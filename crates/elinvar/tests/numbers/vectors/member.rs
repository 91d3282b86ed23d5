//! Members of the conditionally Gaussian families, made from the plain data of a case.

use elinvar::block::{Diagonal, Full, LocationGradient, ScaleMatrix};
use elinvar::family::{AnyApproximation, Approximation, Batch, BlockState, Family, Kind, State};
use elinvar::family::{
    ExponentiallyModifiedGaussian, FactorGaussian, Gaussian, Nig, SkewGaussian, StudentT, SymmetricNig,
};
use elinvar::law::MixingLaw;
use elinvar::target::{Covariance, Prior};
use serde_json::Value;

use super::dense::{Matrix, difference};
use super::json::{flag, given, matrix};

/// One draw as the vectors list it: z, and w where the family has it.
pub(crate) struct ListedDraw {
    pub(crate) z: Vec<f64>,
    pub(crate) w: Vec<f64>,
}

/// What the checks ask of a family besides [`Approximation`].
pub(crate) trait Member: Approximation<Gradient = LocationGradient> {
    /// B, d × r.
    fn b(&self) -> Matrix;
    /// P, full also when the family stores a diagonal.
    fn precision(&self) -> Matrix;
    /// Ω.
    fn omega_matrix(&self) -> Matrix;
    /// ∇_B H and −2∇_Σ H.
    fn entropy_slopes(&self) -> Option<LocationGradient>;
    /// ∇_B and −2∇_Σ of E[log prior].
    fn prior_slopes(&self, prior: &Prior) -> LocationGradient;
    /// Makes the library's batch of these draws.
    fn place_listed(&self, draws: &[ListedDraw], work: &mut Self::Work, batch: &mut Batch);

    /// G as a full matrix.
    fn g_matrix(&self, gradient: &LocationGradient) -> Matrix {
        spread(self.dim(), &gradient.g)
    }
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

macro_rules! mixture_members {
    ($($family:ident),*) => { $(mixture_members!(@one $family, Full); mixture_members!(@one $family, Diagonal);)* };
    (@one $family:ident, $scale:ident) => {
        impl Member for $family<$scale> {
            fn b(&self) -> Matrix {
                Matrix::from_columns(self.dim(), self.block().b())
            }

            fn precision(&self) -> Matrix {
                spread(self.dim(), self.block().scale().precision())
            }

            fn omega_matrix(&self) -> Matrix {
                let r = self.block().n_columns();
                Matrix::from_columns(r, &self.omega().0[..r * r])
            }

            fn entropy_slopes(&self) -> Option<LocationGradient> {
                self.entropy_gradient()
            }

            fn prior_slopes(&self, prior: &Prior) -> LocationGradient {
                self.prior_gradient(prior)
            }

            fn place_listed(&self, draws: &[ListedDraw], work: &mut Self::Work, batch: &mut Batch) {
                let (b, precision) = (self.b(), Member::precision(self));
                let w: Vec<f64> = draws.iter().map(|draw| draw.w.first().copied().unwrap_or(1.0)).collect();
                let eps = draws.iter().zip(&w).flat_map(|(draw, w)| {
                    standardised(&precision, &draw.z, &centre(&b, &[self.law().shift(*w)]), self.law().scale(*w))
                });
                work.set_noise(&w, &eps.collect::<Vec<_>>());
                self.place(work, batch);
            }
        }
    };
}

mixture_members!(Gaussian, StudentT, SkewGaussian, ExponentiallyModifiedGaussian, Nig, SymmetricNig);

macro_rules! factor_members {
    ($($scale:ident),*) => { $(
        impl Member for FactorGaussian<$scale> {
            fn b(&self) -> Matrix {
                Matrix::from_columns(self.dim(), self.block().b())
            }

            fn precision(&self) -> Matrix {
                spread(self.dim(), self.block().scale().precision())
            }

            fn omega_matrix(&self) -> Matrix {
                Matrix::diagonal(&vec![1.0; 1 + self.rank()])
            }

            fn entropy_slopes(&self) -> Option<LocationGradient> {
                Some(self.entropy_gradient())
            }

            fn prior_slopes(&self, prior: &Prior) -> LocationGradient {
                self.prior_gradient(prior)
            }

            fn place_listed(&self, draws: &[ListedDraw], work: &mut Self::Work, batch: &mut Batch) {
                let (b, precision) = (self.b(), Member::precision(self));
                let normals = draws.iter().flat_map(|draw| {
                    let eps = standardised(&precision, &draw.z, &centre(&b, &draw.w), 1.0);
                    draw.w.iter().copied().chain(eps).collect::<Vec<_>>()
                });
                work.set_noise(&normals.collect::<Vec<_>>());
                self.place(work, batch);
            }
        }
    )* };
}

factor_members!(Full, Diagonal);

/// The family of this name with the constant `par` of a case and `columns` columns of B.
pub(crate) fn kind(name: &str, par: Option<f64>, columns: usize) -> Kind {
    let par = |what: &str| par.unwrap_or_else(|| panic!("`{name}` needs {what}"));
    match name {
        "gaussian" => Kind::Gaussian,
        "student_t" => Kind::StudentT { a: par("a"), learn: false },
        "skew" => Kind::Skew,
        "emg" => Kind::Emg,
        "nig" => Kind::Nig { lambda: par("lambda") },
        "snig" => Kind::Snig { lambda: par("lambda") },
        "rank_k" => Kind::RankK { rank: columns - 1 },
        other => panic!("`{other}` is not a family of the engine"),
    }
}

/// The member of the family `name` with the B, Sigma, par and diagonal of a case.
pub(crate) fn member(name: &str, case: &Value) -> AnyApproximation {
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
    AnyApproximation::from_state(&state).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Evaluates an expression with the concrete member bound to a name.
macro_rules! with_member {
    ($any:expr, $q:ident => $body:expr) => {
        match $any {
            elinvar::family::AnyApproximation::Gaussian($q) => $body,
            elinvar::family::AnyApproximation::GaussianDiagonal($q) => $body,
            elinvar::family::AnyApproximation::StudentT($q) => $body,
            elinvar::family::AnyApproximation::StudentTDiagonal($q) => $body,
            elinvar::family::AnyApproximation::Skew($q) => $body,
            elinvar::family::AnyApproximation::SkewDiagonal($q) => $body,
            elinvar::family::AnyApproximation::Emg($q) => $body,
            elinvar::family::AnyApproximation::EmgDiagonal($q) => $body,
            elinvar::family::AnyApproximation::Nig($q) => $body,
            elinvar::family::AnyApproximation::NigDiagonal($q) => $body,
            elinvar::family::AnyApproximation::Snig($q) => $body,
            elinvar::family::AnyApproximation::SnigDiagonal($q) => $body,
            elinvar::family::AnyApproximation::RankK($q) => $body,
            elinvar::family::AnyApproximation::RankKDiagonal($q) => $body,
            other => panic!("{:?} has no block (B, P) of its own", other.state().family),
        }
    };
}
pub(crate) use with_member;
