//! The result of a fit: a distribution that can be sampled, evaluated, summarised, saved and judged.

mod answer;
mod bridge;
mod by_modes;
mod comparison;
mod correction;
mod diagnose;
mod first_look;
mod importance;
mod pareto;
mod reason;
mod sample;
mod shift;
mod shown;
mod summary;
mod surroundings;
mod tail_index;
pub(crate) mod verdict;
mod weighed;
mod wide;

pub use crate::evaluate::log_density_at;
pub use crate::record::{Agreement, Estimate, ModeRecord, Rung, Scan};
use answer::Weighed;
pub use answer::{Answer, GivenBy};
pub use comparison::{Comparison, compare};
use diagnose::Looked;
pub use diagnose::{Diagnostics, WeightedDraws};
pub use first_look::affordable_draws;
pub(crate) use first_look::may_be_corrected;
pub(crate) use importance::Importance;
pub(crate) use pareto::log_mean_exp;
pub use pareto::{ParetoTail, Smoothed, pareto_k_threshold, pareto_smooth, resample, resample_distinct};
pub use sample::Sample;
pub use shift::Shift;
pub use tail_index::TailIndex;
pub(crate) use verdict::{Evidence, limits};
pub use verdict::{Judgement, Verdict};
pub use wide::{WideDraws, Widened};

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::chains::{Corrected, Doubt};
use crate::evaluate::CHUNK;
use crate::family::{Approximation, DrawPlan, Family, NoiseKey};
use crate::file::{self, Format, Header};
use crate::plan::Plan;
use crate::random::Purpose;
use crate::record::{Counts, Step, StopReason};
use crate::search::Mode;
use crate::target::{About, DrawBuffer, Fault, Transforms};

/// A fitted approximation with the record of how it came about.
///
/// ```
/// use elinvar::prelude::*;
///
/// let model = log_density(Parameters::new().real("mu", 1).positive("sigma", 1), |x, gradient| {
///     let (mu, sigma) = (x[0], x[1]);
///     gradient[0] = -mu / (sigma * sigma);
///     gradient[1] = mu * mu / sigma.powi(3) - 1.0 / sigma - sigma;
///     -0.5 * mu * mu / (sigma * sigma) - sigma.ln() - 0.5 * sigma * sigma
/// });
/// let posterior = elinvar::fit(&model)?;
/// println!("{posterior}"); // the verdict and a table, on the natural scale
/// let draws = posterior.sample(1_000, 1);
/// assert!(draws.column("sigma").all(|sigma| sigma > 0.0));
/// let sigma = &posterior.summary(4_000, 1)["sigma"];
/// println!("sigma: {}, 5 % quantile {}", sigma.mean, sigma.q5); // with their errors: 0.806 ± 0.010
/// println!("{}", posterior.reason()); // one sentence
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Posterior {
    record: Record,
    /// What the last verdict has looked at; files do not hold it.
    looked: Option<Looked>,
    /// Modes that the last look around has found and the answer leaves out; files hold them as records.
    elsewhere: Vec<Mode>,
}

/// What a fit file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    header: Header,
    /// The distribution itself.
    state: Approximation,
    names: Vec<String>,
    constrained_names: Vec<String>,
    transforms: Transforms,
    plan: Plan,
    stop_reason: StopReason,
    counts: Counts,
    seconds: f64,
    diagnostics: Option<Diagnostics>,
    /// The last estimate of what was left to gain, with its error.
    #[serde(default)]
    remaining: Option<(f64, f64)>,
    #[serde(default)]
    judgement: Option<Judgement>,
    /// What was wrong with the target when the fit had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
    /// What chains found, where they were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corrected: Option<Corrected>,
    /// What importance weights gave, where they suffice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weighed: Option<Weighed>,
    /// The log evidence that belongs to what chains found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_evidence: Option<Estimate>,
    #[serde(default)]
    agreement: Agreement,
    /// Where modes were looked for before the answer was trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scan: Option<Scan>,
    #[serde(default)]
    rungs: Vec<Rung>,
    trace: Vec<Step>,
}

impl Posterior {
    const FORMAT: Format = Format { name: "elinvar-fit", oldest: 0, newest: 2, sealed: 2 };

    /// What a run has reached, and what it found to be left to gain; its record comes later.
    pub(crate) fn of_run(
        about: &About,
        approximation: Approximation,
        plan: &Plan,
        stop_reason: StopReason,
        remaining: Option<(f64, f64)>,
    ) -> Self {
        let record = Record {
            header: Header::new(Self::FORMAT),
            state: approximation,
            names: about.names.clone(),
            constrained_names: about.parameters.clone(),
            transforms: about.transforms.clone(),
            plan: plan.clone(),
            stop_reason,
            counts: Counts::default(),
            seconds: 0.0,
            diagnostics: None,
            remaining,
            judgement: None,
            fault: None,
            corrected: None,
            weighed: None,
            log_evidence: None,
            agreement: Agreement::default(),
            scan: None,
            rungs: Vec::new(),
            trace: Vec::new(),
        };
        Self { record, looked: None, elsewhere: Vec::new() }
    }

    /// The family.
    pub fn family(&self) -> Family {
        self.record.state.family()
    }

    /// The distribution itself.
    pub fn approximation(&self) -> &Approximation {
        &self.record.state
    }

    /// Number of coordinates of z.
    pub fn dim(&self) -> usize {
        self.record.state.dim()
    }

    /// Names of the parameters on their natural scale, as draws, tables and [`Posterior::summary`] have them.
    #[expect(clippy::misnamed_getters, reason = "files keep the names of z under that word")]
    pub fn names(&self) -> &[String] {
        &self.record.constrained_names
    }

    /// Names of the unconstrained coordinates z: `log_tau` for a positive `tau`.
    pub fn names_z(&self) -> &[String] {
        &self.record.names
    }

    /// From z to the constrained scale.
    pub fn transforms(&self) -> &Transforms {
        &self.record.transforms
    }

    /// The plan of the fit, every automatic choice made.
    pub fn plan(&self) -> &Plan {
        &self.record.plan
    }

    /// Why the fit ended.
    pub fn stop_reason(&self) -> StopReason {
        self.record.stop_reason
    }

    /// Records that the fit ended because chains cost less than the rest of it.
    pub(crate) fn leave_to_chains(&mut self) {
        self.record.stop_reason = StopReason::LeftToChains;
    }

    /// Records that the fit was interrupted: nobody has judged what it had by then.
    #[doc(hidden)]
    pub fn end_interrupted(&mut self) {
        (self.record.stop_reason, self.record.judgement) = (StopReason::Interrupted, None);
    }

    /// Whether the fit ended because there was nothing left to gain.
    pub fn converged(&self) -> bool {
        self.record.stop_reason == StopReason::Converged
    }

    /// How often the target was asked during the fit.
    pub fn counts(&self) -> Counts {
        self.record.counts
    }

    /// Seconds the fit took.
    pub fn seconds(&self) -> f64 {
        self.record.seconds
    }

    /// The steps of the fit.
    pub fn trace(&self) -> &[Step] {
        &self.record.trace
    }

    /// The largest number of draws that a step of the fit took, those of all components together.
    #[doc(hidden)]
    pub fn peak_draws(&self) -> usize {
        self.record.trace.iter().map(|step| step.n_draws * step.components).max().unwrap_or(0)
    }

    /// What several starts said; nothing is known unless the fit has filled it in.
    pub fn agreement(&self) -> &Agreement {
        &self.record.agreement
    }

    /// Where other modes were looked for before the answer was trusted; nothing where it is not, or nobody could look.
    pub fn scan(&self) -> Option<&Scan> {
        self.record.scan.as_ref()
    }

    /// Records what several starts said; a verdict and a correction that did not know it are forgotten.
    pub(crate) fn set_agreement(&mut self, agreement: Agreement) {
        self.record.agreement = agreement;
        self.record.judgement = None;
        self.record.corrected = None;
        self.record.weighed = None;
    }

    /// What was wrong with the target, as far as its answers at a few draws of the fit showed it.
    pub fn fault(&self) -> Option<&Fault> {
        self.record.fault.as_ref()
    }

    /// Records what is wrong with the target; a verdict that did not know it is changed.
    pub(crate) fn set_fault(&mut self, fault: Option<Fault>) {
        if let (Some(fault), Some(judgement)) = (&fault, &mut self.record.judgement) {
            *judgement = Judgement { verdict: Verdict::DoNotTrust, reason: reason::beginning(&format!("{fault}.")) };
        }
        if let (Some(fault), Some(corrected)) = (&fault, &mut self.record.corrected) {
            corrected.doubts.insert(0, Doubt::Fault(fault.clone()));
        }
        self.record.fault = fault;
    }

    /// The families that were tried, from the first to the last; empty where one was asked for.
    pub fn rungs(&self) -> &[Rung] {
        &self.record.rungs
    }

    /// Records the families that were tried.
    pub(crate) fn set_rungs(&mut self, rungs: Vec<Rung>) {
        self.record.rungs = rungs;
    }

    /// Records what the whole fit took, and its steps.
    pub(crate) fn set_record(&mut self, counts: Counts, seconds: f64, trace: Vec<Step>) {
        (self.record.counts, self.record.seconds, self.record.trace) = (counts, seconds, trace);
    }

    /// Records what several fits, of which this is the best, took together.
    pub(crate) fn set_cost(&mut self, counts: Counts, seconds: f64) {
        (self.record.counts, self.record.seconds) = (counts, seconds);
    }

    /// log q(x) of parameters on their natural scale, as [`Posterior::sample`] draws them; −∞ outside the constraints.
    ///
    /// Of a simplex, a unit vector or a Cholesky factor the density is that of its free coordinates, as the log
    /// density of a [`Model`](crate::Model) is.
    /// Of coefficients that outnumber the rows it is that of the part which the data know.
    ///
    /// # Panics
    /// If x does not have the posterior's number of parameters.
    pub fn log_density(&self, x: &[f64]) -> f64 {
        let transforms = self.transforms();
        assert_eq!(x.len(), transforms.n_constrained(), "a point has {} parameters", transforms.n_constrained());
        let mut z = vec![0.0; self.dim()];
        match transforms.unconstrain(x, &mut z) {
            Ok(()) if z.iter().all(|z| z.is_finite()) => self.log_density_z(&z) - transforms.log_jacobian(&z),
            _ => f64::NEG_INFINITY,
        }
    }

    /// log q(z) of unconstrained coordinates, as [`Posterior::sample_z`] draws them.
    ///
    /// # Panics
    /// If z does not have the posterior's number of coordinates.
    pub fn log_density_z(&self, z: &[f64]) -> f64 {
        self.record.state.log_density(z)
    }

    /// `n` independent draws of z and log q at each.
    pub fn sample_with_log_density(&self, n: usize, seed: u64) -> (DrawBuffer, Vec<f64>) {
        self.draw(n, seed, Purpose::Sample)
    }

    fn draw(&self, n: usize, seed: u64, purpose: Purpose) -> (DrawBuffer, Vec<f64>) {
        let d = self.dim();
        let (mut draws, mut log_q) = (DrawBuffer::zeros(d, n), vec![0.0; n]);
        let q = self.approximation();
        let mut estimator = q.estimator(&DrawPlan::independent(CHUNK.div_ceil(q.n_components())));
        let mut batch = estimator.batch(q);
        let mut done = 0;
        let mut chunk = 0;
        while done < n {
            estimator.draw(q, NoiseKey { seed, purpose, step: chunk }, &mut batch);
            let take = batch.n.min(n - done);
            draws.as_mut_slice()[done * d..(done + take) * d]
                .copy_from_slice(&batch.draws.view().as_slice()[..take * d]);
            log_q[done..done + take].copy_from_slice(&batch.log_q[..take]);
            done += take;
            chunk += 1;
        }
        (draws, log_q)
    }

    /// `n` independent draws of z from the approximation.
    pub fn sample_z(&self, n: usize, seed: u64) -> DrawBuffer {
        self.sample_with_log_density(n, seed).0
    }

    /// The diagnostics of the last [`Posterior::diagnose`], which are saved with the fit.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        self.record.diagnostics.as_ref()
    }

    /// The verdict and its reason as a sentence, or that nobody has judged.
    pub fn reason(&self) -> String {
        self.judgement().map_or_else(|| "not judged: call `judge`".into(), Judgement::to_string)
    }

    /// The verdict of the last [`Posterior::judge`] with its reason, which are saved with the fit; `None` if nobody has
    /// judged. [`Posterior::reason`] is the same as a sentence, to be printed.
    pub fn judgement(&self) -> Option<&Judgement> {
        self.record.judgement.as_ref()
    }

    /// The verdict of the last [`Posterior::judge`].
    pub fn verdict(&self) -> Option<Verdict> {
        self.record.judgement.as_ref().map(|judgement| judgement.verdict)
    }

    /// Writes one self-contained file; a crash at any moment leaves the old file or the new one.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        file::write(path.as_ref(), &self.record)
    }

    /// Reads a fit file.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::File`], with what is wrong with a file that is damaged, of another kind or of a newer
    /// version.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let record: Record = file::read(path, Self::FORMAT)?;
        let dim = record.state.dim();
        if record.names.len() != dim || record.transforms.dim() != dim {
            let (names, transformed) = (record.names.len(), record.transforms.dim());
            let problem = format!("it has {dim} coordinates, {names} names and transforms of {transformed}");
            return Err(file::damaged(path, &problem));
        }
        let (names, parameters) = (record.constrained_names.len(), record.transforms.n_constrained());
        if names != parameters {
            return Err(file::damaged(path, &format!("it has {parameters} parameters and {names} names for them")));
        }
        if record.corrected.as_ref().is_some_and(|corrected| !corrected.fits(dim, parameters)) {
            return Err(file::damaged(path, &"its correction has another number of coordinates"));
        }
        if record.weighed.as_ref().is_some_and(|w| w.coordinates.len() != dim || w.parameters.len() != parameters) {
            return Err(file::damaged(path, &"what importance weights gave has another number of coordinates"));
        }
        if !record.has_plausible_counts() {
            return Err(file::damaged(path, &"its counts cannot be"));
        }
        Ok(Self { record, looked: None, elsewhere: Vec::new() })
    }
}

impl Record {
    /// Whether a fit can have taken so many draws and evaluations.
    fn has_plausible_counts(&self) -> bool {
        /// More than fit into memory, and few enough for their products.
        const MOST: usize = 1 << 31;
        let diagnostics = self.diagnostics.iter();
        let counts = [self.counts].into_iter().chain(diagnostics.clone().map(|d| d.counts));
        let draws = diagnostics.flat_map(|d| [d.n_draws, d.dropped, d.wide.map_or(0, |wide| wide.n_draws)]);
        let steps = self.trace.iter().flat_map(|step| [step.n_draws, step.components]);
        counts.chain(self.trace.iter().map(|step| step.counts)).all(|counts| counts.are_plausible())
            && draws.chain(steps).all(|count| count <= MOST)
    }
}
