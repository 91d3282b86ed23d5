//! Weighted sums of Hessians: which draws with which weights, and where the sums go.

use super::{Covariance, Shape};

/// K weighted sums over draws: sum k has `per_row` weights, for the draws from `k * stride` on.
#[derive(Clone, Copy, Debug)]
pub struct Contraction<'a> {
    weights: &'a [f64],
    per_row: usize,
    stride: usize,
}

impl<'a> Contraction<'a> {
    /// Every sum runs over the same first `per_row` draws.
    ///
    /// # Panics
    /// If `weights` is not a whole number of rows.
    pub fn shared(weights: &'a [f64], per_row: usize) -> Self {
        assert!(per_row > 0 && weights.len().is_multiple_of(per_row), "contraction weights come in rows of {per_row}");
        Self { weights, per_row, stride: 0 }
    }

    /// Sum k runs over its own draws, `k * per_row .. (k + 1) * per_row`.
    ///
    /// # Panics
    /// If `weights` is not a whole number of rows.
    pub fn own(weights: &'a [f64], per_row: usize) -> Self {
        Self { stride: per_row, ..Self::shared(weights, per_row) }
    }

    /// Number of sums.
    pub fn len(&self) -> usize {
        self.weights.len() / self.per_row
    }

    /// Whether there is nothing to sum.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// How many draws the sums run over.
    pub fn n_draws(&self) -> usize {
        if self.stride == 0 { self.per_row } else { self.weights.len() }
    }

    /// The draws of sum `k`.
    pub fn draws(&self, k: usize) -> std::ops::Range<usize> {
        k * self.stride..k * self.stride + self.per_row
    }

    /// The sums that use draw `s`, with its weight in each.
    pub fn of_draw(&self, s: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let Self { weights, per_row, stride } = *self;
        let sums = if stride == 0 {
            if s < per_row { 0..weights.len() / per_row } else { 0..0 }
        } else {
            let k = s / per_row;
            if k < weights.len() / per_row { k..k + 1 } else { 0..0 }
        };
        sums.map(move |k| (k, weights[k * per_row + s - k * stride]))
    }

    /// The weights of sum `k`, one for each of its draws.
    pub fn weights(&self, k: usize) -> &'a [f64] {
        &self.weights[k * self.per_row..(k + 1) * self.per_row]
    }
}

/// Where contracted Hessians go: one symmetric matrix (column-major, both triangles) or one diagonal per sum.
#[derive(Debug)]
pub struct CurvatureMut<'a> {
    shape: Shape,
    entries: &'a mut [f64],
}

impl<'a> CurvatureMut<'a> {
    /// A view of `entries` as matrices of the given kind.
    ///
    /// # Panics
    /// If `entries` is not a whole number of matrices.
    pub fn new(covariance: Covariance, dim: usize, entries: &'a mut [f64]) -> Self {
        let n = covariance.n_entries(dim);
        assert!(n > 0 && entries.len().is_multiple_of(n), "curvature entries come in matrices of {n}");
        Self { shape: Shape::new(covariance, dim), entries }
    }

    /// Full or diagonal.
    pub fn covariance(&self) -> Covariance {
        self.shape.covariance()
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.shape.dim()
    }

    /// The entries of matrix `k`: d² numbers when full, d when diagonal.
    pub(crate) fn entries_mut(&mut self, k: usize) -> &mut [f64] {
        let n = self.shape.n_entries();
        &mut self.entries[k * n..(k + 1) * n]
    }

    /// The entries of all matrices, one after the other.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        self.entries
    }

    /// The entries of all matrices, for as long as they are borrowed.
    pub(crate) fn into_slice(self) -> &'a mut [f64] {
        self.entries
    }

    /// Adds `c x xᵀ` to matrix `k`.
    pub fn add_outer(&mut self, k: usize, c: f64, x: &[f64]) {
        self.shape.add_outer_alike(c, x, self.entries_mut(k));
    }

    /// Adds `c I` to matrix `k`.
    pub fn add_identity(&mut self, k: usize, c: f64) {
        let stride = self.shape.stride();
        self.entries_mut(k).iter_mut().step_by(stride).for_each(|entry| *entry += c);
    }

    /// Adds `c` times a full column-major matrix (its diagonal, when this view is diagonal) to matrix `k`.
    pub fn add_matrix(&mut self, k: usize, c: f64, matrix: &[f64]) {
        self.shape.add_full(c, matrix, self.entries_mut(k));
    }
}

#[cfg(test)]
mod tests {
    use super::Contraction;

    #[test]
    fn the_sums_of_a_draw_are_the_draws_of_the_sums_read_the_other_way() {
        let weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for contraction in [Contraction::shared(&weights, 2), Contraction::own(&weights, 2)] {
            for s in 0..8 {
                let by_sum: Vec<(usize, f64)> = (0..contraction.len())
                    .filter(|k| contraction.draws(*k).contains(&s))
                    .map(|k| (k, contraction.weights(k)[s - contraction.draws(k).start]))
                    .collect();
                assert_eq!(contraction.of_draw(s).collect::<Vec<_>>(), by_sum);
            }
        }
    }
}
