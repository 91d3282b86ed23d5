//! A fit that was kept, opened again.

use std::path::{Path, PathBuf};

use elinvar::Posterior;

use crate::error::Error;
use crate::formula::Recipe;
use crate::job::Job;
use crate::own::{self, CONFIG, FIT, RECIPE};
use crate::run_folder::{changed_files, check_settings};
use crate::settings::{self, Settings};

/// A run directory, or a fit file alone.
pub struct Kept {
    /// The fit.
    pub posterior: Posterior,
    /// The settings that made it; `None` for a fit file that stands alone.
    pub settings: Option<Settings>,
    /// The path as it was given.
    pub path: PathBuf,
}

impl Kept {
    /// Opens a folder written by `elinvar fit --out`, or the fit file in it.
    ///
    /// # Errors
    /// A sentence about what is not there or cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = fit_file(path)?;
        let posterior = Posterior::load(&file).map_err(Error::Refused)?;
        let config = file.with_file_name(CONFIG);
        let settings = if config.is_file() { Some(settings::read(&config)?) } else { None };
        Ok(Self { posterior, settings, path: path.into() })
    }

    /// Files beside the fit that are not as it has left them.
    pub fn changed_files(&self) -> Vec<PathBuf> {
        changed_files(&folder_of(&self.path))
    }

    /// How a table becomes the design matrix of the fit: with it, new rows need no other data.
    ///
    /// # Errors
    /// [`Error::NotARun`] where the fit has none: a model of a single column, or a fit file alone; and a file that was
    /// changed.
    pub fn recipe(&self) -> Result<Recipe, Error> {
        let folder = folder_of(&self.path);
        let path = folder.join(RECIPE);
        if self.changed_files().contains(&path) {
            return Err(Error::ChangedSettings { path });
        }
        let content = own::content(&path).ok_or(Error::NotARun { path: folder, file: RECIPE })?;
        Ok(Recipe::from_json(&String::from_utf8_lossy(&content))?)
    }

    /// Where the report of the fit goes: beside it, in place of an earlier one.
    ///
    /// # Errors
    /// [`Error::Exists`] where something else has the name.
    pub fn report_file(&self) -> Result<PathBuf, Error> {
        own::report_in(&folder_of(&self.path))
    }

    /// The model of the fit over its data, which must be there unchanged.
    ///
    /// # Errors
    /// A sentence about what has changed.
    pub fn job(&self) -> Result<Job, Error> {
        let path = &self.path;
        let settings = self.settings.as_ref().ok_or_else(|| Error::NoModelBeside { path: path.clone() })?;
        check_settings(&folder_of(path).join(CONFIG))?;
        let job = Job::new(settings)?;
        if job.target().about().names != self.posterior.names_z() {
            return Err(Error::OtherSettings { path: path.clone() });
        }
        Ok(job)
    }
}

/// The run folder of a path to it or to the fit file in it.
pub fn folder_of(run: &Path) -> PathBuf {
    match run.parent() {
        Some(parent) if !run.is_dir() => parent.into(),
        _ => run.into(),
    }
}

fn fit_file(run: &Path) -> Result<PathBuf, Error> {
    if run.is_dir() {
        let file = run.join(FIT);
        return match file.is_file() {
            true => Ok(file),
            false if run.join(CONFIG).is_file() => Err(Error::Unfinished { path: run.into() }),
            false => Err(Error::NotARun { path: run.into(), file: FIT }),
        };
    }
    if run.exists() { Ok(run.into()) } else { Err(Error::NoRun { path: run.into() }) }
}
