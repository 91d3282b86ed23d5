//! Special functions and implicit derivatives against the high-precision reference vectors.

use elinvar::internals::special::bessel_k::{bessel_k, paper_ratio, paper_ratio_bounds};
use elinvar::internals::special::gamma::{digamma_minus_log, ln_gamma, tetragamma_plus_inv2, trigamma_minus_inv};
use elinvar::internals::special::implicit::{
    gamma_shape_derivative, inverse_gamma_derivative, inverse_gaussian_cdf, inverse_gaussian_derivatives,
    inverse_gaussian_log_density,
};
use elinvar::internals::special::mean_mixture_entropy::{emg, skew};
use elinvar::internals::special::normal::{
    TruncatedNormal, inverse_mills, log_ndtr, t_plus_inverse_mills, truncated_variance,
};
use serde_json::Value;

use super::json::read;

const CLOSED_FORM: f64 = 1e-12;
const IMPLICIT: f64 = 1e-11;
const ENTROPY: f64 = 1e-10;

/// Every entry of a list, with access to its numbers by name.
struct Case<'a> {
    list: &'a str,
    entry: &'a Value,
}

impl Case<'_> {
    fn input(&self, name: &str) -> f64 {
        self.entry[name].as_f64().unwrap_or_else(|| panic!("{} has no number {name}", self.list))
    }

    /// Compares with the reference `name`; `floor` is the size below which the error counts as absolute.
    fn check(&self, name: &str, found: f64, tolerance: f64, floor: f64) {
        let expected = self.input(name);
        let error = (found - expected).abs() / expected.abs().max(floor);
        assert!(
            error <= tolerance || found == expected,
            "{} {name}: found {found:e}, expected {expected:e}, error {error:e} in {}",
            self.list,
            self.entry
        );
    }
}

fn for_each(file: &Value, list: &str, mut check: impl FnMut(Case<'_>)) {
    for entry in super::json::list(file, list) {
        check(Case { list, entry });
    }
}

#[test]
fn normal_tail() {
    for_each(&read("special_functions.json"), "normal_tail", |case| {
        let t = case.input("t");
        // log Φ(t) ≈ −φ(t)/t for large t: a relative change ε of t changes it by t²ε.
        let conditioning = CLOSED_FORM.max(if t > 3.0 { t * t * f64::EPSILON } else { 0.0 });
        case.check("log_ndtr", log_ndtr(t), conditioning, 0.0);
        case.check("inverse_mills", inverse_mills(t), conditioning, 0.0);
        case.check("inverse_mills", TruncatedNormal::new(t).inverse_mills, conditioning, 0.0);
        case.check("truncated_variance", truncated_variance(t), CLOSED_FORM, 0.0);
        if let Some(rho) = case.entry["inverse_mills"].as_f64()
            && t > -2.0
        {
            assert!((t_plus_inverse_mills(t) - (t + rho)).abs() < CLOSED_FORM * (t + rho));
        }
    });
}

#[test]
fn gamma_related() {
    for_each(&read("special_functions.json"), "gamma_related", |case| {
        let a = case.input("a");
        case.check("digamma_minus_log", digamma_minus_log(a), CLOSED_FORM, 0.0);
        case.check("trigamma_minus_inv", trigamma_minus_inv(a), CLOSED_FORM, 0.0);
        case.check("tetragamma_plus_inv2", tetragamma_plus_inv2(a), CLOSED_FORM, 0.0);
    });
}

#[test]
fn bessel_functions() {
    for_each(&read("special_functions.json"), "bessel_k", |case| {
        let (v, x) = (case.input("v"), case.input("x"));
        let k = bessel_k(v, x);
        // A logarithm passes through zero: there its error is absolute.
        case.check("log_k_scaled", k.log_scaled, CLOSED_FORM, 1.0);
        case.check("ratio", k.ratio, CLOSED_FORM, 0.0);
        case.check("dlogk", k.log_derivative(), CLOSED_FORM, 0.0);
        case.check("d2logk", k.log_second_derivative(), CLOSED_FORM, 0.0);
        if v >= 0.5 {
            let (lower, upper) = paper_ratio_bounds(v, x);
            case.check("paper_lower", lower, CLOSED_FORM, 0.0);
            case.check("paper_upper", upper, CLOSED_FORM, 0.0);
            case.check("paper_average", paper_ratio(v, x), CLOSED_FORM, 0.0);
        }
    });
}

#[test]
fn mean_mixture_entropies() {
    for_each(&read("special_functions.json"), "mean_mixture_entropy", |case| {
        let kappa = case.input("kappa");
        let (skew, emg) = (skew(kappa), emg(kappa));
        case.check("skew_E", skew.value, ENTROPY, 0.0);
        case.check("skew_e", skew.slope, ENTROPY, 0.0);
        case.check("emg_E", emg.value, ENTROPY, 0.0);
        case.check("emg_e", emg.slope, ENTROPY, 0.0);
    });
}

#[test]
fn implicit_derivatives() {
    let file = read("implicit_gradients.json");
    for_each(&file, "gamma", |case| {
        case.check("dx_da", gamma_shape_derivative(case.input("a"), case.input("x")), IMPLICIT, 0.0);
    });
    for_each(&file, "inverse_gamma_aa", |case| {
        let (a, w) = (case.input("a"), case.input("w"));
        // Near its sign change the derivative is a small difference of two terms of size w/a, each good to 3e−13.
        case.check("dw_da", inverse_gamma_derivative(a, w), IMPLICIT, 0.03 * w / a);
        let log_pdf = a * a.ln() - ln_gamma(a) - (a + 1.0) * w.ln() - a / w;
        case.check("log_pdf", log_pdf, CLOSED_FORM, (a * a.ln()).abs().max(1.0));
    });
    for_each(&file, "inverse_gaussian", |case| {
        let (mu, v, z) = (case.input("mu"), case.input("v"), case.input("z"));
        let (d_mu, d_v) = inverse_gaussian_derivatives(mu, v, z);
        case.check("dz_dmu", d_mu, IMPLICIT, 0.0);
        case.check("dz_dv", d_v, IMPLICIT, 0.0);
        case.check("cdf", inverse_gaussian_cdf(mu, v, z), CLOSED_FORM, 0.0);
        case.check("log_pdf", inverse_gaussian_log_density(mu, v, z), CLOSED_FORM, 1.0);
    });
}
