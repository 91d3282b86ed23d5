//! What accompanies a fit from its start to its end: its record, its clock, who sees its steps and where its parts are
//! kept.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::components::GrowthState;
use super::drive::{Driven, drive};
use super::journal::{Content, Entry, Journal, Part};
use super::{Counts, Plan, Step, Stop, StopReason};
use crate::Error;
use crate::chains::Round;
use crate::evaluate::{Clock, Evaluator, Interrupt, Limits};
use crate::posterior::Posterior;
use crate::target::Target;

/// Sees each step of a fit and may end it.
pub(super) type Observer<'o> = &'o mut dyn FnMut(&Step) -> ControlFlow<()>;

/// Where a fit is kept, who may interrupt it and who watches its chains; by default nowhere and nobody.
///
/// An interrupt ends the fit with [`Error::Interrupted`] before its next batch of evaluations, whatever it is about:
/// the search for a start, a step, or the verdict. With a journal the same call continues it; without one `gives_best`
/// asks for what was reached.
#[derive(Clone, Copy, Default)]
pub struct Kept<'k> {
    /// Keeps the state of the fit.
    pub journal: Option<&'k dyn Journal>,
    /// Says when the fit should end.
    pub interrupt: Option<&'k dyn Interrupt>,
    /// Sees the rounds of the chains that correct the fit.
    pub watch: Option<&'k (dyn Fn(&Round) + Sync)>,
    /// Whether an interrupted fit without a journal gives the best that it has reached, unjudged and with the reason
    /// [`StopReason::Interrupted`]. Before a start was found that is still [`Error::Interrupted`].
    pub gives_best: bool,
}

impl<'k, J: Journal> From<&'k J> for Kept<'k> {
    fn from(journal: &'k J) -> Self {
        Self { journal: Some(journal), ..Self::default() }
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
    interrupt: Option<&'f dyn Interrupt>,
    /// Whether it keeps the best so far when it is interrupted, and that.
    pub(super) gives_best: bool,
    pub(super) reached: Option<Box<Posterior>>,
    watch: Option<&'f (dyn Fn(&Round) + Sync)>,
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
    pub(super) fn new(observe: Observer<'f>, kept: Kept<'f>, restart: usize) -> Self {
        Self {
            counts: Counts::default(),
            clock: Clock::at(0.0),
            trace: Vec::new(),
            observe: Some(observe),
            journal: kept.journal,
            interrupt: kept.interrupt,
            gives_best: kept.gives_best && kept.journal.is_none(),
            reached: None,
            watch: kept.watch,
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
        Self::new(observe, Kept::default(), 0)
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

    /// Who may interrupt the fit.
    pub(super) fn interrupt(&self) -> Option<&'f dyn Interrupt> {
        self.interrupt
    }

    /// Who sees the rounds of its chains.
    pub(super) fn watch(&self) -> &'f dyn Fn(&Round) {
        self.watch.map_or(&|_| (), |watch| watch)
    }

    /// A way to the target beside the runs of the fit: it knows what they have left of the limits, and can be
    /// interrupted as they can.
    pub(super) fn evaluator<'t>(&self, target: &'t dyn Target, plan: &Plan) -> Evaluator<'t>
    where
        'f: 't,
    {
        Evaluator::new(target, self.interrupt).within(Limits::of(plan).after(self.counts), self.clock)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_raised)
    }

    /// Who may interrupt the steps of a run before any of their batches. One that is kept ends between two steps, where
    /// its state can be kept.
    fn within_steps(&self) -> Option<&'f dyn Interrupt> {
        self.interrupt.filter(|_| self.journal.is_none())
    }

    /// Drives a run as a piece of the fit.
    ///
    /// # Errors
    /// As [`drive`].
    pub(super) fn carry<'t>(&mut self, run: &mut impl Driven<'t>) -> Result<StopReason, Error>
    where
        'f: 't,
    {
        run.evaluator_mut().obey(self.within_steps());
        let reason = drive(run, self)?;
        self.counts = run.counts();
        if let (Some(closing), Some(last)) = (run.closing(), self.trace.last_mut()) {
            (last.remaining, last.counts) = (closing.or(last.remaining), self.counts);
        }
        Ok(reason)
    }

    /// Carries a run whose steps nobody sees.
    ///
    /// # Errors
    /// As `carry`.
    pub(super) fn carry_unseen(
        &mut self,
        carry: impl FnOnce(&mut Self) -> Result<StopReason, Error>,
    ) -> Result<StopReason, Error> {
        let (observe, trace) = (self.observe.take(), std::mem::take(&mut self.trace));
        let reason = carry(self);
        (self.observe, self.trace) = (observe, trace);
        reason
    }

    /// [`Fitting::carry`] for a round of a growing mixture, which stands where `growth` says and may be under way.
    ///
    /// # Errors
    /// As [`drive`].
    pub(super) fn carry_round<'t>(
        &mut self,
        run: &mut impl Driven<'t>,
        growth: GrowthState,
    ) -> Result<StopReason, Error>
    where
        'f: 't,
    {
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
    pub(super) fn open<'t>(&mut self, run: &mut impl Driven<'t>) -> Result<(), Error> {
        if let Some(growth) = &mut self.growth {
            if let Some(content) = growth.take_content() {
                run.restore_from(content)?;
            } else if self.entry_is_due() || !run.is_whole() {
                let content = self.growth.clone().map(Content::Growth);
                content.map_or(Ok(()), |content| self.store(self.counts, content))?;
            }
        } else {
            let (limits, begun) = (run.plan().stop, &*run);
            let found = self.open_part(limits, |counts| begun.origin(counts), |entry| begun.passes(entry))?;
            if let Some(content) = found {
                run.restore_from(content)?;
            }
        }
        run.evaluator_mut().go_on_from(self.counts, self.clock);
        // What the journal held of the run is in the trace already.
        self.steps_before_run = (self.trace.len() as u64).saturating_sub(run.n_steps());
        Ok(())
    }

    /// Records a step and shows it; the answer says whether to go on.
    pub(super) fn record(&mut self, step: Step) -> ControlFlow<()> {
        let step = Step { index: self.steps_before_run + step.index, ..step };
        self.trace.push(step);
        if let Some(observe) = &mut self.observe {
            observe(&step)?;
        }
        if self.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether it is time for another entry in the journal.
    pub(super) fn entry_is_due(&self) -> bool {
        self.journal.is_some_and(|journal| journal.is_due(self.stored.elapsed(), self.cost))
    }

    /// Keeps where the run stands. A round that a limit cuts short is another one without that limit: it is repeated
    /// from its beginning.
    pub(super) fn keep<'t>(&mut self, run: &impl Driven<'t>) -> Result<(), Error> {
        if self.place.is_none() || !run.is_whole() {
            return Ok(());
        }
        let content = match &self.growth {
            Some(growth) => run.content_within(growth),
            None => run.content(),
        };
        self.store(run.evaluator().counts(), content)
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

    /// Ends a run before its time; what is kept can be continued, and what was interrupted is to end at once: neither
    /// is judged.
    pub(super) fn end_early<'t>(&self, run: &mut impl Driven<'t>) -> Result<StopReason, Error> {
        if self.journal.is_some() || self.is_interrupted() {
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
