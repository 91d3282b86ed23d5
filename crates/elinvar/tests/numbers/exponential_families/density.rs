//! log q(z) and what follows from it: normalisation, derivatives, moments, entropy.

use elinvar::target::Support;

use super::measure::{Measure, close, slope};
use super::members::{is_exponential_family, ordinary_members};

const PROBABILITIES: [f64; 7] = [1e-6, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0 - 1e-6];

#[test]
fn integrates_to_one() {
    for c in ordinary_members() {
        // Rounding of log q, whose terms are of the size of the largest natural parameter times its statistic.
        close(&format!("{c:?}"), Measure::of(&c).expectation(|_| 1.0), 1.0, 1e-12);
    }
}

/// Five-point differences at a hundredth of the length on which the density varies have an error of about 1e−8.
#[test]
fn score_and_second_derivative() {
    for c in ordinary_members() {
        let measure = Measure::of(&c);
        let (unit, at) = (measure.unit(), |u: f64| measure.coordinate.at(u).0);
        for z in measure.quantiles(&PROBABILITIES) {
            let u = measure.coordinate.inverse(z);
            let stretch = unit * measure.stretch(z);
            let (first, second) = (stretch * c.score(z), stretch * stretch * c.second_derivative(z));
            let difference = unit * slope(0.01 * unit, |d| c.log_density(at(u + d)));
            // A rounding of z moves log q by the score, and the score by the second derivative.
            let rounding = 1e-13 * (1.0 + (u.abs() + z.abs() / stretch) * (first.abs() + second.abs()));
            let name = format!("{c:?} at {z}");
            close(&format!("score of {name}"), first, difference, 1e-7 * (1.0 + first.abs()) + rounding);
            let difference = unit * stretch * slope(0.01 * unit, |d| c.score(at(u + d)));
            let tolerance = 1e-7 * (1.0 + first.abs() + second.abs()) + rounding;
            close(&format!("second derivative of {name}"), second, difference, tolerance);
        }
    }
}

#[test]
fn mean_and_variance() {
    for c in ordinary_members() {
        let measure = Measure::of(&c);
        let (mean, variance) = c.mean_and_variance();
        if c.support() == Support::Circle {
            let (cosine, sine) = (measure.expectation(f64::cos), measure.expectation(f64::sin));
            close(&format!("{c:?} direction"), (sine.atan2(cosine) - mean).sin(), 0.0, 1e-12);
            let spread = -2.0 * cosine.hypot(sine).ln();
            close(&format!("{c:?} spread"), variance, spread, 1e-9 * spread);
            continue;
        }
        let tail = |power: f64| {
            // E[z^power] of a power tail z^{−shape−1}, cut off where quadrature ends.
            if c.kind().name().starts_with("inverse_gamma") {
                let shape = c.kind().constant().unwrap_or(c.parameters()[0]);
                (200.0 * (power - shape) / (shape + 1.0)).exp().max(if shape > power { 0.0 } else { 1e300 })
            } else {
                0.0
            }
        };
        if mean.is_finite() {
            let expected = measure.expectation(|z| z);
            close(
                &format!("{c:?} mean"),
                mean,
                expected,
                (1e-12 + 10.0 * tail(1.0)) * (expected.abs() + variance.sqrt()),
            );
        } else {
            assert!(tail(1.0) > 1.0, "{c:?} has a mean");
        }
        if variance.is_finite() {
            let expected = measure.expectation(|z| (z - mean).powi(2));
            close(&format!("{c:?} variance"), variance, expected, (1e-11 + 1e3 * tail(2.0)) * expected);
        } else {
            assert!(tail(2.0) > 1.0, "{c:?} has a variance");
        }
    }
}

#[test]
fn entropy() {
    for c in ordinary_members() {
        if let Some(entropy) = c.entropy() {
            let expected = -Measure::of(&c).expectation(|z| c.log_density(z));
            close(&format!("{c:?} entropy"), entropy, expected, 1e-11 * (1.0 + expected.abs()));
        } else {
            assert!(!is_exponential_family(&c), "{c:?} has a closed entropy");
        }
    }
}

/// log q − ⟨t, η⟩ + A is the base measure: the same function of z for every member with the same constant.
#[test]
fn base_measure_does_not_depend_on_the_parameters() {
    let members = ordinary_members();
    for c in members.iter().filter(|c| is_exponential_family(c)) {
        let other = c.kind().standard();
        let base = |member: &elinvar::component::Component, z: f64| {
            let (t, eta) = (member.statistics(z), member.natural());
            let terms = [t[0] * eta[0], t[1] * eta[1], t[2] * eta[2], -member.log_partition()];
            let size = terms.iter().map(|x| x.abs()).sum::<f64>() + member.log_density(z).abs();
            (member.log_density(z) - terms.iter().sum::<f64>(), size)
        };
        for z in Measure::of(c).quantiles(&[0.05, 0.5, 0.95]) {
            let ((found, size), (expected, other_size)) = (base(c, z), base(&other, z));
            close(&format!("{c:?} base at {z}"), found, expected, 1e-14 * (1.0 + size + other_size));
        }
    }
}
