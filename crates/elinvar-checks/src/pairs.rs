//! The pairs of problem and family on which the verdict is calibrated, from easy to hopeless.
//!
//! The constants of the rule were chosen on those of [`known`]; those of [`fresh`] were written down afterwards.

use elinvar::Family;
use elinvar::model::Parametrisation;
use elinvar::random::{Purpose, Stream};

use crate::problems::Problem;
use crate::problems::elliptical::{equicorrelated, gaussian, student_t};
use crate::problems::hierarchical::eight_schools;
use crate::problems::mixed::{Law, mixed};
use crate::problems::mixtures::{spherical, toy, toy_means, two_modes};
use crate::problems::pathological::{constant, spike, unbounded};
use crate::problems::regressions::{
    beta_binomial, breast_cancer, linear, murphy_toy, small_logistic, small_poisson, sonar,
};
use crate::problems::shapes::{Beyond, banana, cliff, funnel, ring};

/// A problem with the families that are fitted to it.
pub(crate) struct Pairs {
    pub(crate) problem: Problem,
    pub(crate) families: Vec<Family>,
}

/// The families, and the ladder.
fn pairs<const N: usize>(problem: Problem, families: [Family; N]) -> Pairs {
    Pairs { problem, families: families.into_iter().chain([Family::auto()]).collect() }
}

/// The pairs on which the constants of the rule were chosen, those of the ladder apart.
pub(crate) fn known() -> Vec<Pairs> {
    [smooth(), heavy(), data(), modes(), curved(), hopeless()].into_iter().flatten().collect()
}

/// Pairs on which nothing was chosen.
pub(crate) fn fresh() -> Vec<Pairs> {
    let (gauss, skew) = (Family::gaussian(), Family::skew());
    let skewed = [Law::SkewNormal { alpha: 3.0 }; 8];
    let counts = [Law::LogGamma { a: 3.0 }; 4];
    let mut one_tail = [Law::Normal; 30];
    one_tail[7] = Law::StudentT { nu: 3.0 };
    let mut stream = Stream::open(8, Purpose::Sample, 0, 0);
    let centres = (0..6 * 8).map(|_| 24.0 * stream.uniform() - 12.0).collect();
    vec![
        pairs(gaussian(20, 1e6), [gauss, Family::mog(2)]),
        pairs(equicorrelated(8, 0.4), [gauss.diagonal(), Family::rank_k(2)]),
        pairs(mixed("skew normal d = 8", &skewed, 30.0), [gauss, skew]),
        pairs(mixed("logarithms of gamma laws d = 4", &counts, 10.0), [gauss, skew, Family::mog(3)]),
        pairs(mixed("quartic d = 6", &[Law::Quartic; 6], 3.0), [gauss]),
        pairs(mixed("logistic d = 12", &[Law::Logistic; 12], 10.0), [gauss, Family::student_t(4.0)]),
        pairs(student_t(8, 6.0, 10.0), [gauss, Family::student_t(3.0), Family::mog(3)]),
        pairs(student_t(20, 5.0, 10.0), [gauss]),
        pairs(mixed("one heavy tail d = 30", &one_tail, 10.0), [gauss, Family::student_t(3.0)]),
        pairs(small_logistic(15, 0.5), [gauss, skew]),
        pairs(small_poisson(12, 0.0), [gauss, Family::mog(3)]),
        pairs(linear(10, 3), [gauss, skew]),
        pairs(two_modes(4, 3.0, 0.5), [gauss, Family::mog(2)]),
        pairs(two_modes(10, 8.0, 0.2), [gauss, Family::mog(3)]),
        pairs(two_modes(2, 25.0, 0.1), [gauss, Family::mog(2)]),
        pairs(toy(8, centres).expect("six centres"), [gauss, Family::mog(10)]),
        pairs(banana(1.5, 0.3), [gauss, Family::mog(6)]),
        pairs(funnel(4), [gauss, Family::mog(8)]),
        pairs(ring(3.0, 1.0), [gauss, Family::mog(6)]),
        pairs(cliff(5, -2.5, Beyond::Nothing), [gauss]),
        pairs(cliff(2, -3.0, Beyond::NotANumber), [gauss]),
        pairs(constant(2), [gauss]),
        pairs(unbounded(6), [gauss]),
    ]
}

/// Gaussian and skewed targets.
fn smooth() -> Vec<Pairs> {
    let (gauss, skew, t) = (Family::gaussian(), Family::skew(), Family::student_t(5.0));
    let slightly = [Law::SkewNormal { alpha: 1.0 }; 5];
    let strongly = [Law::SkewNormal { alpha: 8.0 }, Law::Normal, Law::Normal];
    let counts = [Law::LogGamma { a: 20.0 }, Law::LogGamma { a: 5.0 }, Law::LogGamma { a: 50.0 }];
    let rates = [Law::LogGamma { a: 0.5 }, Law::LogGamma { a: 1.0 }, Law::LogGamma { a: 2.0 }];
    vec![
        pairs(gaussian(2, 1e4), [gauss, skew, t, Family::mog(3)]),
        pairs(gaussian(10, 1e4), [gauss, gauss.diagonal(), Family::mog(3)]),
        pairs(gaussian(50, 1e4), [gauss]),
        pairs(gaussian(100, 1e4), [gauss]),
        pairs(equicorrelated(5, 0.15), [gauss, gauss.diagonal()]),
        pairs(equicorrelated(20, 0.7), [gauss, gauss.diagonal(), Family::rank_k(1)]),
        pairs(mixed("slightly skew normal d = 5", &slightly, 100.0), [gauss, skew]),
        pairs(mixed("strongly skew normal d = 3", &strongly, 100.0), [gauss, skew, Family::mog(5)]),
        pairs(mixed("logarithms of gamma laws with large shapes", &counts, 10.0), [gauss, skew, Family::mog(3)]),
        pairs(mixed("logarithms of gamma laws with small shapes", &rates, 10.0), [gauss, skew, Family::mog(5)]),
        pairs(mixed("quartic d = 3", &[Law::Quartic; 3], 10.0), [gauss, Family::mog(4)]),
    ]
}

/// Targets with heavier tails than a Gaussian.
fn heavy() -> Vec<Pairs> {
    let gauss = Family::gaussian();
    let tails = [Law::StudentT { nu: 4.0 }, Law::Normal, Law::StudentT { nu: 30.0 }];
    vec![
        pairs(mixed("logistic d = 4", &[Law::Logistic; 4], 10.0), [gauss, Family::student_t(4.0), Family::mog(4)]),
        pairs(student_t(2, 30.0, 100.0), [gauss, Family::student_t(15.0)]),
        pairs(student_t(10, 10.0, 100.0), [gauss, Family::student_t(5.0)]),
        pairs(student_t(5, 4.0, 10.0), [gauss, Family::student_t(2.0), Family::mog(4)]),
        pairs(student_t(3, 2.2, 10.0), [gauss, Family::student_t(1.1)]),
        pairs(mixed("one heavy tail d = 3", &tails, 10.0), [gauss, Family::student_t(3.0)]),
        pairs(student_t(3, 1.0, 10.0), [gauss, Family::student_t(1.5), Family::mog(3)]),
    ]
}

/// Posteriors of regressions and hierarchical models.
fn data() -> Vec<Pairs> {
    let (gauss, skew) = (Family::gaussian(), Family::skew());
    vec![
        pairs(breast_cancer(), [gauss, gauss.diagonal(), skew, Family::student_t(10.0), Family::mog(10)]),
        pairs(sonar(), [gauss, gauss.diagonal(), Family::mog(3)]),
        pairs(murphy_toy(), [gauss, skew, Family::mog(8)]),
        pairs(beta_binomial(), [gauss, skew, Family::mog(3), Family::mog(8)]),
        pairs(small_logistic(8, 0.1), [gauss, skew, Family::mog(5)]),
        pairs(small_logistic(40, 0.1), [gauss, Family::mog(3)]),
        pairs(small_logistic(400, 0.1), [gauss]),
        pairs(small_poisson(6, -0.5), [gauss, skew, Family::mog(4)]),
        pairs(small_poisson(50, 1.5), [gauss]),
        pairs(linear(6, 2), [gauss, skew, Family::mog(5)]),
        pairs(linear(60, 5), [gauss, Family::mog(3)]),
        pairs(eight_schools(Parametrisation::NonCentred), [gauss, skew, Family::mog(5)]),
        pairs(eight_schools(Parametrisation::Centred), [gauss, Family::mog(5)]),
    ]
}

/// Several modes.
fn modes() -> Vec<Pairs> {
    let gauss = Family::gaussian();
    let three = spherical("three modes d = 2", &[0.5, 0.3, 0.2], vec![0.0, 0.0, 4.0, 1.0, -2.0, 4.0], &[1.0, 0.5, 2.0]);
    vec![
        pairs(two_modes(2, 2.0, 0.5), [gauss, Family::mog(2)]),
        pairs(two_modes(2, 5.0, 0.5), [gauss, Family::mog(2), Family::mog(4)]),
        pairs(two_modes(5, 12.0, 0.3), [gauss, Family::mog(2), Family::mog(6)]),
        pairs(two_modes(3, 40.0, 0.5), [gauss, Family::mog(4)]),
        pairs(two_modes(2, 6.0, 0.003), [gauss, Family::mog(3)]),
        pairs(three, [gauss, Family::mog(3), Family::mog(6)]),
        pairs(toy(20, toy_means()).expect("ten centres"), [gauss, Family::mog(20)]),
    ]
}

/// Curves, holes and edges.
fn curved() -> Vec<Pairs> {
    let (gauss, skew) = (Family::gaussian(), Family::skew());
    vec![
        pairs(banana(1.0, 0.1), [gauss, skew, Family::mog(5)]),
        pairs(banana(2.0, 0.5), [gauss, skew, Family::mog(10)]),
        pairs(funnel(2), [gauss, Family::mog(10)]),
        pairs(funnel(10), [gauss, Family::mog(5)]),
        pairs(ring(1.0, 0.5), [gauss, Family::mog(5)]),
        pairs(ring(5.0, 0.5), [gauss, Family::mog(10)]),
        pairs(cliff(3, -1.0, Beyond::Nothing), [gauss, Family::mog(3)]),
        pairs(cliff(3, -4.0, Beyond::Nothing), [gauss]),
        pairs(cliff(2, 0.0, Beyond::NotANumber), [gauss, Family::mog(3)]),
    ]
}

/// No densities at all.
fn hopeless() -> Vec<Pairs> {
    let gauss = Family::gaussian();
    vec![pairs(constant(3), [gauss]), pairs(unbounded(3), [gauss, Family::mog(3)]), pairs(spike(2), [gauss])]
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_are_enough_pairs() {
        for (pairs, least) in [(super::known(), 150), (super::fresh(), 40)] {
            assert!(pairs.iter().map(|pairs| pairs.families.len()).sum::<usize>() >= least);
            assert!(pairs.iter().filter(|pairs| pairs.problem.moments.is_none()).count() >= 2);
        }
    }
}
