//! Coordinates that are directions: their coefficients at many points, expected, and as combinations of z.

use std::borrow::Cow;

use super::Transforms;
use crate::target::{ColumnScale, Draws, RowSpace, Transform};

/// A coordinate of x that is linear in z but for noise that is independent of z.
pub(crate) struct Combination {
    pub(crate) constant: f64,
    /// Coordinates with factors.
    pub(crate) terms: Vec<(usize, f64)>,
    /// Variance given z.
    pub(crate) spare: f64,
}

impl Combination {
    fn of(terms: Vec<(usize, f64)>) -> Self {
        Self { constant: 0.0, terms, spare: 0.0 }
    }
}

impl Transforms {
    /// Writes E\[x | z\], which is x(z) where no coordinate is a direction.
    pub(crate) fn expect(&self, z: &[f64], x: &mut [f64]) {
        self.map(z, x, RowSpace::expect);
    }

    /// [`Transforms::constrain`] for many points, whose x follow each other.
    ///
    /// # Panics
    /// If there is not room for all of them.
    pub fn constrain_all(&self, z: Draws<'_>, x: &mut [f64]) {
        self.map_all(z, x, RowSpace::draw);
    }

    /// [`Transforms::expect`] for many points.
    pub(crate) fn expect_all(&self, z: Draws<'_>, x: &mut [f64]) {
        self.map_all(z, x, RowSpace::expect);
    }

    fn map_all(&self, z: Draws<'_>, x: &mut [f64], lift: fn(&RowSpace, &[f64], &mut [f64])) {
        /// Points of one product.
        const BLOCK: usize = 64;
        let width = self.n_constrained();
        assert_eq!(x.len(), z.len() * width, "room for every point");
        let Some(space) = self.row_space() else {
            // Without directions both are the same.
            return z.iter().zip(x.chunks_exact_mut(width)).for_each(|(z, x)| self.constrain(z, x));
        };
        let (in_z, in_x) = self.n_lifted();
        let d = z.dim();
        let (mut directions, mut lifted) = (vec![0.0; BLOCK * in_z], vec![0.0; BLOCK * in_x]);
        for (z, x) in z.as_slice().chunks(BLOCK * d).zip(x.chunks_mut(BLOCK * width)) {
            let n = z.len() / d;
            let (directions, lifted) = (&mut directions[..n * in_z], &mut lifted[..n * in_x]);
            directions.chunks_exact_mut(in_z).zip(z.chunks_exact(d)).for_each(|(u, z)| u.copy_from_slice(&z[..in_z]));
            lift(space, directions, lifted);
            for ((z, x), lifted) in z.chunks_exact(d).zip(x.chunks_exact_mut(width)).zip(lifted.chunks_exact(in_x)) {
                x[..in_x].copy_from_slice(lifted);
                self.blocks().for_each(|b| b.transform.constrain(&z[b.z], &mut x[b.x]));
                self.to_units_of_columns(x);
            }
        }
    }

    /// z with coefficients of the columns as the fit has them in place of directions: a draw of them given z.
    pub fn coefficients<'z>(&self, z: &'z [f64]) -> Cow<'z, [f64]> {
        self.lifted(z, RowSpace::draw)
    }

    /// The expectation of [`Transforms::coefficients`].
    pub fn expected_coefficients<'z>(&self, z: &'z [f64]) -> Cow<'z, [f64]> {
        self.lifted(z, RowSpace::expect)
    }

    fn lifted<'z>(&self, z: &'z [f64], lift: fn(&RowSpace, &[f64], &mut [f64])) -> Cow<'z, [f64]> {
        let Some(space) = self.row_space() else { return Cow::Borrowed(z) };
        let (in_z, in_x) = self.n_lifted();
        let mut all = vec![0.0; in_x];
        lift(space, &z[..in_z], &mut all);
        all.extend_from_slice(&z[in_z..]);
        Cow::Owned(all)
    }

    /// x of what stands behind the first `n` coordinates of z.
    pub fn constrain_behind(&self, n: usize, z: &[f64]) -> Vec<f64> {
        let mut x = Vec::new();
        for block in self.blocks().filter(|block| block.z.start >= n) {
            let start = x.len();
            x.resize(start + block.x.len(), 0.0);
            block.transform.constrain(&z[block.z], &mut x[start..]);
        }
        x
    }

    /// For each coordinate of x the combination of coordinates of z that it is; nothing if it is none.
    pub(crate) fn linear(&self) -> Vec<Option<Combination>> {
        let mut rows = Vec::with_capacity(self.n_constrained());
        if let Some(space) = self.row_space() {
            (0..self.groups).for_each(|group| rows.extend(self.lifted_rows(space, group)));
        }
        for block in self.blocks() {
            let identity = block.transform == Transform::Identity;
            rows.extend(block.x.map(|_| identity.then(|| Combination::of(vec![(block.z.start, 1.0)]))));
        }
        if self.row_space.is_some() {
            return rows;
        }
        let p = self.columns.len();
        for group in 0..if p > 0 { self.groups } else { 0 } {
            for (j, column) in self.columns.iter().enumerate() {
                rows[group * p + j] = Some(Combination::of(vec![(group * p + j, 1.0 / column.scale)]));
            }
            let shifted = self.columns.iter().enumerate().filter(|(_, column)| column.shift != 0.0);
            let taken_up = shifted.map(|(j, column)| (group * p + j, -column.shift / column.scale));
            if let Some(intercept) = &mut rows[group * p] {
                intercept.terms.extend(taken_up);
            }
        }
        rows
    }

    /// The coefficients of one group by directions.
    fn lifted_rows<'s>(&'s self, space: &'s RowSpace, group: usize) -> impl Iterator<Item = Option<Combination>> + 's {
        let r = space.n_directions();
        let scale = |j: usize| self.columns.get(j).copied().unwrap_or(ColumnScale::NONE);
        (0..space.n_columns()).map(move |j| {
            let own = (j, 1.0 / scale(j).scale);
            let others = if j == 0 { &self.columns[..] } else { &[] };
            let shifted = others.iter().enumerate().filter(|(_, column)| column.shift != 0.0);
            let taken_up = shifted.map(|(j, column)| (j, -column.shift / column.scale));
            let (constant, factors, spare) = space.combination(std::iter::once(own).chain(taken_up));
            let terms = factors.into_iter().enumerate().map(|(k, factor)| (group * r + k, factor)).collect();
            Some(Combination { constant, terms, spare })
        })
    }
}
