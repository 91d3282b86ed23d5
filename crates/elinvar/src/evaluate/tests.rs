use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::target::{Ask, Contraction, Covariance, DrawBuffer, Offers, Parts, TargetError};
use crate::{Family, Plan};

/// A standard normal that answers no batch with a point beyond −2.
struct Brittle;

impl Target for Brittle {
    fn about(&self) -> About {
        About { offers: Offers { hessian: true, values: true, ..Offers::GRADIENT }, ..About::new(1) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        if ask.draws.as_slice().iter().any(|z| *z < -2.0) {
            return Err(TargetError::recoverable("there is nothing beyond −2"));
        }
        let Parts { log_p, grad, mut curvature, .. } = answer.parts_mut();
        for (s, z) in ask.draws.iter().enumerate() {
            (log_p[s], grad[s]) = (-0.5 * z[0] * z[0], -z[0]);
            for (k, weight) in ask.contraction().into_iter().flat_map(|sums| sums.of_draw(s)) {
                curvature.add_matrix(k, weight, &[-1.0]);
            }
        }
        Ok(())
    }
}

#[test]
fn a_batch_that_fails_is_asked_for_point_by_point() {
    let z = [1.0, -3.0, 0.5, 2.0];
    let weights = [0.25, 0.0, 0.5, 0.25];
    let mut asker = Evaluator::new(&Brittle, None).asker;
    let mut answer = Answer::new(1, 4).with_curvature(Covariance::Full, 1);
    let want = Want::Hessian(Contraction::shared(&weights, 4));
    asker.ask(Draws::new(1, &z), Rows::All, want, &mut answer).unwrap();
    assert_eq!([answer.log_p()[0], answer.log_p()[2], answer.log_p()[3]], [-0.5, -0.125, -2.0]);
    assert!(answer.log_p()[1].is_nan() && answer.grad(1)[0].is_nan());
    assert_eq!((answer.grad(3)[0], answer.curvature()[0]), (-2.0, -1.0));
    assert_eq!(asker.counts, Counts { log_density: 4, gradient: 4, hessian: 4, dropped: 0 });

    let mut evaluator = Evaluator::new(&Brittle, None);
    let (log_p, _) = evaluator.gradients(Draws::new(1, &z)).unwrap();
    assert_eq!((log_p[0], evaluator.counts().dropped), (-0.5, 1));
    assert!(
        evaluator.point(vec![-3.0]).unwrap().is_none()
            && evaluator.curvature_at(Covariance::Full, &[-3.0]).unwrap().is_none()
    );
}

#[test]
fn a_fit_drops_what_fails_and_goes_on() {
    let mut posterior = crate::run::fit(&Brittle, Family::gaussian(), &Plan::default()).unwrap();
    assert!(posterior.counts().dropped > 0 && posterior.approximation().mean()[0].abs() < 0.5);
    assert!(posterior.judge(&Brittle, 2_000, 1).is_ok());
}

#[test]
fn every_batch_can_be_interrupted() {
    let asked = AtomicU64::new(0);
    let patience = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
    let mut evaluator = Evaluator::new(&Brittle, Some(&patience));
    assert!(evaluator.point(vec![0.3]).is_ok());
    assert!(evaluator.values(&DrawBuffer::zeros(1, 5)).is_ok());
    assert!(matches!(evaluator.values(&DrawBuffer::zeros(1, 5)), Err(Error::Interrupted)));
    assert!(matches!(evaluator.curvature_at(Covariance::Full, &[0.3]), Err(Error::Interrupted)));
    assert_eq!(evaluator.counts().log_density, 6);
}
