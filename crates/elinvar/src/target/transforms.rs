//! A list of transforms that covers all coordinates of z.

mod of_directions;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::column_scale::{self, ColumnScale};
use super::{RowSpace, Transform};
use crate::Error;
pub(crate) use of_directions::Combination;

/// Transforms applied to consecutive coordinates; in files a list.
///
/// Leading coordinates may be coefficients of scaled columns ([`Transforms::with_columns`]): x holds them in the units
/// of the columns as they were.
///
/// ```
/// use elinvar::research::target::{Transform, Transforms};
///
/// let transforms = Transforms::new(vec![Transform::Identity, Transform::Log, Transform::Simplex { len: 3 }])?;
/// let mut x = [0.0; 5];
/// transforms.constrain(&[1.5, 0.0, 0.0, 0.0], &mut x);
/// assert_eq!((transforms.dim(), x[0], x[1]), (4, 1.5, 1.0));
/// assert!(x[2..].iter().all(|v| (v - 1.0 / 3.0).abs() < 1e-15));
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Transforms {
    blocks: Vec<Transform>,
    /// Of the leading coordinates; empty if no column was scaled.
    columns: Vec<ColumnScale>,
    /// What the leading coordinates are directions of, if they are.
    row_space: Option<Arc<RowSpace>>,
    /// How often columns, or directions, follow each other.
    groups: usize,
}

/// How transforms stand in files.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    List(Vec<Transform>),
    OfColumns {
        transforms: Vec<Transform>,
        columns: Vec<ColumnScale>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row_space: Option<RowSpace>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<usize>,
    },
}

/// A transform with the coordinates it uses.
pub(crate) struct Block {
    pub(crate) transform: Transform,
    pub(crate) z: std::ops::Range<usize>,
    pub(crate) x: std::ops::Range<usize>,
}

impl Transforms {
    /// The transforms `blocks`, one after the other.
    ///
    /// # Errors
    /// If there is none, or one of them is not valid.
    pub fn new(blocks: Vec<Transform>) -> Result<Self, Error> {
        if blocks.is_empty() {
            return Err(Error::Shape { what: "transforms", expected: 1, found: 0 });
        }
        blocks.iter().try_for_each(Transform::validate)?;
        let total = blocks.iter().try_fold(0usize, |sum, block| sum.checked_add(block.n_constrained()));
        if total.is_none_or(|total| total > u32::MAX as usize) {
            let reason = "the lengths add up to at most 2³² − 1";
            return Err(Error::Domain { parameter: "transforms", value: f64::INFINITY, reason });
        }
        Ok(Self::unchecked(blocks))
    }

    /// The same without a check of constants, which [`Transforms::check`] makes later.
    pub(crate) fn unchecked(blocks: Vec<Transform>) -> Self {
        Self { blocks, columns: Vec::new(), row_space: None, groups: 1 }
    }

    /// Whether the constants of all maps are valid.
    ///
    /// # Errors
    /// As [`Transforms::new`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        Self::new(self.blocks.clone()).map(|_| ())
    }

    /// Whether x is z.
    pub(crate) fn is_identity(&self) -> bool {
        self.columns.is_empty()
            && self.row_space.is_none()
            && self.blocks.iter().all(|block| *block == Transform::Identity)
    }

    /// No constraint on `dim` coordinates.
    pub fn identity(dim: usize) -> Self {
        Self::unchecked(vec![Transform::Identity; dim])
    }

    /// The same with leading coordinates that are coefficients of scaled columns: in x they are those of the columns as
    /// they were, βⱼ = β′ⱼ/scaleⱼ, and the first, the intercept, takes up −Σ βⱼ·shiftⱼ.
    ///
    /// ```
    /// use elinvar::research::target::{ColumnScale, Transforms};
    ///
    /// let columns = vec![ColumnScale::NONE, ColumnScale { shift: 40.0, scale: 12.0 }];
    /// let transforms = Transforms::identity(2).with_columns(columns)?;
    /// let mut x = [0.0; 2];
    /// transforms.constrain(&[1.0, 6.0], &mut x);
    /// assert_eq!(x, [1.0 - 40.0 * 0.5, 0.5]);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a scale is not positive, a shift is not finite or not taken up by a plain first column, or a coordinate is
    /// transformed.
    pub fn with_columns(self, columns: Vec<ColumnScale>) -> Result<Self, Error> {
        self.with_groups(None, columns, 1)
    }

    /// The same with so many groups of leading coordinates, one after the other, which are coefficients of the same
    /// columns, or directions that their rows can see: then x holds the coefficients of all columns, a draw of them for
    /// each z.
    ///
    /// # Errors
    /// As [`Transforms::with_columns`].
    pub(crate) fn with_groups(
        mut self,
        space: Option<Arc<RowSpace>>,
        columns: Vec<ColumnScale>,
        groups: usize,
    ) -> Result<Self, Error> {
        let identities = self.blocks.iter().take_while(|block| **block == Transform::Identity).count();
        let n_columns = space.as_ref().map_or(columns.len(), |space| space.n_columns());
        let in_z = groups.saturating_mul(space.as_ref().map_or(columns.len(), |space| space.n_directions()));
        if in_z > identities || groups == 0 {
            return Err(Error::Shape { what: "leading coordinates of columns", expected: identities, found: in_z });
        }
        if !columns.is_empty() && columns.len() != n_columns {
            return Err(Error::Shape { what: "scaled columns", expected: n_columns, found: columns.len() });
        }
        column_scale::check(&columns)?;
        (self.columns, self.row_space, self.groups) = (columns, space, groups);
        Ok(self)
    }

    /// The directions that the leading coordinates stand for, if they do.
    pub fn row_space(&self) -> Option<&RowSpace> {
        self.row_space.as_deref()
    }

    /// Leading coordinates of z that are directions, and of x that are their coefficients.
    pub(crate) fn n_lifted(&self) -> (usize, usize) {
        let of = |space: &RowSpace| (self.groups * space.n_directions(), self.groups * space.n_columns());
        self.row_space().map_or((0, 0), of)
    }

    /// What was done to the columns of the leading coordinates; empty if nothing was.
    pub fn columns(&self) -> &[ColumnScale] {
        &self.columns
    }

    /// Turns a covariance of z, dim × dim numbers, into that of z with the leading coefficients in the units of the
    /// columns as they were.
    ///
    /// # Panics
    /// If there are not dim × dim numbers.
    pub fn unscale_covariance(&self, covariance: &mut [f64]) {
        column_scale::covariance_to_original(&self.columns, self.groups, covariance, self.dim());
    }

    /// The transforms in order.
    pub fn as_slice(&self) -> &[Transform] {
        &self.blocks
    }

    /// The transform that each coordinate of x comes from; that of a coefficient by directions is the identity.
    pub fn of_parameters(&self) -> Vec<Transform> {
        let mut each = vec![Transform::Identity; self.n_lifted().1];
        self.blocks().for_each(|block| each.extend(block.x.map(|_| block.transform)));
        each
    }

    /// Number of coordinates of z.
    pub fn dim(&self) -> usize {
        self.blocks.iter().map(Transform::dim).sum()
    }

    /// Number of coordinates of x.
    pub fn n_constrained(&self) -> usize {
        let (in_z, in_x) = self.n_lifted();
        self.blocks.iter().skip(in_z).map(Transform::n_constrained).sum::<usize>() + in_x
    }

    /// The transforms one by one, without those of directions.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let (mut z, mut x) = self.n_lifted();
        self.blocks.iter().skip(z).map(move |transform| {
            let block = Block { transform: *transform, z: z..z + transform.dim(), x: x..x + transform.n_constrained() };
            (z, x) = (block.z.end, block.x.end);
            block
        })
    }

    /// Writes x(z): where leading coordinates are directions, a draw of the coefficients given these, the same for the
    /// same z.
    pub fn constrain(&self, z: &[f64], x: &mut [f64]) {
        self.map(z, x, RowSpace::draw);
    }

    fn map(&self, z: &[f64], x: &mut [f64], lift: fn(&RowSpace, &[f64], &mut [f64])) {
        let (in_z, in_x) = self.n_lifted();
        if let Some(space) = self.row_space() {
            lift(space, &z[..in_z], &mut x[..in_x]);
        }
        self.blocks().for_each(|b| b.transform.constrain(&z[b.z], &mut x[b.x]));
        self.to_units_of_columns(x);
    }

    fn to_units_of_columns(&self, x: &mut [f64]) {
        if !self.columns.is_empty() {
            x.chunks_exact_mut(self.columns.len())
                .take(self.groups)
                .for_each(|beta| column_scale::to_original(&self.columns, beta));
        }
    }

    /// Writes z(x): where leading coordinates are directions, those of x, which has more.
    ///
    /// # Errors
    /// If x is outside the constraints or a length is wrong.
    pub fn unconstrain(&self, x: &[f64], z: &mut [f64]) -> Result<(), Error> {
        if x.len() != self.n_constrained() {
            return Err(Error::Shape { what: "constrained values", expected: self.n_constrained(), found: x.len() });
        }
        if z.len() != self.dim() {
            return Err(Error::Shape { what: "unconstrained values", expected: self.dim(), found: z.len() });
        }
        self.blocks().try_for_each(|b| b.transform.unconstrain(&x[b.x], &mut z[b.z]))?;
        let (p, r) = (self.columns.len(), self.row_space().map_or(self.columns.len(), RowSpace::n_directions));
        let width = self.row_space().map_or(p, RowSpace::n_columns);
        for group in 0..if width > 0 { self.groups } else { 0 } {
            let mut beta = x[group * width..(group + 1) * width].to_vec();
            column_scale::to_scaled(&self.columns, &mut beta);
            let z = &mut z[group * r..(group + 1) * r];
            match self.row_space() {
                Some(space) => space.project(&beta, z),
                None => z.copy_from_slice(&beta),
            }
        }
        Ok(())
    }

    /// log |∂x/∂z|.
    pub fn log_jacobian(&self, z: &[f64]) -> f64 {
        let of_columns = self.groups as f64 * self.columns.iter().map(|column| column.scale.ln()).sum::<f64>();
        self.blocks().map(|b| b.transform.log_jacobian(&z[b.z])).sum::<f64>() - of_columns
    }

    /// Adds the gradient of the log-Jacobian to `grad`.
    pub(crate) fn add_log_jacobian_gradient(&self, z: &[f64], grad: &mut [f64]) {
        self.blocks().for_each(|b| b.transform.add_log_jacobian_gradient(&z[b.z.clone()], &mut grad[b.z]));
    }

    /// Adds the Hessian of the log-Jacobian to a d × d matrix.
    pub(crate) fn add_log_jacobian_hessian(&self, z: &[f64], hessian: &mut [f64]) {
        let d = self.dim();
        for b in self.blocks() {
            let own = if b.transform.is_separable() { 1 } else { b.z.len() };
            for k in 0..b.z.len() {
                let others = if own == 1 { k..k + 1 } else { 0..own };
                for l in others {
                    let curvature = b.transform.log_jacobian_curvature(&z[b.z.clone()], k, l);
                    hessian[(b.z.start + k) * d + b.z.start + l] += curvature;
                }
            }
        }
    }

    /// Length of the memory for [`Transforms::jacobian`].
    pub(crate) fn jacobian_len(&self) -> usize {
        self.blocks.iter().map(|t| t.dim() * t.n_constrained()).sum()
    }

    /// Writes the blocks of ∂x/∂z, one after the other, each column by column.
    pub(crate) fn jacobian(&self, z: &[f64], x: &[f64], mut out: &mut [f64]) {
        for b in self.blocks() {
            let (block, rest) = out.split_at_mut(b.z.len() * b.x.len());
            b.transform.jacobian(&z[b.z], &x[b.x], block);
            out = rest;
        }
    }
}

impl TryFrom<Written> for Transforms {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        match written {
            Written::List(transforms) => Self::new(transforms),
            Written::OfColumns { transforms, columns, row_space, groups } => {
                Self::new(transforms)?.with_groups(row_space.map(Arc::new), columns, groups.unwrap_or(1))
            }
        }
    }
}

impl From<Transforms> for Written {
    fn from(Transforms { blocks, columns, row_space, groups }: Transforms) -> Self {
        if columns.is_empty() && row_space.is_none() {
            return Written::List(blocks);
        }
        let (row_space, groups) = (row_space.map(Arc::unwrap_or_clone), (groups > 1).then_some(groups));
        Written::OfColumns { transforms: blocks, columns, row_space, groups }
    }
}

#[cfg(test)]
mod tests;
