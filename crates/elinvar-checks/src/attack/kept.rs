//! Outcomes in a file, line by line, so that an attack can be made in parts and a part that is done is not made again.

use std::io::Write;

use super::outcome::{Answered, Outcome};
use crate::truth::Errors;

/// The outcomes of a file; none where there is no file.
pub(super) fn read(path: &str) -> Result<Vec<Outcome>, String> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|e| format!("{path}: {e}"))?,
    };
    let outcome = |(number, line): (usize, &str)| {
        parsed(line).ok_or_else(|| format!("{path}: line {} is none of an attack", number + 1))
    };
    text.lines().enumerate().map(outcome).collect()
}

/// Adds outcomes to a file.
pub(super) fn append(path: &str, outcomes: &[Outcome]) -> Result<(), String> {
    let lines: String = outcomes.iter().map(|outcome| line(outcome) + "\n").collect();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(lines.as_bytes())).map_err(|e| format!("{path}: {e}"))
}

fn line(outcome: &Outcome) -> String {
    let Outcome { class, seed, name, dim, default, weights } = outcome;
    format!("{class}\t{seed}\t{name}\t{dim}\t{}\t{}", written(default), written(weights))
}

/// Mean error and ratio of standard deviations (`none none` where there is no truth), trusted or not, evaluations, and
/// the reason; or the error.
fn written(answer: &Result<Answered, String>) -> String {
    match answer {
        Err(problem) => format!("error\t{}", one_line(problem)),
        Ok(answer) => {
            let errors = answer.errors.map_or("none none".into(), |e| format!("{} {}", e.mean, e.sd_ratio));
            let trusted = if answer.trusted { "trusted" } else { "told" };
            format!("{errors} {trusted} {}\t{}", answer.evaluations, one_line(&answer.reason))
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\t', '\n'], " ")
}

fn parsed(line: &str) -> Option<Outcome> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [class, seed, name, dim, default, of_default, weights, of_weights] = cells[..] else { return None };
    Some(Outcome {
        class: class.parse().ok()?,
        seed: seed.parse().ok()?,
        name: name.into(),
        dim: dim.parse().ok()?,
        default: answer(default, of_default)?,
        weights: answer(weights, of_weights)?,
    })
}

fn answer(numbers: &str, text: &str) -> Option<Result<Answered, String>> {
    if numbers == "error" {
        return Some(Err(text.into()));
    }
    let cells: Vec<&str> = numbers.split(' ').collect();
    let [mean, sd_ratio, trusted, evaluations] = cells[..] else { return None };
    let errors = match mean {
        "none" => None,
        mean => Some(Errors { mean: mean.parse().ok()?, sd_ratio: sd_ratio.parse().ok()? }),
    };
    let evaluations = evaluations.parse().ok()?;
    Some(Ok(Answered { errors, trusted: trusted == "trusted", evaluations, reason: text.into() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let answered = |errors| Answered { errors, trusted: true, evaluations: 12, reason: "it\tis".into() };
        let outcome = Outcome {
            class: 3,
            seed: 1_007,
            name: "d = 2, 31 % at 8".into(),
            dim: 2,
            default: Ok(answered(Some(Errors { mean: 0.25, sd_ratio: f64::INFINITY }))),
            weights: Err("no\ndensity".into()),
        };
        let none = Outcome { default: Ok(answered(None)), ..outcome.clone() };
        for outcome in [outcome, none] {
            let again = parsed(&line(&outcome)).unwrap();
            assert_eq!(line(&again), line(&outcome));
            assert_eq!(again.default.unwrap().errors, outcome.default.unwrap().errors);
            assert_eq!(again.weights.unwrap_err(), "no density");
        }
        assert!(parsed("1\t2").is_none());
    }
}
