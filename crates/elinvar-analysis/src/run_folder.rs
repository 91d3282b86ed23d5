//! The folder in which a fit is kept.
//!
//! While the fit runs, the folder has the settings and a folder with its state. The results come at the end, the fit
//! file as the last: a folder with a fit file has everything. A fit that goes on after its end keeps its results until
//! there are new ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use elinvar::Posterior;
use elinvar::file::{fingerprint, is_left_over, replace};
use elinvar::posterior::{Agreement, Diagnostics, Estimate, Judgement, Rung};
use elinvar::run::journal::Folder;
use elinvar::run::{Counts, Step, StopReason};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::error::Error;
use crate::fail_point;
use crate::formula::Recipe;
use crate::held_out::Test;
use crate::job::Job;
use crate::own::{self, CHECKSUMS, CONFIG, DIAGNOSTICS, FILES, FIT, RECIPE, REPORT, TRACE, TRACE_HEADER};
use crate::settings::{self, Settings};

/// Name of the folder with the state of a fit under way; beside the state it has the settings of a fit that goes on
/// after its end.
const CHECKPOINT: &str = "checkpoint";

/// A run directory that no other process works on.
pub struct RunFolder {
    path: PathBuf,
    /// The folders that were made for it, the innermost first; `None` for one that was opened.
    made: Option<Vec<PathBuf>>,
    /// The system forgets the lock when the process ends, in whatever way.
    _lock: Option<File>,
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

impl RunFolder {
    /// Name of the file with the settings, every choice made.
    pub const SETTINGS: &str = CONFIG;
    /// Name of the report.
    pub const REPORT: &str = REPORT;

    /// Makes a run directory at `path` for a fit that is about to begin.
    ///
    /// # Errors
    /// A sentence about what stands there or cannot be written.
    pub fn create(path: &Path, job: &Job) -> Result<Self, Error> {
        if path.file_name().is_none() {
            return Err(Error::NoName { path: path.into() });
        }
        let unwritable = |e: io::Error| Error::unwritable(path, &e);
        // Nothing in the folder is looked at, let alone changed, while another process may work there.
        let mut taken = None;
        if path.is_dir() {
            taken = lock(path)?;
            match content(path).map_err(unwritable)? {
                Content::Nothing => {}
                Content::Unfinished | Content::Other if job.overwrites && own::has_settings_of_run(path) => {
                    clear(path)?;
                }
                Content::Other if own::has_settings_of_run(path) => return Err(Error::Taken { path: path.into() }),
                Content::Unfinished => return Err(Error::Begun { path: path.into() }),
                Content::Other => return Err(Error::NotEmpty { path: path.into() }),
            }
        } else if path.symlink_metadata().is_ok() {
            return Err(Error::InTheWay { path: path.into() });
        }
        let new = path.ancestors().take_while(|folder| !is_there(folder));
        let made = Some(new.map(Path::to_path_buf).collect());
        fs::create_dir_all(path).map_err(unwritable)?;
        fail_point::pass("folder made").map_err(unwritable)?;
        if taken.is_none() {
            taken = lock(path)?;
        }
        let run_folder = Self { path: path.into(), made, _lock: taken };
        let settings = run_folder.config(job)?;
        let begun = fs::create_dir_all(path.join(CHECKPOINT))
            .and_then(|()| fail_point::pass("checkpoint made"))
            .and_then(|()| replace(&path.join(CONFIG), settings.as_bytes()))
            .and_then(|()| fail_point::pass("settings kept"));
        match begun {
            Ok(()) => Ok(run_folder),
            Err(e) => {
                run_folder.discard();
                Err(unwritable(e))
            }
        }
    }

    /// Opens the run directory at `path`, whether its fit is finished or not.
    ///
    /// # Errors
    /// A sentence about what is not there, or that another process has it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if !path.exists() {
            return Err(Error::NoFolder { path: path.into() });
        }
        if !path.is_dir() {
            return Err(Error::NotAFolder { path: path.into() });
        }
        if !path.join(CONFIG).is_file() {
            return Err(Error::NotARun { path: path.into(), file: CONFIG });
        }
        if !own::has_settings_of_run(path) {
            return Err(Error::OwnSettings { path: path.into() });
        }
        Ok(Self { path: path.into(), made: None, _lock: lock(path)? })
    }

    /// Where it is, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings of a fit that goes on after its end.
    fn pending(&self) -> PathBuf {
        self.path.join(CHECKPOINT).join(CONFIG)
    }

    /// The settings of the fit under way, or of the finished one.
    ///
    /// # Errors
    /// Those of reading a file of settings.
    pub fn settings(&self) -> Result<Settings, Error> {
        let pending = Some(self.pending()).filter(|path| path.is_file());
        if self.is_finished() {
            check_settings(&self.path.join(CONFIG))?;
        }
        let mut settings = settings::read(&pending.unwrap_or_else(|| self.path.join(CONFIG)))?;
        settings.base = Some(self.path.clone());
        Ok(settings)
    }

    /// Whether the results are there, and are what was asked for last.
    pub fn is_finished(&self) -> bool {
        self.path.join(FIT).is_file() && !self.pending().is_file()
    }

    /// Keeps the settings with which the fit goes on.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn begin(&self, job: &Job) -> Result<(), Error> {
        let unwritable = |e: io::Error| Error::unwritable(&self.path, &e);
        // Before hours of work: whatever would be replaced at their end is ours, and as the last fit has left it.
        own::check_results(&self.path)?;
        if let Some(path) = changed_files(&self.path).into_iter().find(|path| self.is_finished() && path.exists()) {
            return Err(Error::Foreign { path });
        }
        fs::create_dir_all(self.own_checkpoint()?).map_err(unwritable)?;
        self.checkpoints(job)?.check().map_err(Error::Refused)?;
        // Those of the results stay as long as the results do.
        let place = if self.path.join(FIT).is_file() { self.pending() } else { self.path.join(CONFIG) };
        replace(&place, self.config(job)?.as_bytes()).and_then(|()| fail_point::pass("continued")).map_err(unwritable)
    }

    /// Where the state of the fit is kept; a state of another model, other data or another prior is refused there.
    ///
    /// # Errors
    /// [`Error::Refused`], and [`Error::InTheWay`] for a link.
    pub fn checkpoints(&self, job: &Job) -> Result<Folder, Error> {
        let subject = job.settings().subject().map_err(|e| self.unkept(&e))?;
        Ok(Folder::new(self.own_checkpoint()?).map_err(Error::Refused)?.about(&subject))
    }

    /// The folder with the state; a link may lead to a folder of somebody else.
    fn own_checkpoint(&self) -> Result<PathBuf, Error> {
        let path = self.path.join(CHECKPOINT);
        if path.is_symlink() { Err(Error::InTheWay { path }) } else { Ok(path) }
    }

    /// Removes what was made for a fit that has failed before it had a state to keep; a directory that was there before
    /// stays as it is.
    pub fn discard(self) {
        if let Some(made) = self.made
            && fs::remove_dir(self.path.join(CHECKPOINT)).is_ok()
        {
            // Nothing more can be done about what cannot be removed.
            let _ = fs::remove_file(self.path.join(CONFIG));
            made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        }
    }

    fn config(&self, job: &Job) -> Result<String, Error> {
        job.settings().text().map_err(|e| self.unkept(&e))
    }

    fn unkept(&self, problem: &dyn std::fmt::Display) -> Error {
        Error::Unkept { path: self.path.clone(), problem: problem.to_string() }
    }

    /// Writes the results; `command` makes the same fit again.
    ///
    /// # Errors
    /// [`Error::Unkept`], and those of [`Analysis::content`].
    pub fn write(&self, job: &Job, analysis: &Analysis, command: String) -> Result<(), Error> {
        let posterior = &analysis.posterior;
        let diagnostics = DiagnosticsFile {
            judgement: &analysis.judgement,
            converged: posterior.converged(),
            stop_reason: posterior.stop_reason().name(),
            diagnostics: &analysis.diagnostics,
            gap: analysis.diagnostics.gap(),
            fit_counts: posterior.counts(),
            fit_seconds: analysis.seconds,
            peak_draws: posterior.peak_draws(),
            agreement: posterior.agreement(),
            rungs: posterior.rungs(),
            test: analysis.test.as_ref(),
        };
        let diagnostics = serde_json::to_string_pretty(&diagnostics).map_err(|e| self.unkept(&e))? + "\n";
        let page = elinvar_report::html(&analysis.content(job, command)?);
        // A restart and a rung of a ladder have plans of their own; this is the one that was asked for.
        let (config, trace) = (self.config(job)?, trace(posterior.trace()));
        let recipe = job.recipe().map(Recipe::to_json);
        let texts = [(TRACE, trace.as_str()), (DIAGNOSTICS, &diagnostics), (CONFIG, &config)];
        let texts: Vec<(&str, &str)> = texts.into_iter().chain(recipe.as_deref().map(|text| (RECIPE, text))).collect();
        let sums: String = texts.iter().map(|(name, text)| checksum_line(name, text.as_bytes())).collect();
        for (name, text) in texts.into_iter().chain([(REPORT, page.as_str()), (CHECKSUMS, &sums)]) {
            let written = replace(&self.path.join(name), text.as_bytes()).and_then(|()| fail_point::pass(name));
            written.map_err(|e| self.unkept(&e.kind()))?;
        }
        posterior.save(self.path.join(FIT)).map_err(|e| self.unkept(&e))?;
        fail_point::pass(FIT).map_err(|e| self.unkept(&e.kind()))?;
        self.own_checkpoint()?;
        let _ = fs::remove_file(self.pending());
        fail_point::pass("settings moved").map_err(|e| self.unkept(&e.kind()))?;
        self.tidy(posterior);
        Ok(())
    }

    /// Removes what a finished fit has no use for, its own files alone: the results stand, and what cannot be removed
    /// is no reason to complain.
    pub fn tidy(&self, posterior: &Posterior) {
        let Ok(checkpoint) = self.own_checkpoint() else { return };
        remove_parts(&self.path);
        // A fit that has converged has nowhere to go; what somebody else has put there stays, and the folder with it.
        let has_ended = posterior.converged() || posterior.stop_reason() == StopReason::LeftToChains;
        let tidy = |kept: Folder| if has_ended { kept.clear() } else { kept.remove_left_overs() };
        let _ = Folder::new(&checkpoint).and_then(tidy);
        remove_parts(&checkpoint);
        let _ = fs::remove_dir(checkpoint);
    }
}

/// Removes an earlier fit; whatever else lies in the folder stays, and nothing is touched where one of the files is not
/// as elinvar writes it.
fn clear(path: &Path) -> Result<(), Error> {
    let unwritable = |e: io::Error| Error::unwritable(path, &e);
    own::check_results(path)?;
    let checkpoint = path.join(CHECKPOINT);
    if checkpoint.is_symlink() {
        return Err(Error::InTheWay { path: checkpoint });
    }
    // Without the fit file the folder is that of an unfinished fit, and without the settings none at all.
    for name in [FIT].into_iter().chain(FILES).filter(|name| *name != CONFIG) {
        match fs::remove_file(path.join(name)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(unwritable(e)),
            _ => {}
        }
    }
    if checkpoint.is_dir() {
        let _ = fs::remove_file(checkpoint.join(CONFIG));
        Folder::new(&checkpoint).and_then(|kept| kept.clear()).map_err(Error::Refused)?;
        // Somebody else's files may be in it.
        let _ = fs::remove_dir(&checkpoint);
    }
    fs::remove_file(path.join(CONFIG)).map_err(unwritable)
}

fn checksum_line(name: &str, content: &[u8]) -> String {
    format!("{}  {name}\n", fingerprint(content))
}

/// The files of the folder of a finished fit that are not as it has left them; none where it has left no checksums, as
/// earlier versions did.
pub(crate) fn changed_files(folder: &Path) -> Vec<PathBuf> {
    let sums = own::content(&folder.join(CHECKSUMS)).unwrap_or_default();
    let sums = String::from_utf8_lossy(&sums);
    let is_as_left = |name: &str, line: &str| {
        own::content(&folder.join(name)).is_some_and(|content| checksum_line(name, &content).trim_end() == line)
    };
    let names = [TRACE, DIAGNOSTICS, CONFIG, RECIPE];
    let lines = sums.lines().filter_map(|line| Some((line, *names.iter().find(|name| line.ends_with(**name))?)));
    lines.filter(|(line, name)| !is_as_left(name, line)).map(|(_, name)| folder.join(name)).collect()
}

/// Refuses the settings of a finished fit that were changed since: they describe another model, or another fit of it.
pub(crate) fn check_settings(config: &Path) -> Result<(), Error> {
    let folder = config.parent().unwrap_or(Path::new(""));
    match changed_files(folder).into_iter().find(|path| path.ends_with(CONFIG)) {
        Some(path) => Err(Error::ChangedSettings { path }),
        None => Ok(()),
    }
}

fn is_there(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.symlink_metadata().is_ok()
}

/// Takes the folder for this process; nothing where the system knows no such locks.
fn lock(path: &Path) -> Result<Option<File>, Error> {
    let Ok(folder) = File::open(path) else { return Ok(None) };
    match folder.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(Error::Busy { path: path.into() }),
        outcome => Ok(outcome.is_ok().then_some(folder)),
    }
}

/// Removes what a crash within a write has left of our own files; whatever else lies in the folder stays.
fn remove_parts(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if FILES.iter().any(|name| is_part(&entry, name)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether this is what a crash has left of the file called `name`.
fn is_part(entry: &fs::DirEntry, name: &str) -> bool {
    is_left_over(&entry.file_name(), name) && entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// What a folder holds in which a fit is about to begin.
enum Content {
    /// Nothing, or no more than a fit leaves that ended before it had kept its settings.
    Nothing,
    /// A fit that can be resumed.
    Unfinished,
    Other,
}

fn content(folder: &Path) -> io::Result<Content> {
    let has = |name: &str| folder.join(name).exists();
    if own::has_settings_of_run(folder) && has(CHECKPOINT) && !has(FIT) {
        return Ok(Content::Unfinished);
    }
    let checkpoint = folder.join(CHECKPOINT);
    // The empty folder is made before the first file, so without it a file is not ours.
    let is_abandoned =
        checkpoint.symlink_metadata().is_ok_and(|found| found.is_dir()) && fs::read_dir(&checkpoint)?.next().is_none();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_ours = entry.path() == checkpoint || is_part(&entry, CONFIG);
        if !(is_abandoned && is_ours) {
            return Ok(Content::Other);
        }
    }
    Ok(Content::Nothing)
}

/// What happened in each step; a value that is not known is an empty cell.
fn trace(steps: &[Step]) -> String {
    let cell = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:?}"));
    let mut text = String::from(TRACE_HEADER);
    for step in steps {
        text += &format!(
            "{},{},{:.6},{},{},{:?},{:?},{},{},{},{},{},{}\n",
            step.index,
            step.counts.gradient,
            step.seconds,
            cell(step.elbo),
            cell(step.elbo_se),
            step.beta,
            step.taken,
            cell(step.kl),
            cell(step.remaining.map(|(gain, _)| gain)),
            step.dropped,
            step.n_draws,
            step.components,
            step.bound
        );
    }
    text
}
