//! A list of transforms that covers all coordinates of z.

use serde::{Deserialize, Serialize};

use super::Transform;
use super::column_scale::{self, ColumnScale};
use crate::Error;

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
}

/// How transforms stand in files.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    List(Vec<Transform>),
    Scaled { transforms: Vec<Transform>, columns: Vec<ColumnScale> },
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
        Ok(Self { blocks, columns: Vec::new() })
    }

    /// The same without a check of constants, which [`Transforms::check`] makes later.
    pub(crate) fn unchecked(blocks: Vec<Transform>) -> Self {
        Self { blocks, columns: Vec::new() }
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
        self.columns.is_empty() && self.blocks.iter().all(|block| *block == Transform::Identity)
    }

    /// No constraint on `dim` coordinates.
    pub fn identity(dim: usize) -> Self {
        Self { blocks: vec![Transform::Identity; dim], columns: Vec::new() }
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
    pub fn with_columns(mut self, columns: Vec<ColumnScale>) -> Result<Self, Error> {
        let identities = self.blocks.iter().take_while(|block| **block == Transform::Identity).count();
        if columns.len() > identities {
            return Err(Error::Shape { what: "scaled columns", expected: identities, found: columns.len() });
        }
        column_scale::check(&columns)?;
        self.columns = columns;
        Ok(self)
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
        column_scale::covariance_to_original(&self.columns, covariance, self.dim());
    }

    /// For each coordinate of x the combination of coordinates of z that it is, as (coordinate, factor); empty if it is
    /// none.
    pub(crate) fn linear(&self) -> Vec<Vec<(usize, f64)>> {
        let mut rows = Vec::with_capacity(self.n_constrained());
        for block in self.blocks() {
            let identity = block.transform == Transform::Identity;
            rows.extend(block.x.map(|_| if identity { vec![(block.z.start, 1.0)] } else { Vec::new() }));
        }
        for (j, column) in self.columns.iter().enumerate() {
            rows[j] = vec![(j, 1.0 / column.scale)];
        }
        let shifted = self.columns.iter().enumerate().filter(|(_, column)| column.shift != 0.0);
        let taken_up: Vec<_> = shifted.map(|(j, column)| (j, -column.shift / column.scale)).collect();
        if let Some(intercept) = rows.first_mut() {
            intercept.extend(taken_up);
        }
        rows
    }

    /// The transforms in order.
    pub fn as_slice(&self) -> &[Transform] {
        &self.blocks
    }

    /// Number of coordinates of z.
    pub fn dim(&self) -> usize {
        self.blocks.iter().map(Transform::dim).sum()
    }

    /// Number of coordinates of x.
    pub fn n_constrained(&self) -> usize {
        self.blocks.iter().map(Transform::n_constrained).sum()
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let (mut z, mut x) = (0, 0);
        self.blocks.iter().map(move |transform| {
            let block = Block { transform: *transform, z: z..z + transform.dim(), x: x..x + transform.n_constrained() };
            (z, x) = (block.z.end, block.x.end);
            block
        })
    }

    /// Writes x(z).
    pub fn constrain(&self, z: &[f64], x: &mut [f64]) {
        self.blocks().for_each(|b| b.transform.constrain(&z[b.z], &mut x[b.x]));
        column_scale::to_original(&self.columns, x);
    }

    /// Writes z(x).
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
        column_scale::to_scaled(&self.columns, z);
        Ok(())
    }

    /// log |∂x/∂z|.
    pub fn log_jacobian(&self, z: &[f64]) -> f64 {
        let of_columns: f64 = self.columns.iter().map(|column| column.scale.ln()).sum();
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
            Written::Scaled { transforms, columns } => Self::new(transforms)?.with_columns(columns),
        }
    }
}

impl From<Transforms> for Written {
    fn from(Transforms { blocks, columns }: Transforms) -> Self {
        if columns.is_empty() { Written::List(blocks) } else { Written::Scaled { transforms: blocks, columns } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first six have 10 coordinates of z and 11 of x, the others 1 + 1 + 6 + 6 and 1 + 1 + 6 + 10.
    fn every_kind() -> Transforms {
        Transforms::new(vec![
            Transform::Identity,
            Transform::Log,
            Transform::Logit,
            Transform::Interval { low: -2.0, high: 5.0 },
            Transform::Ordered { len: 3 },
            Transform::Simplex { len: 4 },
            Transform::Above { low: 3.0 },
            Transform::Below { high: -1.0 },
            Transform::CovarianceCholesky { len: 3 },
            Transform::CorrelationCholesky { len: 4 },
        ])
        .unwrap()
    }

    const Z: [f64; 24] = [
        0.3, -0.7, 0.4, 1.1, -0.2, 0.5, -0.9, 0.8, -0.3, 0.25, 0.6, -1.2, 0.1, -0.4, 0.7, 0.35, -0.15, -0.55, 0.9,
        -0.6, 0.45, 1.3, -0.8, 0.2,
    ];
    const X: usize = 29;

    #[test]
    fn a_simplex_keeps_its_smallest_entries() {
        let simplex = Transforms::new(vec![Transform::Simplex { len: 3 }]).unwrap();
        let mut x = [0.0; 3];
        simplex.constrain(&[60.0, 0.0], &mut x);
        // x₂ = x₃ = ½(1 − v₁) with 1 − v₁ = 2e^{−60}/(1 + 2e^{−60}).
        assert!((x[1] / (-60f64).exp() - 1.0).abs() < 1e-12 && x[1] == x[2], "{x:?}");
    }

    #[test]
    fn lengths_beyond_memory_are_refused() {
        let long = Transform::Ordered { len: usize::MAX };
        assert!(Transforms::new(vec![long, long]).is_err());
    }

    #[test]
    fn unconstrain_inverts_constrain() {
        let transforms = every_kind();
        let (mut x, mut z) = ([0.0; X], [0.0; 24]);
        transforms.constrain(&Z, &mut x);
        transforms.unconstrain(&x, &mut z).unwrap();
        assert!(z.iter().zip(&Z).all(|(a, b)| (a - b).abs() < 1e-14), "{z:?}");
        assert!((x[7..11].iter().sum::<f64>() - 1.0).abs() < 1e-15);
        for row in [&x[19..20], &x[20..22], &x[22..25], &x[25..29]] {
            assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15, "{row:?}");
        }
    }

    /// Where the entries left of the diagonal stand in a triangle of four rows.
    const OFF_DIAGONAL: [usize; 6] = [1, 3, 4, 6, 7, 8];

    #[test]
    fn the_jacobian_agrees_with_differences_and_its_determinant_with_the_logarithm() {
        let transforms = every_kind();
        let (mut x, mut jacobian) = ([0.0; X], vec![0.0; transforms.jacobian_len()]);
        transforms.constrain(&Z, &mut x);
        transforms.jacobian(&Z, &x, &mut jacobian);
        let mut offset = 0;
        let mut log_det = 0.0;
        for b in transforms.blocks() {
            for j in 0..b.z.len() {
                let (mut up, mut down, mut x_up, mut x_down) = (Z, Z, [0.0; X], [0.0; X]);
                up[b.z.start + j] += 1e-5;
                down[b.z.start + j] -= 1e-5;
                transforms.constrain(&up, &mut x_up);
                transforms.constrain(&down, &mut x_down);
                for i in 0..b.x.len() {
                    let difference = (x_up[b.x.start + i] - x_down[b.x.start + i]) / 2e-5;
                    assert!((jacobian[offset + j * b.x.len() + i] - difference).abs() < 1e-9);
                }
                // Every block is lower triangular in the entries of x that are free.
                let row = if let Transform::CorrelationCholesky { .. } = b.transform { OFF_DIAGONAL[j] } else { j };
                log_det += jacobian[offset + j * b.x.len() + row].abs().ln();
            }
            offset += b.z.len() * b.x.len();
        }
        assert!((transforms.log_jacobian(&Z) - log_det).abs() < 1e-13);
    }

    #[test]
    fn files_hold_a_list_and_refuse_an_empty_interval() {
        let text = serde_json::to_string(&every_kind()).unwrap();
        assert!(text.starts_with(r#"["identity","log","logit",{"interval":{"low":-2.0,"high":5.0}}"#), "{text}");
        assert_eq!(serde_json::from_str::<Transforms>(&text).unwrap(), every_kind());
        assert!(serde_json::from_str::<Transforms>(r#"[{"interval":{"low":1.0,"high":1.0}}]"#).is_err());
        for refused in ["simplex", "correlation_cholesky", "unit_vector"] {
            assert!(serde_json::from_str::<Transforms>(&format!(r#"[{{"{refused}":{{"len":1}}}}]"#)).is_err());
        }
        assert!(serde_json::from_str::<Transforms>("[]").is_err());
    }

    #[test]
    fn points_outside_the_constraints_are_refused() {
        for (transform, x) in [
            (Transform::Log, vec![0.0]),
            (Transform::Logit, vec![1.0]),
            (Transform::Interval { low: 0.0, high: 2.0 }, vec![2.5]),
            (Transform::Ordered { len: 2 }, vec![1.0, 1.0]),
            (Transform::Simplex { len: 2 }, vec![0.5, 0.6]),
            (Transform::Identity, vec![f64::NAN]),
            (Transform::Above { low: 1.0 }, vec![1.0]),
            (Transform::Below { high: 1.0 }, vec![1.0]),
            (Transform::CovarianceCholesky { len: 2 }, vec![1.0, 0.3, 0.0]),
            (Transform::CorrelationCholesky { len: 2 }, vec![1.0, 0.3, 0.9]),
            (Transform::CorrelationCholesky { len: 2 }, vec![1.0, 0.6, -0.8]),
            (Transform::UnitVector { len: 2 }, vec![0.6, 0.7]),
        ] {
            let transforms = Transforms::new(vec![transform]).unwrap();
            assert!(transforms.unconstrain(&x, &mut vec![0.0; transforms.dim()]).is_err(), "{transform:?}");
        }
    }
}
