//! Targets whose normaliser, means and standard deviations are known.

pub(crate) mod elliptical;
pub(crate) mod grid;
pub(crate) mod hierarchical;
pub(crate) mod linear_map;
pub(crate) mod mixed;
pub(crate) mod mixtures;
pub(crate) mod pathological;
pub(crate) mod reference;
pub(crate) mod regressions;
pub(crate) mod shapes;
pub(crate) mod tables;

use elinvar::target::Target;

/// Means and standard deviations of the coordinates of z.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean: Vec<f64>,
    pub(crate) sd: Vec<f64>,
}

/// A target with what is known about it.
pub(crate) struct Problem {
    pub(crate) name: String,
    pub(crate) target: Box<dyn Target>,
    /// Logarithm of the integral of the density, where there is one.
    pub(crate) log_normaliser: Option<f64>,
    /// `None` where the moments do not exist: no approximation of such a target can be right.
    pub(crate) moments: Option<Moments>,
}

impl Problem {
    /// A problem with a known normaliser and known moments.
    pub(crate) fn known(
        name: impl Into<String>,
        target: impl Target + 'static,
        log_normaliser: f64,
        moments: Moments,
    ) -> Self {
        Self {
            name: name.into(),
            target: Box::new(target),
            log_normaliser: Some(log_normaliser),
            moments: Some(moments),
        }
    }

    /// A problem without moments, or without a normaliser.
    pub(crate) fn without_moments(
        name: impl Into<String>,
        target: impl Target + 'static,
        log_normaliser: Option<f64>,
    ) -> Self {
        Self { name: name.into(), target: Box::new(target), log_normaliser, moments: None }
    }
}

#[cfg(test)]
mod tests;
