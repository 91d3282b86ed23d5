//! The classes of problems: each is a function from random numbers to a problem with its answer.

use elinvar::model::Parametrisation;
use elinvar::random::{Purpose, Stream};

use super::bent::{banana, funnel};
use super::posed::{Posed, between, log_between, one_of};
use super::regressions;
use crate::problems::hierarchical::Hierarchy;
use crate::problems::mixed::{Law, mixed};
use crate::problems::mixtures::spherical;
use crate::problems::shapes::rosenbrock;

/// A kind of problems.
pub(super) struct Class {
    pub(super) name: &'static str,
    /// How many problems of a set are of this class.
    pub(super) count: usize,
    pose: fn(&mut Stream, Size) -> Posed,
}

/// How large regressions become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// Up to 100 coordinates.
    Usual,
    /// 200 and 500 coordinates, too.
    Large,
}

impl Class {
    /// Problem `seed` of the class, which is the `index`-th.
    pub(super) fn problem(&self, index: usize, seed: u64, size: Size) -> Posed {
        (self.pose)(&mut Stream::open(seed, Purpose::Sample, index as u64, 77), size)
    }
}

pub(super) const CLASSES: &[Class] = &[
    Class { name: "one contaminated coordinate", count: 24, pose: |stream, _| contaminated(stream) },
    Class { name: "narrow second mode", count: 24, pose: |stream, _| narrow_mode(stream) },
    Class { name: "wide second mode", count: 20, pose: |stream, _| wide_mode(stream) },
    Class { name: "spike among the draws", count: 20, pose: |stream, _| spike(stream) },
    Class { name: "ridge", count: 20, pose: |stream, _| ridge(stream) },
    Class { name: "Rosenbrock", count: 20, pose: |stream, _| bent_ridge(stream) },
    Class { name: "banana", count: 20, pose: |stream, _| bent(stream) },
    Class { name: "funnel", count: 20, pose: |stream, _| pinched(stream) },
    Class { name: "ripples", count: 20, pose: |stream, _| ripples(stream) },
    Class { name: "t product", count: 20, pose: |stream, _| t_product(stream) },
    Class { name: "log-gamma product", count: 20, pose: |stream, _| log_gamma_product(stream) },
    Class { name: "mixed laws", count: 16, pose: |stream, _| mixed_laws(stream) },
    Class { name: "hierarchy, centred", count: 20, pose: |stream, _| hierarchy(Parametrisation::Centred, stream) },
    Class {
        name: "hierarchy, non-centred",
        count: 20,
        pose: |stream, _| hierarchy(Parametrisation::NonCentred, stream),
    },
    Class { name: "linear regression", count: 16, pose: |stream, _| regressions::linear(stream) },
    Class { name: "logistic regression", count: 14, pose: regressions::logistic },
    Class { name: "Poisson regression", count: 12, pose: |stream, _| regressions::poisson(stream) },
];

fn contaminated(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[10, 20, 30, 50, 100]);
    let (weight, sd) = (between(stream, 0.01, 0.04), log_between(stream, 8.0, 30.0));
    let mut laws = vec![Law::Normal; dim];
    laws[stream.below(dim as u32) as usize] = Law::Contaminated { weight, sd };
    let name = format!("d = {dim}, {:.1} % with sd {sd:.0}", 100.0 * weight);
    Posed::moved_from_axes(mixed(&name, &laws, 1.0), stream)
}

/// 1 − w of N(0, I) and w of N(m, s²I) at a distance in a random direction.
fn second_mode(dim: usize, weight: f64, distance: f64, sd: f64, stream: &mut Stream) -> Posed {
    let mut direction = vec![0.0; dim];
    stream.fill_normal(&mut direction);
    let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
    let place: Vec<f64> = direction.iter().map(|v| v * distance / length).collect();
    let means: Vec<f64> = std::iter::repeat_n(0.0, dim).chain(place.iter().copied()).collect();
    let name = format!("d = {dim}, {:.0} % at {distance:.1}, sd {sd:.3}", 100.0 * weight);
    let problem = spherical(&name, &[1.0 - weight, weight], means, &[1.0, sd * sd]);
    let mut covariance: Vec<f64> =
        (0..dim * dim).map(|at| weight * (1.0 - weight) * place[at % dim] * place[at / dim]).collect();
    covariance.iter_mut().step_by(dim + 1).for_each(|v| *v += 1.0 - weight + weight * sd * sd);
    Posed::moved(problem, &covariance, stream)
}

fn narrow_mode(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 3]);
    let (weight, distance) = (between(stream, 0.3, 0.4), between(stream, 8.0, 15.0));
    let sd = log_between(stream, 0.05, 0.2);
    second_mode(dim, weight, distance, sd, stream)
}

fn wide_mode(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 3, 5, 10]);
    let (weight, distance) = (between(stream, 0.1, 0.5), between(stream, 6.0, 15.0));
    let sd = log_between(stream, 0.5, 3.0);
    second_mode(dim, weight, distance, sd, stream)
}

fn spike(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[1, 2, 3]);
    let (weight, distance) = (between(stream, 0.1, 0.4), between(stream, 0.5, 3.0));
    let sd = log_between(stream, 1e-3, 3e-2);
    second_mode(dim, weight, distance, sd, stream)
}

/// Standard deviations along the axes that differ by up to ten million, and rotated.
fn ridge(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 3, 5, 10, 30]);
    let law = one_of(stream, &[Law::Normal, Law::Normal, Law::Logistic, Law::LogGamma { a: 3.0 }]);
    let condition = log_between(stream, 1e2, 1e7);
    Posed::rescaled(mixed(&format!("{law:?} d = {dim}, condition {condition:.0e}"), &vec![law; dim], condition), stream)
}

fn bent_ridge(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 2, 3, 3, 4, 5]);
    // The last coordinate is z₁ to the power of 2^(d − 1): beyond three a wide z₁ leaves no moments to speak of.
    let narrowest = [0.5, 1.0, 4.0, 15.0][dim - 2];
    let (a, b) = (log_between(stream, narrowest, 8.0 * narrowest), log_between(stream, 3.0, 50.0));
    let (a, b) = ((10.0 * a).round() / 10.0, (10.0 * b).round() / 10.0);
    Posed::rescaled(rosenbrock(dim, a, b), stream)
}

fn bent(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 2, 3, 5, 10]);
    let (sigma, bend) = (log_between(stream, 0.5, 4.0), log_between(stream, 0.05, 1.0));
    Posed::moved_from_axes(banana(dim, sigma, bend), stream)
}

fn pinched(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[2, 3, 5, 10, 20]);
    let spread = log_between(stream, 0.2, 3.0);
    Posed::moved_from_axes(funnel(dim, spread), stream)
}

fn ripples(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[1, 2, 3, 5, 10]);
    let (height, frequency) = (log_between(stream, 0.2, 3.0), log_between(stream, 1.0, 20.0));
    let laws: Vec<Law> = (0..dim).map(|_| Law::ripple(height, frequency, between(stream, 0.0, 6.0))).collect();
    let name = format!("d = {dim}, height {height:.2}, frequency {frequency:.1}");
    Posed::moved_from_axes(mixed(&name, &laws, 1.0), stream)
}

fn t_product(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[1, 2, 5, 10, 20, 50, 100]);
    let nu = log_between(stream, 1.5, 30.0);
    let mut problem = mixed(&format!("d = {dim}, ν = {nu:.1}"), &vec![Law::StudentT { nu }; dim], 1.0);
    if nu <= 2.0 {
        problem.moments = None;
    }
    Posed::moved_from_axes(problem, stream)
}

fn log_gamma_product(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[1, 2, 5, 10, 20, 50]);
    let a = log_between(stream, 0.3, 5.0);
    let problem = mixed(&format!("d = {dim}, a = {a:.2}"), &vec![Law::LogGamma { a }; dim], 1.0);
    Posed::moved_from_axes(problem, stream)
}

fn mixed_laws(stream: &mut Stream) -> Posed {
    let dim = one_of(stream, &[3, 5, 10, 30]);
    let laws: Vec<Law> = (0..dim)
        .map(|_| match stream.below(6) {
            0 => Law::Normal,
            1 => Law::SkewNormal { alpha: between(stream, -8.0, 8.0) },
            2 => Law::LogGamma { a: log_between(stream, 0.5, 5.0) },
            3 => Law::Logistic,
            4 => Law::StudentT { nu: log_between(stream, 4.0, 30.0) },
            _ => Law::Quartic,
        })
        .collect();
    Posed::moved_from_axes(mixed(&format!("d = {dim}"), &laws, 1.0), stream)
}

/// Data that the model itself might have made, with a τ from nothing to much more than the standard errors.
fn hierarchy(form: Parametrisation, stream: &mut Stream) -> Posed {
    let groups = one_of(stream, &[4, 8, 8, 15, 25]);
    let (mu, tau) = (5.0 * stream.normal(), log_between(stream, 0.1, 30.0));
    let standard_errors: Vec<f64> = (0..groups).map(|_| log_between(stream, 1.0, 20.0)).collect();
    let effects = standard_errors.iter().map(|s| mu + tau * stream.normal() + s * stream.normal()).collect();
    let name = format!("{groups} groups, τ about {tau:.1}");
    Posed::rescaled(Hierarchy { form, effects, standard_errors }.problem(name), stream)
}
