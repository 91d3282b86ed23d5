//! The family against the Gaussian with the same mean and the same dense precision, and averages of its states.

use crate::state::{BlockState, State, Stated};
use elinvar::family::{Approximation, Family, MatrixUpdate};
use elinvar::internals::family::Stepping;
use elinvar::target::{Covariance, Prior};

use super::example::member;
use crate::members::differences::{close, gradient, jacobian};
use crate::subjects::numbers;

fn same_as_the_gaussian(covariance: Covariance, groups: &[&[usize]]) {
    let q = member(covariance, groups, MatrixUpdate::Joint, 51);
    let d = q.dim();
    let label = format!("{groups:?} {:?}", covariance);
    let mut hessian = vec![0.0; d * d];
    q.hessian(&q.mean(), &mut hessian);
    let block = BlockState { b: q.mean(), precision: hessian.iter().map(|h| -h).collect() };
    let state = State { family: Family::gaussian(), dim: d, blocks: vec![block], log_weights: vec![0.0] };
    let dense = Approximation::from_state(&state).unwrap();
    let z: Vec<f64> = numbers(d, 52).iter().map(|v| 2.0 * v).collect();
    close(&format!("{label}: log q"), &[q.log_density(&z)], &[dense.log_density(&z)], 1e-12);
    close(&format!("{label}: entropy"), &[q.entropy().unwrap()], &[dense.entropy().unwrap()], 1e-12);
    close(&format!("{label}: covariance"), &q.covariance(), &dense.covariance(), 1e-11);
    let diagonal: Vec<f64> = q.covariance().iter().step_by(d + 1).copied().collect();
    close(&format!("{label}: variances"), &q.variances(), &diagonal, 1e-13);
    for leading in [1, d / 2, d] {
        let prior = Prior::Gaussian { precision: 0.6, leading };
        let (found, expected) = (q.expected_log_prior(&prior), dense.expected_log_prior(&prior));
        close(&format!("{label}: E log prior"), &[found], &[expected], 1e-12);
    }
    let (mut score, mut again) = (vec![0.0; d], vec![0.0; d]);
    q.score(&z, &mut score);
    dense.score(&z, &mut again);
    close(&format!("{label}: score"), &score, &again, 1e-12);
    close(&format!("{label}: score"), &score, &gradient(&z, |z| q.log_density(z)), 1e-8);
    let columns = jacobian(&z, |z| {
        let mut score = vec![0.0; d];
        q.score(z, &mut score);
        score
    });
    close(&format!("{label}: Hessian"), &hessian, &columns.concat(), 1e-8);
}

#[test]
fn density_and_moments_are_those_of_the_gaussian_with_the_kronecker_precision() {
    for groups in
        [&[&[4usize][..]][..], &[&[3, 4]], &[&[2, 3, 2]], &[&[2, 1, 2, 3]], &[&[3, 2], &[4], &[1, 2]], &[&[18, 2]]]
    {
        same_as_the_gaussian(Covariance::Full, groups);
        same_as_the_gaussian(Covariance::Diagonal, groups);
    }
}

/// The average of one distribution in several balances is that distribution; of two, it lies between.
#[test]
fn averages_do_not_see_the_balance_of_factors() {
    let q = member(Covariance::Full, &[&[2, 3], &[3]], MatrixUpdate::Joint, 53);
    let rescaled = |c: f64| {
        let mut state = q.state();
        state.blocks[0].precision[..4].iter_mut().for_each(|p| *p *= c);
        state.blocks[0].precision[4..].iter_mut().for_each(|p| *p /= c);
        Approximation::from_state(&state).unwrap()
    };
    let (mut offset, mut sum) = (vec![0.0; q.dim()], vec![0.0; q.natural_len()]);
    let reference = member(Covariance::Full, &[&[2, 3], &[3]], MatrixUpdate::Joint, 54);
    for c in [1.0, 5.0, 0.01, 1e4] {
        rescaled(c).add_natural(&reference, &mut offset, &mut sum);
    }
    let average = Approximation::from_natural(&reference, &sum, 0.25).unwrap();
    close("mean", &average.mean(), &q.mean(), 1e-13);
    close("covariance", &average.covariance(), &q.covariance(), 1e-12);
    assert!(Approximation::from_natural(&reference, &sum, -0.25).is_none());

    let other = reference.clone();
    let mut sum = vec![0.0; q.natural_len()];
    [&q, &other].iter().for_each(|state| state.add_natural(&reference, &mut offset, &mut sum));
    let between = Approximation::from_natural(&reference, &sum, 0.5).unwrap();
    let middle: Vec<f64> = q.mean().iter().zip(other.mean()).map(|(a, b)| 0.5 * (a + b)).collect();
    close("mean", &between.mean(), &middle, 1e-13);
    assert!(between.entropy().unwrap() < q.entropy().unwrap().max(other.entropy().unwrap()));
}
