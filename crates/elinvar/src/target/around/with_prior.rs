//! A target with another prior.

use crate::target::{About, Answer, Ask, Prior, Target, TargetError};

/// The target with this prior in place of the one it declares.
#[derive(Clone, Debug)]
pub struct WithPrior<T> {
    target: T,
    prior: Prior,
}

impl<T: Target> WithPrior<T> {
    /// `target` under `prior`.
    pub fn new(target: T, prior: Prior) -> Self {
        Self { target, prior }
    }
}

impl<T: Target> Target for WithPrior<T> {
    fn about(&self) -> About {
        About { prior: self.prior.clone(), ..self.target.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.target.evaluate(ask, answer)
    }
}

/// A target that somebody else owns, where one is taken by value.
#[derive(Clone, Copy)]
pub struct Borrowed<'t>(pub &'t dyn Target);

impl Target for Borrowed<'_> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}
