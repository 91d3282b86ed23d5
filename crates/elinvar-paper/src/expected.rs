//! What a run must find, from a file, and whether it did.
//!
//! ```toml
//! [[quantity]]
//! name = "kl of mog K = 8"      # as the run calls it
//! at_most = 0.002               # or `at_least`, or `value` with `tolerance`
//! mode = "both"                 # quick, full, both (quick and full), or paper (`--paper-settings`)
//! source = "required of this experiment; our full run found 0.0011"
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Findings, Mode};

/// The expectations of an experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    quantity: Vec<Expectation>,
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    name: String,
    value: Option<f64>,
    tolerance: Option<f64>,
    at_most: Option<f64>,
    at_least: Option<f64>,
    source: String,
    mode: When,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum When {
    Quick,
    Full,
    Both,
    Paper,
}

impl When {
    fn is(self, mode: Mode) -> bool {
        match self {
            Self::Quick => mode == Mode::Quick,
            Self::Full => mode == Mode::Full,
            Self::Both => mode != Mode::Paper,
            Self::Paper => mode == Mode::Paper,
        }
    }
}

impl Expectation {
    /// Says what is wrong with it, if anything is.
    fn check(&self) -> Result<(), String> {
        let bounds = [self.value, self.at_most, self.at_least];
        let bad = |what: &str| Err(format!("\"{}\" {what}", self.name));
        if bounds.iter().flatten().count() != 1 {
            bad("needs exactly one of `value`, `at_most` and `at_least`")
        } else if self.value.is_some() != self.tolerance.is_some() {
            bad("has a `tolerance` exactly where it has a `value`")
        } else if bounds.iter().flatten().chain(&self.tolerance).any(|v| !v.is_finite())
            || self.tolerance.is_some_and(|tolerance| tolerance < 0.0)
        {
            bad("has a number that is not finite, or a tolerance below zero")
        } else if self.source.trim().is_empty() {
            bad("does not say where it comes from in `source`")
        } else {
            Ok(())
        }
    }

    fn is_met_by(&self, found: f64) -> bool {
        let near = |value: f64| (found - value).abs() <= self.tolerance.unwrap_or(0.0);
        // A number that is not one meets nothing.
        found.is_finite()
            && self.value.is_none_or(near)
            && self.at_most.is_none_or(|most| found <= most)
            && self.at_least.is_none_or(|least| found >= least)
    }

    fn wanted(&self) -> String {
        match (self.value, self.at_most, self.at_least) {
            (Some(value), ..) => format!("{value} ± {}", self.tolerance.unwrap_or(0.0)),
            (_, Some(most), _) => format!("at most {most}"),
            (.., least) => format!("at least {}", least.unwrap_or(f64::NAN)),
        }
    }
}

/// Reads a file of expectations.
pub(crate) fn parse(text: &str) -> Result<Vec<Expectation>, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    file.quantity.iter().try_for_each(Expectation::check)?;
    Ok(file.quantity)
}

/// An expectation beside what was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Name of the quantity.
    pub name: String,
    /// What the run found; nothing, if it has no such quantity.
    pub found: Option<f64>,
    /// What it must be.
    pub wanted: String,
    /// Whether it is.
    pub met: bool,
    /// Where the expectation comes from.
    pub source: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, found, wanted, met, .. } = self;
        let word = if *met { "met   " } else { "MISSED" };
        match found {
            Some(found) => write!(f, "{word} {name}: {found:.6} ({wanted})"),
            None => write!(f, "{word} {name}: not found by the run ({wanted})"),
        }
    }
}

/// Every expectation of a mode beside what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The expectations, in the order of the file.
    pub lines: Vec<Line>,
}

impl Comparison {
    /// Whether there are expectations and all of them are met.
    pub fn is_met(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| line.met)
    }

    /// How many are not met.
    pub fn missed(&self) -> usize {
        self.lines.iter().filter(|line| !line.met).count()
    }
}

/// Holds the findings against the expectations of a mode.
pub(crate) fn compare(expectations: &[Expectation], mode: Mode, findings: &Findings) -> Comparison {
    let lines = expectations.iter().filter(|expectation| expectation.mode.is(mode)).map(|expectation| {
        let found = findings.get(&expectation.name);
        Line {
            name: expectation.name.clone(),
            found,
            wanted: expectation.wanted(),
            met: found.is_some_and(|found| expectation.is_met_by(found)),
            source: expectation.source.clone(),
        }
    });
    Comparison { lines: lines.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[quantity]]
        name = "kl"
        value = 0.1
        tolerance = 0.02
        mode = "both"
        source = "a test"

        [[quantity]]
        name = "factor"
        at_least = 2.0
        mode = "full"
        source = "a test"

        [[quantity]]
        name = "worst"
        at_most = 1.0
        mode = "paper"
        source = "a test"
    "#;

    fn with(numbers: &[(&str, f64)]) -> Findings {
        let mut findings = Findings::default();
        numbers.iter().for_each(|(name, value)| findings.put(*name, *value));
        findings
    }

    fn missed(mode: Mode, numbers: &[(&str, f64)]) -> Vec<String> {
        let lines = compare(&parse(TEXT).unwrap(), mode, &with(numbers)).lines;
        lines.into_iter().filter(|line| !line.met).map(|line| line.name).collect()
    }

    #[test]
    fn a_number_that_is_off_is_missed_and_one_that_is_near_is_met() {
        assert!(missed(Mode::Quick, &[("kl", 0.119)]).is_empty());
        assert_eq!(missed(Mode::Quick, &[("kl", 0.121)]), ["kl"]);
        assert_eq!(missed(Mode::Quick, &[("kl", f64::NAN)]), ["kl"]);
        assert!(missed(Mode::Full, &[("kl", 0.1), ("factor", 2.0)]).is_empty());
        assert_eq!(missed(Mode::Full, &[("kl", 0.1), ("factor", 1.99)]), ["factor"]);
        assert_eq!(missed(Mode::Paper, &[("worst", 1.01)]), ["worst"]);
        assert!(missed(Mode::Paper, &[("worst", -1.0)]).is_empty());
    }

    #[test]
    fn a_quantity_that_the_run_does_not_have_is_missed() {
        assert_eq!(missed(Mode::Full, &[("kl", 0.1)]), ["factor"]);
        assert!(!compare(&[], Mode::Full, &with(&[])).is_met(), "no expectation is no success");
    }

    #[test]
    fn a_line_says_what_was_found_and_what_was_wanted() {
        let comparison = compare(&parse(TEXT).unwrap(), Mode::Full, &with(&[("kl", 0.11)]));
        let lines: Vec<String> = comparison.lines.iter().map(Line::to_string).collect();
        assert_eq!(lines, ["met    kl: 0.110000 (0.1 ± 0.02)", "MISSED factor: not found by the run (at least 2)"]);
        assert_eq!(comparison.missed(), 1);
    }

    #[test]
    fn an_expectation_that_says_nothing_or_two_things_is_refused() {
        let with = |line: &str| parse(&format!("[[quantity]]\nname = \"x\"\nmode = \"quick\"\nsource = \"s\"\n{line}"));
        assert!(with("").unwrap_err().contains("exactly one of"));
        assert!(with("value = 1.0").unwrap_err().contains("tolerance"));
        assert!(with("at_most = 1.0\nat_least = 0.0").unwrap_err().contains("exactly one of"));
        assert!(with("at_most = 1.0\ntolerance = 0.1").unwrap_err().contains("tolerance"));
        assert!(with("at_most = nan").unwrap_err().contains("finite"));
        assert!(with("at_mots = 1.0").is_err());
        assert!(with("at_most = 1.0").is_ok());
    }

    #[test]
    fn every_experiment_has_expectations_of_each_of_its_modes() {
        for experiment in crate::EXPERIMENTS {
            let expectations = parse(experiment.expected).unwrap_or_else(|e| panic!("{}: {e}", experiment.name));
            let mut modes = vec![Mode::Quick, Mode::Full];
            modes.extend(experiment.has_paper_settings.then_some(Mode::Paper));
            for mode in modes {
                assert!(expectations.iter().any(|e| e.mode.is(mode)), "{} {mode:?}", experiment.name);
            }
        }
    }
}
