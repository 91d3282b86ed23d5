//! The names of figures, as they are written on a command line.

use std::fmt;
use std::str::FromStr;

/// A figure of a report.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FigureName {
    /// `marginals`: the density of every parameter.
    Marginals,
    /// `marginal:NAME`: the density of one.
    Marginal(String),
    /// `pairs`: contours of the least Gaussian parameters, two by two.
    Pairs,
    /// `pair:X:Y`: contours of two parameters.
    Pair(String, String),
    /// `elbo`: the ELBO against evaluations.
    Elbo,
    /// `elbo-seconds`: the ELBO against time.
    ElboSeconds,
    /// `step-size`: the step size of every step.
    StepSize,
    /// `kl`: the KL divergence of every step.
    Kl,
    /// `components`: the number of components.
    Components,
    /// `draws`: draws per step and component.
    DrawsPerStep,
    /// `tail`: the largest importance ratios.
    Tail,
    /// `ladder`: the families that were tried.
    Ladder,
    /// `calibration`: observed against predicted.
    Calibration,
    /// `residuals`: rows against what was predicted of them.
    Residuals,
    /// `intervals`: means and 90 % intervals of all parameters.
    Intervals,
}

impl FigureName {
    /// Every figure that needs no name of a parameter.
    pub const PLAIN: [FigureName; 13] = [
        FigureName::Marginals,
        FigureName::Pairs,
        FigureName::Elbo,
        FigureName::ElboSeconds,
        FigureName::StepSize,
        FigureName::Kl,
        FigureName::Components,
        FigureName::DrawsPerStep,
        FigureName::Tail,
        FigureName::Ladder,
        FigureName::Calibration,
        FigureName::Residuals,
        FigureName::Intervals,
    ];
}

impl fmt::Display for FigureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            FigureName::Marginals => "marginals",
            FigureName::Marginal(name) => return write!(f, "marginal:{name}"),
            FigureName::Pairs => "pairs",
            FigureName::Pair(x, y) => return write!(f, "pair:{x}:{y}"),
            FigureName::Elbo => "elbo",
            FigureName::ElboSeconds => "elbo-seconds",
            FigureName::StepSize => "step-size",
            FigureName::Kl => "kl",
            FigureName::Components => "components",
            FigureName::DrawsPerStep => "draws",
            FigureName::Tail => "tail",
            FigureName::Ladder => "ladder",
            FigureName::Calibration => "calibration",
            FigureName::Residuals => "residuals",
            FigureName::Intervals => "intervals",
        };
        f.write_str(word)
    }
}

/// There is no figure of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure \"{asked}\"; the figures are {}, marginal:NAME and pair:X:Y", all())]
pub struct UnknownFigure {
    /// What was asked for.
    pub asked: String,
}

fn all() -> String {
    FigureName::PLAIN.map(|name| name.to_string()).join(", ")
}

impl FromStr for FigureName {
    type Err = UnknownFigure;

    fn from_str(asked: &str) -> Result<Self, UnknownFigure> {
        if let Some(name) = asked.strip_prefix("marginal:") {
            return Ok(FigureName::Marginal(name.into()));
        }
        if let Some((x, y)) = asked.strip_prefix("pair:").and_then(|names| names.split_once(':')) {
            return Ok(FigureName::Pair(x.into(), y.into()));
        }
        let found = FigureName::PLAIN.into_iter().find(|name| name.to_string() == asked);
        found.ok_or_else(|| UnknownFigure { asked: asked.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let with_parameters = [FigureName::Marginal("a:b".into()), FigureName::Pair("x".into(), "y".into())];
        for name in FigureName::PLAIN.into_iter().chain(with_parameters) {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        let error = "elb0".parse::<FigureName>().unwrap_err();
        assert!(error.to_string().starts_with("there is no figure \"elb0\"; the figures are marginals, pairs, elbo,"));
    }
}
