//! Ready-made targets, one per file: value, gradient and Hessian of each are written out.

mod banana;
mod beta_binomial;
mod categorical_regression;
mod category_shares;
mod design_matrix;
mod direction;
mod eight_schools;
mod funnel;
mod gaussian;
mod gaussian_mixture;
mod glm;
mod half_cauchy;
mod join;
pub(crate) mod kernels;
mod linear_regression;
mod logistic_regression;
mod neural_network;
mod noise_prior;
mod ordinal_regression;
mod poisson_rate;
mod poisson_regression;
mod proportion;
mod regression;
mod rising_factorial;
mod rows;

pub use banana::Banana;
pub use beta_binomial::BetaBinomial;
pub use categorical_regression::CategoricalRegression;
pub use category_shares::CategoryShares;
pub use design_matrix::DesignMatrix;
pub use direction::Direction;
pub use eight_schools::{EightSchools, Parametrisation};
pub use funnel::Funnel;
pub use gaussian::Gaussian;
pub use gaussian_mixture::GaussianMixture;
pub use glm::{Glm, Likelihood};
pub use linear_regression::LinearRegression;
pub use logistic_regression::{Bernoulli, LogisticRegression};
pub use neural_network::{Activation, Architecture, NetworkLikelihood, NetworkNoise, NeuralNetwork, Predictions};
pub use noise_prior::NoisePrior;
pub use ordinal_regression::OrdinalRegression;
pub use poisson_rate::PoissonRate;
pub use poisson_regression::{Poisson, PoissonRegression};
pub use proportion::Proportion;
pub use regression::{
    Beta, BetaRegression, Binomial, BinomialRegression, Gamma, GammaRegression, NegativeBinomial,
    NegativeBinomialRegression, Regression, RowLaw, Slopes, StudentT, StudentTRegression,
};
