//! Models of posteriordb that nobody else has asked for yet.

mod arma11;
mod autoregression;
mod gaussian_process_poisson;
mod kernel_jet;
mod ordered_mixture;
#[cfg(test)]
mod tests;

pub(crate) use arma11::Arma11;
pub(crate) use autoregression::Autoregression;
pub(crate) use gaussian_process_poisson::{GaussianProcessPoisson, Whitening};
pub(crate) use ordered_mixture::OrderedMixture;
