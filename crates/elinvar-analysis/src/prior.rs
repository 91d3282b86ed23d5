//! The prior of the coefficients: one for all where it is given, otherwise scaled to the data.
//!
//! Without a given prior the slopes are N(0, s²) with s = 2.5 sd(y)/sd(x) and the intercept is N(mean(y), (2.5 sd(y))²)
//! where every column is at its mean; for counts and classes, whose linear predictor has no unit, sd(y) is 1 and
//! mean(y) is 0. These follow the weakly informative defaults that rstanarm documents for coefficients: they do not
//! depend on the units of the file. The half-Cauchy prior of sigma is our own.

use elinvar::Posterior;
use elinvar::target;
use elinvar_data::{ColumnTransform, DesignColumn};

use crate::number::significant;

/// Prior standard deviations of the linear predictor that one standard deviation of a column is worth.
const WIDTH: f64 = 2.5;
/// A posterior mean so many prior standard deviations from the prior mean is in the tail: 1 in 370 by the prior.
const TAIL: f64 = 3.0;

/// What to do where prior and data contradict each other.
pub(crate) const REMEDY: &str = "give another prior, --prior-sd S, or none, which scales it to the data";

/// The prior of the coefficients of a regression or the weights of a network.
pub(crate) enum Prior {
    /// N(0, 1/precision) for each of them, on the columns as the settings scale them.
    Given { precision: f64 },
    /// Scaled to the data: the columns of the fit have standard deviation 1 and, beside an intercept, mean 0.
    ByData { centre: f64, spread: f64 },
}

impl Prior {
    /// That of a model whose linear predictor has no unit, where nothing is given.
    pub(crate) const WITHOUT_UNIT: Prior = Prior::ByData { centre: 0.0, spread: 1.0 };

    /// The precision that was given, if one was.
    pub(crate) fn given(&self) -> Option<f64> {
        match self {
            Self::Given { precision } => Some(*precision),
            Self::ByData { .. } => None,
        }
    }

    /// The precision, where it is the same for all coefficients and the mean is 0.
    pub(crate) fn precision(&self) -> f64 {
        match self {
            Self::Given { precision } => *precision,
            Self::ByData { spread, .. } => (WIDTH * spread).powi(-2),
        }
    }

    /// The prior of a linear model whose design matrix has these columns.
    pub(crate) fn of_columns(&self, kinds: &[DesignColumn]) -> target::Prior {
        match self {
            Self::Given { precision } => target::Prior::Gaussian { precision: *precision, leading: kinds.len() },
            Self::ByData { centre, spread } => {
                let mean = kinds.iter().map(|kind| if *kind == DesignColumn::Intercept { *centre } else { 0.0 });
                target::Prior::normal(mean.collect(), &vec![WIDTH * spread; kinds.len()])
            }
        }
    }

    /// In a few words.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Given { precision } if *precision == 1.0 => "N(0, 1)".into(),
            Self::Given { precision } => format!("N(0, {}²)", significant(1.0 / precision.sqrt())),
            Self::ByData { .. } => "scaled to the data".into(),
        }
    }

    /// In the units of the file, coefficient by coefficient, where it is not the same for all.
    pub(crate) fn numbers(&self, kinds: &[DesignColumn], transforms: &[ColumnTransform]) -> Option<String> {
        /// More slopes than these are told by the smallest and the largest scale.
        const LISTED: usize = 4;
        let (centre, spread) = match self {
            Self::Given { .. } => return None,
            Self::ByData { centre, spread } => (*centre, WIDTH * spread),
        };
        let has_intercept = kinds.first() == Some(&DesignColumn::Intercept);
        let mut slopes: Vec<(&str, f64)> =
            transforms.iter().skip(usize::from(has_intercept)).map(|t| (t.name.as_str(), spread / t.scale)).collect();
        let mut parts = Vec::new();
        if has_intercept {
            let place = if slopes.is_empty() { "" } else { ", all columns at their means" };
            parts.push(format!("intercept N({}, {}²){place}", significant(centre), significant(spread)));
        }
        let shown = |(name, sd): &(&str, f64)| format!("{name} N(0, {}²)", significant(*sd));
        if slopes.len() <= LISTED {
            parts.extend(slopes.iter().map(shown));
        } else {
            slopes.sort_by(|a, b| a.1.total_cmp(&b.1));
            let ends = [slopes.first(), slopes.last()].into_iter().flatten().map(shown).collect::<Vec<_>>();
            parts.push(format!("slopes N(0, s²), s = {WIDTH} sd/sd(column): {}", ends.join(" to ")));
        }
        Some(parts.join("; "))
    }

    /// Where prior and data contradict each other, in sentences.
    pub(crate) fn conflicts(&self, posterior: &Posterior, kinds: &[DesignColumn]) -> Vec<String> {
        let (centre, width) = match self {
            Self::Given { precision } => (0.0, 1.0 / precision.sqrt()),
            Self::ByData { centre, spread } => (*centre, WIDTH * spread),
        };
        let (means, names) = (posterior.approximation().mean(), posterior.names());
        let mut far: Vec<(f64, &str)> = Vec::new();
        for ((mean, name), kind) in means.iter().zip(names).zip(kinds) {
            let prior_mean = if *kind == DesignColumn::Intercept { centre } else { 0.0 };
            let distance = (mean - prior_mean).abs() / width;
            if distance > TAIL {
                far.push((distance, name));
            }
        }
        far.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some((distance, name)) = far.first() else { return Vec::new() };
        let others = match far.len() {
            1 => String::new(),
            n => format!(", and {} more likewise", n - 1),
        };
        vec![format!(
            "Prior against data: the data put {name} {} prior standard deviations from where the prior expects \
             it{others}; {REMEDY}.",
            significant(*distance)
        )]
    }
}
