//! What a fit keeps while it runs, so that `elinvar resume` can continue it.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use elinvar::Error;
use elinvar::run::Journal;
use elinvar::run::journal::{Entry, Folder, Part};

use crate::signal::Interrupt;

/// A journal in the run directory, or none for a fit that is not kept; it ends the fit when the user asks for it.
pub(crate) struct Checkpoints {
    folder: Option<Folder>,
    interrupt: Interrupt,
    warned: AtomicBool,
}

impl Checkpoints {
    pub(crate) fn new(folder: Option<Folder>, interrupt: Interrupt) -> Self {
        Self { folder, interrupt, warned: AtomicBool::new(false) }
    }
}

impl Journal for Checkpoints {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        self.folder.as_ref().map_or(Ok(None), |folder| folder.load(part))
    }

    /// A full disk does not end a fit of hours: it goes on, and says once that it cannot be continued from here.
    fn store(&self, part: Part, entry: &Entry) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        if let Err(error) = folder.store(part, entry)
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            let _ = writeln!(std::io::stderr(), "warning: {error}; the fit goes on but could not be resumed from here");
        }
        Ok(())
    }

    fn is_due(&self, since: Duration, cost: Duration) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.is_due(since, cost))
    }

    fn is_over(&self) -> bool {
        self.interrupt.is_asked()
    }
}
