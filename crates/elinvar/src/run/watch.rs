//! Who sees the steps of a fit, and where its parts are kept.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::journal::{Content, Entry, Journal, Part};
use super::{Run, Step, StopReason, journal};
use crate::Error;
use crate::evaluate::Interrupt;
use crate::family::Approximation;

/// Sees each step of a fit and may end it.
pub(super) type Observer<'o> = &'o mut dyn FnMut(&Step) -> ControlFlow<()>;

/// Where a fit is kept, and who may interrupt it; by default nowhere and nobody.
///
/// An interrupt ends the fit with [`Error::Interrupted`] before its next batch of evaluations, whatever it is about: the search for a
/// start, a step, or the verdict. With a journal the same call continues it.
#[derive(Clone, Copy, Default)]
pub struct Kept<'k> {
    /// Keeps the state of the fit.
    pub journal: Option<&'k dyn Journal>,
    /// Says when the fit should end.
    pub interrupt: Option<&'k dyn Interrupt>,
}

impl<'k, J: Journal> From<&'k J> for Kept<'k> {
    fn from(journal: &'k J) -> Self {
        Self { journal: Some(journal), interrupt: None }
    }
}

/// What accompanies one fit from its start to its end.
pub(super) struct Watch<'w> {
    observe: Observer<'w>,
    journal: Option<&'w dyn Journal>,
    interrupt: Option<&'w dyn Interrupt>,
    restart: usize,
    n_parts: usize,
    /// Steps that were shown before those of the present part.
    done: u64,
    /// Whether the steps of the present part are shown to nobody.
    silent: bool,
    /// When the last entry was stored, and what it took.
    stored: Instant,
    cost: Duration,
}

/// The place of a part in the journal.
pub(super) struct Place {
    part: Part,
    origin: String,
}

impl<'w> Watch<'w> {
    pub(super) fn new(observe: Observer<'w>, kept: Kept<'w>, restart: usize) -> Self {
        let (stored, cost) = (Instant::now(), Duration::ZERO);
        let Kept { journal, interrupt } = kept;
        Self { observe, journal, interrupt, restart, n_parts: 0, done: 0, silent: false, stored, cost }
    }

    /// One that keeps nothing.
    pub(super) fn unkept(observe: Observer<'w>) -> Self {
        Self::new(observe, Kept::default(), 0)
    }

    /// Counts steps from here on.
    pub(super) fn set_done(&mut self, done: u64) {
        self.done = done;
    }

    pub(super) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
    }

    /// Whether a fit that ends early ends with [`Error::Interrupted`]: one that can be continued, or that has been interrupted.
    pub(super) fn ends_with_error(&self) -> bool {
        self.journal.is_some() || self.is_interrupted()
    }

    /// Who may interrupt the fit.
    pub(super) fn interrupt(&self) -> Option<&'w dyn Interrupt> {
        self.interrupt
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_raised)
    }

    /// Shows a step; the answer says whether to go on.
    pub(super) fn show(&mut self, step: &Step) -> ControlFlow<()> {
        if !self.silent {
            (self.observe)(&Step { index: self.done + step.index, ..*step })?;
        }
        if self.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The place of the next part, with what is there.
    pub(super) fn open(&mut self, origin: impl FnOnce() -> String) -> Result<Option<(Place, Option<Content>)>, Error> {
        let part = Part { restart: self.restart, number: self.n_parts };
        self.n_parts += 1;
        let Some(journal) = self.journal else { return Ok(None) };
        let origin = origin();
        let content = journal.load(part)?.and_then(|entry| entry.content_of(&origin));
        Ok(Some((Place { part, origin }, content)))
    }

    /// Whether it is time for another entry.
    pub(super) fn is_due(&self) -> bool {
        self.journal.is_some_and(|journal| journal.is_due(self.stored.elapsed(), self.cost))
    }

    pub(super) fn store(&mut self, place: &Place, content: impl FnOnce() -> Content) -> Result<(), Error> {
        if let Some(journal) = self.journal {
            let begun = Instant::now();
            journal.store(place.part, &Entry::new(&place.origin, content()))?;
            self.stored = Instant::now();
            self.cost = self.stored - begun;
        }
        Ok(())
    }
}

impl<A: Approximation> Run<'_, A> {
    /// [`Run::fit`] of a run that has not begun, or the rest of it.
    ///
    /// # Errors
    /// As [`Run::fit`]; [`Error::Interrupted`] if the watch ended a run that is kept.
    pub(super) fn fit_watched(&mut self, watch: &mut Watch<'_>) -> Result<StopReason, Error> {
        let mut place = None;
        if let Some((found, content)) =
            watch.open(|| journal::origin(&self.q.state(), &self.plan, self.evaluator.counts()))?
        {
            place = Some(found);
            if let Some(Content::Run(checkpoint)) = content
                && self.passes(&checkpoint)
            {
                self.restore(&checkpoint)?;
            }
        }
        loop {
            if let Some(reason) = self.reason_to_stop() {
                if reason != StopReason::Converged && self.average.count() > 0 {
                    self.close()?;
                }
                return Ok(reason);
            }
            let step = self.step()?;
            self.trace.push(step);
            if self.review_is_due() {
                self.review()?;
                self.wild = self.is_wild();
            }
            let over = watch.show(self.trace.last().unwrap_or(&step)).is_break();
            if let Some(place) = place.as_ref().filter(|_| over || watch.is_due()) {
                watch.store(place, || Content::Run(Box::new(self.checkpoint())))?;
            }
            if over && watch.ends_with_error() {
                return Err(Error::Interrupted);
            } else if over {
                if self.average.count() > 0 {
                    self.close()?;
                }
                return Ok(StopReason::Interrupted);
            }
        }
    }
}
