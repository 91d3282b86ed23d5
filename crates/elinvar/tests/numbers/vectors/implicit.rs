//! Components of exponential-family mixtures against the reference vectors: densities, parameters and implicit
//! derivatives.

use elinvar::component::{Component, ComponentKind};
use elinvar::internals::Implicit;
use elinvar::internals::special::implicit::inverse_gaussian_cdf;
use elinvar::internals::special::logistic::log_sum_exp;
use serde_json::Value;

use super::compare::CLOSED_FORM;
use super::json::{list, number, read, vector};

const IMPLICIT: f64 = 1e-11;

fn member(name: &str, parameters: [f64; 3]) -> Component {
    let standard = ComponentKind::new(name, None).unwrap().standard();
    standard.with_parameters(parameters).unwrap_or_else(|| panic!("{name} {parameters:?}"))
}

/// Compares with the entry `name`; below `floor` the error counts as absolute.
#[track_caller]
fn check(case: &Value, name: &str, found: f64, tolerance: f64, floor: f64) {
    let expected = number(case, name);
    let error = (found - expected).abs() / expected.abs().max(floor);
    let same = error <= tolerance || found == expected;
    assert!(same, "{name}: found {found:e}, expected {expected:e}, error {error:e} in {case}");
}

/// (∂z/∂μ, ∂z/∂v) from ∂z/∂η with η = (−v/2μ², −v/2), and the size of the terms of the second.
fn by_mu_and_v(c: &Component, z: f64) -> (f64, f64, f64) {
    let ([mu, v, _], [first, second, _]) = (c.parameters(), c.path_derivative(z));
    let (one, two) = (-0.5 * first / (mu * mu), -0.5 * second);
    (first * v / (mu * mu * mu), one + two, one.abs() + two.abs())
}

#[test]
fn gamma_and_inverse_gamma() {
    let file = read("implicit_gradients.json");
    for case in list(&file, "gamma") {
        let c = member("gamma", [number(case, "a"), 1.0, 0.0]);
        check(case, "dx_da", c.path_derivative(number(case, "x"))[0], IMPLICIT, 0.0);
    }
    for case in list(&file, "inverse_gamma_aa") {
        let (a, w) = (number(case, "a"), number(case, "w"));
        let c = member("inverse_gamma", [a, a, 0.0]);
        let [shape, scale, _] = c.path_derivative(w);
        // Shape and scale move together: near the sign change a small difference of two terms of size w/a, each good to
        // 3e−13.
        check(case, "dw_da", -(shape + scale), IMPLICIT, 0.03 * w / a);
        check(case, "log_pdf", c.log_density(w), CLOSED_FORM, 1.0);
    }
}

#[test]
fn inverse_gaussian() {
    for case in list(&read("implicit_gradients.json"), "inverse_gaussian") {
        let (mu, v, z) = (number(case, "mu"), number(case, "v"), number(case, "z"));
        let c = member("inverse_gaussian", [mu, v, 0.0]);
        let (d_mu, d_v, size) = by_mu_and_v(&c, z);
        check(case, "log_pdf", c.log_density(z), CLOSED_FORM, 1.0);
        check(case, "dz_dmu", d_mu, IMPLICIT, 0.0);
        // A difference of two natural derivatives; its own formula is in `special`.
        check(case, "dz_dv", d_v, IMPLICIT, 1e-3 * size);
    }
}

#[test]
fn birnbaum_saunders() {
    for case in list(&read("implicit_gradients.json"), "birnbaum_saunders") {
        let (mu, v, z) = (number(case, "mu"), number(case, "v"), number(case, "z"));
        let fixed = member("birnbaum_saunders", [mu, v, 0.0]);
        let learned = member("birnbaum_saunders_learned", [mu, v, 0.0]);
        for c in [fixed, learned] {
            let (d_mu, d_v, size) = by_mu_and_v(&c, z);
            check(case, "log_pdf", c.log_density(z), CLOSED_FORM, 1.0);
            check(case, "dz_dmu", d_mu, IMPLICIT, 0.0);
            check(case, "dz_dv", d_v, IMPLICIT, 1e-3 * size);
            check(case, "m1", c.expectation()[0], CLOSED_FORM, 0.0);
            check(case, "m2", c.expectation()[1], CLOSED_FORM, 0.0);
            check(case, "natural1", c.natural()[0], CLOSED_FORM, 0.0);
            check(case, "natural2", c.natural()[1], CLOSED_FORM, 0.0);
        }
        // Half inverse Gaussian, half the reciprocal of one.
        let (plain, reciprocal) =
            (inverse_gaussian_cdf(mu, v, z), inverse_gaussian_cdf(1.0 / mu, v / (mu * mu), 1.0 / z));
        check(case, "cdf", 0.5 * (plain + 1.0 - reciprocal), CLOSED_FORM, 1e-3);
    }
}

#[test]
fn beta() {
    for case in list(&read("implicit_gradients.json"), "beta") {
        let (a, b, z) = (number(case, "a"), number(case, "b"), number(case, "z"));
        let c = member("beta", [a, b, 0.0]);
        check(case, "log_pdf", c.log_density(z), CLOSED_FORM, 1.0);
        let (found, integral) = (c.path_derivative(z), c.implicit_derivative(z));
        for (i, name) in ["dz_da", "dz_db"].into_iter().enumerate() {
            // Some of these vectors are themselves only good to 3e−11 (mathematics §5.2); 40-digit values side with the
            // quadrature.
            let expected = number(case, name);
            let error = (found[i] - expected).abs();
            assert!(error <= IMPLICIT * expected.abs() || error <= 4e-11, "{name}: found {} in {case}", found[i]);
            let error = (found[i] / integral[i] - 1.0).abs();
            assert!(error <= IMPLICIT, "{name}: found {}, by quadrature {} in {case}", found[i], integral[i]);
        }
    }
}

#[test]
fn von_mises() {
    for case in list(&read("implicit_gradients.json"), "von_mises") {
        let (kappa, offset) = (number(case, "kappa"), number(case, "theta_minus_mu"));
        for direction in [0.0, 2.0] {
            let c = member("von_mises", [direction, kappa, 0.0]);
            let (m, path) = (c.expectation(), c.path_derivative(direction + offset));
            let along = |v: [f64; 3]| v[0] * direction.cos() + v[1] * direction.sin();
            check(case, "log_pdf", c.log_density(direction + offset), CLOSED_FORM, 1.0);
            check(case, "mean_resultant", along(m), CLOSED_FORM, 0.0);
            check(case, "dtheta_dkappa", along(path), IMPLICIT, 1e-3);
        }
    }
}

/// The part of the file that is about one point: mixture density, responsibilities, h and derivatives of the draws.
#[test]
fn mixtures_of_gamma_distributions() {
    let file = read("mixture_ef.json");
    for case in list(&file, "cases") {
        let weights = vector(case, "weights");
        let components: Vec<Component> =
            list(case, "components").iter().map(|c| member("gamma", [number(c, "a"), number(c, "b"), 0.0])).collect();
        for point in list(case, "points") {
            let z = number(point, "z");
            let logs: Vec<f64> = components.iter().zip(&weights).map(|(c, w)| w.ln() + c.log_density(z)).collect();
            let log_q = log_sum_exp(&logs);
            let shares: Vec<f64> = logs.iter().map(|l| (l - log_q).exp()).collect();
            let score: f64 = components.iter().zip(&shares).map(|(c, r)| r * c.score(z)).sum();
            check(point, "log_q", log_q, CLOSED_FORM, 1.0);
            check(point, "h", log_q - (1.5 * z.ln() - z), CLOSED_FORM, 1.0);
            check(point, "dh", score - (1.5 / z - 1.0), CLOSED_FORM, 1.0);
            let expected = [("responsibilities", 1e-12), ("dz_da", IMPLICIT), ("dz_db", IMPLICIT)];
            for (name, tolerance) in expected {
                for (i, expected) in vector(point, name).into_iter().enumerate() {
                    let path = components[i].path_derivative(z);
                    let found = match name {
                        "responsibilities" => shares[i],
                        "dz_da" => path[0],
                        _ => -path[1],
                    };
                    assert!((found - expected).abs() <= tolerance * expected.abs(), "{name} {i}: {found} in {point}");
                }
            }
        }
    }
}
