//! Which function of (w, z) multiplies a draw's gradient and Hessian.

use serde::{Deserialize, Serialize};

/// The weights ũ and s of the Bonnet and Price identities, mathematics §0 (0.1): three estimators with the same mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MixingWeights {
    /// Option I: u(w) and s(w) of the sampled w.
    Sampled,
    /// Option II: the paper's marginal form; for `skew` and `emg` a second gradient at ẑ = z − u(w)α, elsewhere as
    /// option III.
    Marginal,
    /// Option III: E[u | z] and E[s | z]; never more variance than option I.
    #[default]
    Conditional,
}

impl std::fmt::Display for MixingWeights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MixingWeights::Sampled => "sampled",
            MixingWeights::Marginal => "marginal",
            MixingWeights::Conditional => "conditional",
        })
    }
}
