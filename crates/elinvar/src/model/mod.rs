//! Ready-made targets, one per file: value, gradient and Hessian of each are written out.

mod design_matrix;
mod glm;
pub(crate) mod kernels;
mod logistic_regression;
mod poisson_regression;

pub use design_matrix::DesignMatrix;
pub use logistic_regression::LogisticRegression;
pub use poisson_regression::PoissonRegression;
