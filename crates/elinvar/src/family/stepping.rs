//! The parts of a step, opened for loops that this library does not have: draw, weigh, ask the target, differentiate,
//! move. Methods of [`Approximation`] that are its own elsewhere, under the same names.

use super::{Approximation, DrawPlan, Estimator, Gradient, Scratch, StepRequest};
use crate::estimate::Curvature;
use crate::rule::{AdamLikeMemory, AdamLikeRequest, Taken};
use crate::target::Prior;

/// What a step of a member is made of, and the coordinates in which it can be taken.
pub trait Stepping: Sized {
    /// What turns draws as the plan says into gradients.
    fn estimator(&self, plan: &DrawPlan) -> Box<dyn Estimator>;
    /// A zero gradient of the right shape.
    fn zero_gradient(&self) -> Gradient;
    /// How many numbers hold the contracted curvature of a step.
    fn curvature_len(&self, curvature: Curvature) -> usize;
    /// E\[log prior(z)\] in closed form.
    fn expected_log_prior(&self, prior: &Prior) -> f64;
    /// Moves along the natural gradient; the scratch belongs to members of this shape.
    fn advance(&mut self, gradient: &Gradient, request: StepRequest, scratch: &mut Scratch) -> Taken;
    /// g₁ᵀF⁻¹g₂ in the Fisher metric of the joint.
    fn inner(&self, one: &Gradient, two: &Gradient, scratch: &mut Scratch) -> f64;
    /// Adds the displacement from `before`, times a ratio, to a gradient, so that a plain step has momentum.
    fn add_momentum(&self, before: &Self, ratio: f64, scratch: &mut Scratch, gradient: &mut Gradient);
    /// The memory of the Adam-like rule at its start, if the family has such a step.
    fn adam_like_memory(&self) -> Option<AdamLikeMemory>;
    /// One Adam-like step; the gradient holds the curvature by squared gradients.
    fn adam_like_step(
        &mut self,
        gradient: &Gradient,
        prior: &Prior,
        request: AdamLikeRequest,
        memory: &mut AdamLikeMemory,
        scratch: &mut Scratch,
    ) -> Taken;

    /// Number of natural parameters.
    fn natural_len(&self) -> usize;
    /// sum += η, with locations relative to those of `reference`; `offset` holds d numbers.
    fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]);
    /// The member whose natural parameters are `share` times such sums, if there is one.
    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self>;

    /// Number of coordinates of the chart: free real numbers that say which member it is.
    fn chart_len(&self) -> usize;
    /// Writes the coordinates of the chart.
    fn chart(&self, out: &mut [f64]);
    /// Writes the ordinary gradient of the bound in these coordinates.
    fn chart_gradient(&self, gradient: &Gradient, scratch: &mut Scratch, out: &mut [f64]);
    /// Moves to the member with these coordinates; false, and nothing moves, if they cannot be represented.
    fn set_chart(&mut self, coordinates: &[f64], scratch: &mut Scratch) -> bool;
}

/// Passes the calls on to the methods of the same names.
macro_rules! pass_on {
    ($(fn $name:ident($($argument:ident: $taken:ty),*) $(-> $given:ty)?;)*
     $(mut $moving:ident($($with:ident: $what:ty),*) -> $result:ty;)*) => {
        impl Stepping for Approximation {
            $(fn $name(&self $(, $argument: $taken)*) $(-> $given)? {
                Approximation::$name(self $(, $argument)*)
            })*
            $(fn $moving(&mut self $(, $with: $what)*) -> $result {
                Approximation::$moving(self $(, $with)*)
            })*

            fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
                Approximation::from_natural(reference, sum, share)
            }
        }
    };
}

pass_on! {
    fn estimator(plan: &DrawPlan) -> Box<dyn Estimator>;
    fn zero_gradient() -> Gradient;
    fn curvature_len(curvature: Curvature) -> usize;
    fn expected_log_prior(prior: &Prior) -> f64;
    fn inner(one: &Gradient, two: &Gradient, scratch: &mut Scratch) -> f64;
    fn add_momentum(before: &Self, ratio: f64, scratch: &mut Scratch, gradient: &mut Gradient);
    fn adam_like_memory() -> Option<AdamLikeMemory>;
    fn natural_len() -> usize;
    fn add_natural(reference: &Self, offset: &mut [f64], sum: &mut [f64]);
    fn chart_len() -> usize;
    fn chart(out: &mut [f64]);
    fn chart_gradient(gradient: &Gradient, scratch: &mut Scratch, out: &mut [f64]);
    mut advance(gradient: &Gradient, request: StepRequest, scratch: &mut Scratch) -> Taken;
    mut adam_like_step(gradient: &Gradient, prior: &Prior, request: AdamLikeRequest, memory: &mut AdamLikeMemory,
        scratch: &mut Scratch) -> Taken;
    mut set_chart(coordinates: &[f64], scratch: &mut Scratch) -> bool;
}
