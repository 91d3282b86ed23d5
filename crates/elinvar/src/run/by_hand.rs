//! A step in its two halves, for schedules and rules of one's own: estimate the gradient, then move.

use super::evaluate::Outcome;
use super::{Run, StepRequest};
use crate::Error;
use crate::family::{Approximation, Gradient, Scratch};
use crate::random::Purpose;
use crate::record::Estimate;

impl Run<'_> {
    /// The first half of a step: draws, asks the target and differentiates the bound, whose estimate it returns.
    /// Nothing moves, and until something does the draws stay the same.
    ///
    /// `None` where too few draws could be evaluated: the step is left out, and the next call makes other draws.
    ///
    /// ```
    /// use elinvar::model::Banana;
    /// use elinvar::prelude::*;
    ///
    /// let model = Banana::default();
    /// let mut run = Fit::new(&model).family(Family::skew()).start_around(Placement::default()).begin()?;
    /// let mut last = f64::NAN;
    /// for t in 0..200 {
    ///     let Some(elbo) = run.estimate_gradient()? else { continue };
    ///     last = elbo.value;
    ///     let slope = run.slope();
    ///     if t % 50 == 0 {
    ///         println!("{t:3}  ELBO {elbo}, slope along the natural gradient {slope:.4}");
    ///     }
    ///     run.move_by(0.5 / (1.0 + t as f64 / 20.0).sqrt())?;
    /// }
    /// assert!(last.is_finite());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::step`].
    pub fn estimate_gradient(&mut self) -> Result<Option<Estimate>, Error> {
        self.closing = None;
        let (index, noise) = (self.pace.step(), self.pace.noise(&self.plan));
        match self.estimate(Purpose::Draws, noise)? {
            Outcome::Ready { elbo: (value, error) } => {
                self.bound = Some(value).filter(|value| value.is_finite());
                Ok(Some(Estimate::new(value, error)))
            }
            Outcome::TooManyBad(bad) if index == 0 => Err(self.bad_start(bad)),
            Outcome::TooManyBad(_) | Outcome::NotFinite => {
                self.pace.skip();
                Ok(None)
            }
        }
    }

    /// The gradient of the bound by [`Run::estimate_gradient`], zero before the first. Its natural gradient, in the
    /// natural parameters of the family, is `theory::Mcef::natural_gradient`, behind the feature `theory`.
    pub fn gradient(&self) -> &Gradient {
        &self.gradient
    }

    /// The same to be changed before a move: damped, clipped, averaged with those before it.
    pub fn gradient_mut(&mut self) -> &mut Gradient {
        &mut self.gradient
    }

    /// gᵀF⁻¹g of this gradient g in the Fisher metric of the joint: how fast the bound rises along the natural
    /// gradient, in nats per unit of β. Half of it is what a whole step promises.
    pub fn slope(&self) -> f64 {
        self.q.inner(&self.gradient, &self.gradient, &mut Scratch::new(&self.q))
    }

    /// The second half of a step: moves along this gradient by the rule and within the KL bound of the plan, with a
    /// step size β of your own. Returns the smallest β that a block took, less than asked for where the step would have
    /// left the domain or gone farther than the bound.
    ///
    /// # Errors
    /// [`Error::Domain`] for a β that is not a positive number; [`Error::LeftDomain`] under the rule `printed`.
    pub fn move_by(&mut self, beta: f64) -> Result<f64, Error> {
        if !(beta > 0.0 && beta.is_finite()) {
            return Err(Error::Domain { parameter: "beta", value: beta, reason: "a step size is a positive number" });
        }
        let request = StepRequest { rule: self.plan.rule, beta, mixing_beta: beta, max_kl: self.plan.max_kl };
        let taken = self.advance(request)?;
        self.arrive(self.bound, taken.largest);
        Ok(taken.smallest)
    }

    /// The second half of a step by a rule that is wholly your own: the run goes on from `q`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `q` has another shape than the present state.
    pub fn move_to(&mut self, q: Approximation) -> Result<(), Error> {
        if !q.is_shaped_as(&self.q) {
            return Err(Error::Unsupported {
                wanted: format!("a move from `{}` to `{}` of another shape", self.q.family(), q.family()),
                instead: "a run stays in its family: begin another with `Fit::start_from`".into(),
            });
        }
        self.q = q;
        self.arrive(self.bound, 1.0);
        Ok(())
    }

    /// Takes note of a move, before which the bound was estimated as `elbo`.
    pub(super) fn arrive(&mut self, elbo: Option<f64>, largest: f64) {
        if !self.pace.is_plain() {
            self.average.add(&self.q);
        }
        self.pace.after_step(elbo, largest);
    }
}
