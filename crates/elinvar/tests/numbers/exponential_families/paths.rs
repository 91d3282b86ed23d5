//! ∂z/∂η against quadrature (mathematics §5 (5.1)), against differences of distribution functions, and as a gradient of
//! expectations.

use elinvar::component::Component;
use elinvar::internals::Implicit;
use elinvar::target::Support;

use super::measure::{Measure, close, slope};
use super::members::{extreme_members, is_exponential_family, ordinary_members};

const PROBABILITIES: [f64; 7] = [1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0 - 1e-5];

fn moved(c: &Component, j: usize, by: f64) -> Component {
    let mut eta = c.natural();
    eta[j] += by;
    c.with_natural(eta).unwrap()
}

fn step(c: &Component, j: usize) -> f64 {
    let (scale, eta) = (c.fisher()[j][j].sqrt(), c.natural()[j].abs());
    let step = 2e-3 / scale;
    if eta > 0.0 { step.min(2e-3 * eta) } else { step }
}

/// On the circle any constant over q(z) may be added to ∂z/∂η: what is compared there is q(z)∂z/∂η up to a constant.
fn gauge(c: &Component, points: &[f64], found: &[f64], reference: &[f64]) -> Vec<f64> {
    let mut corrected = found.to_vec();
    if c.support() == Support::Circle {
        let middle = points.len() / 2;
        let constant = (found[middle] - reference[middle]) * c.log_density(points[middle]).exp();
        for (value, &z) in corrected.iter_mut().zip(points) {
            *value -= constant / c.log_density(z).exp();
        }
    }
    corrected
}

#[test]
fn formulas_agree_with_the_universal_integral() {
    let mut n = 0;
    for c in ordinary_members().iter().filter(|c| is_exponential_family(c)) {
        let measure = Measure::of(c);
        let points = measure.quantiles(&PROBABILITIES);
        for i in 0..c.n_free() {
            let found: Vec<f64> = points.iter().map(|&z| c.path_derivative(z)[i]).collect();
            let reference: Vec<f64> = points.iter().map(|&z| c.implicit_derivative(z)[i]).collect();
            let corrected = gauge(c, &points, &found, &reference);
            // t(y) − m and log q lose digits where they are small differences of large numbers.
            let lost = c.expectation()[i].abs() / c.fisher()[i][i].sqrt() + c.log_partition().abs();
            for ((z, found), expected) in points.iter().zip(corrected).zip(reference) {
                let name = format!("{c:?} ∂z/∂η_{i} at {z}");
                // How far z moves when η_i does by its own standard deviation; the derivative may have a zero.
                let size = measure.unit() * measure.stretch(*z) * c.fisher()[i][i].sqrt();
                close(&name, found, expected, (1e-10 + 1e-14 * lost) * (expected.abs() + 0.1 * size));
                n += 1;
            }
        }
    }
    assert!(n > 200);
}

#[test]
fn the_probability_of_a_draw_does_not_move() {
    for c in ordinary_members() {
        let measure = Measure::of(&c);
        let points = measure.quantiles(&PROBABILITIES[1..6]);
        for i in 0..c.n_free() {
            let h = step(&c, i);
            let reference: Vec<f64> = points
                .iter()
                .map(|&z| -slope(h, |d| measure.cdf(&moved(&c, i, d), z)) / c.log_density(z).exp())
                .collect();
            let found: Vec<f64> = points.iter().map(|&z| c.path_derivative(z)[i]).collect();
            let corrected = gauge(&c, &points, &found, &reference);
            // Rounding of the distribution function and of log q, over the step.
            let noise = (1e-14 + 1e-15 * c.log_partition().abs()) / h;
            for ((&z, found), expected) in points.iter().zip(corrected).zip(reference) {
                let tolerance = 1e-7 * expected.abs() + noise / c.log_density(z).exp();
                close(&format!("{c:?} ∂z/∂η_{i} at {z}"), found, expected, tolerance);
            }
        }
    }
}

/// E[f′(z) ∂z/∂η] = ∂E[f]/∂η for smooth f.
#[test]
fn gradients_of_expectations() {
    for c in ordinary_members() {
        let measure = Measure::of(&c);
        let middle = measure.coordinate.inverse(measure.quantiles(&[0.5])[0]);
        let width = measure.width;
        let x = |z: f64| (measure.coordinate.inverse(z) - middle) / width;
        let circle = c.support() == Support::Circle;
        let f = |z: f64| if circle { (z - 0.3).sin() + (2.0 * z).cos() } else { (x(z) + 0.3).tanh() };
        let slope_of_f = |z: f64| {
            if circle {
                return (z - 0.3).cos() - 2.0 * (2.0 * z).sin();
            }
            let dz_du = measure.coordinate.at(measure.coordinate.inverse(z)).1;
            (x(z) + 0.3).cosh().powi(-2) / (width * dz_du)
        };
        // Not every node: the path derivative may be an integral itself.
        // On the circle the stride divides their number, so that the sum stays a periodic one.
        let stride = if circle { 10 } else { ((0.1 * measure.unit() / measure.step) as usize).max(1) };
        let integral = |i: usize| {
            let thinned = measure.nodes.iter().step_by(stride).filter(|node| node.2 > 1e-25);
            thinned.map(|&(_, z, w)| stride as f64 * w * slope_of_f(z) * c.path_derivative(z)[i]).sum::<f64>()
        };
        for i in 0..c.n_free() {
            let h = step(&c, i);
            let expected = slope(h, |d| {
                let other = moved(&c, i, d);
                measure
                    .nodes
                    .iter()
                    .map(
                        |&(_, z, w)| {
                            if w > 0.0 { w * f(z) * (other.log_density(z) - c.log_density(z)).exp() } else { 0.0 }
                        },
                    )
                    .sum()
            });
            let scale = c.fisher()[i][i].sqrt();
            let noise = (1e-14 + 1e-15 * c.log_partition().abs()) / h;
            close(&format!("{c:?} ∂E[f]/∂η_{i}"), integral(i), expected, 1e-7 * scale + noise);
        }
    }
}

/// Also where quadrature in z does not resolve the law, the formulas and the integral agree if the integral can be
/// taken.
#[test]
fn formulas_agree_with_the_universal_integral_at_extremes() {
    let mut n = 0;
    for c in extreme_members().iter().filter(|c| is_exponential_family(c)) {
        let mut noise = elinvar::random::Stream::open(5, elinvar::random::Purpose::Diagnostics, 0, 0);
        for _ in 0..20 {
            let z = c.sample(&mut noise);
            let edge = match c.support() {
                Support::Positive => !(1e-290..1e290).contains(&z),
                Support::Unit => !(1e-290..1.0 - 1e-9).contains(&z),
                _ => false,
            };
            if edge || c.support() == Support::Circle {
                continue;
            }
            let (found, expected) = (c.path_derivative(z), c.implicit_derivative(z));
            for i in (0..c.n_free()).filter(|&i| !expected[i].is_nan()) {
                let lost = c.expectation()[i].abs() / c.fisher()[i][i].sqrt() + c.log_partition().abs();
                let name = format!("{c:?} ∂z/∂η_{i} at {z:e}");
                n += 1;
                close(&name, found[i], expected[i], (1e-8 + 1e-13 * lost) * expected[i].abs());
            }
        }
    }
    assert!(n > 800, "{n} comparisons");
}
