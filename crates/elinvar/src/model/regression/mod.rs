//! Regressions whose rows depend on parameters besides the linear predictor: Σ_n w_n ℓ(y_n, η_n, a), its gradient and
//! its contracted Hessians in one pass over the rows.
//!
//! A likelihood is a [`RowLaw`]: scalar functions of one row. As in generalised linear models rows are taken in blocks,
//! and large problems are cut into a fixed number of chunks whose sums are added in order.

mod beta;
mod binomial;
mod gamma;
mod negative_binomial;
mod pass;
mod student_t;

pub use beta::Beta;
pub use binomial::Binomial;
pub use gamma::Gamma;
pub use negative_binomial::NegativeBinomial;
pub use student_t::StudentT;

use std::marker::PhantomData;

use super::glm::block_rows;
use super::rows::check_of_rows;
use super::{DesignMatrix, NoisePrior};
use crate::Error;
use crate::target::{About, Answer, Ask, Covariance, Derivatives, Offers, Prior, Room, Target, TargetError, Transform};
use pass::Sizes;

/// Most parameters that a law has besides the linear predictor.
pub(super) const MOST: usize = 2;

/// ℓ of a row with its derivatives in η and in the parameters a, which are logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slopes {
    /// ℓ.
    pub value: f64,
    /// ∂ℓ/∂η.
    pub eta: f64,
    /// ∂²ℓ/∂η².
    pub eta_eta: f64,
    /// ∂ℓ/∂a.
    pub auxiliary: [f64; MOST],
    /// ∂²ℓ/∂η∂a.
    pub eta_auxiliary: [f64; MOST],
    /// ∂²ℓ/∂a₁², ∂²ℓ/∂a₁∂a₂ and ∂²ℓ/∂a₂².
    pub auxiliary_auxiliary: [f64; 3],
}

/// The law of a response given its linear predictor and positive parameters that all rows share.
pub trait RowLaw: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Names of these parameters; at most two.
    const AUXILIARY: &'static [&'static str];

    /// What all rows share under one draw.
    type Shared: Copy;

    /// That of a draw with these logarithms of the parameters.
    fn shared(log_auxiliary: &[f64]) -> Self::Shared;

    /// ℓ(y, η, a): log p without the constant of the row.
    fn value(shared: &Self::Shared, y: f64, trials: f64, eta: f64) -> f64;

    /// ℓ with its derivatives.
    fn slopes(shared: &Self::Shared, y: f64, trials: f64, eta: f64) -> Slopes;

    /// What ℓ leaves out of log p: a function of the response alone.
    fn constant(y: f64, trials: f64) -> f64;

    /// What is wrong with a response, if anything is.
    fn fault(y: f64, trials: f64) -> Option<&'static str>;

    /// The priors of the parameters unless others are given.
    fn usual_priors() -> Vec<NoisePrior>;
}

/// A regression with a [`RowLaw`]; z = (β, a) with the logarithms a of the parameters beside the coefficients.
///
/// The prior of β is declared; those of the parameters, with their Jacobians, are part of the sum over rows, 1/N of
/// them in each.
///
/// ```
/// use elinvar::model::{DesignMatrix, NegativeBinomialRegression};
/// use elinvar::research::target::Target;
///
/// let x = DesignMatrix::new(vec![-1.0, 0.5, 2.0], 1, vec!["dose".into()])?.with_intercept();
/// let model = NegativeBinomialRegression::new(x, vec![0.0, 3.0, 9.0], 0.1)?;
/// assert_eq!(model.about().parameters, ["intercept", "dose", "shape"]);
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Regression<L> {
    x: DesignMatrix,
    y: Vec<f64>,
    /// One number per row, or empty.
    trials: Vec<f64>,
    offset: Vec<f64>,
    weights: Vec<f64>,
    /// What ℓ leaves out of log p, times the weight.
    constants: Vec<f64>,
    coefficient_prior: Prior,
    auxiliary_priors: Vec<NoisePrior>,
    /// Rows of the whole of which this is a part, or its own.
    n_rows_of_whole: usize,
    law: PhantomData<L>,
}

/// Counts with more spread than a Poisson law: y ~ NB(e^η, shape).
pub type NegativeBinomialRegression = Regression<NegativeBinomial>;
/// Numbers with outliers: y ~ t(η, sigma, nu).
pub type StudentTRegression = Regression<StudentT>;
/// Events among trials: y ~ Binomial(n, 1/(1 + e^−η)).
pub type BinomialRegression = Regression<Binomial>;
/// Positive numbers: y ~ Gamma with mean e^η and the given shape.
pub type GammaRegression = Regression<Gamma>;
/// Shares between 0 and 1: y ~ Beta with mean 1/(1 + e^−η) and the given precision.
pub type BetaRegression = Regression<Beta>;

impl<L: RowLaw> Regression<L> {
    /// The model with β ~ N(0, I/δ) for the prior precision δ and the usual priors of the other parameters.
    ///
    /// # Errors
    /// If the number of responses is not the number of rows, a response is not what the law takes, or δ is not
    /// positive.
    pub fn new(x: DesignMatrix, y: Vec<f64>, prior_precision: f64) -> Result<Self, Error> {
        Self::of_trials(x, y, Vec::new(), prior_precision)
    }

    /// The same with the number of trials of each row.
    ///
    /// # Errors
    /// As [`Regression::new`].
    pub fn of_trials(x: DesignMatrix, y: Vec<f64>, trials: Vec<f64>, prior_precision: f64) -> Result<Self, Error> {
        super::glm::check_precision(prior_precision)?;
        let n = x.n_rows();
        check_of_rows("responses (one per row)", &y, n, f64::NEG_INFINITY)?;
        if !trials.is_empty() {
            check_of_rows("trials (one per row)", &trials, n, 0.0)?;
        }
        let of_row = |i: usize| trials.get(i).copied().unwrap_or(1.0);
        if let Some((i, fault)) = (0..n).find_map(|i| L::fault(y[i], of_row(i)).map(|fault| (i, fault))) {
            let (place, problem) = (format!("response of row {}", i + 1), format!("{} is not {fault}", y[i]));
            return Err(Error::Data { place, problem });
        }
        let constants = (0..n).map(|i| L::constant(y[i], of_row(i))).collect();
        let coefficient_prior = Prior::Gaussian { precision: prior_precision, leading: x.n_cols() };
        let auxiliary_priors = L::usual_priors();
        let (offset, weights, law) = (Vec::new(), Vec::new(), PhantomData);
        let n_rows_of_whole = n;
        Ok(Self { x, y, trials, offset, weights, constants, coefficient_prior, auxiliary_priors, n_rows_of_whole, law })
    }

    /// The same model with η_n = x_nᵀβ + offset_n.
    ///
    /// # Errors
    /// If there is not one finite number for each row.
    pub fn with_offset(self, offset: Vec<f64>) -> Result<Self, Error> {
        check_of_rows("offsets (one per row)", &offset, self.x.n_rows(), f64::NEG_INFINITY)?;
        Ok(Self { offset, ..self })
    }

    /// The same model in which the log density of row n is multiplied by weight_n ≥ 0.
    ///
    /// # Errors
    /// If there is not one for each row, or one is negative.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check_of_rows("weights (one per row)", &weights, self.x.n_rows(), 0.0)?;
        self.constants = (0..self.y.len()).map(|i| weights[i] * L::constant(self.y[i], self.trials_of(i))).collect();
        Ok(Self { weights, ..self })
    }

    /// The same model with another prior of the coefficients.
    ///
    /// # Errors
    /// As [`Prior::check`].
    pub fn with_coefficient_prior(self, coefficient_prior: Prior) -> Result<Self, Error> {
        coefficient_prior.check(self.x.n_cols())?;
        Ok(Self { coefficient_prior, ..self })
    }

    /// The same model with other priors of the parameters beside the coefficients, one for each.
    ///
    /// # Errors
    /// If there is not one for each, or a constant is not in its domain.
    pub fn with_auxiliary_priors(self, auxiliary_priors: Vec<NoisePrior>) -> Result<Self, Error> {
        let (expected, found) = (L::AUXILIARY.len(), auxiliary_priors.len());
        if expected != found {
            return Err(Error::Shape { what: "priors of parameters beside the coefficients", expected, found });
        }
        auxiliary_priors.iter().try_for_each(NoisePrior::check)?;
        Ok(Self { auxiliary_priors, ..self })
    }

    /// The same model as a part of one with so many rows: its rows hold their share of the priors beside the
    /// coefficients, so that the parts add up to the whole.
    pub fn as_part_of(self, n_rows: usize) -> Self {
        Self { n_rows_of_whole: n_rows, ..self }
    }

    /// The features.
    pub fn design(&self) -> &DesignMatrix {
        &self.x
    }

    /// The responses.
    pub fn responses(&self) -> &[f64] {
        &self.y
    }

    /// Trials of each row; empty for one each.
    pub fn trials(&self) -> &[f64] {
        &self.trials
    }

    /// What is added to η of each row; empty for nothing.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// What the log density of each row is multiplied by; empty for 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn trials_of(&self, i: usize) -> f64 {
        self.trials.get(i).copied().unwrap_or(1.0)
    }
}

impl<L: RowLaw> Target for Regression<L> {
    fn about(&self) -> About {
        let (p, k) = (self.x.n_cols(), L::AUXILIARY.len());
        let (names, parameters) = (self.x.names().iter().cloned(), self.x.table_names().iter().cloned());
        About {
            names: names.chain(L::AUXILIARY.iter().map(|name| format!("log_{name}"))).collect(),
            parameters: parameters.chain(L::AUXILIARY.iter().map(|name| (*name).into())).collect(),
            transforms: self.x.transforms(1, vec![Transform::Log; k]),
            prior: self.coefficient_prior.clone(),
            n_rows: Some(self.x.n_rows()),
            offers: Offers { values: true, hessian: true, ..Offers::GRADIENT },
            derivatives: Derivatives::Known,
            room: room(p, k),
            ..About::new(p + k)
        }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.pass(ask, answer.parts_mut());
        Ok(())
    }
}

/// The most that a pass takes, whatever is asked.
fn room(p: usize, k: usize) -> Room {
    let per_draw = |n: usize| Sizes::of(p, k, n, 0, Covariance::Full).total() * pass::N_CHUNKS;
    let once = 2 * per_draw(1);
    Room { once, per_draw: per_draw(block_rows(1)) / block_rows(1) + 1, of_sums: 0, per_entry: 2 * pass::N_CHUNKS }
}
