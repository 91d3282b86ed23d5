//! Every family recovers a target that lies inside it.
//!
//! The targets are members of the families, normalised, with their own derivatives, so that KL(q ‖ p) = E_q[log q − log
//! p] is an average over draws of q. The plan is the same for all but the exact Gaussian case.

use crate::state::{BlockState, State, Stated};
use elinvar::family::Approximation;
use elinvar::random::Noise;
use elinvar::rule::StepSize;
use elinvar::run::Stop;
use elinvar::target::{Covariance, PointwiseSecondOrder};
use elinvar::{Family, Plan};

use crate::subjects::{Member, divergence, label, numbers, precision};

/// A member of a family away from the origin, with shifts and factors about as long as the noise is wide.
fn member(family: Family, dim: usize) -> Approximation {
    let k = family.n_components();
    let block = |c: usize| {
        let mut b = numbers(dim * family.n_columns(), 40 + c as u64);
        // The components of a mixture lie some standard deviations apart.
        b[..dim].iter_mut().for_each(|v| *v += if k > 1 { 3.0 * (c as f64) } else { 1.0 });
        b[dim..].iter_mut().for_each(|v| *v *= 2.0);
        BlockState { b, precision: precision(dim, family.covariance, 50 + c as u64) }
    };
    let weights: Vec<f64> = (0..k).map(|c| (c + 2) as f64).collect();
    let total: f64 = weights.iter().sum();
    let log_weights = weights.iter().map(|w| (w / total).ln()).collect();
    Approximation::from_state(&State { family, dim, blocks: (0..k).map(block).collect(), log_weights }).unwrap()
}

/// 64 draws per step and component for 600 steps that shrink to a twelfth.
fn plan() -> Plan {
    let step_size = StepSize::Power { initial: 0.7, delay: 30.0, exponent: 0.8 };
    let stop = Stop { remaining_nats: 0.0, max_steps: 600, ..Stop::default() };
    Plan { n_draws: 64, step_size, mixing_step_size: step_size, stop, ..Plan::default() }
}

fn recovers(family: Family, dim: usize) {
    for family in [family.with_covariance(Covariance::Full), family.diagonal()] {
        let p = member(family, dim);
        let posterior = elinvar::run::fit(&PointwiseSecondOrder(Member(p.clone())), family, &plan()).unwrap();
        let (kl, error) = divergence(&posterior, &p);
        // The largest is 0.0007 ± 0.0001.
        assert!(kl + 3.0 * error < 0.002, "{}: KL = {kl:.5} ± {error:.5}", label(family));
    }
}

/// With antithetic draws every estimate is exact for a Gaussian target: the mean of the draws is μ, the Hessian
/// constant.
#[test]
fn gaussian_exactly() {
    let dim = 5;
    for family in [Family::gaussian(), Family::gaussian().diagonal()] {
        let p = member(family, dim);
        let plan = Plan { noise: Noise::Antithetic, step_size: StepSize::Constant(0.5), ..plan() };
        let posterior = elinvar::run::fit(&PointwiseSecondOrder(Member(p.clone())), family, &plan).unwrap();
        let q = posterior.approximation();
        // KL(q ‖ p) = ½{tr(P_p Σ_q) − d − log|P_p Σ_q| + δᵀP_pδ}; the entropies give the determinants.
        let (mean_q, mean_p, cov_q) = (q.mean(), p.mean(), q.covariance());
        let mut hessian = vec![0.0; dim * dim];
        p.hessian(&mean_p, &mut hessian);
        let mut kl = p.entropy().unwrap() - q.entropy().unwrap() - 0.5 * dim as f64;
        for i in 0..dim {
            for j in 0..dim {
                let product = cov_q[i * dim + j] + (mean_q[i] - mean_p[i]) * (mean_q[j] - mean_p[j]);
                kl -= 0.5 * hessian[i * dim + j] * product;
            }
        }
        assert!(kl.abs() < 1e-6, "{}: KL = {kl:e}", label(family));
    }
}

#[test]
fn mixture_of_two() {
    recovers(Family::mog(2), 2);
}

#[test]
fn student_t() {
    recovers(Family::student_t(3.0), 3);
}

#[test]
fn skew() {
    recovers(Family::skew(), 3);
}

#[test]
fn emg() {
    recovers(Family::emg(), 3);
}

#[test]
fn nig() {
    recovers(Family::nig(2.0), 3);
}

#[test]
fn snig() {
    recovers(Family::snig(2.0), 3);
}

#[test]
fn rank_k() {
    recovers(Family::rank_k(2), 6);
}

#[test]
fn skew_k() {
    recovers(Family::skew_k(2), 4);
}

#[test]
fn emg_k() {
    recovers(Family::emg_k(2), 3);
}
