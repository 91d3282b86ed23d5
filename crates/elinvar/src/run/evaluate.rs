//! One batch of a run: drawn, evaluated, rid of what is not finite, turned into a gradient.

use super::Run;
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{NoiseKey, Seen};
use crate::random::Purpose;
use crate::target::{Contraction, CurvatureMut, Draws, Rows};

/// What came of evaluating one batch.
pub(super) enum Outcome {
    /// The gradient is there; with the ELBO of the batch and its standard error.
    Ready {
        elbo: (f64, f64),
    },
    TooManyBad(usize),
    NotFinite,
}

impl Run<'_> {
    /// Draws batch `index` of a purpose, evaluates the target on it and writes the gradient of the bound.
    pub(super) fn estimate(&mut self, purpose: Purpose, index: u64) -> Result<Outcome, Error> {
        self.estimator.draw(&self.q, NoiseKey { seed: self.plan.seed, purpose, step: index }, &mut self.batch);
        if let Some(minibatch) = &mut self.minibatch {
            // The batches of a review see items of their own.
            let stream_step = if purpose == Purpose::Draws { 2 * index } else { 2 * index + 1 };
            minibatch.fill(self.plan.seed, stream_step, &mut self.rows);
        }
        self.estimator.weigh(&self.q, &self.batch);
        let mut bad = 0;
        // One pass finds the draws without a density or gradient, one those without a Hessian; then all is well. Each pass
        // drops a draw, and more than half of them end the loop.
        loop {
            self.evaluate()?;
            let mut found = self.mark_bad();
            if found == bad && !self.curvature.iter().all(|v| v.is_finite()) {
                found = self.mark_without_hessian()?;
                if found == bad {
                    // Every Hessian is finite and their sum is not.
                    return Ok(Outcome::NotFinite);
                }
            }
            if found == bad {
                break;
            }
            self.counts.dropped += (found - bad) as u64;
            bad = found;
            if 2 * bad > self.batch.n || !self.estimator.weigh(&self.q, &self.batch) {
                return Ok(Outcome::TooManyBad(bad));
            }
            self.replace_bad();
        }
        self.scale_minibatch();
        let elbo = self.estimator.elbo(&self.q, self.evaluations.log_p(), &self.prior, &self.batch);
        let baseline = self.pace.baseline(elbo.0);
        let seen =
            Seen { evaluations: &self.evaluations, curvature: &self.curvature, prior: &self.prior, batch: &self.batch };
        let finite = self.estimator.gradient(&self.q, &seen, baseline, &mut self.gradient);
        Ok(if finite { Outcome::Ready { elbo } } else { Outcome::NotFinite })
    }

    fn evaluate(&mut self) -> Result<(), Error> {
        if self.plan.curvature == Curvature::GradientFree {
            return self.evaluate_values();
        }
        let draws = self.batch.draws.view();
        let rows = if self.minibatch.is_some() { Rows::Subset(&self.rows) } else { Rows::All };
        let n_points = draws.len() as u64;
        self.counts.log_density += n_points;
        self.counts.gradient += n_points;
        self.curvature.fill(0.0);
        let (kind, dim) = (self.q.family().covariance, self.q.dim());
        match (self.plan.curvature, self.target.second_order(), self.target.gauss_newton()) {
            (Curvature::Hessian, Some(second), _) => {
                self.counts.hessian += self.batch.n as u64;
                let out = CurvatureMut::new(kind, dim, &mut self.curvature);
                let contraction = self.estimator.contraction();
                second.evaluate_and_contract(draws, rows, contraction, &mut self.evaluations, out)?;
            }
            (Curvature::GaussNewton, _, Some(target)) => {
                self.counts.hessian += self.batch.n as u64;
                self.target.evaluate(draws, rows, &mut self.evaluations)?;
                let out = CurvatureMut::new(kind, dim, &mut self.curvature);
                let (contraction, scratch) = (self.estimator.contraction(), self.evaluations.scratch_mut());
                target.contract_gauss_newton(draws, rows, contraction, scratch, out)?;
            }
            _ => self.target.evaluate(draws, rows, &mut self.evaluations)?,
        }
        match self.plan.curvature {
            Curvature::ItemGradients => self.add_item_gradients(),
            Curvature::SquaredMean => {
                self.add_squared_means();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Marks the draws at which log p or its gradient is not finite; returns how many there are.
    fn mark_bad(&mut self) -> usize {
        let batch = &mut self.batch;
        let evaluations = &self.evaluations;
        let good = |s: usize| evaluations.log_p()[s].is_finite() && evaluations.grad(s).iter().all(|v| v.is_finite());
        for s in 0..batch.n {
            batch.kept[s] = batch.kept[s] && good(s) && (batch.n_paired == 0 || good(batch.n + s));
        }
        batch.n - batch.n_kept()
    }

    /// Marks the draws at which the Hessian, or what stands for it, is not finite, one by one; returns how many draws are bad by now.
    fn mark_without_hessian(&mut self) -> Result<usize, Error> {
        let (d, kind) = (self.q.dim(), self.q.family().covariance);
        for s in 0..self.batch.n {
            if !self.batch.kept[s] {
                continue;
            }
            let rows = if self.minibatch.is_some() { Rows::Subset(&self.rows) } else { Rows::All };
            let (draw, one) = (Draws::new(d, self.batch.draws.get(s)), Contraction::shared(&[1.0], 1));
            let scratch = self.evaluations.scratch_mut();
            // Where gradients are squared the family may keep less than a matrix.
            let n_entries = kind.n_entries(d).min(self.curvature.len());
            let entries = &mut self.curvature[..n_entries];
            entries.fill(0.0);
            match (self.plan.curvature, self.target.second_order(), self.target.gauss_newton()) {
                (Curvature::Hessian, Some(second), _) => {
                    second.contract(draw, rows, one, scratch, CurvatureMut::new(kind, d, entries))?;
                    self.counts.hessian += 1;
                    self.batch.kept[s] = entries.iter().all(|v| v.is_finite());
                }
                (Curvature::GaussNewton, _, Some(target)) => {
                    target.contract_gauss_newton(draw, rows, one, scratch, CurvatureMut::new(kind, d, entries))?;
                    self.counts.hessian += 1;
                    self.batch.kept[s] = entries.iter().all(|v| v.is_finite());
                }
                _ => self.batch.kept[s] = self.items_are_finite(s)?,
            }
        }
        Ok(self.batch.n - self.batch.n_kept())
    }

    /// Overwrites the dropped draws by kept ones, so that every product stays finite; their weight is zero.
    fn replace_bad(&mut self) {
        let batch = &mut self.batch;
        let Some(donor) = batch.kept.iter().position(|kept| *kept) else { return };
        let d = self.q.dim();
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

    /// Multiplies the sums over a mini-batch by N/M: the one place that does.
    fn scale_minibatch(&mut self) {
        let Some((size, n_rows)) = self.plan.minibatch.zip(self.target.n_rows()) else { return };
        let factor = n_rows as f64 / size as f64;
        let (log_p, grad, _) = self.evaluations.parts_mut();
        for value in log_p.iter_mut().chain(grad).chain(&mut self.curvature) {
            *value *= factor;
        }
    }
}
