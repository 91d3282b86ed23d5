//! Where a fit keeps what it has reached, so that it can be continued after any kind of end.
//!
//! A fit is a search for a start and a few runs after it, in an order that its target, family and plan decide. Each of
//! these parts has a number, and the journal holds the last state of each. A fit that is continued goes its way again
//! from the beginning: a part whose state is in the journal goes on from there, the others are computed anew, and the
//! result has the bits of a fit that was never interrupted.

mod folder;

pub use folder::Folder;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::checkpoint::RunState;
use super::components::GrowthState;
use super::pooled::PooledState;
use super::residual::ResidualState;
use super::{Correct, Counts, Plan, Step, Stop};
use crate::Error;
use crate::family::Approximation;
use crate::file::{Format, Header, fingerprint};

/// A part of a fit, by which its entry in a journal is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// Which of several restarts, from 0.
    pub restart: usize,
    /// The how manieth part of it, from 0.
    pub number: usize,
}

impl Part {
    /// The part that is written so, if the word is one.
    fn named(word: &str) -> Option<Self> {
        let (restart, number) = word.strip_prefix("restart-")?.split_once("-part-")?;
        let part = Self { restart: restart.parse().ok()?, number: number.parse().ok()? };
        (part.to_string() == word).then_some(part)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "restart-{}-part-{}", self.restart, self.number)
    }
}

/// The state of a part of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(flatten)]
    header: Header,
    /// What the fit is about, as its journal was told.
    #[serde(default)]
    subject: String,
    /// Fingerprint of everything that the way to this state depends on, but for the target.
    pub(super) origin: String,
    /// The limits of the part, and its record so far.
    pub(super) limits: Stop,
    pub(super) counts: Counts,
    pub(super) seconds: f64,
    pub(super) trace: Vec<Step>,
    pub(super) content: Content,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    Run(Box<RunState>),
    Growth(Box<GrowthState>),
    Residual(Box<ResidualState>),
    Pooled(Box<PooledState>),
}

impl Entry {
    /// Layout 3: with a checksum, and with the subject of the fit.
    const FORMAT: Format = Format { name: "elinvar-journal", oldest: 3, newest: 3, sealed: 3 };

    pub(super) fn new(
        origin: String,
        limits: Stop,
        counts: Counts,
        seconds: f64,
        trace: Vec<Step>,
        content: Content,
    ) -> Self {
        Self {
            header: Header::new(Self::FORMAT),
            subject: String::new(),
            origin,
            limits,
            counts,
            seconds,
            trace,
            content,
        }
    }
}

/// Keeps the entries of a fit; may be asked from several threads at once.
///
/// Whoever gives a journal to a fit sees to it that the target is the one of its entries ([`Folder::about`]). Entries
/// of another family or plan are found out and not used.
pub trait Journal: Sync {
    /// The last entry of a part, if there is any.
    ///
    /// # Errors
    /// What is wrong with the journal; the fit ends with it.
    fn load(&self, part: Part) -> Result<Option<Entry>, Error>;

    /// Replaces the entry of a part.
    ///
    /// # Errors
    /// Why it could not be kept; the fit ends with it.
    fn store(&self, part: Part, entry: &Entry) -> Result<(), Error>;

    /// Whether a part whose last entry was stored so long ago should store another; `cost` is the time that took.
    fn is_due(&self, since: Duration, cost: Duration) -> bool {
        /// Times the cost of an entry that a fit computes before the next: entries take at most 2 % of the time.
        const SHARE: u32 = 50;
        const SHORTEST: Duration = Duration::from_millis(250);
        since >= SHORTEST.max(SHARE * cost)
    }
}

/// The error for a state from which no fit can go on.
pub(super) fn never_kept(problem: &str) -> Error {
    Error::Unsupported {
        wanted: format!("to go on from a state that no run has kept: {problem}"),
        instead: "begin the fit again".into(),
    }
}

/// The fingerprint of the way from `state`: limits do not change where it leads, only how far.
pub(super) fn origin(state: &Approximation, plan: &Plan, counts: Counts) -> String {
    let mean_within = Stop::default().mean_within;
    let endless = Stop { max_steps: 0, max_evaluations: 0, max_seconds: None, mean_within, ..plan.stop };
    let plan = Plan { stop: endless, correct: Correct::default(), ..plan.clone() };
    // Plain data in memory: there is nothing that could fail.
    let bytes = serde_json::to_vec(&(state, plan, counts)).unwrap_or_default();
    fingerprint(&bytes)
}

/// Whether a fit with the limits `now` passes through a state that one with the limits `then` has reached after so many
/// steps and evaluations.
pub(super) fn passes(now: &Stop, then: &Stop, steps: u64, evaluations: u64) -> bool {
    (now.max_steps >= then.max_steps || now.max_steps >= steps)
        && (now.max_evaluations >= then.max_evaluations || now.max_evaluations > evaluations)
}
