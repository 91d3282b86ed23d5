//! The law of k independent numbers w, along each of which z has a column of its own (mathematics §3.5, §3.8).

use std::f64::consts::{FRAC_2_PI, LN_2};

use super::{Exponential, HalfNormal, MixingLaw, SkewnessOfShift};
use crate::special::normal::{HALF_LOG_TWO_PI, log_ndtr};
use crate::special::orthant::{MOST_VARIABLES, OrthantNormal};

/// Most directions in which a family is skewed: as many variables as w given z may have on its orthant.
pub(crate) const MOST_DIRECTIONS: usize = MOST_VARIABLES;

/// The law of each of k independent numbers w, where z | w ~ N(μ + A w, Σ).
///
/// Paper: §4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Independent {
    /// N(0, 1): z is Gaussian.
    Normal,
    /// |n| with n ~ N(0, 1): z is skew in k directions.
    HalfNormal,
    /// Exp(1), likewise.
    Exponential,
}

impl Independent {
    /// w as a function of a standard normal.
    pub(crate) fn of_normal(self, n: f64) -> f64 {
        match self {
            Self::Normal => n,
            Self::HalfNormal => n.abs(),
            Self::Exponential => -log_ndtr(-n),
        }
    }

    /// E\[w\].
    pub(crate) fn mean(self) -> f64 {
        match self {
            Self::Normal => 0.0,
            Self::HalfNormal => FRAC_2_PI.sqrt(),
            Self::Exponential => 1.0,
        }
    }

    /// Var\[w\].
    pub(crate) fn variance(self) -> f64 {
        match self {
            Self::Normal | Self::Exponential => 1.0,
            Self::HalfNormal => 1.0 - FRAC_2_PI,
        }
    }

    /// Entry (i, j) of Ω = E[ũũᵀ], ũ = (1, w₁ … w_k).
    pub(crate) fn omega(self, i: usize, j: usize) -> f64 {
        let mean = |i: usize| if i == 0 { 1.0 } else { self.mean() };
        mean(i) * mean(j) + if i == j && i > 0 { self.variance() } else { 0.0 }
    }

    /// Entry (i, j) of Ω⁻¹ for k numbers.
    pub(crate) fn omega_inverse(self, k: usize, i: usize, j: usize) -> f64 {
        let (mean, variance) = (self.mean(), self.variance());
        match (i, j) {
            (0, 0) => 1.0 + k as f64 * mean * mean / variance,
            (0, _) | (_, 0) => -mean / variance,
            _ if i == j => 1.0 / variance,
            _ => 0.0,
        }
    }

    /// log q(w) of one number.
    #[cfg(feature = "theory")]
    pub(crate) fn log_density(self, w: f64) -> f64 {
        match self {
            Self::Normal => -0.5 * w * w - HALF_LOG_TWO_PI,
            Self::HalfNormal => HalfNormal.log_mixing_density(w),
            Self::Exponential => Exponential.log_mixing_density(w),
        }
    }

    /// w given z for a law on w > 0, and log ∫ exp(wᵀt − ½wᵀGw) q(w) dw, with G = AᵀPA and t = AᵀP(z − μ).
    ///
    /// q(w) adds I to the precision, or −1 to the slope.
    pub(crate) fn given(self, gram: &[f64], t: &[f64]) -> OrthantNormal {
        let k = t.len();
        let (mut precision, mut c) = ([[0.0; MOST_VARIABLES]; MOST_VARIABLES], [0.0; MOST_VARIABLES]);
        let (added, less, constant) = match self {
            Self::Exponential => (0.0, 1.0, 0.0),
            _ => (1.0, 0.0, LN_2 - HALF_LOG_TWO_PI),
        };
        for (i, t) in t.iter().enumerate() {
            precision[i][..k].copy_from_slice(&gram[i * k..(i + 1) * k]);
            precision[i][i] += added;
            c[i] = t - less;
        }
        let mut law = OrthantNormal::new(k, &precision, c);
        law.log_mass += k as f64 * constant;
        law
    }

    /// The shift with this third cumulant of z along it; none for the normal law.
    pub(crate) fn skewness_of_shift(self, third: f64) -> Option<SkewnessOfShift> {
        match self {
            Self::Normal => None,
            Self::HalfNormal => HalfNormal.skewness_of_shift(third),
            Self::Exponential => Exponential.skewness_of_shift(third),
        }
    }
}
