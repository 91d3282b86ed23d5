//! What a component of mixtures is held to.

use super::{Broken, broken};
use crate::component::implicit::{integrals, path_derivative};
use crate::component::{ExponentialFamily, OwnComponent, OwnMember, Range};
use crate::random::{Purpose, Stream};

/// Largest difference between a number and its integral, relative to the spread of what is integrated.
const BY_INTEGRAL: f64 = 1e-6;
/// Largest relative difference between a derivative and a quotient of differences.
const BY_DIFFERENCES: f64 = 1e-4;
/// Draws of which the distribution is compared with the density.
const DRAWS: usize = 2000;
/// Kolmogorov–Smirnov, √n D: passed by chance once in a million.
const DISTANCE: f64 = 2.7;

/// Whether the functions of a component belong together, at its standard parameters and at others around them.
///
/// # Errors
/// [`Broken`], with the first rule that is not kept: the density integrates to one, derivatives are those of the
/// values, E\[t\] and the Fisher matrix are its moments, draws have the density, and what else the component says of
/// itself (path derivative, mean and variance, entropy) is so.
pub fn component(component: &dyn OwnComponent) -> Result<(), Broken> {
    let name = component.name();
    if name.is_empty() || name.trim() != name {
        return broken("a component has a name without blanks around it", format!("{name:?}"));
    }
    let standard = match OwnMember::standard_of(component) {
        Ok(standard) => standard,
        Err(error) => return broken("it has a standard member", error.to_string()),
    };
    let n = component.parameters().len();
    for eta in around(component) {
        let Some(member) = standard.at(eta) else {
            return broken("A(η) is finite wherever η is in its range", format!("not at {:?}", &eta[..n]));
        };
        of_member(component, &member, eta)?;
    }
    Ok(())
}

/// The standard parameters, and one of them changed at a time.
fn around(component: &dyn OwnComponent) -> Vec<[f64; 2]> {
    let standard = component.standard();
    let mut all = vec![standard];
    for (i, (_, range)) in component.parameters().iter().enumerate() {
        for moved in match range {
            Range::Real => [standard[i] - 0.7, standard[i] + 0.7],
            Range::Positive | Range::Negative => [0.4 * standard[i], 3.0 * standard[i]],
        } {
            let mut eta = standard;
            eta[i] = moved;
            all.push(eta);
        }
    }
    all
}

fn of_member(component: &dyn OwnComponent, member: &OwnMember<'_>, eta: [f64; 2]) -> Result<(), Broken> {
    let n = member.n_free();
    let at = format!("at η = {:?}", &eta[..n]);
    let mut stream = Stream::open(1, Purpose::Draws, 0, 0);
    let mut draws: Vec<f64> = (0..DRAWS).map(|_| member.sample(&mut stream)).collect();
    if let Some(z) = draws.iter().find(|z| !member.log_density(**z).is_finite()) {
        return broken("the density is finite where draws are", format!("log {} at {z}, {at}", member.log_density(*z)));
    }
    derivatives(component, &draws[..40], &at)?;

    let centre = draws[0];
    let m = component.expectation(eta);
    let (_, [mass, first, second, one, both, two]) = integrals(member, centre, |z| {
        let t = component.statistics(z).map(|t| t[0]);
        let (a, b) = (t[0] - m[0], t[1] - m[1]);
        [1.0, a, b, a * a, a * b, b * b]
    });
    if (mass - 1.0).abs() > BY_INTEGRAL || mass.is_nan() {
        return broken("the density integrates to one: b, t and A belong together", format!("{mass} {at}"));
    }
    let sd = [one, two].map(f64::sqrt);
    for (i, difference) in [first, second].into_iter().enumerate().take(n) {
        if difference.abs() > BY_INTEGRAL * sd[i] || difference.is_nan() {
            let found = format!("{} instead of {} for the parameter {}, {at}", m[i], m[i] + difference, i + 1);
            return broken("the expectation is E[t(z)]", found);
        }
    }
    let (fisher, covariance) = (component.fisher(eta), [[one, both], [both, two]]);
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().filter(|(i, j)| *i < n && *j < n) {
        let (found, expected) = (fisher[i][j], covariance[i][j]);
        if (found - expected).abs() > BY_INTEGRAL * sd[i] * sd[j] || found.is_nan() {
            let found = format!("{found} instead of {expected} in row {} and column {}, {at}", i + 1, j + 1);
            return broken("the Fisher matrix is the covariance of t(z)", found);
        }
    }

    draws.sort_by(f64::total_cmp);
    let mut farthest = (0.0, 0.0);
    for (k, z) in draws.iter().enumerate() {
        let ([below], [whole]) = integrals(member, *z, |_| [1.0]);
        let (low, high) = (k as f64 / DRAWS as f64, (k + 1) as f64 / DRAWS as f64);
        let distance = (below / whole - low).abs().max((below / whole - high).abs());
        farthest = if distance > farthest.0 { (distance, *z) } else { farthest };
    }
    if farthest.0 * (DRAWS as f64).sqrt() > DISTANCE {
        let found = format!("of {DRAWS} draws the shares below {} differ by {:.3}, {at}", farthest.1, farthest.0);
        return broken("draws have the density", found);
    }
    claims(component, member, eta, &draws, &at)
}

/// Slopes and second derivatives against differences of values, in steps that are small beside z and its distance from
/// the ends of the support.
fn derivatives(component: &dyn OwnComponent, draws: &[f64], at: &str) -> Result<(), Broken> {
    let width = draws.iter().fold(0.0_f64, |width, z| width.max((z - draws[0]).abs()));
    for z in draws {
        let room = match component.support() {
            crate::target::Support::Positive => z.min(width),
            crate::target::Support::Unit => z.min(1.0 - z).min(width),
            _ => width,
        };
        let h = 1e-4 * room;
        let functions = |z: f64| {
            let [one, two] = component.statistics(z);
            [("log_base", component.log_base(z)), ("the first statistic", one), ("the second statistic", two)]
        };
        for ((below, here), above) in functions(z - h).into_iter().zip(functions(*z)).zip(functions(z + h)) {
            for (k, word) in ["slope", "second derivative"].into_iter().enumerate() {
                let by_differences = (above.1[k] - below.1[k]) / (2.0 * h);
                let found = here.1[k + 1];
                // Of the third derivative over the room, which differences leave, and of rounding.
                let size = found.abs() + here.1[k].abs() / room + by_differences.abs();
                let rounding = 1e-15 * here.1[k].abs() / h;
                if (found - by_differences).abs() > BY_DIFFERENCES * size + 10.0 * rounding || !found.is_finite() {
                    let found = format!(
                        "{found} for the {word} of {}, differences say {by_differences}, z = {z}, {at}",
                        here.0
                    );
                    return broken("derivatives are those of the values", found);
                }
            }
        }
    }
    Ok(())
}

/// What has a default.
fn claims(
    component: &dyn OwnComponent,
    member: &OwnMember<'_>,
    eta: [f64; 2],
    sorted: &[f64],
    at: &str,
) -> Result<(), Broken> {
    let quantile = |p: f64| sorted[(p * sorted.len() as f64) as usize];
    for z in [0.02, 0.2, 0.5, 0.8, 0.98].map(quantile) {
        let Some(found) = component.path_derivative(eta, z) else { break };
        let expected = path_derivative(member, z);
        for i in 0..member.n_free() {
            let size = expected[i].abs() + 1e-3 * (quantile(0.8) - quantile(0.2)) / component.fisher(eta)[i][i].sqrt();
            if (found[i] - expected[i]).abs() > BY_INTEGRAL * size || found[i].is_nan() {
                let found = format!("{} instead of {} for parameter {} at z = {z}, {at}", found[i], expected[i], i + 1);
                return broken("the path derivative keeps the probability below z", found);
            }
        }
    }
    let centre = quantile(0.5);
    if let Some((mean, variance)) = component.mean_and_variance(eta) {
        let (_, [first, second]) = integrals(member, centre, |z| [z - mean, (z - mean) * (z - mean)]);
        if first.abs() > BY_INTEGRAL * second.sqrt() || mean.is_nan() {
            return broken("the mean is that of the density", format!("{mean} instead of {}, {at}", mean + first));
        }
        if (variance - second).abs() > BY_INTEGRAL * second || variance.is_nan() {
            return broken("the variance is that of the density", format!("{variance} instead of {second}, {at}"));
        }
    }
    if let Some(entropy) = component.entropy(eta) {
        let (_, [expected]) = integrals(member, centre, |z| [-member.log_density(z)]);
        if (entropy - expected).abs() > BY_INTEGRAL * expected.abs().max(1.0) || entropy.is_nan() {
            return broken("the entropy is −E[log q]", format!("{entropy} instead of {expected}, {at}"));
        }
    }
    Ok(())
}
