//! A target with its support declared.

use crate::target::{About, Answer, Ask, Support, Target, TargetError};

/// A density of numbers that are not all real ones; made by [`Target::on`].
#[derive(Clone, Copy, Debug)]
pub struct OnSupport<T> {
    target: T,
    support: Support,
}

impl<T: Target> OnSupport<T> {
    pub(in crate::target) fn new(target: T, support: Support) -> Self {
        Self { target, support }
    }

    /// The density itself.
    pub fn target(&self) -> &T {
        &self.target
    }
}

impl<T: Target> Target for OnSupport<T> {
    fn about(&self) -> About {
        About { support: self.support, ..self.target.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.target.evaluate(ask, answer)
    }
}
