//! Estimators of E[s ∇²f], f = −log p, and their contribution to G.

use serde::{Deserialize, Serialize};

use crate::linalg::axpy;
use crate::target::Shape;

/// Where second-order information comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Curvature {
    /// The Hessian where the target has one; without it `least_change` for a `gaussian`, full or diagonal, with a plan
    /// that chooses its own steps and `pooled` for a full `mog` in up to 64 coordinates, else Stein with control
    /// variate; `gradient_free` where there is no gradient. Such a
    /// Gaussian goes by residual scores with Hessians, too (mathematics §12.5), and by exact expectations where they
    /// are offered.
    #[default]
    Auto,
    /// The target's Hessian, contracted over draws.
    Hessian,
    /// E[s ∇f ∇fᵀ] in place of E[s ∇²f]: positive semi-definite and biased, for targets that are only roughly
    /// quadratic.
    GradientOuterProduct,
    /// The target's generalised Gauss–Newton matrix: positive semi-definite, exact where the model is linear in z.
    GaussNewton,
    /// E[s Σ_n ∇f_n ∇f_nᵀ] in place of E[s ∇²f], gradients of single items: exact in expectation over data from the
    /// model (mathematics §7.3).
    ItemGradients,
    /// E[s ḡḡᵀ]N with ḡ the mean of the gradients of the items (of the mini-batch): the usual shortcut where items have
    /// no gradients of their own. A 1/N of `gradient_outer_product`, the same where the target is not a sum; it
    /// underestimates `item_gradients` by up to the number M of items in the mean (mathematics §7.4).
    SquaredMean,
    /// E[{P rrᵀP/s − P}(h − b)] and E[P r (h − b)/s], r = z − Bũ, for h = log q − log p: needs log p only, with the
    /// mixing weights of option I, and many more draws than gradients would (mathematics §10.2).
    GradientFree,
    /// The symmetric matrix of least change that explains the residual scores of mirrored draws: needs gradients only,
    /// has no noise where the target is the approximation, and chooses its own draws and steps (mathematics §12.1). For
    /// a full `gaussian`, and a diagonal one in up to 512 coordinates (mathematics §12.8).
    LeastChange,
    /// A regression on a pool of all evaluations so far, by which a mixture moves without asking again: gradients only,
    /// a third to a tenth of those of other steps, and more processor time (mathematics §12.7). For a `mog` with full
    /// covariances, its number of components given or found, in up to 128 coordinates.
    Pooled,
    /// P E[(z − Bũ) ∇fᵀ], symmetrised: needs gradients only (mathematics §10.2).
    Stein {
        /// Subtract ∇f at the mean of q first: one gradient more per step, often a tenth of the variance.
        control_variate: bool,
    },
}

impl Curvature {
    /// Whether P(z − Bũ) of each draw is wanted.
    pub(crate) fn reads_residuals(self) -> bool {
        matches!(self, Curvature::Stein { .. } | Curvature::GradientFree)
    }

    /// Whether a gradient at the centre of each block is wanted.
    pub(crate) fn wants_centre(self) -> bool {
        matches!(self, Curvature::Stein { control_variate: true })
    }
}

impl std::fmt::Display for Curvature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Curvature::Auto => "auto",
            Curvature::Hessian => "hessian",
            Curvature::GradientOuterProduct => "gradient_outer_product",
            Curvature::GaussNewton => "gauss_newton",
            Curvature::ItemGradients => "item_gradients",
            Curvature::SquaredMean => "squared_mean",
            Curvature::GradientFree => "gradient_free",
            Curvature::LeastChange => "least_change",
            Curvature::Pooled => "pooled",
            Curvature::Stein { control_variate: true } => "stein",
            Curvature::Stein { control_variate: false } => "stein_plain",
        })
    }
}

/// What a first-order estimator of the curvature reads.
pub(crate) struct FirstOrder<'a> {
    /// P(z − Bũ) of each draw.
    pub(crate) residual: &'a [f64],
    /// ∇log p at each draw.
    pub(crate) grad: &'a [f64],
    /// ∇log p at the centre of the block.
    pub(crate) centre: Option<&'a [f64]>,
    /// Weights of the average.
    pub(crate) weight: &'a [f64],
    /// Weights of the average times the Price weight s.
    pub(crate) price: &'a [f64],
}

/// G += Ê[s ∇²f]; `hessian` is the contracted Hessian of log p, `shifted` has room for all gradients, `scratch` for a
/// Gram block.
pub(crate) fn add_curvature(
    curvature: Curvature,
    shape: Shape,
    hessian: &[f64],
    input: &FirstOrder<'_>,
    shifted: &mut [f64],
    scratch: &mut [f64],
    g: &mut [f64],
) {
    match curvature {
        Curvature::Auto
        | Curvature::Hessian
        | Curvature::GaussNewton
        | Curvature::ItemGradients
        | Curvature::SquaredMean => {
            axpy(-1.0, hessian, g);
        }
        // Such families do without this function.
        Curvature::GradientFree | Curvature::LeastChange | Curvature::Pooled => {}
        Curvature::GradientOuterProduct => shape.add_weighted_gram(input.grad, input.price, scratch, g),
        Curvature::Stein { .. } => {
            let shifted = &mut shifted[..input.grad.len()];
            // ∇f = −∇log p; the sign is carried by the gradients.
            match input.centre {
                Some(centre) => {
                    let dim = shape.dim();
                    for (out, grad) in shifted.chunks_exact_mut(dim).zip(input.grad.chunks_exact(dim)) {
                        for ((value, gi), ci) in out.iter_mut().zip(grad).zip(centre) {
                            *value = ci - gi;
                        }
                    }
                }
                None => shifted.iter_mut().zip(input.grad).for_each(|(value, gi)| *value = -gi),
            }
            shape.add_symmetrised(input.residual, shifted, input.weight, scratch, g);
        }
    }
}
