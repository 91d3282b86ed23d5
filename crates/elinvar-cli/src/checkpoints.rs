//! What a fit keeps while it runs, so that `elinvar resume` can continue it.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use elinvar::Error;
use elinvar::run::Journal;
use elinvar::run::journal::{Entry, Folder, Part};

/// A journal in the run directory.
pub(crate) struct Checkpoints {
    folder: Folder,
    warned: AtomicBool,
}

impl Checkpoints {
    pub(crate) fn new(folder: Folder) -> Self {
        Self { folder, warned: AtomicBool::new(false) }
    }
}

impl Journal for Checkpoints {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        self.folder.load(part)
    }

    /// A full disk does not end a fit of hours: it goes on, and says once that it cannot be continued from here.
    fn store(&self, part: Part, entry: &Entry) -> Result<(), Error> {
        if let Err(error) = self.folder.store(part, entry)
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            let _ = writeln!(std::io::stderr(), "warning: {error}; the fit goes on but could not be resumed from here");
        }
        Ok(())
    }

    fn is_due(&self, since: Duration, cost: Duration) -> bool {
        is_due_in_tests(since) || self.folder.is_due(since, cost)
    }
}

/// Whether a test wants states so often, by `ELINVAR_KEEP_AFTER_MS`: on a fast machine a fit of a test has ended before
/// its first state would be kept. Builds without debug assertions know nothing of it.
#[cfg(debug_assertions)]
fn is_due_in_tests(since: Duration) -> bool {
    let wanted = std::env::var("ELINVAR_KEEP_AFTER_MS").ok().and_then(|text| text.parse().ok());
    wanted.is_some_and(|milliseconds| since >= Duration::from_millis(milliseconds))
}

#[cfg(not(debug_assertions))]
fn is_due_in_tests(_: Duration) -> bool {
    false
}
