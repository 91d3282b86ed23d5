//! Where the draws of a finite mixture come from.

use serde::{Deserialize, Serialize};

/// Unbiased estimators of E_c\[·\] (mathematics §1.3, compared in mathematics §10.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sampling {
    /// Scheme M: draws from the mixture, each weighted by q(c|z)/π_c for every component; variance grows like 1/π_c.
    ///
    /// Paper: §4.1, App. B.
    Mixture,
    /// Scheme M with `n_draws` draws in all: of the mixture as a whole, also fewer than it has components.
    ///
    /// Paper: §4.1, App. B.
    Whole,
    /// The draws of [`Sampling::Whole`], each differentiated as one of the mixture by implicit reparameterisation,
    /// weights included: for `mog` with diagonal covariances under `euclidean_adam` or `gradient_descent` with
    /// curvature `stein_plain` (mathematics §9.4).
    ///
    /// Figurnov, Mohamed & Mnih 2018.
    Implicit,
    /// Scheme D: the same number of draws from each component, shared with deterministic-mixture weights.
    Stratified,
    /// Scheme C: each component is moved by its own draws only.
    #[default]
    OwnDraws,
}

impl Sampling {
    /// Whether draws come from the mixture, with components at random.
    pub(crate) fn is_of_mixture(self) -> bool {
        matches!(self, Sampling::Mixture | Sampling::Whole | Sampling::Implicit)
    }

    /// Number of draws of a batch for `components` components.
    pub(crate) fn n_in_all(self, n_draws: usize, components: usize) -> usize {
        if matches!(self, Sampling::Whole | Sampling::Implicit) { n_draws } else { components * n_draws }
    }
}

impl std::fmt::Display for Sampling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Sampling::Mixture => "mixture",
            Sampling::Whole => "whole",
            Sampling::Implicit => "implicit",
            Sampling::Stratified => "stratified",
            Sampling::OwnDraws => "own_draws",
        })
    }
}
