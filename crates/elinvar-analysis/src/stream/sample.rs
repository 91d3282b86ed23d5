//! Rows that stay in memory: some thousands, evenly spread, for what is said of a model and not of all rows.

/// Rows kept, at least, where there are as many.
const ROWS: usize = 4_096;

/// Every n-th row, with n a power of two that grows with the rows.
pub(super) struct Sample {
    width: usize,
    stride: usize,
    seen: usize,
    values: Vec<f64>,
}

impl Sample {
    pub(super) fn new(width: usize) -> Self {
        Self { width, stride: 1, seen: 0, values: Vec::new() }
    }

    pub(super) fn add(&mut self, rows: &[f64]) {
        for row in rows.chunks_exact(self.width) {
            if self.seen.is_multiple_of(self.stride) {
                self.values.extend_from_slice(row);
                if self.values.len() == 2 * ROWS * self.width {
                    self.thin();
                }
            }
            self.seen += 1;
        }
    }

    /// Keeps every second row.
    fn thin(&mut self) {
        self.stride *= 2;
        for i in 0..ROWS {
            self.values.copy_within(2 * i * self.width..(2 * i + 1) * self.width, i * self.width);
        }
        self.values.truncate(ROWS * self.width);
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_evenly_spread() {
        let mut sample = Sample::new(2);
        let rows: Vec<f64> = (0..50_000).flat_map(|i| [f64::from(i), 1.0]).collect();
        rows.chunks(1_234).for_each(|rows| sample.add(rows));
        let kept: Vec<f64> = sample.values().iter().step_by(2).copied().collect();
        assert!(kept.len() >= ROWS && kept.len() < 2 * ROWS, "{}", kept.len());
        assert!(kept.iter().enumerate().all(|(i, row)| *row == (8 * i) as f64), "{:?}", &kept[..5]);
    }
}
