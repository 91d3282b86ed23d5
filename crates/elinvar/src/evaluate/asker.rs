//! Requests, counted, with a second attempt point by point where a batch could not be answered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Interrupt;
use crate::Error;
use crate::linalg::axpy;
use crate::record::Counts;
use crate::target::fault::shown;
use crate::target::{Answer, Ask, Contraction, Draws, Offers, Parts, Rows, Target, TargetError, Want};

/// A target with what has been asked of it.
pub(super) struct Asker<'t> {
    pub(super) target: &'t dyn Target,
    pub(super) offers: Offers,
    pub(super) counts: Counts,
    pub(super) interrupt: Option<&'t dyn Interrupt>,
}

/// Why a request was not answered.
enum Failure {
    Error(TargetError),
    /// The code of the target panicked with this text.
    Panic(String),
}

impl Failure {
    fn at(self, z: &[f64]) -> Error {
        let point = shown(z);
        match self {
            Failure::Error(source) => Error::Target { source, point: Some(point) },
            Failure::Panic(message) => Error::Panicked { message, point },
        }
    }
}

impl Asker<'_> {
    /// Asks, and counts: every draw once for each of the things that are wanted there.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn ask(
        &mut self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        want: Want<'_>,
        answer: &mut Answer,
    ) -> Result<(), Error> {
        // Gradients are asked for where values alone cost the same.
        let want = if matches!(want, Want::Values) && !self.offers.values { Want::Gradients } else { want };
        self.ask_uncounted(&Ask { draws, rows, want }, answer)?;
        let n = draws.len() as u64;
        match want {
            Want::Values => self.counts.log_density += n,
            Want::Gradients => {
                self.counts.log_density += n;
                self.counts.gradient += n;
            }
            Want::Hessian(contraction) | Want::GaussNewton(contraction) => {
                self.counts.log_density += n;
                self.counts.gradient += n;
                self.counts.hessian += contraction.n_draws() as u64;
            }
            Want::GaussianExpectation { .. } => {
                self.counts.log_density += answer.work();
                self.counts.gradient += answer.work();
                self.counts.hessian += 1;
            }
            Want::HessianAlone(contraction) => self.counts.hessian += contraction.n_draws() as u64,
            // Blocks of items follow one another; the first stands for all.
            Want::ItemGradients { .. } => {}
        }
        Ok(())
    }

    /// Asks for something that is counted by whoever asks.
    pub(super) fn ask_uncounted(&mut self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), Error> {
        if self.is_interrupted() {
            return Err(Error::Interrupted);
        }
        match self.evaluate(ask, answer) {
            // The target may have given up because of it.
            Err(Failure::Error(error)) if !error.recoverable && self.is_interrupted() => Err(Error::Interrupted),
            Err(Failure::Error(error)) if error.recoverable => self.point_by_point(ask, answer),
            Err(failure) => Err(self.failed(ask, failure)),
            Ok(()) => Ok(()),
        }
    }

    /// Whether somebody wants to end it all.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_raised)
    }

    /// Evaluates the target; a panic of its code goes no further.
    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), Failure> {
        // What the answer holds after a panic is not looked at.
        let evaluated = AssertUnwindSafe(|| self.target.evaluate(ask, answer));
        match catch_unwind(evaluated) {
            Ok(result) => result.map_err(Failure::Error),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
                Err(Failure::Panic(text.to_string()))
            }
        }
    }

    /// The error of a batch that failed for good, at the first draw that fails when it is asked for alone.
    fn failed(&self, ask: &Ask<'_>, failure: Failure) -> Error {
        let (d, mut single) = (ask.draws.dim(), Answer::new(ask.draws.dim(), 1));
        let fails = |z: &&[f64]| {
            let alone = Ask { draws: Draws::new(d, z), rows: ask.rows, want: Want::Gradients };
            let alone = if self.offers.gradient { alone } else { Ask { want: Want::Values, ..alone } };
            match self.evaluate(&alone, &mut single) {
                Err(Failure::Error(error)) => !error.recoverable,
                Err(Failure::Panic(_)) => true,
                Ok(()) => false,
            }
        };
        // One that failed only once is shown as the first of its batch.
        let z = ask.draws.iter().find(fails).unwrap_or_else(|| ask.draws.get(0));
        failure.at(z)
    }

    /// Asks for one draw after the other; those that fail have no finite log p.
    fn point_by_point(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), Error> {
        let Ask { draws, rows, want } = *ask;
        let d = draws.dim();
        let Parts { log_p, grad, mut curvature, items, .. } = answer.parts_mut();
        if matches!(want, Want::ItemGradients { .. } | Want::GaussianExpectation { .. }) {
            items.fill(f64::NAN);
            log_p.fill(f64::NAN);
            return Ok(());
        }
        curvature.as_mut_slice().fill(0.0);
        let one = Contraction::shared(&[1.0], 1);
        let mut single = Answer::new(d, 1);
        for (s, z) in draws.iter().enumerate() {
            let weights = || ask.contraction().into_iter().flat_map(|sums| sums.of_draw(s)).filter(|(_, w)| *w != 0.0);
            let want = match want {
                Want::Hessian(_) if weights().next().is_some() => Want::Hessian(one),
                Want::HessianAlone(_) if weights().next().is_some() => Want::HessianAlone(one),
                Want::GaussNewton(_) if weights().next().is_some() => Want::GaussNewton(one),
                Want::HessianAlone(_) => continue,
                Want::Values => Want::Values,
                _ => Want::Gradients,
            };
            single.set_curvature(curvature.covariance(), 1);
            let own = &mut grad[s * d..(s + 1) * d];
            match self.evaluate(&Ask { draws: Draws::new(d, z), rows, want }, &mut single) {
                Ok(()) => {
                    log_p[s] = single.log_p()[0];
                    if !matches!(want, Want::Values) {
                        own.copy_from_slice(single.grad(0));
                    }
                    weights().for_each(|(k, weight)| axpy(weight, single.curvature(), curvature.entries_mut(k)));
                }
                Err(Failure::Error(error)) if error.recoverable => {
                    log_p[s] = f64::NAN;
                    if !matches!(want, Want::Values) {
                        own.fill(f64::NAN);
                    }
                    weights().for_each(|(k, _)| curvature.entries_mut(k).fill(f64::NAN));
                }
                Err(failure) => return Err(failure.at(z)),
            }
        }
        Ok(())
    }
}
