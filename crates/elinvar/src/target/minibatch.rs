//! Which rows a step looks at.

use crate::random::{Purpose, Stream};

/// Rows chosen without replacement; the choice is a function of the seed and the step, not of what was chosen before.
#[derive(Clone, Debug)]
pub struct Minibatch {
    size: usize,
    /// 0, 1, …, N − 1, as [`Stream::sample_without_replacement`] wants it.
    all: Vec<u32>,
}

impl Minibatch {
    /// Batches of `size` of `n_rows` rows.
    ///
    /// # Panics
    /// If the size is zero or larger than the number of rows, or there are more than 2³² − 1 rows.
    pub fn new(n_rows: usize, size: usize) -> Self {
        assert!((1..=n_rows).contains(&size), "a mini-batch of {size} of {n_rows} rows");
        let n = u32::try_from(n_rows).expect("rows are counted with 32 bits");
        Self { size, all: (0..n).collect() }
    }

    /// M.
    pub fn size(&self) -> usize {
        self.size
    }

    /// N.
    pub fn n_rows(&self) -> usize {
        self.all.len()
    }

    /// Writes the M rows of a step in increasing order; nothing is allocated.
    ///
    /// # Panics
    /// If `rows` has another length than M.
    pub fn fill(&mut self, seed: u64, step: u64, rows: &mut [u32]) {
        assert_eq!(rows.len(), self.size, "the rows of a mini-batch");
        Stream::open(seed, Purpose::Minibatch, step, 0).sample_without_replacement(&mut self.all, rows);
        // Memory is then read in one direction.
        rows.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_distinct_sorted_and_a_function_of_seed_and_step() {
        let (mut a, mut b) = (Minibatch::new(500, 40), Minibatch::new(500, 40));
        let (mut rows, mut other) = ([0; 40], [0; 40]);
        for step in 0..50 {
            a.fill(3, step, &mut rows);
            assert!(rows.windows(2).all(|w| w[0] < w[1]) && rows[39] < 500);
            b.fill(8, 1000 - step, &mut other);
            b.fill(3, step, &mut other);
            assert_eq!(rows, other);
            b.fill(4, step, &mut other);
            assert_ne!(rows, other);
        }
    }

    #[test]
    fn every_row_is_chosen_equally_often() {
        let (n, m, steps) = (20, 5, 20_000);
        let mut minibatch = Minibatch::new(n, m);
        let (mut counts, mut rows) = (vec![0.0; n], vec![0; m]);
        for step in 0..steps {
            minibatch.fill(11, step, &mut rows);
            rows.iter().for_each(|row| counts[*row as usize] += 1.0);
        }
        // Each count is binomial with probability ¼; 20 two-sided tests at 4.5 deviations fail by chance 1.4e-4 of the
        // time.
        let (p, total) = (m as f64 / n as f64, steps as f64);
        let deviation = (total * p * (1.0 - p)).sqrt();
        assert!(counts.iter().all(|c| (c - total * p).abs() < 4.5 * deviation), "{counts:?}");
    }
}
