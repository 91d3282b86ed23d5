//! The Adam-like rule: running means of gradients and of squared gradients (mathematics §7.2).

use serde::{Deserialize, Serialize};

use super::check_rate;
use crate::Error;

/// How the running mean of squared gradients divides that of gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Root {
    /// √(s + kδ/N): the boxes of the paper.
    #[default]
    PaperRoot,
    /// √s + kδ/N: Vadam's.
    VadamRoot,
    /// s + kδ/N without a root: with γ₁ = 0, 1 − γ₂ = β and no bias correction the diagonal natural-gradient step.
    Newton,
}

/// Which running means are divided by 1 − γᵗ, their bias when they start from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BiasCorrection {
    /// m and, prior term included, s + kδ/N: the boxes of the paper. A run starts from s = 0.
    #[default]
    Both,
    /// m and s without the prior term, which starts right and so needs no correction. A run starts from s = 0.
    DataOnly,
    /// m alone. A run starts from the precision of its start.
    MomentumOnly,
    /// Neither. A run starts from the precision of its start.
    None,
}

impl BiasCorrection {
    /// Whether s starts from zero, so that P = kδ at first.
    pub fn starts_from_the_prior(self) -> bool {
        matches!(self, BiasCorrection::Both | BiasCorrection::DataOnly)
    }
}

/// The constants of the rule.
///
/// m ← γ₁m + (1−γ₁)n, s ← γ₂s + (1−γ₂)g_s and B ← B − β m̂/√ŝ, where n = −(∇_B L)Ω⁻¹/N, g_s is the curvature of the
/// bound per item without its prior term, and the precision of q is P = Ns + kδ: what is averaged over draws and items,
/// and whether g_s squares the gradients of items or their mean, is the plan's `curvature`.
///
/// Paper: App. J.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamLike {
    /// γ₁ of the mean of gradients.
    pub gamma1: f64,
    /// γ₂ of the mean of squared gradients.
    pub gamma2: f64,
    /// The root that divides.
    pub root: Root,
    /// The means whose bias is corrected.
    pub bias_correction: BiasCorrection,
}

impl Default for AdamLike {
    fn default() -> Self {
        Self { gamma1: 0.9, gamma2: 0.999, root: Root::default(), bias_correction: BiasCorrection::default() }
    }
}

impl AdamLike {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_rate("gamma1", self.gamma1, "it lies between 0 and 1, which is excluded")?;
        check_rate("gamma2", self.gamma2, "it lies between 0 and 1, which is excluded")
    }

    /// m̂ for m = 1 at step `t`, from 1.
    pub(crate) fn momentum_factor(&self, t: u64) -> f64 {
        match self.bias_correction {
            BiasCorrection::None => 1.0,
            _ => 1.0 / (1.0 - self.gamma1.powf(t as f64)),
        }
    }

    /// What divides m̂ at step `t`: `total` is s + kδ/N and `prior` is kδ/N.
    pub(crate) fn denominator(&self, t: u64, total: f64, prior: f64) -> f64 {
        // Rounding must not make the part of the data negative; nor a start below the prior.
        let data = (total - prior).max(0.0);
        let correction = 1.0 - self.gamma2.powf(t as f64);
        let (whole, data) = match self.bias_correction {
            BiasCorrection::Both => (total / correction, data / correction),
            BiasCorrection::DataOnly => (data / correction + prior, data / correction),
            BiasCorrection::MomentumOnly | BiasCorrection::None => (total, data),
        };
        match self.root {
            Root::PaperRoot => whole.sqrt(),
            Root::VadamRoot => data.sqrt() + prior,
            Root::Newton => whole,
        }
    }
}

/// What a step of the rule is asked to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamLikeRequest {
    /// The constants.
    pub rule: AdamLike,
    /// β.
    pub beta: f64,
    /// β of the weights of a mixture.
    pub mixing_beta: f64,
    /// Bound on the KL divergence of the step of these weights.
    pub max_kl: Option<f64>,
    /// N, the number of data items; 1 if the target is not a sum over items.
    pub n_items: f64,
}

/// What the rule remembers between steps; s is in the precision of q.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdamLikeMemory {
    /// Number of steps so far.
    pub t: u64,
    /// m, of the shape of B, one component after the other; empty before the first step.
    pub m: Vec<f64>,
}

impl AdamLikeMemory {
    /// Memory for `len` entries of B in all.
    pub fn new(len: usize) -> Self {
        Self { t: 0, m: vec![0.0; len] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Step 2, γ₂ = ½: 1 − γ₂² = ¾, s = 3, kδ/N = ½.
    #[test]
    fn the_denominators_are_those_of_the_boxes() {
        let of = |root, bias_correction| {
            let rule = AdamLike { gamma1: 0.5, gamma2: 0.5, root, bias_correction };
            rule.denominator(2, 3.5, 0.5)
        };
        use {BiasCorrection as B, Root as R};
        for (root, bias, expected) in [
            (R::PaperRoot, B::Both, (3.5f64 / 0.75).sqrt()),
            (R::PaperRoot, B::DataOnly, 4.5f64.sqrt()),
            (R::PaperRoot, B::MomentumOnly, 3.5f64.sqrt()),
            (R::PaperRoot, B::None, 3.5f64.sqrt()),
            (R::VadamRoot, B::Both, 2.5),
            (R::VadamRoot, B::DataOnly, 2.5),
            (R::VadamRoot, B::None, 3f64.sqrt() + 0.5),
            (R::Newton, B::Both, 3.5 / 0.75),
            (R::Newton, B::DataOnly, 4.5),
            (R::Newton, B::None, 3.5),
        ] {
            let found = of(root, bias);
            assert!((found - expected).abs() < 1e-15, "{root:?} {bias:?}: {found} {expected}");
        }
        let factor = |bias_correction| AdamLike { bias_correction, ..AdamLike::default() }.momentum_factor(2);
        assert!((factor(B::Both) - 1.0 / 0.19).abs() < 1e-13 && factor(B::None) == 1.0);
        assert_eq!(factor(B::MomentumOnly), factor(B::DataOnly));
    }
}
