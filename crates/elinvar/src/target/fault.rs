//! What is wrong with a target, as far as its own answers show it.

use serde::{Deserialize, Serialize};

/// Answers of a target that cannot all be those of one density, as data with a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// The gradient is not that of the log density.
    Gradient {
        /// The coordinate of z.
        name: String,
        /// What the gradient says.
        given: f64,
        /// What differences of the log density say.
        difference: f64,
        /// Where.
        point: String,
    },
    /// The Hessian is not the derivative of the gradient.
    Hessian {
        /// The coordinate of z whose gradient changes.
        row: String,
        /// The coordinate of z that is moved.
        column: String,
        /// What the Hessian says.
        given: f64,
        /// What differences of the gradient say.
        difference: f64,
        /// Where.
        point: String,
    },
    /// The log density is one number by itself and another together with its gradient.
    Value {
        /// By itself, as it is shown: it need not be a number.
        alone: String,
        /// Together with the gradient.
        with_gradient: String,
        /// Where.
        point: String,
    },
    /// The log density differs when it is asked twice.
    Noise {
        /// By so much.
        difference: f64,
        /// Where.
        point: String,
    },
    /// The log density was +∞ or NaN, which no density is.
    NotFinite {
        /// Draws at which it was +∞.
        infinite: u64,
        /// Draws at which it was NaN.
        undefined: u64,
        /// Of so many draws.
        of: u64,
        /// One of them.
        point: String,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Gradient { name, given, difference, point } => write!(
                f,
                "the gradient along {name} is {given:.6}, but differences of the log density say {difference:.6}, at \
                 z = {point}; check the derivative of the log density with respect to {name}"
            ),
            Fault::Hessian { row, column, given, difference, point } => write!(
                f,
                "the Hessian of {row} and {column} is {given:.6}, but differences of the gradient say {difference:.6}, \
                 at z = {point}; check the second derivative with respect to {row} and {column}"
            ),
            Fault::Value { alone, with_gradient, point } => write!(
                f,
                "the log density is {alone} by itself and {with_gradient} with its gradient, at z = {point}; \
                 both must be the same function"
            ),
            Fault::Noise { difference, point } => write!(
                f,
                "the log density asked twice at z = {point} differs by {difference:.3e}; it must be the same number \
                 whenever it is asked for"
            ),
            Fault::NotFinite { infinite, undefined, of, point } => {
                let what = match (*infinite, *undefined) {
                    (infinite, 0) => format!("+∞ at {infinite}"),
                    (0, undefined) => format!("not a number at {undefined}"),
                    (infinite, undefined) => format!("+∞ at {infinite} and not a number at {undefined}"),
                };
                write!(
                    f,
                    "the log density was {what} of {of} draws, for example at z = {point}; where there is no density \
                     it is −∞, and everywhere else a number"
                )
            }
        }
    }
}

/// A point as it is shown: its first coordinates.
pub(crate) fn shown(z: &[f64]) -> String {
    let shown: Vec<String> = z.iter().take(6).map(|v| format!("{v:.4}")).collect();
    format!("({}{})", shown.join(", "), if z.len() > 6 { ", …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_sentences() {
        let point = || shown(&[0.5, -1.0]);
        let gradient = Fault::Gradient { name: "b".into(), given: 2.0, difference: 1.0, point: point() };
        assert_eq!(
            gradient.to_string(),
            "the gradient along b is 2.000000, but differences of the log density say 1.000000, at z = (0.5000, \
             -1.0000); check the derivative of the log density with respect to b"
        );
        let both = Fault::NotFinite { infinite: 3, undefined: 1, of: 100, point: shown(&[1.0; 7]) };
        assert_eq!(
            both.to_string(),
            "the log density was +∞ at 3 and not a number at 1 of 100 draws, for example at z = (1.0000, 1.0000, \
             1.0000, 1.0000, 1.0000, 1.0000, …); where there is no density it is −∞, and everywhere else a number"
        );
        let noise = Fault::Noise { difference: 0.01, point: point() };
        assert!(noise.to_string().starts_with("the log density asked twice at z = (0.5000, -1.0000) differs by 1.0"));
    }
}
