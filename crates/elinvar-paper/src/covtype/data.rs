//! covtype from a file, a stand-in of the same shape, and the log-loss on the rows that are kept back.

use std::path::Path;

use elinvar::family::Approximation;
use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar::random::{Purpose, Stream};
use elinvar_data::{Columns, Table};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::Error;

/// Coefficients: an intercept, ten measurements, four areas and forty kinds of soil.
pub(super) const DIM: usize = 55;
/// Precision of the prior (mathematics §9.2, E5).
pub(super) const PRIOR_PRECISION: f64 = 0.002;
/// Smallest and largest value of each measurement over all rows.
const RANGES: [(f64, f64); 10] = [
    (1859.0, 3858.0),
    (0.0, 360.0),
    (0.0, 66.0),
    (0.0, 1397.0),
    (-173.0, 601.0),
    (0.0, 7117.0),
    (0.0, 254.0),
    (0.0, 254.0),
    (0.0, 254.0),
    (0.0, 7173.0),
];
/// The file in the folder of data; another format that tables are read from does as well.
const FILES: [&str; 4] = ["covtype.parquet", "covtype.csv", "covtype.npz", "covtype.npy"];

/// Training rows as a model, and rows that are kept back.
pub(super) struct Data {
    pub(super) model: LogisticRegression,
    /// Row after row, the intercept first.
    test: Vec<f64>,
    /// −1 or 1.
    labels: Vec<f64>,
}

/// Rows in the making.
#[derive(Default)]
struct Part {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Part {
    /// Brings the rows into a random order: the file goes from area to area, and a few rows from its top are of one area only.
    fn shuffle(&mut self) {
        let mut stream = Stream::open(1, Purpose::Sample, 1, 0);
        for last in (1..self.y.len()).rev() {
            let other = (stream.uniform() * (last + 1) as f64) as usize;
            self.y.swap(last, other);
            for j in 0..DIM {
                self.x.swap(last * DIM + j, other * DIM + j);
            }
        }
    }
}

impl Data {
    fn new(train: Part, mut test: Part) -> Result<Self, Error> {
        test.shuffle();
        let names = (0..DIM).map(|j| if j == 0 { "intercept".into() } else { format!("x{j}") }).collect();
        let model = LogisticRegression::new(DesignMatrix::new(train.x, DIM, names)?, train.y, PRIOR_PRECISION)?;
        Ok(Self { model, test: test.x, labels: test.y })
    }

    /// The forest of the paper: columns as in UCI's file, then `y` and `train` (1 for the rows to fit).
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let found = FILES.iter().map(|name| folder.join(name)).find(|path| path.exists());
        let Some(path) = found else {
            return Err(Error::DataNeeded {
                what: "covtype.parquet (581 012 rows, columns of UCI's Covertype, then y and train) is not there"
                    .into(),
            });
        };
        let table = Table::read(&path, &Columns::All)?;
        let (y, train) = (table.column_index("y")?, table.column_index("train")?);
        let mut parts = [Part::default(), Part::default()];
        for i in 0..table.n_rows() {
            let row = table.row(i);
            let part = &mut parts[usize::from(row[train] < 0.5)];
            part.x.push(1.0);
            part.x.extend(row[..10].iter().zip(RANGES).map(|(v, (low, high))| (v - low) / (high - low)));
            part.x.extend_from_slice(&row[10..DIM - 1]);
            part.y.push(2.0 * row[y] - 1.0);
        }
        let [train, test] = parts;
        Self::new(train, test)
    }

    /// Rows of the same shape: ten numbers in \[0, 1\], one of four, one of forty with frequencies like 1/k, labels by known
    /// coefficients.
    pub(super) fn stand_in(n_train: usize, n_test: usize, seed: u64) -> Result<Self, Error> {
        let mut stream = Stream::open(seed, Purpose::Sample, 0, 0);
        let mut coefficients: Vec<f64> =
            (0..DIM).map(|j| if j <= 10 { 3.0 * stream.normal() } else { stream.normal() }).collect();
        // Both classes are about as frequent.
        coefficients[0] = -0.5 * coefficients[1..11].iter().sum::<f64>();
        let harmonic: f64 = (1..=40).map(|k| 1.0 / f64::from(k)).sum();
        let mut row = vec![0.0; DIM];
        let mut part = |n: usize| {
            let mut part = Part::default();
            for _ in 0..n {
                row.fill(0.0);
                row[0] = 1.0;
                row[1..11].iter_mut().for_each(|v| *v = 0.5 * (stream.uniform() + stream.uniform()));
                row[11 + (4.0 * stream.uniform()) as usize] = 1.0;
                let (mut left, mut kind) = (harmonic * stream.uniform(), 0);
                while kind < 39 && left > 1.0 / (kind + 1) as f64 {
                    left -= 1.0 / (kind + 1) as f64;
                    kind += 1;
                }
                row[15 + kind] = 1.0;
                let eta: f64 = row.iter().zip(&coefficients).map(|(x, c)| x * c).sum();
                part.y.push(if stream.uniform() < 1.0 / (1.0 + (-eta).exp()) { 1.0 } else { -1.0 });
                part.x.extend_from_slice(&row);
            }
            part
        };
        let train = part(n_train);
        let test = part(n_test);
        Self::new(train, test)
    }

    /// Number of rows that are kept back.
    pub(super) fn n_test(&self) -> usize {
        self.labels.len()
    }

    /// −log p̂(label) in nats of the first `n_rows` rows that are kept back, p̂ the mean over `n_draws` draws (mathematics §9.3).
    pub(super) fn losses(&self, q: &Approximation, n_rows: usize, n_draws: usize) -> Vec<f64> {
        const BLOCK: usize = 256;
        let z = crate::draws::draws(q, n_draws, 1);
        let n_rows = n_rows.min(self.n_test());
        let mut eta = vec![0.0; BLOCK * n_draws];
        let mut losses = Vec::with_capacity(n_rows);
        for (x, y) in self.test[..n_rows * DIM].chunks(BLOCK * DIM).zip(self.labels[..n_rows].chunks(BLOCK)) {
            let n = y.len();
            matmul(
                MatMut::from_column_major_slice_mut(&mut eta[..n * n_draws], n, n_draws),
                Accum::Replace,
                MatRef::from_row_major_slice(x, n, DIM),
                MatRef::from_column_major_slice(z.view().as_slice(), DIM, n_draws),
                1.0,
                Par::Seq,
            );
            losses.extend(y.iter().enumerate().map(|(i, y)| {
                let of_draw = |eta: &[f64]| 1.0 / (1.0 + (-y * eta[i]).exp());
                -(eta[..n * n_draws].chunks_exact(n).map(of_draw).sum::<f64>() / n_draws as f64).max(1e-15).ln()
            }));
        }
        losses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::target::Target;

    #[test]
    fn the_stand_in_has_the_shape_of_the_forest() {
        let data = Data::stand_in(500, 200, 1).unwrap();
        assert_eq!((data.model.dim(), data.model.n_rows(), data.n_test()), (DIM, Some(500), 200));
        for i in 0..500 {
            let row = data.model.design().row(i);
            assert!(row[0] == 1.0 && row[1..11].iter().all(|v| (0.0..1.0).contains(v)));
            assert_eq!((row[11..15].iter().sum::<f64>(), row[15..].iter().sum::<f64>()), (1.0, 1.0));
        }
        let both = [-1.0, 1.0].map(|y| data.model.responses().iter().filter(|v| **v == y).count());
        assert!(both.iter().all(|n| *n > 50), "{both:?}");
    }

    #[test]
    fn rows_that_are_kept_back_are_shuffled_whole() {
        let row = |i: usize| std::iter::repeat_n(i as f64, DIM);
        let mut part = Part { x: (0..100).flat_map(row).collect(), y: (0..100).map(f64::from).collect() };
        part.shuffle();
        for (x, y) in part.x.chunks_exact(DIM).zip(&part.y) {
            assert!(x.iter().all(|v| v == y));
        }
        let displaced = part.y.iter().enumerate().filter(|(i, y)| *i as f64 != **y).count();
        assert!(displaced > 80, "{displaced}");
        part.y.sort_by(f64::total_cmp);
        assert_eq!(part.y, (0..100).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_missing_file_is_named() {
        let problem = Data::read(Path::new("/nowhere")).err().unwrap().to_string();
        assert!(problem.contains("covtype.parquet") && problem.contains("--data"), "{problem}");
    }
}
