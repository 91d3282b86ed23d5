//! The default command against fits of other programs, which are listed in `tests/references`.
//!
//! A quick part of them, or all where the environment variable ELINVAR_REFERENCES is set; what was found is then
//! written to `docs/references.md`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::story::{Story, number};

/// How far a mean may be from that of the reference, in standard deviations of the reference.
const MEAN: f64 = 0.2;
/// How far the log of a standard deviation may be.
const LOG_SD: f64 = 0.2;
/// Fits that ordinary tests leave to the page, because they take more than about a second.
const SLOW: [&str; 4] = ["spectra", "sonar", "genes", "wine"];

struct Line {
    name: String,
    table: PathBuf,
    model: String,
    formula: String,
    arguments: Vec<String>,
    references: Vec<Reference>,
}

struct Reference {
    by: String,
    parameter: String,
    mean: f64,
    sd: f64,
    /// Effective draws of chains.
    ess: Option<f64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/references")
}

/// The cells of a line of CSV, of which some are quoted.
fn cells(line: &str, comma: char) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c == comma && !quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

fn lines() -> Vec<Line> {
    let read = |name: &str| fs::read_to_string(folder().join(name)).unwrap();
    let mut references: HashMap<String, Vec<Reference>> = HashMap::new();
    for line in read("references.csv").lines().skip(1) {
        let cells = cells(line, ',');
        let [fit, by, parameter, mean, sd, ess, _rhat] = cells.as_slice() else { panic!("{line}") };
        references.entry(fit.clone()).or_default().push(Reference {
            by: by.clone(),
            parameter: parameter.clone(),
            mean: mean.parse().unwrap(),
            sd: sd.parse().unwrap(),
            ess: ess.parse().ok(),
        });
    }
    let line = |line: &str| {
        // Quotes are part of the arguments.
        let parts: Vec<&str> = line.split(';').collect();
        let [name, table, model, formula, arguments] = parts[..] else { panic!("{line}") };
        let references = references.remove(name).unwrap_or_else(|| panic!("references.csv has no {name}"));
        Line {
            name: name.into(),
            table: folder().join("tables").join(table),
            model: model.into(),
            formula: formula.into(),
            arguments: cells(arguments, ' ').into_iter().filter(|word| !word.is_empty()).collect(),
            references,
        }
    };
    read("fits.csv").lines().skip(1).map(line).collect()
}

/// What came of a line.
struct Found {
    fit: Value,
    /// Largest distance of a mean, in standard deviations of the reference, and its parameter.
    mean: (f64, String),
    /// Largest distance of a log standard deviation.
    log_sd: (f64, String),
}

impl Found {
    fn of(line: &Line, story: &Story) -> Self {
        let table = line.table.display().to_string();
        let mut command = vec!["fit", line.model.as_str(), table.as_str(), line.formula.as_str(), "--json"];
        command.extend(line.arguments.iter().map(String::as_str));
        let ended = story.run(&command);
        let fit: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}: {}", line.name, ended.stderr));
        let found = fit["parameters"].as_array().unwrap();
        // Maximum likelihood says nothing of sigma.
        assert!(found.len() - line.references.len() < 2, "{}: {} parameters", line.name, found.len());
        let (mut mean, mut log_sd) = ((0.0, String::new()), (0.0, String::new()));
        for (found, reference) in found.iter().zip(&line.references) {
            let name = found["name"].as_str().unwrap();
            let same = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
            // The last letters of both names: R writes brandsouth for brand=south.
            let (ours, theirs) = (same(name), same(&reference.parameter));
            let last = |text: &str| text.chars().rev().take(2).collect::<String>();
            let known = [("shape", "reciprocaldispersion"), ("scalehour", "hour"), ("scaleamount", "amount")];
            assert!(
                last(&ours) == last(&theirs) || known.contains(&(&ours, &theirs)),
                "{name} {}",
                reference.parameter
            );
            let off = (number(&found["mean"]) - reference.mean).abs() / reference.sd;
            let wider = (number(&found["sd"]) / reference.sd).ln();
            if off >= mean.0 {
                mean = (off, name.into());
            }
            if wider.abs() >= f64::abs(log_sd.0) {
                log_sd = (wider, name.into());
            }
        }
        Self { fit, mean, log_sd }
    }

    fn verdict(&self) -> String {
        self.fit["verdict"].as_str().unwrap().replace('_', " ")
    }

    fn warnings(&self) -> Vec<&str> {
        self.fit["warnings"].as_array().map_or(Vec::new(), |all| all.iter().filter_map(Value::as_str).collect())
    }

    /// Close to the reference, or said not to be.
    fn is_good(&self) -> bool {
        self.verdict() != "trust" || (self.mean.0 <= MEAN && self.log_sd.0.abs() <= LOG_SD)
    }
}

#[test]
fn default_fits_are_those_of_other_programs() {
    let is_whole = std::env::var_os("ELINVAR_REFERENCES").is_some();
    let story = Story::new();
    let lines = lines();
    assert!(lines.len() > 30, "{}", lines.len());
    let chosen: Vec<&Line> = lines.iter().filter(|line| is_whole || !SLOW.contains(&line.name.as_str())).collect();
    let found: Vec<Found> = chosen.iter().map(|line| Found::of(line, &story)).collect();
    if is_whole {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/references.md");
        fs::write(page, self::page(&chosen, &found)).unwrap();
    }
    for (line, found) in chosen.iter().zip(&found) {
        let (name, (mean, of_mean), (log_sd, of_sd)) = (&line.name, &found.mean, &found.log_sd);
        assert!(found.is_good(), "{name}: mean off by {mean} sd ({of_mean}), log sd by {log_sd} ({of_sd})");
    }
}

const HEAD: &str = "\
# Default fits against other programs

Tables as people have them: raw units, years, prices, counts with exposure, texts, wide, long, separable, collinear.
Each line is `elinvar fit MODEL TABLE FORMULA` and nothing else, unless arguments are given, against what other
programs say of the same table. Tables, scripts and reference values are in
[crates/elinvar-cli/tests/references](../crates/elinvar-cli/tests/references/README.md);

```
cargo xtask references
```

runs all lines, writes this page, and fails if a trusted fit has a mean more than 0.2 reference standard deviations
off, or a standard deviation more than 22 % (0.2 in its logarithm). Ordinary tests run all but the slowest.

rstanarm is version 2.21.3 with its default priors, which are ours too: coefficients N(0, (2.5 sd(y)/sd(x))²), for
other than linear models without sd(y), the intercept of centred columns N(mean(y), (2.5 sd(y))²) or N(0, 2.5²),
sigma exponential with mean sd(y), shape and phi exponential with mean 1. It has no regression with t noise, its
ordered classes have no default prior, and its shares need a package more; rstan has run these three with the priors
of [formulas](formulas.md#priors). Its `stan_glm` takes no notice of weights where the noise is normal, so that the
rows of `marks` are written as often as their weights say.
statsmodels gives maximum likelihood for flat priors, scikit-learn the maximum under a normal prior: these are modes,
and ours are means, so what is left is skewness.

A reference by chains has an error of its own, which is that of the worst parameter: sd/√(effective draws). *mean
off* is the worst parameter's distance in standard deviations of the reference, *sd* its ratio of standard
deviations.

";

fn page(lines: &[&Line], found: &[Found]) -> String {
    let mut text = String::from(HEAD);
    text += "| fit | model | reference | its error | mean off | sd | verdict | model check | given by | gradients |\n";
    text += "|---|---|---|--:|--:|--:|---|---|---|--:|\n";
    let mut warned = String::new();
    for (line, found) in lines.iter().zip(found) {
        let fewest = line.references.iter().filter_map(|reference| reference.ess).fold(f64::INFINITY, f64::min);
        let error = if fewest.is_finite() { format!("{:.3} sd", 1.0 / fewest.sqrt()) } else { String::new() };
        let (mean, sd) = (&found.mean, &found.log_sd);
        let check = if found.fit["model_check"]["fits"] == true { "no misfit seen" } else { "does not fit" };
        let name = if line.arguments.is_empty() { line.name.clone() } else { format!("{} ¹", line.name) };
        writeln!(
            text,
            "| {name} | {} | {} | {error} | {:.3} sd ({}) | {:.3} ({}) | {} | {check} | {} | {} |",
            line.model,
            line.references[0].by,
            mean.0,
            mean.1,
            sd.0.exp(),
            sd.1,
            found.verdict(),
            found.fit["given_by"].as_str().unwrap(),
            found.fit["evaluations"]["gradient"]
        )
        .unwrap();
        for warning in found.warnings() {
            warned += &folded(&format!("* {}: {warning}", line.name));
        }
    }
    let given: Vec<String> = lines
        .iter()
        .filter(|line| !line.arguments.is_empty())
        .map(|line| format!("{}: `{}`", line.name, shown(&line.arguments)))
        .collect();
    write!(text, "\n{}", folded(&format!("¹ With arguments; {}.", given.join("; ")))).unwrap();
    let commands: Vec<String> =
        lines.iter().map(|line| format!("* {}: `{} \"{}\"`", line.name, file_name(line), line.formula)).collect();
    writeln!(text, "\n## Formulas\n\n{}", commands.join("\n")).unwrap();
    text += &others(lines, found);
    if !warned.is_empty() {
        writeln!(text, "\n## Warnings on the page\n\n{}", warned.trim_end()).unwrap();
    }
    text
}

const OTHERS: &str = "
## Other algorithms

Nine of the tables by the other algorithms of rstanarm 2.21.3, as it gives them, with the same model and priors
(`others.R`): ADVI with independent and with correlated coordinates, a normal law around the mode with its importance
resampling, and NUTS as it comes, four chains of 1,000 draws. Each cell has the largest error of a mean, in standard
deviations of the reference, and the ratio of standard deviations that is farthest from 1. Gradients of NUTS are those
of the draws that were kept, without warming up; those of elinvar are all. Pathfinder is not part of that version. One
seed.

";

/// What other algorithms make of some of the tables.
fn others(lines: &[&Line], found: &[Found]) -> String {
    let Ok(text) = fs::read_to_string(folder().join("others.csv")) else { return String::new() };
    let rows: Vec<Vec<String>> = text.lines().skip(1).map(|line| cells(line, ',')).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&row[0].as_str()) {
            names.push(&row[0]);
        }
    }
    let mut page = String::from(OTHERS);
    page += "| fit | ADVI, mean field | ADVI, full rank | normal at the mode | NUTS | its gradients | elinvar | its \
             gradients |\n";
    page += "|---|--:|--:|--:|--:|--:|--:|--:|\n";
    let pair = |mean: f64, log_sd: f64| format!("{mean:.2} sd, × {:.2}", log_sd.exp());
    for name in names {
        let of = |algorithm: &str| rows.iter().find(|row| row[0] == name && row[1] == algorithm);
        let cell = |algorithm: &str| {
            let number = |k: usize| of(algorithm).and_then(|row| row[k].parse::<f64>().ok());
            match (number(2), number(3)) {
                (Some(mean), Some(log_sd)) => pair(mean, log_sd),
                (Some(mean), None) => format!("{mean:.2} sd, no sd"),
                _ => "failed".into(),
            }
        };
        let ours = lines.iter().zip(found).find(|(line, _)| line.name == name).unwrap().1;
        writeln!(
            page,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            cell("meanfield"),
            cell("fullrank"),
            cell("optimizing"),
            cell("sampling"),
            of("sampling").map_or("", |row| &row[4]),
            pair(ours.mean.0, ours.log_sd.0),
            ours.fit["evaluations"]["gradient"]
        )
        .unwrap();
    }
    page
}

/// A paragraph, or an item of a list, in lines that are not too wide.
fn folded(text: &str) -> String {
    const WIDTH: usize = 116;
    let indent = if text.starts_with("* ") { "  " } else { "" };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if !last.trim().is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{indent}{word}"));
        } else {
            *last += if last.is_empty() { "" } else { " " };
            *last += word;
        }
    }
    lines.join("\n") + "\n"
}

fn shown(arguments: &[String]) -> String {
    let quoted = |word: &String| if word.contains(' ') { format!("'{word}'") } else { word.clone() };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn file_name(line: &Line) -> String {
    line.table.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_wrong_prior_would_be_found() {
    // What the first line would be with the prior that users once got: far from the reference, and said to be.
    let story = Story::new();
    let lines = lines();
    let wrong = Line { arguments: vec!["--prior-sd".into(), "1".into()], ..lines.into_iter().next().unwrap() };
    let found = Found::of(&wrong, &story);
    assert!(found.mean.0 > 5.0 && !found.warnings().is_empty(), "{} {:?}", found.mean.0, found.warnings());
}
