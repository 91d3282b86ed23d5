//! Ready-made targets, one per file: value, gradient and Hessian of each are written out.

mod banana;
mod beta_binomial;
mod design_matrix;
mod eight_schools;
mod funnel;
mod gaussian;
mod gaussian_mixture;
mod glm;
mod half_cauchy;
pub(crate) mod kernels;
mod linear_regression;
mod logistic_regression;
mod poisson_regression;
mod rising_factorial;

pub use banana::Banana;
pub use beta_binomial::BetaBinomial;
pub use design_matrix::DesignMatrix;
pub use eight_schools::{EightSchools, Parametrisation};
pub use funnel::Funnel;
pub use gaussian::Gaussian;
pub use gaussian_mixture::GaussianMixture;
pub use glm::{Glm, Likelihood};
pub use linear_regression::LinearRegression;
pub use logistic_regression::{Bernoulli, LogisticRegression};
pub use poisson_regression::{Poisson, PoissonRegression};
