//! A target with its Hessian and all else hidden.

use elinvar::target::{About, Answer, Ask, Offers, Target, TargetError};

/// A target that offers gradients only.
pub(crate) struct GradientsOnly<'a>(pub(crate) &'a dyn Target);

impl Target for GradientsOnly<'_> {
    fn about(&self) -> About {
        About { offers: Offers::GRADIENT, ..self.0.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}
