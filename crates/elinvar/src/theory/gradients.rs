//! Parts of the gradient of the bound that are known exactly, and what a mixture says about a point.

use crate::block::BlockGradient;
use crate::family::{Approximation, Member};
use crate::special::logistic::log_sum_exp;
use crate::target::Prior;

impl Approximation {
    /// ∇_B H and −2∇_Σ H, where the family has one block of locations and an exact entropy (mathematics §0 (0.3)).
    pub fn entropy_gradient(&self) -> Option<BlockGradient> {
        match Member::of(self) {
            Member::MeanVariance(member) => member.entropy_gradient(),
            Member::Factor(member) => member.entropy_gradient(),
            _ => None,
        }
    }

    /// ∇_B and −2∇_Σ of E[log prior], where the family has one block of locations.
    pub fn prior_gradient(&self, prior: &Prior) -> Option<BlockGradient> {
        match Member::of(self) {
            Member::MeanVariance(member) => Some(member.prior_gradient(prior)),
            Member::Factor(member) => Some(member.prior_gradient(prior)),
            _ => None,
        }
    }

    /// q(c | z) for every component; 1 for a family with one.
    pub fn responsibilities(&self, z: &[f64]) -> Vec<f64> {
        let logs = match Member::of(self) {
            Member::GaussianMixture(member) => member.log_joint(z),
            Member::EfMixture(member) => member.log_joint(z),
            _ => return vec![1.0],
        };
        let total = log_sum_exp(&logs);
        logs.iter().map(|log| (log - total).exp()).collect()
    }
}
