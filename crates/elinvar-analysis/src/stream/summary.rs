//! What the first pass finds out about columns: moments, ranges, classes, and a hash.

use elinvar_data::{ColumnTransform, Error as DataError, Outcome, Place, Scaling, ShardRows, ShardedTable, Unit};

use crate::error::Error;

/// Where hashes begin.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
/// Labels that are told apart, at most.
const LABELS: usize = 3;

/// Columns over all shards so far, the target as the last.
pub(super) struct Summary {
    n: f64,
    means: Vec<f64>,
    squares: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
    n_shards: usize,
    n_dropped: usize,
    /// Of the names, and of each column.
    hash: u64,
    hashes: Vec<u64>,
    /// Values of the target, the first few that differ, with file and row.
    labels: Vec<(f64, usize, u64)>,
    /// Rows of the file that is being read.
    rows_of_file: (usize, u64),
}

impl Summary {
    pub(super) fn new(table: &ShardedTable) -> Self {
        let width = table.names().len();
        let mut hash = OFFSET;
        table.names().iter().flat_map(|name| name.bytes().chain([0])).for_each(|byte| mix(&mut hash, byte.into()));
        Self {
            n: 0.0,
            means: vec![0.0; width],
            squares: vec![0.0; width],
            least: vec![f64::INFINITY; width],
            most: vec![f64::NEG_INFINITY; width],
            n_shards: 0,
            n_dropped: 0,
            hash,
            hashes: vec![OFFSET; width],
            labels: Vec::new(),
            rows_of_file: (0, 0),
        }
    }

    /// Adds the rows of a shard.
    pub(super) fn add(&mut self, values: &[f64]) {
        let width = self.means.len();
        let n = (values.len() / width) as f64;
        let (mut means, mut squares) = (vec![0.0; width], vec![0.0; width]);
        for row in values.chunks_exact(width) {
            for (((sum, x), least), most) in means.iter_mut().zip(row).zip(&mut self.least).zip(&mut self.most) {
                *sum += x;
                *least = least.min(*x);
                *most = most.max(*x);
            }
        }
        means.iter_mut().for_each(|sum| *sum /= n);
        for row in values.chunks_exact(width) {
            for ((sum, x), mean) in squares.iter_mut().zip(row).zip(&means) {
                *sum += (x - mean) * (x - mean);
            }
        }
        // Two sets of rows with their own means make one (Chan, Golub and LeVeque 1979).
        let total = self.n + n;
        for j in 0..width {
            let apart = means[j] - self.means[j];
            self.squares[j] += squares[j] + apart * apart * self.n * n / total;
            self.means[j] += apart * n / total;
        }
        (self.n, self.n_shards) = (total, self.n_shards + 1);
    }

    /// Takes in what a file says, and refuses a target that the model does not take.
    pub(super) fn look_at(&mut self, table: &ShardedTable, shard: &ShardRows, outcome: Outcome) -> Result<(), Error> {
        self.n_dropped += shard.n_dropped;
        for row in shard.values.chunks_exact(self.hashes.len()) {
            // One of each column: they do not wait for each other.
            self.hashes.iter_mut().zip(row).for_each(|(hash, x)| mix(hash, x.to_bits()));
        }
        self.look_at_target(table, shard, outcome)
    }

    fn look_at_target(&mut self, table: &ShardedTable, shard: &ShardRows, outcome: Outcome) -> Result<(), Error> {
        let width = self.means.len();
        if self.rows_of_file.0 != shard.file {
            self.rows_of_file = (shard.file, 0);
        }
        let first = self.rows_of_file.1;
        self.rows_of_file.1 += (shard.values.len() / width) as u64;
        let mut rows = shard.values.iter().skip(width - 1).step_by(width).zip(first..);
        match outcome {
            Outcome::Binary => {
                for (y, row) in rows {
                    if !self.labels.iter().any(|(known, ..)| known == y) {
                        self.labels.push((*y, shard.file, row));
                        if self.labels.len() == LABELS {
                            break;
                        }
                    }
                }
                let is = |low: f64| self.labels.iter().all(|(y, ..)| *y == low || *y == 1.0);
                if is(0.0) || is(-1.0) {
                    return Ok(());
                }
                let found = self.labels.iter().map(|(y, _, row)| (*y, *row)).collect();
                Err(DataError::NotBinary {
                    file: table.file(shard.file).into(),
                    number: table.number(width - 1),
                    column: table.names()[width - 1].clone(),
                    found,
                    n_distinct: self.labels.len(),
                    unit: Unit::Row,
                }
                .into())
            }
            Outcome::Count => match rows.find(|(y, _)| !(**y >= 0.0 && y.fract() == 0.0)) {
                None => Ok(()),
                Some((y, row)) => {
                    let place = Place {
                        file: table.file(shard.file).into(),
                        line: row,
                        unit: Unit::Row,
                        number: table.number(width - 1),
                        column: table.names()[width - 1].clone(),
                    };
                    Err(DataError::NotACount { place, value: *y }.into())
                }
            },
            _ => Ok(()),
        }
    }

    /// Refuses columns that say nothing.
    pub(super) fn check(&self, table: &ShardedTable, outcome: Outcome, has_intercept: bool) -> Result<(), Error> {
        let (last, file) = (self.means.len() - 1, table.file(0).to_path_buf());
        let number = table.number(last);
        let column = table.names()[last].clone();
        if self.n < 2.0 {
            return Err(DataError::TooFewRows { file, found: self.n_rows() }.into());
        }
        let is_constant = |j: usize| self.least[j] == self.most[j];
        match outcome {
            Outcome::Binary if is_constant(last) => {
                return Err(DataError::OneClass { file, number, column, value: self.least[last] }.into());
            }
            Outcome::Count if self.most[last] == 0.0 => {
                return Err(DataError::ConstantTarget { file, number, column, value: 0.0 }.into());
            }
            Outcome::Real if is_constant(last) => {
                return Err(DataError::ConstantTarget { file, number, column, value: self.least[last] }.into());
            }
            _ => {}
        }
        if !has_intercept {
            return Ok(());
        }
        for j in 0..last {
            let (number, column) = (table.number(j), table.names()[j].clone());
            if is_constant(j) {
                return Err(DataError::ConstantColumn { file, number, column, value: self.least[j] }.into());
            }
            if column == "intercept" {
                return Err(DataError::InterceptTaken { file, number }.into());
            }
        }
        Ok(())
    }

    /// What is done to the columns of the design matrix: as of a table in memory.
    pub(super) fn transforms(
        &self,
        table: &ShardedTable,
        scaling: Scaling,
        has_intercept: bool,
        has_prior: bool,
    ) -> Result<Vec<ColumnTransform>, Error> {
        if scaling == Scaling::Standardize && !has_intercept {
            return Err(DataError::ShiftWithoutIntercept.into());
        }
        let intercept = has_intercept.then(|| ColumnTransform { name: "intercept".into(), shift: 0.0, scale: 1.0 });
        let of = |j: usize| {
            let mean = self.means[j];
            let (shift, scale) = match scaling {
                _ if !has_prior => (if has_intercept { mean } else { 0.0 }, self.sd(j)),
                Scaling::None => (0.0, 1.0),
                Scaling::Standardize => (mean, self.sd(j)),
                Scaling::Scale => (0.0, self.least[j].abs().max(self.most[j].abs())),
            };
            ColumnTransform { name: table.names()[j].clone(), shift, scale: if scale > 0.0 { scale } else { 1.0 } }
        };
        Ok(intercept.into_iter().chain((0..self.means.len() - 1).map(of)).collect())
    }

    /// The standard deviation of a column; 0 where rounding leaves one of a constant.
    fn sd(&self, j: usize) -> f64 {
        let sd = (self.squares[j] / (self.n - 1.0).max(1.0)).sqrt();
        if sd <= 1e-13 * self.means[j].abs() { 0.0 } else { sd }
    }

    /// Mean and standard deviation of the target, as [`crate::models`] has them of a table in memory.
    pub(super) fn moments_of_target(&self) -> (f64, f64) {
        let last = self.means.len() - 1;
        let sd = self.sd(last);
        (self.means[last], if sd > 0.0 { sd } else { 1.0 })
    }

    /// The label that becomes −1.
    pub(super) fn lower_class(&self, outcome: Outcome) -> Option<f64> {
        (outcome == Outcome::Binary).then(|| self.least[self.means.len() - 1])
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n as usize
    }

    pub(super) fn n_shards(&self) -> usize {
        self.n_shards
    }

    pub(super) fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// A hash of names and numbers, by which a fit recognises its data: another one than that of a table in memory.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = self.hash;
        self.hashes.iter().for_each(|of_column| mix(&mut hash, *of_column));
        format!("{hash:016x}")
    }
}

/// A step of FNV-1a over words, whose high bits come down.
fn mix(hash: &mut u64, word: u64) {
    *hash = (*hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
}
