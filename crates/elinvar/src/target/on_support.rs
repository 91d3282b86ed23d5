//! A target with its support declared.

use super::{
    Draws, Evaluations, GaussNewton, ItemGradients, Prior, Rows, SecondOrder, Support, Target, TargetError, Transforms,
    Values,
};

/// A density of numbers that are not all real ones; made by [`Target::on`].
#[derive(Clone, Copy, Debug)]
pub struct OnSupport<T> {
    target: T,
    support: Support,
}

impl<T: Target> OnSupport<T> {
    pub(super) fn new(target: T, support: Support) -> Self {
        Self { target, support }
    }

    /// The density itself.
    pub fn target(&self) -> &T {
        &self.target
    }
}

impl<T: Target> Target for OnSupport<T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        self.target.evaluate(draws, rows, out)
    }

    fn support(&self) -> Support {
        self.support
    }

    fn n_rows(&self) -> Option<usize> {
        self.target.n_rows()
    }

    fn prior(&self) -> Prior {
        self.target.prior()
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        self.target.second_order()
    }

    fn gauss_newton(&self) -> Option<&dyn GaussNewton> {
        self.target.gauss_newton()
    }

    fn item_gradients(&self) -> Option<&dyn ItemGradients> {
        self.target.item_gradients()
    }

    fn has_gradient(&self) -> bool {
        self.target.has_gradient()
    }

    fn values(&self) -> Option<&dyn Values> {
        self.target.values()
    }

    fn scratch_len(&self, n_draws: usize, n_contractions: usize) -> usize {
        self.target.scratch_len(n_draws, n_contractions)
    }

    fn names(&self) -> Vec<String> {
        self.target.names()
    }

    fn transforms(&self) -> Transforms {
        self.target.transforms()
    }

    fn constrained_names(&self) -> Vec<String> {
        self.target.constrained_names()
    }
}
