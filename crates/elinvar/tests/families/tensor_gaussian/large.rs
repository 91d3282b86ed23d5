//! Many coordinates: what a step touches are factors and stacks of tensors, never a matrix over all coordinates.

use crate::state::Stated;
use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::run::Stop;
use elinvar::target::Pointwise;
use elinvar::{Family, Plan};

use super::example::{divergence, state};
use crate::subjects::Member;

/// A 15 × 20 matrix by gradients alone, and a tensor of 6 × 5 × 8, to a few tenths of a nat.
#[test]
fn hundreds_of_coordinates_by_gradients_alone() {
    for family in [Family::matrix(15, 20).unwrap(), Family::tensor(&[6, 5, 8]).unwrap()] {
        let p = Approximation::from_state(&state(family, 3)).unwrap();
        let plan = Plan { stop: Stop { remaining_nats: 0.5, ..Stop::default() }, ..Plan::default() };
        let posterior = elinvar::run::fit(&Pointwise(Member(p.clone())), family, &plan).unwrap();
        assert_eq!(posterior.plan().curvature, Curvature::Stein { control_variate: true });
        let kl = divergence(posterior.approximation(), &p);
        println!("{family}: KL {kl:.2e}, {} gradients", posterior.counts().gradient);
        assert!(posterior.converged() && kl < 0.5, "{kl}");
    }
}
