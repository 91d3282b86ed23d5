//! Curvature by squared gradients: of single items, or of their mean.

use super::Evaluator;
use super::batch::rows_of;
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Batch, Estimator};
use crate::target::{About, Answer, Ask, Rows, Want};

/// Items whose gradients are held at a time.
const BLOCK: usize = 64;
/// Gradients up to this size can be squared and summed.
const LARGEST: f64 = 1e140;

/// Memory for the gradients of a block of items.
#[derive(Default)]
pub(super) struct Items {
    rows: Vec<u32>,
    answer: Option<Answer>,
    mean: Vec<f64>,
}

impl Items {
    /// What the curvature needs; nothing for those that square no gradients.
    pub(super) fn new(curvature: Curvature, about: &About) -> Self {
        match curvature {
            Curvature::ItemGradients => {
                let mut answer = Answer::new(about.dim, 0);
                answer.set_items(BLOCK);
                answer.reserve(about.room);
                Self { rows: vec![0; BLOCK], answer: Some(answer), mean: Vec::new() }
            }
            Curvature::SquaredMean => Self { mean: vec![0.0; about.dim], ..Self::default() },
            _ => Self::default(),
        }
    }
}

/// Whether log p and its gradient exist at draw `s`.
fn has_gradient(answer: &Answer, batch: &Batch, s: usize) -> bool {
    batch.kept[s] && answer.log_p()[s].is_finite() && answer.grad(s).iter().all(|v| v.is_finite())
}

impl Evaluator<'_> {
    /// Adds −Σ_s weight Σ_n g_n g_nᵀ over the kept draws and the items of the step to the curvature.
    pub(super) fn add_item_gradients(
        &mut self,
        q: &Approximation,
        by: &mut dyn Estimator,
        batch: &Batch,
    ) -> Result<(), Error> {
        for s in 0..batch.n {
            if has_gradient(&self.answer, batch, s) {
                self.for_each_block(batch, s, |items, squares| {
                    by.add_item_gradients(q, s, items, squares);
                    true
                })?;
            }
        }
        Ok(())
    }

    /// Adds −Σ_s weight (Σ_n g_n)(Σ_n g_n)ᵀ/M: once the sums are scaled by N/M, it is N times the squared mean.
    pub(super) fn add_squared_means(&mut self, q: &Approximation, by: &mut dyn Estimator, batch: &Batch) {
        let share = 1.0 / (self.n_items() as f64).sqrt();
        for s in 0..batch.n {
            if has_gradient(&self.answer, batch, s) {
                self.items.mean.iter_mut().zip(self.answer.grad(s)).for_each(|(to, g)| *to = share * g);
                by.add_item_gradients(q, s, &self.items.mean, &mut self.squares);
            }
        }
    }

    /// Whether the squares of the gradients at draw `s` are finite.
    pub(super) fn items_are_finite(&mut self, batch: &Batch, s: usize) -> Result<bool, Error> {
        let small = |gradients: &[f64]| gradients.iter().all(|g| g.abs() < LARGEST);
        if self.curvature == Curvature::ItemGradients {
            self.for_each_block(batch, s, |items, _| small(items))
        } else {
            Ok(small(self.answer.grad(s)))
        }
    }

    /// Evaluates the gradients of the items at draw `s` block by block while `visit` says true: one evaluation more.
    fn for_each_block(
        &mut self,
        batch: &Batch,
        s: usize,
        mut visit: impl FnMut(&[f64], &mut [f64]) -> bool,
    ) -> Result<bool, Error> {
        self.asker.counts.gradient += 1;
        let n = self.n_items();
        let Some(blocks) = self.items.answer.as_mut() else { return Ok(true) };
        for start in (0..n).step_by(BLOCK) {
            let rows = &mut self.items.rows[..BLOCK.min(n - start)];
            let from = rows_of(&self.rows);
            rows.iter_mut().enumerate().for_each(|(i, row)| *row = from.index(start + i) as u32);
            let (rows, want) = (Rows::Subset(rows), Want::ItemGradients { draw: s });
            self.asker.ask_uncounted(&Ask { draws: batch.draws.view(), rows, want }, blocks)?;
            let len = rows.len(0) * self.about.dim;
            if !visit(&blocks.items()[..len], &mut self.squares) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
