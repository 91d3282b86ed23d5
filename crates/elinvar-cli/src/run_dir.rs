//! The folder in which a fit is kept: there as a whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use elinvar::posterior::{Agreement, Diagnostics, Estimate, Judgement, Rung};
use elinvar::run::{Counts, Step};
use serde::Serialize;
use tempfile::TempDir;

use crate::error::Failure;
use crate::held_out::Test;
use crate::job::Job;
use crate::report::Report;

/// Name of the fit in a run directory.
pub(crate) const FIT: &str = "fit.json";
/// Name of the settings, every choice made.
pub(crate) const CONFIG: &str = "config.toml";

/// A place for a run directory that was found to be free and writable.
pub(crate) struct Reservation {
    path: PathBuf,
}

#[derive(Serialize)]
struct DiagnosticsFile<'a> {
    #[serde(flatten)]
    judgement: &'a Judgement,
    converged: bool,
    stop_reason: &'static str,
    #[serde(flatten)]
    diagnostics: &'a Diagnostics,
    /// log normaliser − ELBO.
    gap: Estimate,
    fit_counts: Counts,
    fit_seconds: f64,
    peak_draws: usize,
    agreement: &'a Agreement,
    rungs: &'a [Rung],
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a Test>,
}

impl Reservation {
    /// Checks that a folder can be made at `path`; leaves nothing there, so that an interrupted fit leaves nothing either.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        if path.file_name().is_none() {
            return Err(Failure::input(format!("{shown}: name a new folder with --out")));
        }
        if path.is_dir() {
            let mut entries = fs::read_dir(path).map_err(|e| Failure::unwritable(path, &e))?;
            if entries.next().is_some() {
                return Err(Failure::input(format!(
                    "{shown}: the folder is not empty; remove it or name another with --out"
                )));
            }
        } else if path.symlink_metadata().is_ok() {
            return Err(Failure::input(format!("{shown}: this is a file; name a new folder with --out")));
        }
        let existing = path.ancestors().skip(1).find(|above| is_there(above)).unwrap_or(Path::new("."));
        temporary_folder(existing).map_err(|e| Failure::unwritable(path, &e))?;
        Ok(Self { path: path.into() })
    }

    /// Writes the run directory.
    pub(crate) fn write(&self, job: &Job, report: &Report) -> Result<(), Failure> {
        let parent = self.path.parent().unwrap_or(Path::new(""));
        let unwritable = |e: io::Error| Failure::unwritable(&self.path, &e);
        if !parent.as_os_str().is_empty() {
            fs::create_dir_all(parent).map_err(unwritable)?;
        }
        let folder = temporary_folder(parent).map_err(unwritable)?;
        self.fill(folder.path(), job, report)?;
        if self.path.is_dir() {
            fs::remove_dir(&self.path).map_err(unwritable)?;
        }
        fs::rename(folder.path(), &self.path).map_err(unwritable)?;
        // It has been moved: there is nothing left to clean up.
        let _ = folder.keep();
        Ok(())
    }

    fn fill(&self, folder: &Path, job: &Job, report: &Report) -> Result<(), Failure> {
        let posterior = &report.posterior;
        let failure = |e: &dyn std::fmt::Display| {
            Failure::input(format!(
                "{}: the fit could not be kept ({e}); name another place with --out",
                self.path.display()
            ))
        };
        posterior.save(folder.join(FIT)).map_err(|e| failure(&e))?;
        let diagnostics = DiagnosticsFile {
            judgement: &report.judgement,
            converged: posterior.converged(),
            stop_reason: posterior.stop_reason().name(),
            diagnostics: &report.diagnostics,
            gap: report.diagnostics.gap(),
            fit_counts: posterior.counts(),
            fit_seconds: report.seconds,
            peak_draws: posterior.peak_draws(),
            agreement: posterior.agreement(),
            rungs: posterior.rungs(),
            test: report.test.as_ref(),
        };
        let diagnostics = serde_json::to_string_pretty(&diagnostics).map_err(|e| failure(&e))? + "\n";
        // A restart and a rung of a ladder have plans of their own; this is the one that was asked for.
        let config = job.resolved.text().map_err(|e| failure(&e))?;
        let trace = trace(posterior.trace());
        for (name, text) in [(CONFIG, config), ("trace.csv", trace), ("diagnostics.json", diagnostics)] {
            fs::write(folder.join(name), text).map_err(|e| failure(&e))?;
        }
        Ok(())
    }
}

fn is_there(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.symlink_metadata().is_ok()
}

/// A new folder in `parent` that vanishes unless it is kept.
fn temporary_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".elinvar-");
    // Temporary folders are private by default; this one becomes an ordinary one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// What happened in each step; a value that is not known is an empty cell.
fn trace(steps: &[Step]) -> String {
    let cell = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:?}"));
    let mut text =
        String::from("step,evaluations,seconds,elbo,elbo_se,step_size,taken,remaining,dropped,draws,components\n");
    for step in steps {
        text += &format!(
            "{},{},{:.6},{},{},{:?},{:?},{},{},{},{}\n",
            step.index,
            step.counts.gradient,
            step.seconds,
            cell(step.elbo),
            cell(step.elbo_se),
            step.beta,
            step.taken,
            cell(step.remaining.map(|(gain, _)| gain)),
            step.dropped,
            step.n_draws,
            step.components
        );
    }
    text
}
