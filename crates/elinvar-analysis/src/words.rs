//! What is said of a fit in more than one place: on the page, in the report and in second opinions.

use std::path::Path;

use elinvar::Posterior;
use elinvar_data::DesignColumn;

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
    let is_lifted = posterior.transforms().row_space().is_some();
    let n = if is_lifted { posterior.names().len() } else { posterior.dim() };
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
        if let Some(formula) = &job.settings().data.formula {
            parts.push(("Formula", formula.clone()));
        }
        parts.push(("Columns", columns(facts)));
        parts.extend(of_levels(job).into_iter().map(|(name, text)| match name {
            "event" => ("Event", text),
            "order" => ("Order", text),
            "classes" => ("Classes", text),
            _ => ("Compared", text),
        }));
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

/// What levels are compared with, and which class is the event, where texts were read.
pub(crate) fn of_levels(job: &Job) -> Vec<(&'static str, String)> {
    let rows = &job.rows;
    let mut lines = Vec::new();
    if let [other, event] = rows.classes.as_slice() {
        lines.push(("event", format!("{} = {event}, against {other}", rows.target)));
    }
    if rows.classes.len() > 2 {
        let is_ordered = job.model.regression().is_none_or(|rows| rows.response.is_ordered());
        lines.push(if is_ordered {
            ("order", rows.classes.join(" < "))
        } else {
            ("classes", format!("{}; the reference is {}", rows.classes.join(", "), rows.classes[0]))
        });
    }
    let mut references: Vec<String> = Vec::new();
    for kind in &rows.kinds {
        if let DesignColumn::Indicator { column, reference: Some(reference), .. } = kind {
            let compared = format!("{column} with {reference}");
            if !references.contains(&compared) {
                references.push(compared);
            }
        }
    }
    if !references.is_empty() {
        lines.push(("compared", references.join(", ")));
    }
    lines
}

fn columns(rows: &Rows) -> String {
    /// More are counted, not named.
    const NAMED: usize = 12;
    let n = rows.columns.len();
    let shown: Vec<&str> = rows.columns.iter().take(NAMED).map(String::as_str).collect();
    let more = if n > NAMED { format!(", … ({n} in all)") } else { String::new() };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn title_and_parts_count_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let mut text = String::from("y,x\n1,\n0,\n");
        (0..40).for_each(|i| text += &format!("{},{}\n", i % 2, f64::from(i * i % 17)));
        std::fs::write(&path, text).unwrap();
        let mut settings: Settings = toml::from_str(
            "[data]\ntarget = \"y\"\nmissing = \"drop\"\ntest_fraction = 0.25\n[model]\nname = \"logistic\"",
        )
        .unwrap();
        settings.data.file = Some(path.display().to_string());
        let job = Job::new(&settings).unwrap();
        assert_eq!(rows(&job.rows), "30 rows (10 held out, 2 dropped for missing cells)");
        let parts = parts(&job);
        assert!(parts[0].1.contains(&rows(&job.rows)), "{}", parts[0].1);
        assert_eq!(parts[1].1, "P(y = 1) = 1/(1 + exp(−η)), η linear in the columns");
        assert_eq!(parts[2], ("Columns".into(), "intercept, x".into()));
        assert_eq!(
            (file(&job.rows, FileName::Bare).as_str(), file(&job.rows, FileName::Given)),
            ("t.csv", path.display().to_string())
        );
    }
}
