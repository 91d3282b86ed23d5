//! `b[age] ~ student_t(4, 0, 1)`: the prior of a coefficient, of all slopes, of the intercept or of another parameter.

use std::fmt;

use elinvar::model::NoisePrior;
use elinvar_data::nearest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::number::significant;

/// What has which prior.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorStatement {
    /// What it is the prior of.
    pub of: PriorOf,
    /// The law.
    pub law: PriorLaw,
}

/// What a prior is the prior of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorOf {
    /// `b`: every coefficient but the intercept.
    Slopes,
    /// `b[name]`: the coefficient of one column.
    Slope(String),
    /// `intercept`: the linear predictor where every column is at its mean.
    Intercept,
    /// A parameter beside the coefficients, such as sigma.
    Beside(String),
}

/// A law of a coefficient or of a positive parameter, in the units of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriorLaw {
    /// Constant.
    Flat,
    /// `normal(mean, sd)`.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// `student_t(df, mean, scale)`; `cauchy(mean, scale)` has one degree of freedom.
    StudentT {
        /// Degrees of freedom.
        df: f64,
        /// Its centre.
        mean: f64,
        /// Its scale.
        scale: f64,
    },
    /// A law of positive numbers.
    Positive(NoisePrior),
}

/// Laws with the number of their constants.
const LAWS: [(&str, usize); 9] = [
    ("normal", 2),
    ("student_t", 3),
    ("cauchy", 2),
    ("half_normal", 1),
    ("half_cauchy", 1),
    ("half_student_t", 2),
    ("exponential", 1),
    ("gamma", 2),
    ("flat", 0),
];

impl PriorStatement {
    /// Reads `b ~ normal(0, 2.5)`.
    ///
    /// # Errors
    /// Advice in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = "write it as 'b ~ normal(0, 2.5)', 'b[age] ~ student_t(4, 0, 1)', 'intercept ~ normal(0, 10)' or \
                    'sigma ~ exponential(1)'";
        let (left, right) = text.split_once('~').ok_or(form)?;
        let left = left.trim();
        let of = match left.strip_prefix("b[").and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => PriorOf::Slope(name.trim().into()),
            None if left == "b" => PriorOf::Slopes,
            None if left == "intercept" => PriorOf::Intercept,
            None if !left.is_empty() && left.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                PriorOf::Beside(left.into())
            }
            None => return Err(form.into()),
        };
        let law = PriorLaw::parse(right.trim())?;
        let is_positive = matches!(of, PriorOf::Beside(_));
        match (is_positive, law) {
            (false, PriorLaw::Positive(_)) => {
                Err("a coefficient may be negative: give it normal, student_t, cauchy or flat".into())
            }
            (true, PriorLaw::Normal { .. } | PriorLaw::StudentT { .. }) => Err(format!(
                "{left} is positive: give it half_normal, half_student_t, half_cauchy, exponential or gamma"
            )),
            _ => Ok(Self { of, law }),
        }
    }
}

impl PriorLaw {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, constants) = match text.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')').ok_or("close the bracket")?),
            None => (text, ""),
        };
        let known = LAWS.iter().find(|(known, _)| *known == name);
        let Some((_, n)) = known else {
            let all = || format!("the laws are {}", LAWS.map(|(name, _)| name).join(", "));
            return Err(
                nearest(name, LAWS.map(|(name, _)| name)).map_or_else(all, |near| format!("did you mean {near}?"))
            );
        };
        let pieces: Vec<&str> = constants.split(',').map(str::trim).filter(|piece| !piece.is_empty()).collect();
        let numbers: Vec<f64> = pieces.iter().filter_map(|piece| piece.parse().ok()).collect();
        if pieces.len() != *n || numbers.len() != *n || numbers.iter().any(|x| !x.is_finite()) {
            return Err(format!("{name} takes {n} {}", if *n == 1 { "number" } else { "numbers" }));
        }
        let c = |i: usize| numbers.get(i).copied().unwrap_or(0.0);
        let (law, positive) = match name {
            "normal" => (PriorLaw::Normal { mean: c(0), sd: c(1) }, vec![c(1)]),
            "student_t" => (PriorLaw::StudentT { df: c(0), mean: c(1), scale: c(2) }, vec![c(0), c(2)]),
            "cauchy" => (PriorLaw::StudentT { df: 1.0, mean: c(0), scale: c(1) }, vec![c(1)]),
            "half_normal" => (PriorLaw::Positive(NoisePrior::HalfNormal { scale: c(0) }), vec![c(0)]),
            "half_cauchy" => (PriorLaw::Positive(NoisePrior::HalfCauchy { scale: c(0) }), vec![c(0)]),
            "half_student_t" => {
                let law = NoisePrior::HalfStudentT { degrees_of_freedom: c(0), scale: c(1) };
                (PriorLaw::Positive(law), vec![c(0), c(1)])
            }
            "exponential" => (PriorLaw::Positive(NoisePrior::Exponential { rate: c(0) }), vec![c(0)]),
            "gamma" => (PriorLaw::Positive(NoisePrior::Gamma { shape: c(0), rate: c(1) }), vec![c(0), c(1)]),
            _ => (PriorLaw::Flat, vec![]),
        };
        // Squares and their inverses must be numbers.
        let is_usable = |x: &f64| (1e-100..=1e100).contains(x);
        match positive.iter().all(is_usable) && numbers.iter().all(|x| x.abs() <= 1e100) {
            true => Ok(law),
            false => Err(format!("scales of {name} are positive numbers, from 1e-100 to 1e100")),
        }
    }

    /// As a page has it.
    pub(crate) fn words(&self) -> String {
        match self {
            PriorLaw::Normal { mean, sd } => format!("N({}, {}²)", significant(*mean), significant(*sd)),
            PriorLaw::Positive(law) => positive_in_words(law),
            other => other.to_string(),
        }
    }
}

/// The prior of a positive parameter as a page has it.
pub(crate) fn positive_in_words(law: &NoisePrior) -> String {
    match law {
        NoisePrior::HalfCauchy { scale } => format!("half-Cauchy({})", significant(*scale)),
        NoisePrior::HalfNormal { scale } => format!("half-normal({})", significant(*scale)),
        NoisePrior::HalfStudentT { degrees_of_freedom, scale } => {
            format!("half-t({}, {})", significant(*degrees_of_freedom), significant(*scale))
        }
        NoisePrior::Exponential { rate } => format!("exponential with mean {}", significant(1.0 / rate)),
        NoisePrior::Gamma { shape, rate } => format!("gamma({}, {})", significant(*shape), significant(*rate)),
        _ => "flat".into(),
    }
}

impl fmt::Display for PriorLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PriorLaw::Normal { mean, sd } => write!(f, "normal({mean:?}, {sd:?})"),
            PriorLaw::StudentT { df, mean, scale } => write!(f, "student_t({df:?}, {mean:?}, {scale:?})"),
            PriorLaw::Positive(NoisePrior::HalfNormal { scale }) => write!(f, "half_normal({scale:?})"),
            PriorLaw::Positive(NoisePrior::HalfCauchy { scale }) => write!(f, "half_cauchy({scale:?})"),
            PriorLaw::Positive(NoisePrior::HalfStudentT { degrees_of_freedom, scale }) => {
                write!(f, "half_student_t({degrees_of_freedom:?}, {scale:?})")
            }
            PriorLaw::Positive(NoisePrior::Exponential { rate }) => write!(f, "exponential({rate:?})"),
            PriorLaw::Positive(NoisePrior::Gamma { shape, rate }) => write!(f, "gamma({shape:?}, {rate:?})"),
            _ => f.write_str("flat"),
        }
    }
}

impl fmt::Display for PriorStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.of {
            PriorOf::Slopes => write!(f, "b ~ {}", self.law),
            PriorOf::Slope(name) => write!(f, "b[{name}] ~ {}", self.law),
            PriorOf::Intercept => write!(f, "intercept ~ {}", self.law),
            PriorOf::Beside(name) => write!(f, "{name} ~ {}", self.law),
        }
    }
}

impl Serialize for PriorStatement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PriorStatement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |advice| serde::de::Error::custom(format!("{text:?} will not do: {advice}"));
        Self::parse(&text).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_alike() {
        for text in [
            "b ~ normal(0.0, 2.5)",
            "b[age] ~ student_t(4.0, 0.0, 1.0)",
            "b[log(dose):sex=m] ~ flat",
            "intercept ~ normal(1900.0, 1e6)",
            "sigma ~ half_cauchy(5.0)",
            "sigma ~ exponential(0.1)",
            "sigma ~ half_normal(2.0)",
            "nu ~ gamma(2.0, 0.1)",
            "sigma ~ half_student_t(3.0, 2.5)",
            "sigma ~ flat",
        ] {
            let read = PriorStatement::parse(text).unwrap();
            assert_eq!(PriorStatement::parse(&read.to_string()).unwrap(), read);
            assert_eq!(read.to_string().replace("1000000.0", "1e6"), text);
        }
        let cauchy = PriorStatement::parse("b~cauchy(0,2)").unwrap();
        assert_eq!(cauchy.law, PriorLaw::StudentT { df: 1.0, mean: 0.0, scale: 2.0 });
    }

    #[test]
    fn what_will_not_do_is_answered_with_advice() {
        for (text, advice) in [
            ("normal(0, 1)", "write it as"),
            ("b ~ norml(0, 1)", "did you mean normal?"),
            ("b ~ zeta(1)", "the laws are normal, student_t"),
            ("b ~ normal(0)", "normal takes 2 numbers"),
            ("b ~ normal(0, x)", "normal takes 2 numbers"),
            ("b ~ normal(0, -1)", "scales of normal are positive"),
            ("b ~ normal(0, 1", "close the bracket"),
            ("b ~ exponential(1)", "may be negative"),
            ("sigma ~ normal(0, 1)", "sigma is positive"),
            ("b[age ~ flat", "write it as"),
        ] {
            let found = PriorStatement::parse(text).unwrap_err();
            assert!(found.contains(advice), "{text}: {found}");
        }
    }
}
