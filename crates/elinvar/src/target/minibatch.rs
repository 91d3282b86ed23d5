//! Which data items a step sees.

use crate::random::{Purpose, Stream};

/// Mini-batches without replacement, each a pure function of (seed, step).
#[derive(Clone, Debug)]
pub struct Minibatch {
    indices: Vec<u32>,
    size: usize,
}

impl Minibatch {
    /// Batches of `size` of `n_rows` items.
    ///
    /// # Panics
    /// If there are fewer items than a batch has, or more than 2³².
    pub fn new(n_rows: usize, size: usize) -> Self {
        assert!(size <= n_rows, "a mini-batch of {size} cannot come from {n_rows} items");
        let n_rows = u32::try_from(n_rows).expect("at most 2³² items");
        Self { indices: (0..n_rows).collect(), size }
    }

    /// Writes the items of a step to `rows`, in increasing order for the sake of memory access.
    ///
    /// # Panics
    /// If `rows` has another length than a batch.
    pub fn fill(&mut self, seed: u64, step: u64, rows: &mut [u32]) {
        assert_eq!(rows.len(), self.size, "room for one mini-batch");
        Stream::open(seed, Purpose::Minibatch, step, 0).sample_without_replacement(&mut self.indices, rows);
        rows.sort_unstable();
    }
}
