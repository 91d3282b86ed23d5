//! How often the rows were read, and how fast.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde::Serialize;

use crate::number::{grouped, significant};

/// A pass over the rows, under way.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its number, counted from 1.
    pub number: u64,
    /// Rows that it has read.
    pub rows: u64,
    /// Rows of the table; 0 in the first pass, which counts them.
    pub of: u64,
    /// Seconds since it began.
    pub seconds: f64,
}

/// What a pass was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Purpose {
    /// `files`, `statistics`, or what was asked of the shards: `values`, `gradients`, `hessian`, `expectation`.
    pub asked: &'static str,
    /// Draws at which it was asked.
    pub draws: usize,
}

/// All passes of a fit.
pub struct Passes {
    number: AtomicU64,
    rows: AtomicU64,
    began: Mutex<Instant>,
    /// Seconds of the passes behind the first.
    seconds: Mutex<f64>,
    first: OnceLock<f64>,
    kept: OnceLock<Kept>,
    purposes: Mutex<Vec<Purpose>>,
    watch: Box<dyn Fn(&Pass) + Send + Sync>,
}

/// What the first pass has found.
struct Kept {
    n_rows: usize,
    cache: Option<u64>,
    memory: usize,
    refused: Option<String>,
}

impl Passes {
    pub(super) fn new(watch: Box<dyn Fn(&Pass) + Send + Sync>) -> Self {
        Self {
            number: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            began: Mutex::new(Instant::now()),
            seconds: Mutex::new(0.0),
            first: OnceLock::new(),
            kept: OnceLock::new(),
            purposes: Mutex::default(),
            watch,
        }
    }

    pub(super) fn begin(&self, asked: &'static str, draws: usize) {
        self.purposes.lock().unwrap_or_else(PoisonError::into_inner).push(Purpose { asked, draws });
        self.number.fetch_add(1, Relaxed);
        self.rows.store(0, Relaxed);
        *self.began.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(super) fn read(&self, n: usize) {
        let rows = self.rows.fetch_add(n as u64, Relaxed) + n as u64;
        let of = self.kept.get().map_or(0, |kept| kept.n_rows as u64);
        (self.watch)(&Pass { number: self.number(), rows, of, seconds: self.elapsed() });
    }

    pub(super) fn end(&self) {
        let seconds = self.elapsed();
        if self.first.set(seconds).is_err() {
            *self.seconds.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
        }
    }

    pub(super) fn keep(&self, n_rows: usize, cache: Option<u64>, memory: usize, refused: Option<String>) {
        // The first pass happens once.
        let _ = self.kept.set(Kept { n_rows, cache, memory, refused });
    }

    fn elapsed(&self) -> f64 {
        self.began.lock().unwrap_or_else(PoisonError::into_inner).elapsed().as_secs_f64()
    }

    /// Passes that have begun.
    pub fn number(&self) -> u64 {
        self.number.load(Relaxed)
    }

    /// What each was made for.
    pub fn purposes(&self) -> Vec<Purpose> {
        self.purposes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Passes with their speed, and what they needed, as a line of the page.
    pub fn sentence(&self) -> String {
        let Some(kept) = self.kept.get() else { return String::new() };
        let (first, others) = (self.first.get().copied().unwrap_or(0.0), self.number().saturating_sub(1));
        let seconds = *self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = |rows: f64, seconds: f64| significant(rows / seconds.max(1e-9) / 1e6);
        let n = kept.n_rows as f64;
        let cache = match (kept.cache, &kept.refused) {
            (Some(bytes), _) => format!("cache {} MB", grouped(bytes.div_ceil(1 << 20))),
            (None, Some(why)) => format!("no cache ({why}), so that every pass decodes the files"),
            (None, None) => "no cache, so that every pass decodes the files".into(),
        };
        format!(
            "1 over the files, {} million rows per second; {} more, {}; {cache}, at most {} MB of shards in memory",
            rate(n, first),
            grouped(others),
            rate(n * others as f64, seconds),
            grouped(kept.memory as u64)
        )
    }
}
