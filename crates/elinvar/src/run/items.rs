//! Curvature by squared gradients: of single items, or of their mean.

use super::Run;
use crate::Error;
use crate::estimate::Curvature;
use crate::target::{ItemGradients, Rows};

/// Items whose gradients are held at a time.
const BLOCK: usize = 64;
/// Gradients up to this size can be squared and summed.
const LARGEST: f64 = 1e140;

/// Memory for the gradients of a block of items.
pub(super) struct Items {
    rows: Vec<u32>,
    gradients: Vec<f64>,
}

impl Items {
    /// What the curvature needs; nothing for those that square no gradients.
    pub(super) fn new(curvature: Curvature, dim: usize) -> Self {
        let n = match curvature {
            Curvature::ItemGradients => BLOCK,
            Curvature::SquaredMean => 1,
            _ => 0,
        };
        Self { rows: vec![0; n], gradients: vec![0.0; n * dim] }
    }
}

impl Run<'_> {
    /// Number of items that an evaluation sums over.
    fn n_items(&self) -> usize {
        self.plan.minibatch.or(self.target.n_rows()).unwrap_or(1).max(1)
    }

    /// Whether log p and its gradient exist at draw `s`.
    fn has_gradient(&self, s: usize) -> bool {
        self.batch.kept[s]
            && self.evaluations.log_p()[s].is_finite()
            && self.evaluations.grad(s).iter().all(|v| v.is_finite())
    }

    /// Adds −Σ_s weight Σ_n g_n g_nᵀ over the kept draws and the items of the step to the curvature.
    pub(super) fn add_item_gradients(&mut self) -> Result<(), Error> {
        for s in 0..self.batch.n {
            if self.has_gradient(s) {
                self.counts.gradient += 1;
                self.for_each_block(s, |run, block| {
                    let items = &run.items.gradients[..block];
                    run.estimator.add_item_gradients(&run.q, s, items, &mut run.curvature);
                    true
                })?;
            }
        }
        Ok(())
    }

    /// Adds −Σ_s weight (Σ_n g_n)(Σ_n g_n)ᵀ/M: once the run has scaled it by N/M, it is N times the squared mean.
    pub(super) fn add_squared_means(&mut self) {
        let share = 1.0 / (self.n_items() as f64).sqrt();
        for s in 0..self.batch.n {
            if self.has_gradient(s) {
                let mean = self.items.gradients.iter_mut().zip(self.evaluations.grad(s));
                mean.for_each(|(to, g)| *to = share * g);
                self.estimator.add_item_gradients(&self.q, s, &self.items.gradients, &mut self.curvature);
            }
        }
    }

    /// Whether the squares of the gradients at draw `s` are finite.
    pub(super) fn items_are_finite(&mut self, s: usize) -> Result<bool, Error> {
        let small = |gradients: &[f64]| gradients.iter().all(|g| g.abs() < LARGEST);
        if self.plan.curvature == Curvature::ItemGradients {
            self.counts.gradient += 1;
            self.for_each_block(s, |run, block| small(&run.items.gradients[..block]))
        } else {
            Ok(small(self.evaluations.grad(s)))
        }
    }

    /// Evaluates the gradients of the items at draw `s` block by block while `visit`, told how many numbers there are, says true.
    fn for_each_block(&mut self, s: usize, mut visit: impl FnMut(&mut Self, usize) -> bool) -> Result<bool, Error> {
        let Some(target) = self.target.item_gradients() else { return Ok(true) };
        let (n, d) = (self.n_items(), self.q.dim());
        for start in (0..n).step_by(BLOCK) {
            let end = n.min(start + BLOCK);
            if self.minibatch.is_some() {
                self.items.rows[..end - start].copy_from_slice(&self.rows[start..end]);
            } else {
                self.items.rows.iter_mut().zip(start..end).for_each(|(row, index)| *row = index as u32);
            }
            let (block, z) = ((end - start) * d, self.batch.draws.get(s));
            let (rows, scratch) = (Rows::Subset(&self.items.rows[..end - start]), self.evaluations.scratch_mut());
            ItemGradients::item_gradients(target, z, rows, scratch, &mut self.items.gradients[..block])?;
            if !visit(self, block) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
