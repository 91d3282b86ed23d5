//! Special functions, implicit derivatives and quadrature rules that stay accurate where the algorithms need them
//! (mathematics §8).

pub mod bessel_i;
pub mod bessel_k;
pub mod exponential_integral;
pub mod gamma;
pub mod gig;
pub mod half_line;
pub mod implicit;
pub mod kolmogorov;
pub mod legendre;
pub mod logistic;
pub mod mean_mixture_entropy;
pub mod normal;
pub mod normal_quantile;
#[cfg(any(test, feature = "theory"))]
pub mod quadrature;
pub mod radial;
pub(crate) mod simd;
