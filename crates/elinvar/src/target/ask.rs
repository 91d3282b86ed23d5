//! What a target is asked.

use super::{Contraction, Covariance, Draws};

/// The data items that an evaluation sums over.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Rows<'a> {
    /// Every item.
    All,
    /// The items with these indices, in this order.
    Subset(&'a [u32]),
}

impl Rows<'_> {
    /// The number of items when the target has `n_rows` of them.
    pub fn len(&self, n_rows: usize) -> usize {
        match self {
            Rows::All => n_rows,
            Rows::Subset(rows) => rows.len(),
        }
    }

    /// The index of item `i` of the selection.
    pub fn index(&self, i: usize) -> usize {
        match self {
            Rows::All => i,
            Rows::Subset(rows) => rows[i] as usize,
        }
    }
}

/// What to compute. Sums run over the rows of the [`Ask`], and leave out the declared prior.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Want<'a> {
    /// log p at every draw.
    Values,
    /// log p and ∇log p at every draw.
    Gradients,
    /// Those, and Σ_s weight\[k\]\[s\] ∇²log p(z_s) for each sum k, in one pass over the data.
    ///
    /// The weights of the draws are known before the target is asked, so a generalised linear model needs one `Xᵀ
    /// diag(r) X` per sum instead of one per draw. A draw of weight zero adds nothing, whatever its Hessian: this is
    /// how a dropped draw is left out. A draw of another weight at which the Hessian does not exist makes its sums NaN.
    Hessian(Contraction<'a>),
    /// These sums alone, at points whose gradients are known: log p and ∇log p need not be written.
    HessianAlone(Contraction<'a>),
    /// As [`Want::Hessian`], with −JᵀHJ in place of the Hessian.
    GaussNewton(Contraction<'a>),
    /// E log p, E∇log p and E∇²log p under the Gaussian around the one draw of the [`Ask`], in place of their values
    /// there.
    ///
    /// Σ_n ℓ(x_nᵀz) is a sum of one-dimensional integrals under a Gaussian: a fit by these has no noise. What it cost
    /// goes to [`Parts::work`](super::Parts::work).
    GaussianExpectation {
        /// Whether the covariance, and the sum of second derivatives, is full or a diagonal.
        shape: Covariance,
        /// Its d² or d entries.
        covariance: &'a [f64],
    },
    /// ∇log p(D_n | z) at one draw for each row n, one after the other.
    ItemGradients {
        /// Which draw.
        draw: usize,
    },
}

/// A request: where, over which items, what.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Where.
    pub draws: Draws<'a>,
    /// Over which items.
    pub rows: Rows<'a>,
    /// What.
    pub want: Want<'a>,
}

impl<'a> Ask<'a> {
    /// A request over all items.
    pub fn all(draws: Draws<'a>, want: Want<'a>) -> Self {
        Self { draws, rows: Rows::All, want }
    }

    /// The contraction of a request for second derivatives.
    pub fn contraction(&self) -> Option<Contraction<'a>> {
        match self.want {
            Want::Hessian(sums) | Want::HessianAlone(sums) | Want::GaussNewton(sums) => Some(sums),
            _ => None,
        }
    }
}
