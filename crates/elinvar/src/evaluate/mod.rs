//! The one way to the target: counts what is asked, knows the limits, adds the prior, drops what is not finite,
//! remembers, and can be interrupted.

mod asker;
mod batch;
mod derivatives;
mod interrupt;
mod items;
mod limits;
mod point;
mod store;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use batch::Asked;
pub(crate) use derivatives::Places;
pub use interrupt::Interrupt;
pub(crate) use limits::{Clock, Limits};
pub(crate) use point::{OUT_OF_RANGE, Point};
pub(crate) use store::Store;
pub(crate) use values::CHUNK;
pub use values::log_density_at;

use crate::Error;
use crate::estimate::Curvature;
use crate::family::Batch;
use crate::plan::Plan;
use crate::record::{Counts, StopReason};
use crate::target::{
    About, Answer, Contraction, Covariance, DrawBuffer, Draws, Minibatch, Parts, Prior, Rows, Shape, Target, Want,
};
use asker::Asker;
use items::Items;

/// A target under evaluation.
pub(crate) struct Evaluator<'t> {
    asker: Asker<'t>,
    limits: Limits,
    pub(crate) clock: Clock,
    /// Past evaluations, where somebody wants them; whoever keeps a fit keeps them with it.
    pub(crate) store: Option<Store>,
    about: About,
    /// What takes the place of the declared prior where single points are climbed from.
    prior_of_points: Prior,
    /// The answer to the last batch, and to the last point.
    answer: Answer,
    single: Answer,
    /// How the batches of a run get their curvature, and which items they see.
    curvature: Curvature,
    minibatch: Option<Minibatch>,
    /// What is left of the declared prior once a batch is evaluated: nothing, where it is taken at the draws.
    prior_of_batches: Prior,
    rows: Vec<u32>,
    items: Items,
    /// Sums of squared gradients, in the form of the family.
    squares: Vec<f64>,
    /// Whether a density above every bound was met.
    pub(crate) overflow: bool,
}

impl<'t> Evaluator<'t> {
    /// A target that has not been asked anything.
    pub(crate) fn new(target: &'t dyn Target, interrupt: Option<&'t dyn Interrupt>) -> Self {
        let about = target.about();
        Self {
            asker: Asker { target, offers: about.offers, counts: Counts::default(), interrupt },
            limits: Limits::NONE,
            clock: Clock::at(0.0),
            store: None,
            prior_of_points: about.prior.without_mixing(),
            prior_of_batches: about.prior.clone(),
            answer: Answer::new(about.dim, 0),
            single: Answer::new(about.dim, 1),
            about,
            curvature: Curvature::Hessian,
            minibatch: None,
            rows: Vec::new(),
            items: Items::default(),
            squares: Vec::new(),
            overflow: false,
        }
    }

    /// The same, for a run by this plan.
    pub(crate) fn of_run(target: &'t dyn Target, plan: &Plan) -> Self {
        let new = Self::new(target, None).within(Limits::of(plan), Clock::at(0.0));
        let curvature = plan.curvature;
        let minibatch = plan.minibatch.zip(new.about.n_rows).map(|(size, n_rows)| Minibatch::new(n_rows, size));
        let rows = vec![0; minibatch.as_ref().map_or(0, Minibatch::size)];
        Self { curvature, minibatch, rows, items: Items::new(curvature, &new.about), ..new }
    }

    /// The same with limits, the seconds on this clock.
    pub(crate) fn within(self, limits: Limits, clock: Clock) -> Self {
        Self { limits, clock, ..self }
    }

    /// The limit of evaluations or of time that was reached, if one was.
    pub(crate) fn limit_reached(&self) -> Option<StopReason> {
        self.limits.reached(self.asker.counts, self.clock)
    }

    /// Takes over what was spent before.
    pub(crate) fn go_on_from(&mut self, counts: Counts, clock: Clock) {
        (self.asker.counts, self.clock) = (counts, clock);
    }

    /// Stores the draws of the last batch; those of a mini-batch say nothing about the whole density.
    pub(crate) fn remember(&mut self, batch: &Batch) {
        if let Some(store) = self.store.as_mut().filter(|_| self.minibatch.is_none()) {
            store.keep(batch, self.answer.log_p(), &self.prior_of_batches);
        }
    }

    /// Stores draws whose log p is complete.
    pub(crate) fn remember_values(&mut self, draws: &DrawBuffer, log_p: &[f64]) {
        if let Some(store) = &mut self.store {
            store.keep_all(draws, log_p);
        }
    }

    /// What is stored: log p, the declared prior included, and where.
    pub(crate) fn past(&self) -> impl Iterator<Item = (f64, &[f64])> {
        self.store.iter().flat_map(Store::points)
    }

    /// Has the prior evaluated at the draws of every batch, like the rest of the density.
    pub(crate) fn take_prior_at_draws(&mut self) {
        self.prior_of_batches = Prior::None;
    }

    /// The prior that is not in the answers to batches.
    pub(crate) fn prior(&self) -> &Prior {
        &self.prior_of_batches
    }

    /// The target itself.
    pub(crate) fn target(&self) -> &'t dyn Target {
        self.asker.target
    }

    /// Whether it has been interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.asker.is_interrupted()
    }

    /// Who may interrupt it.
    pub(crate) fn interrupt(&self) -> Option<&'t dyn Interrupt> {
        self.asker.interrupt
    }

    /// From now on it may be interrupted by this one, if by any.
    pub(crate) fn obey(&mut self, interrupt: Option<&'t dyn Interrupt>) {
        self.asker.interrupt = interrupt;
    }

    /// What the target says about itself.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.about.dim
    }

    /// The answer to the last batch.
    pub(crate) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The curvature of the last batch of a run.
    pub(crate) fn curvature(&self) -> &[f64] {
        if self.squares.is_empty() { self.answer.curvature() } else { &self.squares }
    }

    /// What has been asked so far.
    pub(crate) fn counts(&self) -> Counts {
        self.asker.counts
    }

    /// Counts on from here.
    pub(crate) fn set_counts(&mut self, counts: Counts) {
        self.asker.counts = counts;
    }

    /// What has been asked since the last call.
    pub(crate) fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.asker.counts)
    }

    /// log p and ∇log p at each draw, over all items, the declared prior included. What is not finite counts as
    /// dropped.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn gradients(&mut self, draws: Draws<'_>) -> Result<(Vec<f64>, Vec<f64>), Error> {
        self.evaluate_gradients(draws)?;
        Ok((self.answer.log_p().to_vec(), self.answer.grads().to_vec()))
    }

    /// [`Evaluator::gradients`] that leaves what it found in [`Evaluator::answer`] and allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Evaluator::gradients`].
    pub(crate) fn evaluate_gradients(&mut self, draws: Draws<'_>) -> Result<(), Error> {
        self.answer.set_len(draws.len());
        self.asker.ask(draws, Rows::All, Want::Gradients, &mut self.answer)?;
        self.add_prior_and_count(draws);
        Ok(())
    }

    /// [`Evaluator::evaluate_gradients`] with weighted sums of Hessians, all entries of each.
    ///
    /// # Errors
    /// As [`Evaluator::gradients`].
    pub(crate) fn evaluate_hessians(&mut self, draws: Draws<'_>, sums: Contraction<'_>) -> Result<(), Error> {
        self.answer.set_len(draws.len());
        self.answer.set_curvature(Covariance::Full, sums.len());
        self.asker.ask(draws, Rows::All, Want::Hessian(sums), &mut self.answer)?;
        let shape = Shape::new(Covariance::Full, draws.dim());
        let mut curvature = self.answer.parts_mut().curvature;
        for k in 0..sums.len() {
            let weight: f64 = sums.weights(k).iter().sum();
            self.about.prior.add_precision(-weight, shape, curvature.entries_mut(k));
        }
        self.add_prior_and_count(draws);
        Ok(())
    }

    /// The expectations of log p, its gradient and its Hessian under a Gaussian, the declared prior included, in
    /// [`Evaluator::answer`]; false where they are not finite.
    ///
    /// # Errors
    /// As [`Evaluator::gradients`].
    pub(crate) fn expect(&mut self, mean: &[f64], variances: &[f64], covariance: &[f64]) -> Result<bool, Error> {
        let d = mean.len();
        self.answer.set_len(1);
        self.answer.set_curvature(Covariance::Full, 1);
        let want = Want::GaussianExpectation { shape: Covariance::Full, covariance };
        self.asker.ask(Draws::new(d, mean), Rows::All, want, &mut self.answer)?;
        let Parts { log_p, grad, mut curvature, .. } = self.answer.parts_mut();
        let prior = &self.about.prior;
        log_p[0] += prior.expected_log(mean, variances);
        prior.add_score(mean, grad);
        prior.add_precision(-1.0, Shape::new(Covariance::Full, d), curvature.entries_mut(0));
        let numbers = log_p.iter().chain(&*grad).chain(&*curvature.as_mut_slice());
        let is_finite = numbers.into_iter().all(|v| v.is_finite());
        self.asker.counts.dropped += u64::from(!is_finite);
        Ok(is_finite)
    }

    /// Adds the declared prior to values and gradients, and counts what is not finite.
    fn add_prior_and_count(&mut self, draws: Draws<'_>) {
        let Parts { log_p, grad, .. } = self.answer.parts_mut();
        for ((z, log_p), grad) in draws.iter().zip(log_p).zip(grad.chunks_exact_mut(draws.dim())) {
            *log_p += self.about.prior.log_density(z);
            self.about.prior.add_score(z, grad);
            let finite = log_p.is_finite() && grad.iter().all(|v| v.is_finite());
            self.asker.counts.dropped += u64::from(!finite);
        }
    }
}
