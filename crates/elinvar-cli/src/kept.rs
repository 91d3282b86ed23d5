//! A fit that was kept, opened again.

use std::path::{Path, PathBuf};

use elinvar::Posterior;

use crate::error::Failure;
use crate::job::Job;
use crate::run_dir::{CONFIG, FIT};
use crate::settings::{self, Settings};
use crate::shell;

/// A run directory, or a fit file alone.
pub(crate) struct Kept {
    pub(crate) posterior: Posterior,
    /// The settings that made it; `None` for a fit file that stands alone.
    pub(crate) settings: Option<Settings>,
    /// The path as it was given.
    pub(crate) path: PathBuf,
}

impl Kept {
    /// Opens a folder written by `elinvar fit --out`, or the fit file in it.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let file = fit_file(path)?;
        let posterior = Posterior::load(&file).map_err(|e| Failure::input(e.to_string()))?;
        let config = file.with_file_name(CONFIG);
        let settings = if config.is_file() { Some(settings::read(&config)?) } else { None };
        Ok(Self { posterior, settings, path: path.into() })
    }

    /// The model of the fit over its data, which must be there unchanged.
    pub(crate) fn job(&self) -> Result<Job, Failure> {
        let shown = self.path.display();
        let settings = self.settings.as_ref().ok_or_else(|| {
            Failure::input(format!(
                "{shown}: there is no {CONFIG} beside the fit, and so no model; name a folder written by elinvar fit --out"
            ))
        })?;
        let job = Job::new(settings)?;
        if job.model.about().names != self.posterior.names() {
            return Err(Failure::input(format!(
                "{shown}: {CONFIG} is not that of the fit beside it: the parameters have other names; restore the file"
            )));
        }
        Ok(job)
    }
}

fn fit_file(run: &Path) -> Result<PathBuf, Failure> {
    let shown = run.display();
    let remedy = "name a folder written by elinvar fit --out";
    if run.is_dir() {
        let file = run.join(FIT);
        if !file.is_file() && run.join(CONFIG).is_file() {
            let command = format!("elinvar resume {}", shell::word(run));
            return Err(Failure::input(format!(
                "{shown}: the fit in this folder is not finished; {command} continues it"
            )));
        }
        if !file.is_file() {
            return Err(Failure::input(format!("{shown}: there is no {FIT} in this folder; {remedy}")));
        }
        return Ok(file);
    }
    if !run.exists() {
        return Err(Failure::input(format!("{shown}: there is no such folder or file; {remedy}")));
    }
    Ok(run.into())
}
