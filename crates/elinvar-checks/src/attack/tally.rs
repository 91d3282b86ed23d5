//! Counts of what was right and what was trusted, and the file that keeps them.

use super::outcome::{Answered, Outcome};

/// Counts over some outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) problems: usize,
    pub(super) right_trusted: usize,
    pub(super) right_not_trusted: usize,
    pub(super) wrong_told: usize,
    pub(super) wrong_trusted: usize,
    pub(super) failed: usize,
    /// Median evaluations of fit and judgement.
    pub(super) evaluations: u64,
}

impl Tally {
    /// Counts one of the two answers of each outcome.
    pub(super) fn of<'a>(
        outcomes: impl Iterator<Item = &'a Outcome>,
        answer: impl Fn(&Outcome) -> &Result<Answered, String>,
    ) -> Self {
        let (mut tally, mut evaluations) = (Self::default(), Vec::new());
        for outcome in outcomes {
            tally.problems += 1;
            match answer(outcome) {
                Ok(given) => {
                    let count = match (given.right(), given.trusted) {
                        (true, true) => &mut tally.right_trusted,
                        (true, false) => &mut tally.right_not_trusted,
                        (false, false) => &mut tally.wrong_told,
                        (false, true) => &mut tally.wrong_trusted,
                    };
                    *count += 1;
                    evaluations.push(given.evaluations);
                }
                Err(_) => tally.failed += 1,
            }
        }
        evaluations.sort_unstable();
        tally.evaluations = evaluations.get(evaluations.len() / 2).copied().unwrap_or(0);
        tally
    }

    /// The counts as they are shown.
    pub(super) fn cells(&self) -> [String; 7] {
        [
            self.problems.to_string(),
            self.right_trusted.to_string(),
            self.right_not_trusted.to_string(),
            self.wrong_told.to_string(),
            self.wrong_trusted.to_string(),
            self.failed.to_string(),
            self.evaluations.to_string(),
        ]
    }

    fn numbers(&self) -> String {
        self.cells().join(",")
    }

    fn read(cells: &[&str]) -> Option<Self> {
        let mut numbers = cells.iter().map(|cell| cell.parse::<u64>());
        let mut next = || numbers.next()?.ok();
        let mut count = || next().map(|n| n as usize);
        let (problems, right_trusted, right_not_trusted) = (count()?, count()?, count()?);
        let (wrong_told, wrong_trusted, failed) = (count()?, count()?, count()?);
        Some(Self {
            problems,
            right_trusted,
            right_not_trusted,
            wrong_told,
            wrong_trusted,
            failed,
            evaluations: next()?,
        })
    }
}

/// A tally with the words that name it: how it was answered, which set, which class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) by: String,
    pub(super) set: String,
    pub(super) class: String,
    pub(super) tally: Tally,
}

const HEADER: &str =
    "by;set;class;problems,right trusted,right not trusted,wrong told,wrong trusted,failed,evaluations";

/// Rows as text.
pub(super) fn write(rows: &[Row]) -> String {
    let line = |row: &Row| format!("{};{};{};{}\n", row.by, row.set, row.class, row.tally.numbers());
    format!("{HEADER}\n{}", rows.iter().map(line).collect::<String>())
}

/// Rows of a text that [`write()`] made.
pub(super) fn read(text: &str) -> Result<Vec<Row>, String> {
    let row = |line: &str| {
        let mut cells = line.split(';');
        let mut word = || cells.next().map(String::from);
        let (by, set, class) = (word()?, word()?, word()?);
        let numbers: Vec<&str> = cells.next()?.split(',').collect();
        Some(Row { by, set, class, tally: Tally::read(&numbers)? })
    };
    text.lines().skip(1).map(|line| row(line).ok_or_else(|| format!("\"{line}\" is no row of counts"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::Errors;

    fn outcome(error: f64, trusted: bool) -> Outcome {
        let errors = Some(Errors { mean: error, sd_ratio: 1.0 });
        let answer = Ok(Answered { errors, trusted, evaluations: 10, reason: String::new() });
        Outcome { class: 0, seed: 1, name: "x".into(), dim: 2, default: answer, weights: Err("no".into()) }
    }

    #[test]
    fn right_and_trusted_are_counted_apart_and_kept() {
        let outcomes = [outcome(0.01, true), outcome(0.01, false), outcome(0.3, false), outcome(0.3, true)];
        let tally = Tally::of(outcomes.iter(), |outcome| &outcome.default);
        assert_eq!(tally.cells().join(" "), "4 1 1 1 1 0 10");
        assert_eq!(Tally::of(outcomes.iter(), |outcome| &outcome.weights).failed, 4);
        let rows = vec![Row { by: "chains".into(), set: "fresh".into(), class: "ridge".into(), tally }];
        assert_eq!(read(&write(&rows)).unwrap(), rows);
        assert!(read("header\nchains;fresh;ridge;1,2").is_err());
    }
}
