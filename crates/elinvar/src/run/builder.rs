//! From a model to a judged posterior: what to fit, by which plan, who watches, and who may stop it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::fit::{fit_from_kept, fit_kept};
use super::fitting::Kept;
use super::journal::Journal;
use super::{Placement, Plan, Run, Step, start, start_around};
use crate::Error;
use crate::chains::Round;
use crate::evaluate::Interrupt;
use crate::family::{Approximation, Family};
use crate::posterior::Posterior;
use crate::target::Target;

/// Fits a model: family `auto`, default plan, derivatives checked, the result judged.
///
/// ```
/// use elinvar::prelude::*;
///
/// let model = log_density(2, |x, gradient| {
///     gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
///     -0.5 * (x[0] * x[0] + x[1] * x[1])
/// });
/// let posterior = elinvar::fit(&model)?;
/// println!("{}", posterior.judgement().expect("a fit is judged"));
/// println!("{posterior}");
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`Fit::run`].
pub fn fit(model: &dyn Target) -> Result<Posterior, Error> {
    Fit::new(model).run()
}

/// Draws from which a verdict is made unless somebody asks for others.
const JUDGED_BY: usize = 10_000;

/// A fit to be made: everything has a default but the model.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use elinvar::model::Banana;
/// use elinvar::prelude::*;
///
/// let model = Banana::default();
/// let posterior = Fit::new(&model)
///     .family(Family::mog(4))
///     .seed(7)
///     .observe(|step| {
///         println!("step {}: {:?}", step.index, step.elbo);
///         ControlFlow::Continue(())
///     })
///     .run()?;
/// assert!(posterior.judgement().is_some());
/// # Ok::<(), Error>(())
/// ```
pub struct Fit<'f> {
    model: &'f dyn Target,
    family: Family,
    plan: Plan,
    first: First,
    observe: Option<Watcher<'f>>,
    observe_chains: Option<WatcherOfChains<'f>>,
    kept: Kept<'f>,
    handle: Option<StopHandle>,
    judged_by: usize,
}

/// Sees each step and may stop the fit.
type Watcher<'f> = Box<dyn FnMut(&Step) -> ControlFlow<()> + 'f>;

/// Sees each round of chains and may stop the fit.
type WatcherOfChains<'f> = Box<dyn Fn(&Round) -> ControlFlow<()> + Sync + 'f>;

/// Where a fit begins.
enum First {
    Searched,
    Around(Placement),
    Member(Box<Approximation>),
}

/// Stops a fit from any thread: within the batch of evaluations that is under way, whatever the fit is about.
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::prelude::*;
///
/// let handle = StopHandle::new();
/// handle.stop();
/// let stopped = Fit::new(&Banana::default()).stop_with(&handle).run();
/// assert!(matches!(stopped, Err(Error::Interrupted)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// One that has not been pulled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every fit that has this handle or a clone of it.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been pulled.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Interrupt for StopHandle {
    fn is_raised(&self) -> bool {
        self.is_stopped()
    }
}

impl<'f> Fit<'f> {
    /// A fit of `model`: whatever is a [`Model`](crate::Model) or a [`Target`].
    pub fn new(model: &'f dyn Target) -> Self {
        Self {
            model,
            family: Family::auto(),
            plan: Plan::default(),
            first: First::Searched,
            observe: None,
            observe_chains: None,
            kept: Kept::default(),
            handle: None,
            judged_by: JUDGED_BY,
        }
    }

    /// The family in place of `auto`.
    pub fn family(mut self, family: Family) -> Self {
        self.family = family;
        self
    }

    /// The plan in place of the default one.
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// The seed of all that is random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// At most about so many gradients, of the fit and of the chains that correct it; the verdict, which takes values
    /// of log p alone, comes on top. A fit that ends here is judged by what it has reached.
    ///
    /// ```
    /// use elinvar::model::Banana;
    /// use elinvar::prelude::*;
    ///
    /// let posterior = Fit::new(&Banana::default()).family(Family::mog(3)).max_gradients(500).run()?;
    /// assert_eq!(posterior.stop_reason(), StopReason::MaxEvaluations);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn max_gradients(mut self, gradients: u64) -> Self {
        self.plan.stop.max_evaluations = gradients;
        self
    }

    /// At most about so many seconds, likewise; the only limit that depends on the machine.
    pub fn max_seconds(mut self, seconds: f64) -> Self {
        self.plan.stop.max_seconds = Some(seconds);
        self
    }

    /// How many starts are made, of which the best is kept.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.plan.restarts = restarts;
        self
    }

    /// A start without a search, around a place in unconstrained coordinates; [`Placement::default`] is N(0, I).
    pub fn start_around(mut self, place: Placement) -> Self {
        self.first = First::Around(place);
        self
    }

    /// A start at a member of a family, which becomes the family of the fit.
    pub fn start_from(mut self, start: Approximation) -> Self {
        self.first = First::Member(Box::new(start));
        self
    }

    /// Somebody who sees each step, of the first of several restarts, and may stop the fit.
    pub fn observe(mut self, observe: impl FnMut(&Step) -> ControlFlow<()> + 'f) -> Self {
        self.observe = Some(Box::new(observe));
        self
    }

    /// Somebody who sees each round of the chains that correct the fit, which take no steps, and may stop it.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use elinvar::model::Funnel;
    /// use elinvar::prelude::*;
    ///
    /// let rounds = std::sync::atomic::AtomicU64::new(0);
    /// let model = Funnel::new(2)?;
    /// Fit::new(&model)
    ///     .observe_chains(|round| {
    ///         println!("{} of {} gradients", round.gradients, round.max_gradients);
    ///         rounds.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    ///         ControlFlow::Continue(())
    ///     })
    ///     .run()?;
    /// assert!(rounds.into_inner() > 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn observe_chains(mut self, observe: impl Fn(&Round) -> ControlFlow<()> + Sync + 'f) -> Self {
        self.observe_chains = Some(Box::new(observe));
        self
    }

    /// A journal from which the same call goes on with a fit that was stopped, to the bits of one that was not.
    pub fn journal(mut self, journal: &'f dyn Journal) -> Self {
        self.kept.journal = Some(journal);
        self
    }

    /// A handle that stops the fit.
    pub fn stop_with(mut self, handle: &StopHandle) -> Self {
        self.handle = Some(handle.clone());
        self
    }

    /// Number of draws from which the verdict is made: 10 000 unless it is said here; with 0 there is none, but for
    /// that of `auto`, which needs one to choose.
    pub fn judged_by(mut self, n_draws: usize) -> Self {
        self.judged_by = n_draws;
        self
    }

    /// Makes the fit and judges it.
    ///
    /// # Errors
    /// A sentence about what does not fit together, or what is wrong with the model; [`Error::Interrupted`] if handle
    /// or observer have stopped it.
    pub fn run(self) -> Result<Posterior, Error> {
        let Self { model, family, plan, first, observe, observe_chains, kept, handle, judged_by } = self;
        let broken = AtomicBool::new(false);
        let raised = || {
            let by_handle = handle.as_ref().is_some_and(StopHandle::is_stopped);
            by_handle || broken.load(Ordering::Relaxed) || kept.interrupt.is_some_and(Interrupt::is_raised)
        };
        let mut watcher = observe;
        let mut observe = |step: &Step| {
            let answer = watcher.as_mut().map_or(ControlFlow::Continue(()), |watcher| watcher(step));
            if answer.is_break() {
                broken.store(true, Ordering::Relaxed);
            }
            answer
        };
        let watch = |round: &Round| {
            if observe_chains.as_ref().is_some_and(|watcher| watcher(round).is_break()) {
                broken.store(true, Ordering::Relaxed);
            }
        };
        let within = Kept { interrupt: Some(&raised), watch: Some(&watch), ..kept };
        let start = match first {
            First::Searched => None,
            First::Around(place) => Some(start_around(family, model.dim(), place, plan.seed)?),
            First::Member(member) => Some(*member),
        };
        let mut posterior = match start {
            None => fit_kept(model, family, &plan, &mut observe, within)?,
            Some(start) => fit_from_kept(model, start, &plan, &mut observe, within)?,
        };
        let judged = posterior.judgement().and(posterior.diagnostics()).map_or(0, |known| known.n_draws);
        let is_by_chains = posterior.corrected().is_some() && judged > 0;
        if judged < judged_by && !is_by_chains {
            posterior.judge_further_interruptibly(model, judged_by, plan.seed, &raised)?;
        }
        Ok(posterior)
    }

    /// Begins the fit for a loop of one's own, which takes its steps with [`Run::step`]: nothing is judged, and neither
    /// handle, observer nor journal are asked.
    ///
    /// # Errors
    /// As [`Run::new`]; a search for a start may fail as [`start`](fn@start) does.
    pub fn begin(self) -> Result<Run<'f>, Error> {
        let first = match self.first {
            First::Searched => start(self.model, self.family, &self.plan)?.approximation,
            First::Around(place) => start_around(self.family, self.model.dim(), place, self.plan.seed)?,
            First::Member(member) => *member,
        };
        Run::new(self.model, first, &self.plan)
    }
}
