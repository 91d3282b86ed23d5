//! What is said of a fit in more than one place: on the page, in the report and in second opinions.

use std::path::Path;

use elinvar::Posterior;

use crate::family::family_in_words;
use crate::job::Job;
use crate::models::Columns;
use crate::rows::Rows;

/// How a file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileName {
    /// As it was given.
    Given,
    /// Without its folder, for readers elsewhere.
    Bare,
}

/// What is being fitted, in one line.
pub(crate) fn title(job: &Job, posterior: &Posterior, file_name: FileName) -> String {
    let n = posterior.dim();
    format!(
        "{} on {}: {}, {n} {}, prior {}; {}",
        job.model.title(),
        file(&job.rows, file_name),
        rows(&job.rows),
        if n == 1 { "parameter" } else { "parameters" },
        job.model.prior().in_short(),
        family_in_words(&posterior.family())
    )
}

/// The model part by part, a pair of a name and a description each.
pub(crate) fn parts(job: &Job) -> Vec<(String, String)> {
    let facts = &job.rows;
    let data = format!("{}, {}; fingerprint {}", file(facts, FileName::Given), rows(facts), facts.fingerprint);
    let mut parts = vec![("Data", data), ("Model", job.model.formula(&facts.target))];
    if job.settings().model.name.is_some_and(|name| name.entry().columns != Columns::Single) {
        parts.push(("Columns", columns(facts)));
        if facts.is_scaled() {
            let scaled = "shifted or scaled for the fit; coefficients on this page are in the units of the file";
            parts.push(("Scaling", scaled.into()));
        }
    }
    parts.push(("Prior", job.model.prior().in_full()));
    parts.into_iter().map(|(name, text)| (name.into(), text)).collect()
}

fn file(rows: &Rows, name: FileName) -> String {
    let Some(file) = &rows.file else { return "the embedded breast-cancer data".into() };
    match Path::new(file).file_name().filter(|_| name == FileName::Bare) {
        Some(bare) => bare.to_string_lossy().into_owned(),
        None => file.clone(),
    }
}

/// The number of rows, with those that were dropped or held out.
fn rows(rows: &Rows) -> String {
    let others = [(rows.n_held_out(), "held out"), (rows.n_dropped, "dropped for missing cells")];
    let others: Vec<String> = others.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    let scaled = if rows.is_scaled() { ", columns scaled" } else { "" };
    format!("{} rows{others}{scaled}", rows.n_rows)
}

fn columns(rows: &Rows) -> String {
    /// More are counted, not named.
    const NAMED: usize = 12;
    let n = rows.columns.len();
    let shown: Vec<&str> = rows.columns.iter().take(NAMED).map(String::as_str).collect();
    let more = if n > NAMED { format!(", … ({n} in all)") } else { String::new() };
    shown.join(", ") + &more
}
