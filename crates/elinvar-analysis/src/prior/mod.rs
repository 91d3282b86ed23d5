//! The priors of coefficients: one for all where it is given, otherwise scaled to the data; and those of single ones.
//!
//! Without a given prior the slopes are N(0, s²) with s = 2.5 sd(y)/sd(x) and the intercept is N(mean(y), (2.5 sd(y))²)
//! where every column is at its mean; for counts and classes, whose linear predictor has no unit, sd(y) is 1 and
//! mean(y) is 0. Sigma is exponential with mean sd(y). These are the weakly informative defaults that rstanarm
//! documents: they do not depend on the units of the file.

mod conflict;
mod predictive;

use elinvar::target;
use elinvar_data::{ColumnTransform, DesignColumn};

use crate::number::significant;
use crate::settings::{PriorLaw, PriorOf, PriorStatement};
pub(crate) use predictive::{draw_positive, far_from_data};

/// Prior standard deviations of the linear predictor that one standard deviation of a column is worth.
const WIDTH: f64 = 2.5;
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

    /// Mean and standard deviation of a coefficient, on the columns of the fit.
    fn of(&self, kind: &DesignColumn) -> (f64, f64) {
        match self {
            Self::Given { precision } => (0.0, 1.0 / precision.sqrt()),
            Self::ByData { centre, spread } => {
                (if *kind == DesignColumn::Intercept { *centre } else { 0.0 }, WIDTH * spread)
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
}

/// The priors of all coefficients.
pub(crate) struct Priors {
    pub(crate) base: Prior,
    /// For each column the law that it was given for itself, in the units of the file.
    own: Vec<Option<PriorLaw>>,
    /// Degrees of freedom of the scale that all of them share, if they do.
    shared_df: Option<f64>,
}

/// A law with heavy tails, which the library does not declare: coordinate, degrees of freedom, centre and scale on the
/// columns of the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tail {
    pub(crate) coordinate: usize,
    pub(crate) df: f64,
    pub(crate) mean: f64,
    pub(crate) scale: f64,
}

impl Priors {
    /// `base`, but for what `statements` say; the last one that names a coefficient counts.
    pub(crate) fn new(
        base: Prior,
        statements: &[PriorStatement],
        kinds: &[DesignColumn],
        transforms: &[ColumnTransform],
    ) -> Self {
        let own = kinds.iter().zip(transforms).map(|(kind, column)| {
            let is_intercept = *kind == DesignColumn::Intercept;
            let by_name =
                statements.iter().rev().find(|s| matches!(&s.of, PriorOf::Slope(name) if *name == column.name));
            let of_class = statements.iter().rev().find(|s| match s.of {
                PriorOf::Slopes => !is_intercept,
                PriorOf::Intercept => is_intercept,
                _ => false,
            });
            by_name.or(of_class).map(|statement| statement.law)
        });
        Self { base, own: own.collect(), shared_df: None }
    }

    /// With variances that are multiplied by a common InverseGamma(a, a).
    pub(crate) fn with_shared_scale(self, a: Option<f64>) -> Self {
        Self { shared_df: a.map(|a| 2.0 * a), ..self }
    }

    /// Whether some coefficient has a prior of its own.
    pub(crate) fn has_own(&self) -> bool {
        self.own.iter().any(Option::is_some)
    }

    /// Mean and standard deviation of coefficient i on the columns of the fit; infinite where it is flat or has tails.
    fn moments(&self, i: usize, kind: &DesignColumn, scale: f64) -> (f64, f64) {
        match self.own[i] {
            None => self.base.of(kind),
            Some(PriorLaw::Normal { mean, sd }) => (mean * scale, sd * scale),
            Some(_) => (0.0, f64::INFINITY),
        }
    }

    /// The part of it that the library declares.
    pub(crate) fn declared(&self, kinds: &[DesignColumn], transforms: &[ColumnTransform]) -> target::Prior {
        if let (Prior::Given { precision }, false) = (&self.base, self.has_own()) {
            return target::Prior::Gaussian { precision: *precision, leading: kinds.len() };
        }
        let each = kinds.iter().zip(transforms).enumerate().map(|(i, (kind, t))| self.moments(i, kind, t.scale));
        let (mean, sd): (Vec<f64>, Vec<f64>) = each.unzip();
        target::Prior::normal(mean, &sd)
    }

    /// The part that it does not.
    pub(crate) fn tails(&self, transforms: &[ColumnTransform]) -> Vec<Tail> {
        let own = self.own.iter().zip(transforms).enumerate();
        own.filter_map(|(coordinate, (law, t))| match law {
            Some(PriorLaw::StudentT { df, mean, scale }) => {
                Some(Tail { coordinate, df: *df, mean: mean * t.scale, scale: scale * t.scale })
            }
            _ => None,
        })
        .collect()
    }

    /// In a few words.
    pub(crate) fn title(&self) -> String {
        match (self.has_own(), self.own.iter().all(Option::is_some)) {
            (false, _) => self.base.title(),
            (true, true) => "as given".into(),
            (true, false) => format!("as given, others {}", self.base.title()),
        }
    }

    /// In the units of the file, coefficient by coefficient, where it is not the same for all.
    pub(crate) fn numbers(&self, kinds: &[DesignColumn], transforms: &[ColumnTransform]) -> Option<String> {
        /// More slopes than these are told by the smallest and the largest scale.
        const LISTED: usize = 4;
        if self.base.given().is_some() && !self.has_own() {
            return None;
        }
        let words = |i: usize| {
            let (kind, t) = (&kinds[i], &transforms[i]);
            let (mean, sd) = self.base.of(kind);
            let by_data = PriorLaw::Normal { mean: mean / t.scale, sd: sd / t.scale };
            self.own[i].unwrap_or(by_data).words()
        };
        let has_intercept = kinds.first() == Some(&DesignColumn::Intercept);
        let slopes: Vec<usize> = (usize::from(has_intercept)..kinds.len()).collect();
        let mut parts = Vec::new();
        if has_intercept {
            let place = if slopes.is_empty() { "" } else { ", all columns at their means" };
            parts.push(format!("intercept {}{place}", words(0)));
        }
        let named = |i: &usize| format!("{} {}", transforms[*i].name, words(*i));
        let (own, mut by_data): (Vec<usize>, Vec<usize>) = slopes.iter().partition(|i| self.own[**i].is_some());
        if slopes.len() <= LISTED {
            parts.extend(slopes.iter().map(named));
            return Some(parts.join("; "));
        }
        parts.extend(own.iter().take(LISTED).map(named));
        if own.len() > LISTED {
            parts.push(format!("{} more as given", own.len() - LISTED));
        }
        by_data.sort_by(|a, b| transforms[*b].scale.total_cmp(&transforms[*a].scale));
        if let (Some(first), Some(last)) = (by_data.first(), by_data.last()) {
            let ends = format!("{} to {}", named(first), named(last));
            parts.push(format!("slopes N(0, s²), s = {WIDTH} sd/sd(column): {ends}"));
        }
        Some(parts.join("; "))
    }
}
