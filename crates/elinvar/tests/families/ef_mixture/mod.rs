//! Mixtures of exponential families: fits of targets inside the family, supports, files, robustness.

mod estimates;
pub(crate) mod kept;
mod recovery;

use std::ops::ControlFlow;

use crate::state::{BlockState, State, Stated};
use elinvar::block::LogWeights;
use elinvar::component::ComponentKind;
use elinvar::estimate::Sampling;
use elinvar::family::Approximation;
use elinvar::internals::family::DrawPlan;
use elinvar::model::{Direction, PoissonRate, Proportion};
use elinvar::random::{Noise, Purpose};
use elinvar::rule::{EuclideanAdam, Rule, StepSize};
use elinvar::run::Checkpoint;
use elinvar::target::{
    Answer, Ask, Draws, Pointwise, PointwiseSecondOrder, PointwiseTarget, Prior, Support, Target, TargetError, Want,
    from_values,
};
use elinvar::theory::Mcef;
use elinvar::{Error, Family, Plan, Posterior};

use crate::subjects::Member;

/// A member in one coordinate (or more, if `parameters` has the coordinates one after the other), target of its own
/// family.
fn member(name: &str, dim: usize, weights: &[f64], parameters: &[&[f64]]) -> Approximation {
    let block = |b: &&[f64]| BlockState { b: b.to_vec(), precision: Vec::new() };
    let state = State {
        family: family_of((name, weights.len())),
        dim,
        blocks: parameters.iter().map(block).collect(),
        log_weights: weights.iter().map(|w| w.ln()).collect(),
    };
    Approximation::from_state(&state).unwrap()
}

/// z and dz of an even grid on a scale without bounds.
fn grid(support: Support) -> Vec<(f64, f64)> {
    let n = 40_000;
    let node = |i: usize| {
        let u = (i as f64 + 0.5) / n as f64;
        match support {
            Support::Circle => (std::f64::consts::TAU * (u - 0.5), std::f64::consts::TAU / n as f64),
            Support::Real => (80.0 * (u - 0.5), 80.0 / n as f64),
            Support::Positive => {
                let z = (160.0 * (u - 0.8)).exp();
                (z, z * 160.0 / n as f64)
            }
            Support::Unit => {
                let y: f64 = 160.0 * (u - 0.5);
                let z = 1.0 / (1.0 + (-y).exp());
                (z, z / (1.0 + y.exp()) * 160.0 / n as f64)
            }
            other => panic!("{other}"),
        }
    };
    (0..n).map(node).filter(|(z, _)| support != Support::Unit || *z < 1.0).collect()
}

/// KL(q ‖ p) in one dimension, by quadrature.
fn divergence(q: &Approximation, p: &Approximation) -> f64 {
    let terms = grid(q.support()).into_iter().map(|(z, width)| {
        let log_q = q.log_density(&[z]);
        if log_q < -700.0 { 0.0 } else { log_q.exp() * (log_q - p.log_density(&[z])) * width }
    });
    terms.sum()
}

fn fitted(p: &Approximation) -> Posterior {
    let target = PointwiseSecondOrder(Member(p.clone()));
    elinvar::run::fit(&target, p.state().family, &Plan::default()).unwrap()
}

/// A target inside the family is found: KL(q ‖ p) < 0.005 with the default plan.
fn recovers(p: Approximation) {
    let posterior = fitted(&p);
    let kl = divergence(posterior.approximation(), &p);
    let state = p.state();
    eprintln!("{:?}: KL {kl:.2e}, {:?}, {} gradients", state, posterior.stop_reason(), posterior.counts().gradient);
    assert!(kl.abs() < 0.005, "{state:?} became {:?}, KL {kl}", posterior.approximation().state());
    assert!(posterior.converged(), "{state:?}: {:?}", posterior.stop_reason());
}

/// Whether the library has this component.
fn known(name: &str) -> bool {
    name.split(" and ").all(|name| ComponentKind::NAMES.contains(&name))
}

/// A density of two dependent positive numbers, z₁ + z₂ around 3.
struct Pair;

impl PointwiseTarget for Pair {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let residual = z[0] + z[1] - 3.0;
        grad[0] = -2.0 * residual + 1.5 / z[0];
        grad[1] = -2.0 * residual + 0.5 / z[1];
        Ok(-residual * residual + 1.5 * z[0].ln() + 0.5 * z[1].ln())
    }

    fn support(&self) -> Support {
        Support::Positive
    }
}

/// The mixture of this kind, or of two such as `gamma and exponential` in turn.
fn family_of((name, components): (&str, usize)) -> Family {
    let kinds: Vec<ComponentKind> = name.split(" and ").map(|name| ComponentKind::new(name, None).unwrap()).collect();
    Family::ef_mixture_of_two(kinds[0], *kinds.last().unwrap(), components)
}
