//! A model on its natural scale: the rate of a Poisson process, positive, with a gamma prior.
//!
//! `cargo run --release -p elinvar --example constrained`

use elinvar::prelude::*;
use elinvar::target::{Constrained, Transform, Transforms};

/// Counts 3, 5, 2, 4 with rate λ > 0 and prior Gamma(2, 1): the posterior is Gamma(16, 5).
struct Rate;

impl PointwiseTarget for Rate {
    fn dim(&self) -> usize {
        1
    }

    fn gradient(&self, x: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        grad[0] = 15.0 / x[0] - 5.0;
        Ok(15.0 * x[0].ln() - 5.0 * x[0])
    }

    fn names(&self) -> Vec<String> {
        vec!["rate".into()]
    }
}

impl PointwiseHessian for Rate {
    fn hessian(&self, x: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        hessian[0] = -15.0 / (x[0] * x[0]);
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let target = PointwiseSecondOrder(Constrained::new(Rate, Transforms::new(vec![Transform::Log])?)?);
    let posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default())?;
    for row in posterior.summary(20_000, 1).parameters {
        println!("{}: mean {:.3} (exact 3.2), sd {:.3} (exact 0.8)", row.name, row.mean.value, row.sd.value);
    }
    Ok(())
}
