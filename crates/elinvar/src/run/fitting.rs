//! What accompanies a fit from its start to its end: its record, its clock, who sees its steps and where its parts are
//! kept.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::components::GrowthState;
use super::drive::drive;
use super::journal::{Content, Entry, Journal, Part};
use super::{Counts, Run, Step, Stop, StopReason, journal};
use crate::Error;
use crate::posterior::Posterior;

/// Sees each step of a fit and may end it.
pub(super) type Observer<'o> = &'o mut dyn FnMut(&Step) -> ControlFlow<()>;

/// Seconds that have passed, those before a fit was continued included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    before: f64,
    /// When it was started; `None` once it stands.
    started: Option<Instant>,
}

impl Clock {
    /// A clock that shows so many seconds.
    pub(super) fn at(seconds: f64) -> Self {
        Self { before: seconds, started: Some(Instant::now()) }
    }

    /// A clock that shows so many seconds for ever.
    pub(super) fn stopped_at(seconds: f64) -> Self {
        Self { before: seconds, started: None }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.before + self.started.map_or(0.0, |started| started.elapsed().as_secs_f64())
    }
}

/// One fit: a search for a start and a few runs after it, which count, are timed and are kept as one.
pub(super) struct Fitting<'f> {
    /// Evaluations so far; a run carries them on while it is driven.
    pub(super) counts: Counts,
    pub(super) clock: Clock,
    trace: Vec<Step>,
    observe: Option<Observer<'f>>,
    journal: Option<&'f dyn Journal>,
    restart: usize,
    n_parts: usize,
    /// The place of the present part in the journal.
    place: Option<Place>,
    /// Number of steps before the present part, and before the present run.
    steps_before_part: usize,
    steps_before_run: u64,
    /// The growing mixture whose rounds are driven: a round has no place of its own.
    growth: Option<Box<GrowthState>>,
    /// When the last entry was stored, and what it took.
    stored: Instant,
    cost: Duration,
}

/// The place of a part in the journal.
struct Place {
    part: Part,
    origin: String,
    limits: Stop,
}

impl<'f> Fitting<'f> {
    pub(super) fn new(observe: Observer<'f>, journal: Option<&'f dyn Journal>, restart: usize) -> Self {
        Self {
            counts: Counts::default(),
            clock: Clock::at(0.0),
            trace: Vec::new(),
            observe: Some(observe),
            journal,
            restart,
            n_parts: 0,
            place: None,
            steps_before_part: 0,
            steps_before_run: 0,
            growth: None,
            stored: Instant::now(),
            cost: Duration::ZERO,
        }
    }

    /// One that keeps nothing.
    pub(super) fn unkept(observe: Observer<'f>) -> Self {
        Self::new(observe, None, 0)
    }

    /// One that goes on with the record of a run that somebody drives by hand.
    pub(super) fn with_record(self, counts: Counts, clock: Clock, trace: Vec<Step>) -> Self {
        Self { counts, clock, trace, ..self }
    }

    /// The steps so far.
    pub(super) fn trace(&self) -> &[Step] {
        &self.trace
    }

    pub(super) fn into_trace(self) -> Vec<Step> {
        self.trace
    }

    /// The last step, if it belongs to the present part.
    pub(super) fn last_step_mut(&mut self) -> Option<&mut Step> {
        self.trace[self.steps_before_part..].last_mut()
    }

    /// What the last step of the present part was told to be left to gain, with its error.
    pub(super) fn remaining(&self) -> Option<(f64, f64)> {
        self.trace[self.steps_before_part..].last().and_then(|step| step.remaining)
    }

    /// Steps of the present part so far.
    pub(super) fn steps_of_part(&self) -> u64 {
        (self.trace.len() - self.steps_before_part) as u64
    }

    /// Where the fit is kept, if it is.
    pub(super) fn journal(&self) -> Option<&'f dyn Journal> {
        self.journal
    }

    /// Drives a run as a piece of the fit.
    ///
    /// # Errors
    /// As [`drive`].
    pub(super) fn carry(&mut self, run: &mut Run<'_>) -> Result<StopReason, Error> {
        let reason = drive(run, self)?;
        self.counts = run.counts();
        if let (Some(closing), Some(last)) = (run.closing(), self.trace.last_mut()) {
            (last.remaining, last.counts) = (closing.or(last.remaining), self.counts);
        }
        Ok(reason)
    }

    /// [`Fitting::carry`] for a run whose steps nobody sees.
    ///
    /// # Errors
    /// As [`drive`].
    pub(super) fn carry_unseen(&mut self, run: &mut Run<'_>) -> Result<StopReason, Error> {
        let (observe, trace) = (self.observe.take(), std::mem::take(&mut self.trace));
        let reason = self.carry(run);
        (self.observe, self.trace) = (observe, trace);
        reason
    }

    /// [`Fitting::carry`] for a round of a growing mixture, which stands where `growth` says and may be under way.
    ///
    /// # Errors
    /// As [`drive`].
    pub(super) fn carry_round(&mut self, run: &mut Run<'_>, growth: GrowthState) -> Result<StopReason, Error> {
        self.growth = Some(Box::new(growth));
        let reason = self.carry(run);
        self.growth = None;
        reason
    }

    /// Begins the next part, which `origin` determines but for its limits; what the journal holds of it, if that is
    /// accepted. The record then goes on from there.
    ///
    /// # Errors
    /// Those of the journal.
    pub(super) fn open_part(
        &mut self,
        limits: Stop,
        origin: impl FnOnce(Counts) -> String,
        accept: impl FnOnce(&Entry) -> bool,
    ) -> Result<Option<Content>, Error> {
        let part = Part { restart: self.restart, number: self.n_parts };
        self.n_parts += 1;
        self.steps_before_part = self.trace.len();
        let Some(journal) = self.journal else { return Ok(None) };
        let origin = origin(self.counts);
        let entry = journal.load(part)?.filter(|entry| entry.origin == origin && accept(entry));
        self.place = Some(Place { part, origin, limits });
        Ok(entry.map(|entry| {
            (self.counts, self.clock) = (entry.counts, Clock::at(entry.seconds));
            self.trace.extend(entry.trace);
            entry.content
        }))
    }

    /// Prepares a run: it takes over what was spent before, and goes on from the journal where that holds it.
    pub(super) fn open(&mut self, run: &mut Run<'_>) -> Result<(), Error> {
        if let Some(growth) = &mut self.growth {
            if let Some(state) = growth.take_run() {
                run.restore(&state)?;
            } else if self.entry_is_due() || !run.pace.is_whole(&run.plan.stop) {
                let content = self.growth.clone().map(Content::Growth);
                content.map_or(Ok(()), |content| self.store(self.counts, content))?;
            }
        } else {
            let origin = |counts| journal::origin(&run.q, &run.plan, counts);
            let found = self.open_part(run.plan.stop, origin, |entry| run.passes(entry))?;
            if let Some(Content::Run(state)) = found {
                run.restore(&state)?;
            }
        }
        (run.counts, run.clock) = (self.counts, self.clock);
        // What the journal held of the run is in the trace already.
        self.steps_before_run = (self.trace.len() as u64).saturating_sub(run.pace.step());
        Ok(())
    }

    /// Records a step and shows it; the answer says whether to go on.
    pub(super) fn record(&mut self, step: Step) -> ControlFlow<()> {
        let step = Step { index: self.steps_before_run + step.index, ..step };
        self.trace.push(step);
        if let Some(observe) = &mut self.observe {
            observe(&step)?;
        }
        let is_over = self.journal.is_some_and(Journal::is_over);
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether it is time for another entry in the journal.
    pub(super) fn entry_is_due(&self) -> bool {
        self.journal.is_some_and(|journal| journal.is_due(self.stored.elapsed(), self.cost))
    }

    /// Keeps where the run stands. A round that a limit cuts short is another one without that limit: it is repeated
    /// from its beginning.
    pub(super) fn keep(&mut self, run: &Run<'_>) -> Result<(), Error> {
        if self.place.is_none() || !run.pace.is_whole(&run.plan.stop) {
            return Ok(());
        }
        let content = match &self.growth {
            Some(growth) => Content::Growth(Box::new(growth.within(run))),
            None => Content::Run(Box::new(run.state())),
        };
        self.store(run.counts, content)
    }

    fn store(&mut self, counts: Counts, content: Content) -> Result<(), Error> {
        let (Some(journal), Some(place)) = (self.journal, &self.place) else { return Ok(()) };
        let begun = Instant::now();
        let trace = self.trace[self.steps_before_part..].to_vec();
        let (origin, seconds) = (place.origin.clone(), self.clock.seconds());
        journal.store(place.part, &Entry::new(origin, place.limits, counts, seconds, trace, content))?;
        self.stored = Instant::now();
        self.cost = self.stored - begun;
        Ok(())
    }

    /// Ends a run before its time; what is kept can be continued, and is not judged.
    pub(super) fn end_early(&self, run: &mut Run<'_>) -> Result<StopReason, Error> {
        if self.journal.is_some() {
            return Err(Error::Interrupted);
        }
        run.close()?;
        Ok(StopReason::Interrupted)
    }

    /// Gives the posterior the record of the whole fit.
    pub(super) fn finish(&mut self, posterior: &mut Posterior) {
        posterior.set_record(self.counts, self.clock.seconds(), std::mem::take(&mut self.trace));
    }
}
