//! Chains on the target in the coordinates of a fitted Gaussian, and what they say with errors (mathematics §11).
//!
//! A fitted q = N(m, LLᵀ) is nearly right. In the coordinates x with z = m + Lx it is N(0, I), whose Hamiltonian flow
//! is a rotation that is known exactly; what q has wrong is a small residual gradient, ∇ₓlog p + x, that kicks the
//! momenta between rotations. So steps are long and cheap in any dimension: no importance weights, hence no curse of
//! dimension. [`Posterior::correct`](crate::Posterior::correct) runs them.

mod bend;
mod bending;
mod climbing;
mod coordinates;
mod correct;
mod corrected;
mod doubt;
mod ensemble;
mod frame;
mod history;
mod matching;
mod pinch;
mod pinching;
mod pooled;
mod printed;
mod profile;
mod quadrature;
mod round;
mod scale;
mod seen;
mod settings;
mod shaping;
mod stein;
mod stretch;
mod tails;
mod territory;
#[cfg(test)]
mod tests;
mod turning;

pub(crate) use coordinates::{Coordinates, Layer, Trail};
pub(crate) use correct::{Answered, Limits, Question, SlowChains, correct, promises_tail};
pub use corrected::{Corrected, CorrectedMode, CorrectedNumber};
pub use doubt::Doubt;
pub(crate) use ensemble::Ensemble;
pub(crate) use frame::Frame;
pub(crate) use history::{History, Part};
pub(crate) use pooled::{Place, pool};
pub use round::Round;
pub use settings::Correction;
pub(crate) use territory::{Territories, Within};
