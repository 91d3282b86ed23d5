//! The first mixture of Dirichlet distributions: a Gaussian start on a scale without bounds, each Gaussian replaced by
//! the member closest to it.

use super::{Start, start_in};
use crate::Error;
use crate::block::{LogWeights, Natural};
use crate::family::{Approximation, Family};
use crate::random::{Purpose, Stream};
use crate::run::Plan;
use crate::run::fitting::Fitting;
use crate::target::{FreeSimplex, Target};
use crate::tuning;

/// A start for a mixture of Dirichlet distributions: that of a diagonal mixture of Gaussians for the pieces of a broken
/// stick, whose expected logarithms the components take over.
pub(super) fn dirichlet(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
    fit: &mut Fitting<'_>,
) -> Result<Start, Error> {
    let dim = target.about().dim;
    if dim < 2 {
        return Err(Error::Shape { what: "coordinates of a simplex", expected: 2, found: dim });
    }
    let free = FreeSimplex::new(target);
    // Rows cannot be left out where the target says nothing of them.
    let plan = Plan { minibatch: None, ..plan.clone() };
    let started = start_in(&free, Family::mog(family.n_components()).diagonal(), &plan, fit);
    let gaussians = fit.for_another(started)?;
    let mut agreement = gaussians.agreement.clone();
    for mode in &mut agreement.modes {
        mode.log_p -= free.log_jacobian(&mode.centre);
        let mut z = vec![0.0; dim];
        free.constrain(&mode.centre, &mut z);
        mode.centre = z;
    }
    let gaussian = &gaussians.approximation;
    let mut concentrations = Vec::with_capacity(family.n_components());
    for (c, block) in gaussian.locations().iter().enumerate() {
        let mut stream = Stream::open(plan.seed, Purpose::Start, 4, c as u32);
        let m = expected_logarithms(&free, block.b(), block.scale().precision(), &mut stream);
        let nearest = Natural::dirichlet_with_expectation(&m);
        concentrations.push(nearest.map_or(vec![1.0; dim], |nearest| nearest.concentrations().to_vec()));
    }
    let weights = LogWeights::new(gaussian.weights().log().to_vec())?;
    Ok(Start { approximation: Approximation::dirichlet(weights, concentrations)?, agreement, ..gaussians })
}

/// E[log z(y)] for y ~ N(mean, diag(precision)⁻¹), by pairs of mirrored draws.
fn expected_logarithms(free: &FreeSimplex<'_>, mean: &[f64], precision: &[f64], stream: &mut Stream) -> Vec<f64> {
    let (mut z, mut sums) = (vec![0.0; mean.len() + 1], vec![0.0; mean.len() + 1]);
    let pairs = tuning::start::STICKS / 2;
    for _ in 0..pairs {
        let off: Vec<f64> = precision.iter().map(|p| stream.normal() / p.sqrt()).collect();
        for sign in [1.0, -1.0] {
            let y: Vec<f64> = mean.iter().zip(&off).map(|(mean, off)| mean + sign * off).collect();
            free.constrain(&y, &mut z);
            sums.iter_mut().zip(&z).for_each(|(sum, z)| *sum += z.ln());
        }
    }
    sums.iter().map(|sum| sum / (2 * pairs) as f64).collect()
}
