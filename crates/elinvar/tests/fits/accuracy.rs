//! KL divergence of the fits from posteriors whose normaliser is known.
//!
//! `cargo xtask accuracy` runs five seeds with 10⁶ draws each; otherwise (ELINVAR_ACCURACY unset) one seed and 3·10⁵
//! draws.

use elinvar::model::{BetaBinomial, DesignMatrix, LogisticRegression};
use elinvar::run::Stop;
use elinvar::target::Target;
use elinvar::{Family, Plan};
use elinvar_data::{Outcome, RegressionData, Selection};

/// log p(D) of the embedded logistic regression, by importance sampling (standard error 6e-4).
const BREAST_CANCER_LOG_EVIDENCE: f64 = -34.243_088_384_712_23;
/// Log normaliser of the beta-binomial posterior, by quadrature on a grid.
const BETA_BINOMIAL_LOG_NORMALISER: f64 = -570.708_611_427_425_1;

/// The embedded logistic regression: intercept first, prior precision 1.
fn breast_cancer() -> LogisticRegression {
    let data =
        RegressionData::from_table(&elinvar_data::breast_cancer(), &Selection::new("y", Outcome::Binary)).unwrap();
    let x = DesignMatrix::new(data.features, data.names.len(), data.names).unwrap();
    LogisticRegression::new(x, data.y, 1.0).unwrap()
}

/// More draws against the noise of the skew gradient, with the quickly decaying steps of the default plan.
fn low_noise() -> Plan {
    let stop = Stop { remaining_nats: 0.001, max_steps: 1_000, ..Stop::default() };
    Plan { n_draws: 128, stop, ..Plan::default() }
}

fn check(target: &dyn Target, log_normaliser: f64, family: Family, plan: &Plan, limit: f64) {
    let full = std::env::var("ELINVAR_ACCURACY").is_ok_and(|v| v == "full");
    let (seeds, n) = if full { (5, 1_000_000) } else { (1, 300_000) };
    for seed in 1..=seeds {
        let mut posterior = elinvar::run::fit(target, family, &Plan { seed, ..plan.clone() }).unwrap();
        let elbo = posterior.diagnose(target, n, 1000 + seed).unwrap().elbo;
        let kl = log_normaliser - elbo.value;
        let (name, k) = (family.name(), family.n_components());
        let gradients = posterior.counts().gradient;
        println!("{name} K = {k} seed {seed}: KL {kl:.4} ± {:.4} (limit {limit}), {gradients} gradients", elbo.mcse);
        assert!(kl < limit, "{name}, K = {k}, seed {seed}: KL {kl:.4} ± {:.4} is above {limit}", elbo.mcse);
    }
}

#[test]
fn breast_cancer_gaussian() {
    check(&breast_cancer(), BREAST_CANCER_LOG_EVIDENCE, Family::gaussian(), &Plan::default(), 0.06);
}

#[test]
fn breast_cancer_mixture() {
    check(&breast_cancer(), BREAST_CANCER_LOG_EVIDENCE, Family::mog(10), &Plan::thorough(), 0.015);
}

#[test]
fn beta_binomial_gaussian() {
    let plan = Plan { n_draws: 64, ..Plan::default() };
    check(&BetaBinomial::cancer_mortality(), BETA_BINOMIAL_LOG_NORMALISER, Family::gaussian(), &plan, 0.130);
}

#[test]
fn beta_binomial_skew() {
    check(&BetaBinomial::cancer_mortality(), BETA_BINOMIAL_LOG_NORMALISER, Family::skew(), &low_noise(), 0.085);
}

#[test]
fn beta_binomial_three_components() {
    check(&BetaBinomial::cancer_mortality(), BETA_BINOMIAL_LOG_NORMALISER, Family::mog(3), &Plan::thorough(), 0.016);
}

#[test]
fn beta_binomial_five_components() {
    check(&BetaBinomial::cancer_mortality(), BETA_BINOMIAL_LOG_NORMALISER, Family::mog(5), &Plan::thorough(), 0.006);
}
