//! What an experiment is, and what it can be told.

use std::path::PathBuf;

use crate::expected::{self, Comparison};
use crate::{Error, Findings};

/// Runs an experiment; the second argument takes lines of progress.
pub type RunExperiment = fn(&Settings, &mut dyn FnMut(&str)) -> Result<Findings, Error>;

/// One experiment of the paper.
pub struct Experiment {
    /// What is typed, for example `figure-toy-mixture`; also the name of its folder.
    pub name: &'static str,
    /// A heading.
    pub title: &'static str,
    /// One line for a list.
    pub about: &'static str,
    /// Whether it knows the settings of the authors' own program.
    pub has_paper_settings: bool,
    /// A file of data that the project does not carry and that only the quick run does without.
    pub needs: Option<&'static str>,
    /// Runs it.
    pub run: RunExperiment,
    /// The file of expectations.
    pub expected: &'static str,
}

impl Experiment {
    /// Checks that the data is there, before anything is run.
    ///
    /// # Errors
    /// [`Error::DataNeeded`] for a full run without the folder.
    pub fn check(&self, settings: &Settings) -> Result<(), Error> {
        match self.needs {
            Some(file) if !settings.quick && settings.data.is_none() => {
                Err(Error::DataNeeded { what: format!("the full run needs {file}, which is not part of the program") })
            }
            _ => Ok(()),
        }
    }

    /// Holds the findings of a run with these settings against the expectations.
    ///
    /// # Errors
    /// [`Error::Expectations`] if the file of expectations cannot be read.
    pub fn compare(&self, settings: &Settings, findings: &Findings) -> Result<Comparison, Error> {
        let refuse = |problem| Error::Expectations { experiment: self.name, problem };
        let expectations = expected::parse(self.expected).map_err(refuse)?;
        Ok(expected::compare(&expectations, Mode::of(settings), findings))
    }
}

/// The choices of a run, as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Fewer repetitions and draws: about half a minute instead of several.
    pub quick: bool,
    /// The settings of the authors' own program instead of ours, where the experiment knows them.
    pub paper_settings: bool,
    /// A folder with data that the project does not carry.
    pub data: Option<PathBuf>,
    /// The first seed; repetitions count up from it.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { quick: false, paper_settings: false, data: None, seed: 1 }
    }
}

/// Which expectations a run must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Those of a quick run.
    Quick,
    /// Those of a full run.
    Full,
    /// Those of the settings of the authors' own program, quick or not.
    Paper,
}

impl Mode {
    /// The mode of these settings.
    pub fn of(settings: &Settings) -> Self {
        match settings {
            Settings { paper_settings: true, .. } => Self::Paper,
            Settings { quick: true, .. } => Self::Quick,
            _ => Self::Full,
        }
    }

    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
            Self::Paper => "paper",
        }
    }
}
