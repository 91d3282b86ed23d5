//! The parameters: what q says, and what importance weights or chains make of it.

use elinvar::Posterior;
use elinvar::chains::CorrectedNumber;
use elinvar::family::Kind;
use elinvar::posterior::{Estimate, GivenBy, Shift};
use elinvar::target::Transform;
use elinvar_report::{MarginalLaw, Parameter, Summary};

use crate::analysis::{Analysis, unbounded};

pub(super) fn list(analysis: &Analysis, seed: u64) -> Vec<Parameter> {
    let bounds = bounds(&analysis.posterior);
    let laws = laws(&analysis.posterior);
    let n = analysis.n_draws.max(2);
    let is_answer = analysis.answer.given_by != GivenBy::Approximation;
    let approximation =
        if is_answer { analysis.posterior.summary_of_approximation(n, seed) } else { analysis.answer.clone() };
    let parameter = |(i, number): (usize, &CorrectedNumber)| {
        let q = match laws[i] {
            Some(Known::Exponential { mean, sd }) => of_log_normal(mean, sd),
            _ => summary(number, |estimate| estimate.value),
        };
        let (is_transformed, lower, upper) = bounds[i];
        // The shifts of all parameters come first, in their order.
        let shift = analysis.diagnostics.shifts.get(i).filter(|shift| shift.name == number.name);
        let given = is_answer.then(|| &analysis.answer.parameters[i]);
        Parameter {
            name: number.name.clone(),
            summary: q,
            mcse: (is_transformed && laws[i].is_none()).then_some(q.sd / (n as f64).sqrt()),
            corrected: match given {
                Some(given) => Some(summary(given, |estimate| estimate.value)),
                None => shift.and_then(|shift| moved(q, shift)),
            },
            errors: given.map(|given| summary(given, |estimate| unbounded(estimate).mcse)),
            lower,
            upper,
            law: laws[i].filter(|_| q.mean.is_finite() && q.sd > 0.0).map(|law| law.of(q)),
        }
    };
    approximation.parameters.iter().enumerate().map(parameter).collect()
}

/// What is known of a marginal of q.
#[derive(Clone, Copy)]
enum Known {
    /// Linear in a Gaussian, so that mean and sd are all there is to it.
    Linear,
    /// e to a coordinate with this mean and standard deviation.
    Exponential { mean: f64, sd: f64 },
}

impl Known {
    fn of(self, q: Summary) -> MarginalLaw {
        match self {
            Known::Linear => MarginalLaw::Normal { mean: q.mean, sd: q.sd },
            Known::Exponential { mean, sd } => MarginalLaw::LogNormal { mean, sd },
        }
    }
}

/// Moments and quantiles of eˣ, x ~ N(mean, sd²).
fn of_log_normal(mean: f64, sd: f64) -> Summary {
    /// The 95 % quantile of the normal law.
    const Q95: f64 = 1.644_853_626_951_472_2;
    let of_mean = (mean + 0.5 * sd * sd).exp();
    let [q5, q95] = [-Q95, Q95].map(|q| (mean + q * sd).exp());
    Summary { mean: of_mean, sd: of_mean * (sd * sd).exp_m1().sqrt(), q5, q95 }
}

/// For every parameter what is known of its law under q: of a Gaussian, that of its coordinates and of their
/// exponentials.
fn laws(posterior: &Posterior) -> Vec<Option<Known>> {
    let is_gaussian = matches!(posterior.family().kind, Kind::Gaussian | Kind::RankK { .. });
    let (means, variances) = (posterior.approximation().mean(), posterior.approximation().variances());
    let mut coordinate = 0;
    let mut of = |transform: &Transform| {
        let (at, n) = (coordinate, transform.n_constrained());
        coordinate += transform.dim();
        let known = match transform {
            _ if !is_gaussian => None,
            Transform::Identity => Some(Known::Linear),
            Transform::Log => Some(Known::Exponential { mean: means[at], sd: variances[at].sqrt() }),
            _ => None,
        };
        vec![known; n]
    };
    let of_coordinates: Vec<Option<Known>> = posterior.transforms().as_slice().iter().flat_map(&mut of).collect();
    // Coefficients by directions, which come first, are more than these, and all of them linear.
    let n_more = posterior.transforms().n_constrained() - of_coordinates.len();
    let linear = is_gaussian.then_some(Known::Linear);
    std::iter::repeat_n(linear, n_more).chain(of_coordinates).collect()
}

/// One side of the four numbers of a row.
fn summary(number: &CorrectedNumber, side: fn(Estimate) -> f64) -> Summary {
    Summary { mean: side(number.mean), sd: side(number.sd), q5: side(number.q5), q95: side(number.q95) }
}

/// What the verdict says of mean and standard deviation, and the interval moved with them; `None` where one draw has so
/// much weight that there may be no moments.
fn moved(q: Summary, shift: &Shift) -> Option<Summary> {
    let (mean, factor) = (q.mean + shift.mean.value * q.sd, shift.log_sd.value.exp());
    let at = |quantile: f64| mean + factor * (quantile - q.mean);
    let usable = shift.instead.is_none() && mean.is_finite() && factor.is_finite();
    usable.then(|| Summary { mean, sd: factor * q.sd, q5: at(q.q5), q95: at(q.q95) })
}

/// For every parameter whether it is not a coordinate of z, and what it does not cross.
fn bounds(posterior: &Posterior) -> Vec<(bool, Option<f64>, Option<f64>)> {
    let of = |transform: &Transform| {
        let (lower, upper) = match transform {
            Transform::Log => (Some(0.0), None),
            Transform::Logit | Transform::Simplex { .. } => (Some(0.0), Some(1.0)),
            Transform::Interval { low, high } => (Some(*low), Some(*high)),
            _ => (None, None),
        };
        (*transform != Transform::Identity, lower, upper)
    };
    posterior.transforms().of_parameters().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_normal_has_its_moments() {
        let found = of_log_normal(0.3, 0.4);
        // By the midpoint rule over ±10 sd.
        let (n, step) = (20_000, 0.4 * 20.0 / 20_000.0);
        let moment = |power: i32| -> f64 {
            (0..n)
                .map(|i| {
                    let x = 0.3 - 4.0 + (f64::from(i) + 0.5) * step;
                    let u = (x - 0.3) / 0.4;
                    (f64::from(power) * x).exp() * (-0.5 * u * u).exp() / (0.4 * (2.0 * std::f64::consts::PI).sqrt())
                        * step
                })
                .sum()
        };
        assert!((found.mean - moment(1)).abs() < 1e-9);
        assert!((found.sd - (moment(2) - moment(1).powi(2)).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn an_interval_moves_with_its_mean_and_widens_with_its_sd() {
        let q = Summary { mean: 1.0, sd: 2.0, q5: -2.0, q95: 4.0 };
        let estimate = |value| Estimate { value, mcse: 0.1 };
        let mut shift = Shift { name: "a".into(), mean: estimate(0.5), log_sd: estimate(2.0_f64.ln()), instead: None };
        let to = moved(q, &shift).unwrap();
        assert_eq!((to.mean, to.sd, to.q5, to.q95), (2.0, 4.0, -4.0, 8.0));
        shift.instead = Some("log a".into());
        assert!(moved(q, &shift).is_none());
    }
}
