//! Coefficients of more columns than there are rows, by the directions that the rows can see.
//!
//! With β ~ N(m, D²), D diagonal, and XD = USVᵀ the rows see β through u = VᵀD⁻¹β alone, as Xβ = (XDV)u. Under the
//! prior u ~ N(VᵀD⁻¹m, I), and the rest of β is independent of u: β = D(Vu + (I − VVᵀ)w) with w ~ N(D⁻¹m, I). So it is,
//! whatever the likelihood, under the posterior (mathematics §10.10).

use serde::{Deserialize, Serialize};

use super::Prior;
use crate::Error;
use crate::linalg::{dot, products, singular};
use crate::random::{Purpose, Stream};

/// A column so many times longer than the middle one, in prior standard deviations, is a direction of its own: among
/// the others it would take their digits.
const LONG: f64 = 1e4;
/// 1 − |v|² below which it is taken from the vector and not from the difference, which has lost half of its digits.
const CANCELLED: f64 = 1e-8;

/// The directions of coefficients that rows can see, with the law of what they cannot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct RowSpace {
    n_directions: usize,
    /// D, and 1 for a column that is a direction of its own.
    sd: Vec<f64>,
    /// D(I − VVᵀ)D⁻¹m: the mean of what the rows cannot see.
    constant: Vec<f64>,
    /// V, a row for each column of the table.
    basis: Vec<f64>,
    /// Columns that are directions of their own, with these.
    own: Vec<(usize, usize)>,
}

/// How it stands in files.
#[derive(Serialize, Deserialize)]
struct Written {
    directions: usize,
    sd: Vec<f64>,
    constant: Vec<f64>,
    basis: Vec<f64>,
}

impl RowSpace {
    /// The directions that these rows, of length `d`, can see under this prior, and the prior of u; nothing where they
    /// are not fewer than the columns. A column whose prior is flat is a direction of its own.
    ///
    /// # Errors
    /// [`Error::Domain`] for a prior whose coordinates depend on each other.
    pub(crate) fn of(rows: &[f64], d: usize, prior: &Prior) -> Result<Option<(Self, Prior)>, Error> {
        if prior.shared().is_some() {
            let reason = "coefficients that share a scale are not independent of each other outside the rows";
            return Err(Error::Domain { parameter: "t prior", value: f64::NAN, reason });
        }
        let n = rows.len() / d;
        if n >= d {
            return Ok(None);
        }
        let sds: Vec<f64> = (0..d).map(|j| prior.precision(j).sqrt().recip()).collect();
        let own = own_columns(rows, &sds);
        let others: Vec<usize> = (0..d).filter(|j| own.binary_search(j).is_err()).collect();
        let g = others.len();
        if n >= g {
            return Ok(None);
        }
        let scaled = rows.chunks_exact(d).flat_map(|row| others.iter().map(|j| row[*j] * sds[*j])).collect::<Vec<_>>();
        let Some(found) = singular::directions(&scaled, g) else { return Ok(None) };
        // Rows of zeros see nothing; one direction is kept, so that there is something to fit.
        let rank = found.values.len().max(usize::from(own.is_empty()));
        let r = own.len() + rank;
        let mut basis = vec![0.0; d * r];
        own.iter().enumerate().for_each(|(k, j)| basis[j * r + k] = 1.0);
        for (k, vector) in found.vectors.chunks_exact(g).enumerate() {
            others.iter().zip(vector).for_each(|(j, v)| basis[j * r + own.len() + k] = *v);
        }
        if found.values.is_empty() && own.is_empty() {
            basis[0] = 1.0;
        }
        let sd: Vec<f64> = (0..d).map(|j| if own.binary_search(&j).is_ok() { 1.0 } else { sds[j] }).collect();
        let in_units: Vec<f64> = (0..d).map(|j| prior.mean(j) / sd[j]).collect();
        let mut mean = vec![0.0; r];
        products::add_rows_transposed_times(&basis, r, &in_units, &mut mean);
        let space = Self { n_directions: r, sd, constant: vec![0.0; d], basis, own: Vec::new() }.with_own();
        let mut unseen = in_units;
        space.remove_seen(&mut unseen);
        let constant = unseen.iter().zip(&space.sd).map(|(w, sd)| w * sd).collect();
        let precision = (0..r).map(|k| own.get(k).map_or(1.0, |j| prior.precision(*j))).collect();
        let of_directions = if own.is_empty() && mean.iter().all(|m| *m == 0.0) {
            Prior::Gaussian { precision: 1.0, leading: r }
        } else {
            Prior::Normal { mean, precision }
        };
        Ok(Some((Self { constant, ..space }, of_directions)))
    }

    fn with_own(mut self) -> Self {
        let unit = |row: &[f64]| {
            let k = row.iter().position(|v| *v != 0.0)?;
            (row[k] == 1.0 && row[k + 1..].iter().all(|v| *v == 0.0)).then_some(k)
        };
        let rows = self.basis.chunks_exact(self.n_directions).enumerate();
        self.own = rows.filter_map(|(j, row)| unit(row).map(|k| (j, k))).collect();
        self
    }

    /// Number of columns of the table.
    pub fn n_columns(&self) -> usize {
        self.sd.len()
    }

    /// Number of directions.
    pub fn n_directions(&self) -> usize {
        self.n_directions
    }

    /// The direction that a column has for itself, if it has one.
    pub fn own_direction(&self, column: usize) -> Option<usize> {
        self.own.iter().find(|(j, _)| *j == column).map(|(_, k)| *k)
    }

    /// XDV, row by row, for rows of any number.
    pub(crate) fn seen_by(&self, rows: &[f64]) -> Vec<f64> {
        let d = self.n_columns();
        let mut directions = vec![0.0; rows.len() / d * self.n_directions];
        let scaled: Vec<f64> =
            rows.chunks_exact(d).flat_map(|row| row.iter().zip(&self.sd).map(|(x, sd)| x * sd)).collect();
        products::add_rows_transposed_times(&self.basis, self.n_directions, &scaled, &mut directions);
        directions
    }

    /// E\[β | u\] for points u that follow each other, and so do the β.
    pub(crate) fn expect(&self, u: &[f64], beta: &mut [f64]) {
        products::rows_times(&self.basis, self.n_directions, u, beta);
        self.to_units(beta);
    }

    /// A draw of β given each of the points u that follow each other. Its random numbers are a function of u: a draw of
    /// u is one draw of β, wherever it is asked for.
    pub(crate) fn draw(&self, u: &[f64], beta: &mut [f64]) {
        let (d, r) = (self.n_columns(), self.n_directions);
        let mut away = vec![0.0; u.len()];
        for (u, w) in u.chunks_exact(r).zip(beta.chunks_exact_mut(d)) {
            let (seed, step) = key(u);
            Stream::open(seed, Purpose::Unseen, step, 0).fill_normal(w);
            self.own.iter().for_each(|(j, _)| w[*j] = 0.0);
        }
        products::add_rows_transposed_times(&self.basis, r, beta, &mut away);
        away.iter_mut().zip(u).for_each(|(away, u)| *away = u - *away);
        products::add_rows_times(&self.basis, r, &away, beta);
        self.to_units(beta);
    }

    fn to_units(&self, beta: &mut [f64]) {
        for beta in beta.chunks_exact_mut(self.n_columns()) {
            let each = beta.iter_mut().zip(&self.sd).zip(&self.constant);
            each.for_each(|((beta, sd), constant)| *beta = sd * *beta + constant);
        }
    }

    /// u(β) = VᵀD⁻¹β.
    pub(crate) fn project(&self, beta: &[f64], u: &mut [f64]) {
        let scaled: Vec<f64> = beta.iter().zip(&self.sd).map(|(beta, sd)| beta / sd).collect();
        u.fill(0.0);
        products::add_rows_transposed_times(&self.basis, self.n_directions, &scaled, u);
    }

    /// For Σ f_j β_j its mean at u = 0, its factors of u and its variance given u.
    pub(crate) fn combination(&self, factors: impl Iterator<Item = (usize, f64)>) -> (f64, Vec<f64>, f64) {
        let r = self.n_directions;
        let (mut constant, mut directions) = (0.0, vec![0.0; r]);
        let mut scaled = Vec::new();
        for (j, factor) in factors {
            constant += factor * self.constant[j];
            let of_sd = factor * self.sd[j];
            directions.iter_mut().zip(&self.basis[j * r..(j + 1) * r]).for_each(|(a, v)| *a += of_sd * v);
            scaled.push((j, of_sd));
        }
        let length: f64 = scaled.iter().map(|(_, f)| f * f).sum();
        let mut spare = length - dot(&directions, &directions);
        if spare < CANCELLED * length {
            let mut unseen = vec![0.0; self.n_columns()];
            scaled.iter().for_each(|(j, f)| unseen[*j] = *f);
            self.remove_seen(&mut unseen);
            spare = dot(&unseen, &unseen);
        }
        (constant, directions, spare)
    }

    /// w − VVᵀw, in place.
    fn remove_seen(&self, w: &mut [f64]) {
        let mut along = vec![0.0; self.n_directions];
        products::add_rows_transposed_times(&self.basis, self.n_directions, w, &mut along);
        along.iter_mut().for_each(|a| *a = -*a);
        products::add_rows_times(&self.basis, self.n_directions, &along, w);
        self.own.iter().for_each(|(j, _)| w[*j] = 0.0);
    }
}

/// Columns that are directions of their own: with a flat prior, or much longer than the others.
fn own_columns(rows: &[f64], sds: &[f64]) -> Vec<usize> {
    let d = sds.len();
    let mut squares = vec![0.0; d];
    rows.chunks_exact(d).for_each(|row| squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x));
    let lengths: Vec<f64> = squares.iter().zip(sds).map(|(square, sd)| square.sqrt() * sd).collect();
    let mut sorted: Vec<f64> = lengths.iter().copied().filter(|length| *length > 0.0 && length.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY);
    (0..d).filter(|j| sds[*j].is_infinite() || lengths[*j] > LONG * middle).collect()
}

/// Two numbers in which every bit of u counts.
fn key(u: &[f64]) -> (u64, u64) {
    // Multipliers of Steele, Lea and Flood, OOPSLA 2014.
    let mix = |hash: u64, bits: u64| {
        let h = (hash ^ bits).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (h ^ (h >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb).rotate_left(31)
    };
    let of = |start: u64| u.iter().fold(start, |hash, value| mix(hash, value.to_bits()));
    (of(1), of(2))
}

impl TryFrom<Written> for RowSpace {
    type Error = Error;

    fn try_from(Written { directions, sd, constant, basis }: Written) -> Result<Self, Error> {
        if constant.len() != sd.len() {
            return Err(Error::Shape { what: "means outside the rows", expected: sd.len(), found: constant.len() });
        }
        let expected = sd.len().saturating_mul(directions);
        if basis.len() != expected || expected == 0 || directions > sd.len() {
            return Err(Error::Shape { what: "entries of a basis of rows", expected, found: basis.len() });
        }
        if let Some(value) = sd.iter().copied().find(|sd| !(*sd > 0.0 && sd.is_finite())) {
            let reason = "it is a positive number";
            return Err(Error::Domain { parameter: "prior standard deviation", value, reason });
        }
        if let Some(value) = constant.iter().chain(&basis).copied().find(|value| !value.is_finite()) {
            return Err(Error::Domain { parameter: "basis of rows", value, reason: "its numbers are finite" });
        }
        Ok(Self { n_directions: directions, sd, constant, basis, own: Vec::new() }.with_own())
    }
}

impl From<RowSpace> for Written {
    fn from(RowSpace { n_directions, sd, constant, basis, .. }: RowSpace) -> Self {
        Self { directions: n_directions, sd, constant, basis }
    }
}

#[cfg(test)]
mod tests;
