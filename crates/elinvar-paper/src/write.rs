//! The folder of a result: all of it, or nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Comparison, Error, Experiment, Findings, Mode, Quantity, Settings, Table};

/// The file that every result folder has.
const NUMBERS: &str = "numbers.json";

/// What becomes of a folder that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    Refuse,
    /// It is replaced if it holds an earlier result; any other folder stays.
    ReplaceResult,
}

/// What `numbers.json` holds.
#[derive(Serialize)]
struct Numbers<'a> {
    experiment: &'a str,
    mode: &'static str,
    quick: bool,
    seed: u64,
    version: &'static str,
    met: bool,
    quantities: &'a [Quantity],
    comparison: &'a Comparison,
}

/// Writes the findings into `folder`: each figure as SVG and, with the feature `png`, as PNG, each table as CSV,
/// `numbers.json` and the page `index.md`.
///
/// The files appear together: they are written beside the folder and renamed.
///
/// # Errors
/// [`Error::Exists`] if the folder is there and may not be replaced; [`Error::Io`] if something cannot be written.
pub fn write(
    folder: &Path,
    experiment: &Experiment,
    settings: &Settings,
    findings: &Findings,
    comparison: &Comparison,
    existing: Existing,
) -> Result<(), Error> {
    let replaces = folder.exists();
    if replaces && (existing == Existing::Refuse || !folder.join(NUMBERS).is_file()) {
        return Err(Error::Exists(folder.to_path_buf()));
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&parent).map_err(Error::io(&parent))?;
    let beside = tempfile::Builder::new().prefix(".reproduce-").tempdir_in(&parent).map_err(Error::io(&parent))?;
    let (new, old) = (beside.path().join("new"), beside.path().join("old"));
    fs::create_dir(&new).map_err(Error::io(&new))?;
    write_files(&new, experiment, settings, findings, comparison)?;
    if replaces {
        fs::rename(folder, &old).map_err(Error::io(folder))?;
    }
    fs::rename(&new, folder).map_err(Error::io(folder))
}

fn write_files(
    folder: &Path,
    experiment: &Experiment,
    settings: &Settings,
    findings: &Findings,
    comparison: &Comparison,
) -> Result<(), Error> {
    let put = |name: String, content: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, content).map_err(Error::io(&path))
    };
    for figure in &findings.figures {
        put(format!("{}.svg", figure.stem), figure.svg.as_bytes())?;
        #[cfg(feature = "png")]
        put(format!("{}.png", figure.stem), &pixels(figure)?)?;
    }
    for table in &findings.tables {
        put(format!("{}.csv", table.stem), &csv(table))?;
    }
    let numbers = Numbers {
        experiment: experiment.name,
        mode: Mode::of(settings).name(),
        quick: settings.quick,
        seed: settings.seed,
        version: env!("CARGO_PKG_VERSION"),
        met: comparison.is_met(),
        quantities: &findings.quantities,
        comparison,
    };
    let mut text = serde_json::to_string_pretty(&numbers).expect("names and numbers have a text");
    text.push('\n');
    put(NUMBERS.into(), text.as_bytes())?;
    put("index.md".into(), page(experiment, settings, findings, comparison).as_bytes())
}

/// The figure with twice its natural size.
#[cfg(feature = "png")]
fn pixels(figure: &crate::Figure) -> Result<Vec<u8>, Error> {
    let refuse =
        |e: elinvar_figure::png::PngError| Error::Drawing { stem: figure.stem.clone(), problem: e.to_string() };
    elinvar_figure::png::png(&figure.svg, 2.0).map_err(refuse)
}

fn csv(table: &Table) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&table.header).chain(&table.rows) {
        writer.write_record(row).expect("rows as long as the header, in memory");
    }
    writer.into_inner().expect("a vector takes every byte")
}

/// The page: figures, what is seen in them, numbers against expectations.
fn page(experiment: &Experiment, settings: &Settings, findings: &Findings, comparison: &Comparison) -> String {
    let mode = match Mode::of(settings) {
        Mode::Quick => "A quick run; the full one takes minutes and has less noise.",
        Mode::Full => "The full run.",
        Mode::Paper => "The run with the settings of the authors' program.",
    };
    let mut page = format!("# {}\n\n{} {mode} Seed {}.\n\n", experiment.title, experiment.about, settings.seed);
    for figure in &findings.figures {
        page += &format!("![{0}]({1}.svg)\n\n*{0}*\n\n", figure.title, figure.stem);
    }
    page += findings.page.trim();
    page += "\n\n## Numbers against expectations\n\n| quantity | found | wanted | | source |\n|---|---|---|---|---|\n";
    for line in &comparison.lines {
        let found = line.found.map_or("–".into(), |value| format!("{value:.5}"));
        let word = if line.met { "met" } else { "**missed**" };
        page += &format!("| {} | {found} | {} | {word} | {} |\n", line.name, line.wanted, line.source);
    }
    if !findings.tables.is_empty() {
        let names: Vec<String> =
            findings.tables.iter().map(|table| format!("[{0}.csv]({0}.csv)", table.stem)).collect();
        page += &format!("\nData of the figures: {}; all numbers: [{NUMBERS}]({NUMBERS}).\n", names.join(", "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;

    const EXPERIMENT: Experiment = Experiment {
        name: "figure-test",
        title: "A test",
        about: "Nothing.",
        has_paper_settings: false,
        needs: None,
        run: |_, _| Ok(Findings::default()),
        expected: "[[quantity]]\nname = \"x\"\nat_most = 1.0\nmode = \"both\"\nsource = \"none\"",
    };

    fn findings() -> Findings {
        let mut findings = Findings { page: "Words.".into(), ..Findings::default() };
        findings.put("x", 0.5);
        findings.figures.push(Figure { stem: "picture".into(), title: "A square".into(), svg: SQUARE.into() });
        let mut table = Table::new("values", ["a", "b, c"]);
        table.push(["1".into(), "two \"quoted\"".into()]);
        findings.tables.push(table);
        findings
    }

    const SQUARE: &str =
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>"#;

    fn write_to(folder: &Path, existing: Existing) -> Result<(), Error> {
        let (settings, findings) = (Settings::default(), findings());
        let comparison = EXPERIMENT.compare(&settings, &findings)?;
        write(folder, &EXPERIMENT, &settings, &findings, &comparison, existing)
    }

    #[test]
    fn a_folder_has_every_part_and_nothing_is_left_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep/figure-test");
        write_to(&folder, Existing::Refuse).unwrap();
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("picture.svg"), SQUARE);
        #[cfg(feature = "png")]
        assert!(fs::read(folder.join("picture.png")).unwrap().starts_with(b"\x89PNG"));
        assert_eq!(read("values.csv"), "a,\"b, c\"\n1,\"two \"\"quoted\"\"\"\n");
        let numbers: serde_json::Value = serde_json::from_str(&read(NUMBERS)).unwrap();
        assert_eq!(numbers["met"], true);
        assert_eq!(numbers["quantities"][0]["value"], 0.5);
        let page = read("index.md");
        assert!(page.contains("![A square](picture.svg)") && page.contains("| x | 0.50000 | at most 1 | met | none |"));
        assert_eq!(fs::read_dir(home.path().join("deep")).unwrap().count(), 1);
    }

    #[test]
    fn only_an_earlier_result_is_replaced_and_only_if_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("figure-test");
        write_to(&folder, Existing::ReplaceResult).unwrap();
        fs::write(folder.join("stale.svg"), "old").unwrap();
        assert!(matches!(write_to(&folder, Existing::Refuse), Err(Error::Exists(_))));
        write_to(&folder, Existing::ReplaceResult).unwrap();
        assert!(!folder.join("stale.svg").exists());
        fs::remove_file(folder.join(NUMBERS)).unwrap();
        assert!(matches!(write_to(&folder, Existing::ReplaceResult), Err(Error::Exists(_))));
    }
}
