//! Shards as design matrices: columns shifted and scaled, behind a column of ones.

use super::CompactShard;
use crate::ColumnTransform;

/// What becomes of the rows of a shard, whose last column is the target.
#[derive(Clone, Debug)]
pub struct Scaled {
    has_intercept: bool,
    /// Shift of each feature, and what is multiplied with the rest.
    columns: Vec<(f64, f64)>,
}

impl Scaled {
    /// With these transformations of the features, that of the intercept left out.
    pub fn new(has_intercept: bool, features: &[ColumnTransform]) -> Self {
        Self { has_intercept, columns: features.iter().map(|t| (t.shift, 1.0 / t.scale)).collect() }
    }

    /// Numbers of a row of the matrix.
    pub fn width(&self) -> usize {
        self.columns.len() + usize::from(self.has_intercept)
    }

    fn room(&self, n_rows: usize) -> Vec<f64> {
        // What is not overwritten is the intercept.
        vec![1.0; n_rows * self.width()]
    }

    /// The matrix, row by row, and the target of rows as they stand in the files.
    pub fn of_rows(&self, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let width = self.columns.len() + 1;
        let n = values.len() / width;
        let (mut rows, mut last) = (self.room(n), Vec::with_capacity(n));
        for (row, scaled) in values.chunks_exact(width).zip(rows.chunks_exact_mut(self.width())) {
            let out = scaled[usize::from(self.has_intercept)..].iter_mut();
            out.zip(row).zip(&self.columns).for_each(|((to, x), (shift, factor))| *to = (x - shift) * factor);
            last.push(row[width - 1]);
        }
        (rows, last)
    }

    /// The same of a shard of the cache, to the same bits.
    pub fn of_shard(&self, shard: &CompactShard) -> (Vec<f64>, Vec<f64>) {
        let (mut rows, mut last) = (self.room(shard.n_rows()), vec![0.0; shard.n_rows()]);
        let (width, before) = (self.width(), usize::from(self.has_intercept));
        shard.each_block(|first, n, j, column| match self.columns.get(j) {
            None => last[first..first + n].copy_from_slice(column),
            Some((shift, factor)) => {
                column.iter_mut().for_each(|x| *x = (*x - shift) * factor);
                let rows = rows[first * width..(first + n) * width].chunks_exact_mut(width);
                rows.zip(&*column).for_each(|(row, x)| row[before + j] = *x);
            }
        });
        (rows, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compact, MemoryOrFile};

    #[test]
    fn the_cache_gives_the_matrix_of_the_rows() {
        let values: Vec<f64> =
            (0..200).flat_map(|i| [0.1 * f64::from(i), f64::from(i % 5), 3.0, f64::from(i % 2)]).collect();
        let transform = |shift, scale| ColumnTransform { name: String::new(), shift, scale };
        for has_intercept in [false, true] {
            let scaled = Scaled::new(has_intercept, &[transform(9.95, 5.8), transform(0.0, 1.0), transform(3.0, 1.0)]);
            let mut kept = Compact::new(MemoryOrFile::Memory(Vec::new()), 4);
            kept.push(&values).unwrap();
            let mut found = None;
            kept.pass::<std::io::Error>(Vec::new, |shard| {
                found = Some(scaled.of_shard(&shard));
                Ok(())
            })
            .unwrap();
            let (rows, last) = scaled.of_rows(&values);
            assert_eq!(found, Some((rows.clone(), last.clone())));
            let before = usize::from(has_intercept);
            let row = &rows[7 * (3 + before)..8 * (3 + before)];
            assert!(!has_intercept || row[0] == 1.0);
            assert!((row[before] - (0.7 - 9.95) / 5.8).abs() < 1e-15 && row[before + 1..] == [2.0, 0.0]);
            assert_eq!(last[7], 1.0);
        }
    }
}
