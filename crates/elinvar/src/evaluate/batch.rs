//! One batch of a run: evaluated, and rid of what is not finite.

use super::Evaluator;
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Batch, Estimator};
use crate::random::Purpose;
use crate::target::{Answer, Ask, Contraction, Draws, Parts, Rows, Shape, Want};

/// What came of evaluating one batch.
pub(crate) enum Asked {
    /// Every draw that is kept is finite.
    Good,
    /// More than half of the draws were bad: so many.
    TooManyBad(usize),
    /// Every Hessian is finite and their sum is not.
    NotFinite,
}

/// The rows that a batch sees.
pub(super) fn rows_of(rows: &[u32]) -> Rows<'_> {
    if rows.is_empty() { Rows::All } else { Rows::Subset(rows) }
}

impl Evaluator<'_> {
    /// Number of items that a batch sums over.
    pub(super) fn n_items(&self) -> usize {
        if self.minibatch.is_some() { self.rows.len() } else { self.about.n_rows.unwrap_or(1).max(1) }
    }

    /// Room for the batches of `q`.
    pub(crate) fn make_room(&mut self, q: &Approximation, by: &dyn Estimator, batch: &Batch) {
        self.answer = Answer::new(q.dim(), batch.draws.len());
        match self.curvature {
            Curvature::Hessian | Curvature::GaussNewton => {
                self.answer.set_curvature(q.family().covariance, by.n_sums(q));
                // For draws without a Hessian, which are looked for one by one.
                self.single.set_curvature(self.answer.covariance(), 1);
                self.single.reserve(self.about.room);
            }
            Curvature::ItemGradients | Curvature::SquaredMean => {
                self.squares = vec![0.0; q.curvature_len(self.curvature)];
            }
            _ => {}
        }
        self.answer.reserve(self.about.room);
    }

    /// Chooses the items of batch `index`.
    pub(crate) fn choose_rows(&mut self, seed: u64, purpose: Purpose, index: u64) {
        if let Some(minibatch) = &mut self.minibatch {
            // The batches of a review see items of their own.
            let stream_step = if purpose == Purpose::Draws { 2 * index } else { 2 * index + 1 };
            minibatch.fill(seed, stream_step, &mut self.rows);
        }
    }

    /// Evaluates a batch that was drawn and weighed; what is not finite is dropped and counted, and the rest weighed
    /// again. The sums over a mini-batch are scaled to all items.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn batch(
        &mut self,
        q: &Approximation,
        by: &mut dyn Estimator,
        batch: &mut Batch,
    ) -> Result<Asked, Error> {
        let mut bad = 0;
        // One pass finds the draws without a density or gradient, one those without a Hessian; then all is well. Each
        // pass drops a draw, and more than half of them end the loop.
        loop {
            self.ask_batch(q, by, batch)?;
            let mut found = mark_bad(&self.answer, batch);
            if found == bad && !self.curvature().iter().all(|v| v.is_finite()) {
                found = self.mark_without_hessian(batch)?;
                if found == bad {
                    return Ok(Asked::NotFinite);
                }
            }
            if found == bad {
                break;
            }
            self.asker.counts.dropped += (found - bad) as u64;
            bad = found;
            if 2 * bad > batch.n || !by.weigh(q, batch) {
                return Ok(Asked::TooManyBad(bad));
            }
            replace_bad(batch);
        }
        self.scale_minibatch();
        self.add_prior(by, batch);
        Ok(Asked::Good)
    }

    fn ask_batch(&mut self, q: &Approximation, by: &mut dyn Estimator, batch: &Batch) -> Result<(), Error> {
        let (draws, rows) = (batch.draws.view(), rows_of(&self.rows));
        self.answer.parts_mut().curvature.as_mut_slice().fill(0.0);
        self.squares.fill(0.0);
        let want = match self.curvature {
            Curvature::GradientFree => Want::Values,
            Curvature::Hessian => Want::Hessian(by.contraction()),
            Curvature::GaussNewton => Want::GaussNewton(by.contraction()),
            _ => Want::Gradients,
        };
        self.asker.ask(draws, rows, want, &mut self.answer)?;
        match self.curvature {
            Curvature::ItemGradients => self.add_item_gradients(q, by, batch),
            Curvature::SquaredMean => {
                self.add_squared_means(q, by, batch);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Marks the draws at which the Hessian, or what stands for it, is not finite, one by one; returns how many draws
    /// are bad by now.
    fn mark_without_hessian(&mut self, batch: &mut Batch) -> Result<usize, Error> {
        let one = Contraction::shared(&[1.0], 1);
        for s in 0..batch.n {
            if !batch.kept[s] {
                continue;
            }
            let want = match self.curvature {
                Curvature::Hessian => Want::HessianAlone(one),
                Curvature::GaussNewton => Want::GaussNewton(one),
                _ => {
                    batch.kept[s] = self.items_are_finite(batch, s)?;
                    continue;
                }
            };
            let z = batch.draws.get(s);
            self.asker.counts.hessian += 1;
            self.single.set_curvature(self.answer.covariance(), 1);
            let ask = Ask { draws: Draws::new(z.len(), z), rows: rows_of(&self.rows), want };
            self.asker.ask_uncounted(&ask, &mut self.single)?;
            batch.kept[s] = self.single.curvature().iter().all(|v| v.is_finite());
        }
        Ok(batch.n - batch.n_kept())
    }

    /// Adds the prior to the answer, where it is taken at the draws.
    fn add_prior(&mut self, by: &dyn Estimator, batch: &Batch) {
        let prior = &self.about.prior;
        if self.prior_of_batches == *prior {
            return;
        }
        let (d, draws) = (self.about.dim, batch.draws.view());
        let shape = Shape::new(self.answer.covariance(), d);
        let Parts { log_p, grad, mut curvature, .. } = self.answer.parts_mut();
        for (s, z) in draws.iter().enumerate() {
            log_p[s] += prior.log_density(z);
            prior.add_score(z, &mut grad[s * d..(s + 1) * d]);
        }
        if matches!(self.curvature, Curvature::Hessian | Curvature::GaussNewton) {
            for s in 0..batch.n {
                for (k, weight) in by.contraction().of_draw(s) {
                    prior.add_precision(-weight, shape, curvature.entries_mut(k));
                }
            }
        }
    }

    /// Multiplies the sums over a mini-batch by N/M: the one place that does.
    fn scale_minibatch(&mut self) {
        let Some(minibatch) = &self.minibatch else { return };
        let factor = minibatch.n_rows() as f64 / minibatch.size() as f64;
        let Parts { log_p, grad, mut curvature, .. } = self.answer.parts_mut();
        for value in log_p.iter_mut().chain(grad).chain(curvature.as_mut_slice()).chain(&mut self.squares) {
            *value *= factor;
        }
    }
}

/// Marks the draws at which log p or its gradient is not finite; returns how many there are.
fn mark_bad(answer: &Answer, batch: &mut Batch) -> usize {
    // Nearly always all is well, and several numbers at once say so.
    if all_finite(answer.log_p()) && all_finite(answer.grads()) {
        return batch.n - batch.n_kept();
    }
    let good = |s: usize| answer.log_p()[s].is_finite() && answer.grad(s).iter().all(|v| v.is_finite());
    for s in 0..batch.n {
        batch.kept[s] = batch.kept[s] && good(s) && (batch.n_paired == 0 || good(batch.n + s));
    }
    batch.n - batch.n_kept()
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().fold(true, |all, v| all & v.is_finite())
}

/// Overwrites the dropped draws by kept ones, so that every product stays finite; their weight is zero.
fn replace_bad(batch: &mut Batch) {
    let Some(donor) = batch.kept.iter().position(|kept| *kept) else { return };
    let d = batch.draws.view().dim();
    for s in 0..batch.n {
        if !batch.kept[s] {
            let paired = if batch.n_paired > 0 { Some(batch.n) } else { None };
            let z = batch.draws.as_mut_slice();
            z.copy_within(donor * d..(donor + 1) * d, s * d);
            if let Some(offset) = paired {
                z.copy_within((offset + donor) * d..(offset + donor + 1) * d, (offset + s) * d);
            }
        }
    }
}
