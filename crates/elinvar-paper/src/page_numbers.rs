//! Every number of docs/paper.md stands in the numbers of a run.
//!
//! A section names its experiments by their commands; a number in it must be one of their `numbers.json`, rounded as
//! the page rounds it: a value, a spread, a standard error, or a number in the words of a quantity or of an
//! expectation. The abstract may take from all of them. What no run can find (settings, section numbers, numbers of
//! others) is listed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// Numbers that no run finds, by the beginning of a section's heading, with what they are.
const STATED: &[(&str, &str, &[&str])] = &[
    ("# The paper", "year", &["2019"]),
    ("## The abstract", "sections", &["6.1", "6.2", "6.3"]),
    (
        "### A mixture of twenty",
        "variances of the start, β times the iterations, an equation, log 10",
        &["100", "150", "16", "2.30"],
    ),
    ("### More components", "iterations of the authors' program", &["50 000"]),
    ("### A skew-Gaussian approximates", "draws and data of the authors' program", &["20", "2.2"]),
    ("### Mixtures on", "an equation, draws, iterations", &["16", "10⁶", "4 000", "1500"]),
    ("### Mixtures on", "features, rows and split of Sonar", &["60", "61", "50", "104", "100"]),
    ("### Mixtures on", "a step size and a step of `a_run_that_leaves_its_domain_says_at_which_step`", &["300", "600"]),
    (
        "### Student-t and",
        "epochs, a₀, steps and bound of the runs, rows that are kept back",
        &["5", "2.5", "20", "0.9", "10", "116 203", "30000", "21"],
    ),
    (
        "### A diagonal skew",
        "a year, rows of a batch, the start of s, steps with more layers",
        &["2016", "32", "0", "2 000"],
    ),
    (
        "## Section 5",
        "rows and coefficients, equations, steps, units",
        &["40", "6", "4", "29", "31", "3 000", "50", "150"],
    ),
    ("## Heavy tails", "a section", &["6"]),
];

/// A number as it is written.
#[derive(Clone, Debug, PartialEq)]
struct Written {
    text: String,
    /// Without its sign.
    value: f64,
    /// Half a unit of its last digit.
    half: f64,
}

impl Written {
    fn is(&self, number: f64) -> bool {
        (number.abs() - self.value).abs() <= self.half * (1.0 + 1e-9)
    }
}

fn superscript(c: char) -> Option<char> {
    let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    if c == '⁻' { Some('-') } else { digits.chars().position(|d| d == c).map(|n| char::from(b'0' + n as u8)) }
}

/// The numbers of a text: `0.51`, `464 809`, `1e-6`, `10⁻⁶`, `8·10⁻⁴`, `39 %` (which is 0.39); digits that belong to a
/// word are none.
fn numbers(text: &str) -> Vec<Written> {
    let chars: Vec<char> = text.chars().collect();
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let run = |mut i: usize| {
        let from = i;
        while digit(i) {
            i += 1;
        }
        i - from
    };
    let (mut found, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        if !digit(i) {
            i += 1;
            continue;
        }
        let start = i;
        let in_a_word = start > 0 && (chars[start - 1].is_alphanumeric() || chars[start - 1] == '_');
        i += run(i);
        let has_groups = i - start <= 3;
        while has_groups && chars.get(i) == Some(&' ') && run(i + 1) == 3 {
            i += 4;
        }
        let mut decimals = 0;
        if chars.get(i) == Some(&'.') && digit(i + 1) {
            decimals = run(i + 1);
            i += 1 + decimals;
        }
        let mut mantissa: String = chars[start..i].iter().filter(|c| **c != ' ').collect();
        let mut exponent = 0;
        let sign = usize::from(matches!(chars.get(i + 1), Some('-' | '−')));
        if chars.get(i) == Some(&'e') && digit(i + 1 + sign) {
            let n = run(i + 1 + sign);
            let power: String = chars[i + 1 + sign..i + 1 + sign + n].iter().collect();
            exponent = power.parse::<i32>().unwrap_or(0) * if sign == 1 { -1 } else { 1 };
            i += 1 + sign + n;
        } else if chars[i..].starts_with(&['·', '1', '0']) || (mantissa == "10" && i - start == 2) {
            let from = if mantissa == "10" { i } else { i + 3 };
            let power: String = chars[from..].iter().map_while(|c| superscript(*c)).collect();
            if let Ok(power) = power.parse::<i32>() {
                i = from + chars[from..].iter().take_while(|c| superscript(**c).is_some()).count();
                mantissa = if mantissa == "10" { "1".into() } else { mantissa };
                exponent = power;
            }
        }
        let percent = chars[i..].starts_with(&[' ', '%']) || chars.get(i) == Some(&'%');
        let scale = 10f64.powi(exponent - if percent { 2 } else { 0 });
        let in_a_word = in_a_word || chars.get(i).is_some_and(|c| c.is_alphabetic());
        if let (Ok(value), false) = (mantissa.parse::<f64>(), in_a_word) {
            let half = 0.5 * 10f64.powi(-(decimals as i32)) * scale;
            found.push(Written { text: chars[start..i].iter().collect(), value: value * scale, half });
        }
    }
    found
}

/// The text of a page without what is inside backquotes and without the addresses of links.
fn words(text: &str) -> String {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join("\u{b6}");
    let mut parts = plain.split("](");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| all + "] " + part.split_once(')').map_or("", |(_, rest)| rest))
}

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// All numbers of a `numbers.json`.
fn found_by(text: &str) -> Vec<f64> {
    let file: Value = serde_json::from_str(text).expect("a file of numbers");
    let mut all = Vec::new();
    let quantities = file["quantities"].as_array().expect("quantities");
    let splits = quantities.iter().find(|q| q["name"] == "splits").and_then(|q| q["value"].as_f64());
    for quantity in quantities {
        all.extend(quantity["value"].as_f64());
        let spread = quantity["spread"].as_f64();
        all.extend(spread);
        all.extend(spread.zip(splits).map(|(spread, n)| spread / n.sqrt()));
        all.extend(numbers(quantity["name"].as_str().unwrap_or_default()).iter().map(|n| n.value));
    }
    for line in file["comparison"]["lines"].as_array().into_iter().flatten() {
        for key in ["wanted", "source"] {
            all.extend(numbers(line[key].as_str().unwrap_or_default()).iter().map(|n| n.value));
        }
    }
    all
}

/// The numbers of every experiment, with those of the authors' settings.
fn experiments() -> BTreeMap<String, Vec<f64>> {
    let mut all = BTreeMap::new();
    for experiment in crate::EXPERIMENTS {
        let mut numbers = Vec::new();
        for folder in ["paper", "paper/authors"] {
            let path = docs().join(folder).join(experiment.name).join("numbers.json");
            numbers.extend(fs::read_to_string(path).ok().iter().flat_map(|text| found_by(text)));
        }
        all.insert(experiment.name.to_string(), numbers);
    }
    all
}

#[test]
fn every_number_of_the_page_is_one_of_a_run() {
    let page = fs::read_to_string(docs().join("paper.md")).expect("the page");
    let experiments = experiments();
    let mut missing = Vec::new();
    let mut sections: Vec<(&str, String)> = Vec::new();
    for line in page.lines() {
        if line.starts_with('#') {
            sections.push((line, String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            *text += line;
            *text += " ";
        }
    }
    for (heading, text) in &sections {
        let named = |name: &&String| text.contains(&format!("reproduce {name}"));
        let own: Vec<&String> = experiments.keys().filter(named).collect();
        let own = if own.is_empty() { experiments.keys().collect() } else { own };
        let known: Vec<f64> = own.iter().flat_map(|name| experiments[*name].iter().copied()).collect();
        let stated = STATED.iter().filter(|(start, ..)| heading.starts_with(start)).flat_map(|(.., list)| list.iter());
        let stated: Vec<&str> = stated.copied().collect();
        for number in numbers(&words(text)) {
            if !known.iter().any(|known| number.is(*known)) && !stated.contains(&&number.text[..]) {
                missing.push(format!("{heading}: {}", number.text));
            }
        }
    }
    assert!(missing.is_empty(), "numbers that no run has found:\n{}", missing.join("\n"));
}

#[test]
fn numbers_are_read_as_they_are_written() {
    let read = |text: &str| numbers(text).iter().map(|n| n.value).collect::<Vec<f64>>();
    assert_eq!(read("464 809 rows, −3.38 ± 0.26"), [464_809.0, 3.38, 0.26]);
    assert_eq!(read("β₂ = 1e-6 or 10⁻⁶, not f64 or 8th"), [1e-6, 1e-6]);
    assert_eq!(read("off by 25 %; 3, 12 times"), [0.25, 3.0, 12.0]);
    assert!((read("8·10⁻⁴")[0] - 8e-4).abs() < 1e-18);
    assert_eq!(words("a `1` [2](3) b"), "a \u{b6} [2]  b");
    let number = &numbers("0.128")[0];
    assert!(number.is(0.1275339 + 1e-4) && number.is(-0.1284) && !number.is(0.1274));
}
