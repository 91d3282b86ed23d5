//! Special functions, implicit derivatives and quadrature rules that stay accurate where the algorithms need them
//! (mathematics §8).

pub(crate) mod bessel_i;
pub(crate) mod bessel_k;
pub(crate) mod exponential_integral;
pub(crate) mod gamma;
pub(crate) mod gig;
pub(crate) mod half_line;
pub(crate) mod implicit;
pub(crate) mod kolmogorov;
pub(crate) mod legendre;
pub(crate) mod logistic;
pub(crate) mod mean_mixture_entropy;
pub(crate) mod normal;
pub(crate) mod normal_quantile;
pub(crate) mod order;
pub(crate) mod orthant;
pub(crate) mod radial;
pub(crate) mod simd;
pub(crate) mod trapezoid;

#[cfg(test)]
mod quadrature;
