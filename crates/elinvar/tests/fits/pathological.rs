//! Targets that no family fits, with the ladder: every fit ends by itself and claims nothing that is not so.
//!
//! `cargo xtask calibrate` fits the same targets without the limits on evaluations that keep this file short.

use elinvar::chains::Doubt;
use elinvar::model::{EightSchools, Funnel, Parametrisation};
use elinvar::posterior::Verdict;
use elinvar::run::{Stop, StopReason};
use elinvar::target::{Target, from_fn, from_fns};
use elinvar::{Family, Plan, Posterior};

/// Evaluations after which a target that would take millions is left.
const LIMIT: u64 = 60_000;

fn fitted(target: &dyn Target, seed: u64, max_evaluations: Option<u64>) -> Posterior {
    let default = Stop::default();
    let stop = Stop { max_evaluations: max_evaluations.unwrap_or(default.max_evaluations), ..default };
    let mut posterior = elinvar::run::fit(target, Family::auto(), &Plan { seed, stop, ..Plan::default() })
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let judgement = posterior.judge(target, 4_000, seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert!(judgement.reason.ends_with('.') && !judgement.reason.contains("NaN"), "{}", judgement.reason);
    posterior
}

/// The target has no moments: no answer can be trusted, not even its means.
#[track_caller]
fn never_trusted(target: &dyn Target, seeds: u64, max_evaluations: Option<u64>) {
    for seed in 1..=seeds {
        let posterior = fitted(target, seed, max_evaluations);
        let reason = &posterior.judgement().unwrap().reason;
        assert_eq!(posterior.verdict(), Some(Verdict::DoNotTrust), "seed {seed}: {reason}");
    }
}

/// Three seeds, cut short.
#[track_caller]
fn not_fully_trusted(target: &dyn Target) {
    for seed in 1..=3 {
        let posterior = fitted(target, seed, Some(LIMIT));
        let reason = &posterior.judgement().unwrap().reason;
        assert_ne!(posterior.verdict(), Some(Verdict::Trust), "seed {seed}: {reason}");
    }
}

/// What is trusted is within 0.1 sd and 15 % of the truth.
#[track_caller]
fn trusted_only_if_right(
    target: &dyn Target,
    (mean, sd): (&[f64], &[f64]),
    seeds: u64,
    max_evaluations: Option<u64>,
) -> Vec<Posterior> {
    let posteriors: Vec<Posterior> = (1..=seeds).map(|seed| fitted(target, seed, max_evaluations)).collect();
    for posterior in &posteriors {
        let (d, reason) = (posterior.dim(), &posterior.judgement().unwrap().reason);
        let answer = posterior.summary(10_000, 1).coordinates;
        for i in 0..d {
            let (shift, ratio) = ((answer[i].mean.value - mean[i]).abs() / sd[i], answer[i].sd.value / sd[i]);
            if posterior.verdict() != Some(Verdict::DoNotTrust) {
                assert!(shift <= 0.1, "a mean is off by {shift} sd: {reason}");
            }
            if posterior.verdict() == Some(Verdict::Trust) {
                assert!((ratio - 1.0).abs() <= 0.15, "an sd is off by a factor {ratio}: {reason}");
            }
        }
    }
    posteriors
}

/// A standard normal with z₁ > edge, `beyond` elsewhere.
fn cut(dim: usize, edge: f64, beyond: f64) -> impl Target {
    from_fn(dim, move |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        if z[0] < edge { beyond } else { -0.5 * z.iter().map(|z| z * z).sum::<f64>() }
    })
}

/// Mean √(2/π) and variance 1 − 2/π of a half normal; a Gaussian start exists, so that the fit does not end with an
/// error.
#[test]
fn not_a_number_on_half_the_space() {
    let mean = (2.0 / std::f64::consts::PI).sqrt();
    let sd = (1.0 - mean * mean).sqrt();
    let fits = trusted_only_if_right(&cut(2, 0.0, f64::NAN), (&[mean, 0.0], &[sd, 1.0]), 5, None);
    for fit in fits {
        assert_eq!(fit.verdict(), Some(Verdict::DoNotTrust));
        assert!(fit.counts().dropped > 0 && fit.stop_reason() != StopReason::Converged, "{}", fit.stop_reason().name());
    }
}

/// With λ = φ(−1)/Φ(1) = 0.28760, a normal above −1 has mean λ and variance 1 − λ − λ².
#[test]
fn a_cliff() {
    let lambda = 0.287_599_970_939_178_4f64;
    let sd = (1.0 - lambda - lambda * lambda).sqrt();
    trusted_only_if_right(&cut(3, -1.0, f64::NEG_INFINITY), (&[lambda, 0.0, 0.0], &[sd, 1.0, 1.0]), 5, None);
    // Four sds out the edge is harmless, and so are the wide draws beyond it.
    for fit in trusted_only_if_right(&cut(2, -4.0, f64::NAN), (&[0.0; 2], &[1.0; 2]), 2, None) {
        assert_eq!(fit.verdict(), Some(Verdict::Trust), "{}", fit.judgement().unwrap().reason);
    }
}

#[test]
fn a_constant() {
    let constant = from_fns(
        3,
        |_, grad| {
            grad.fill(0.0);
            0.0
        },
        |_, hessian| hessian.fill(0.0),
    );
    never_trusted(&constant, 1, None);
}

#[test]
fn a_density_without_bound() {
    let unbounded = from_fn(3, |z, grad| {
        grad.copy_from_slice(&[1.0, -z[1], -z[2]]);
        z[0] - 0.5 * (z[1] * z[1] + z[2] * z[2])
    });
    never_trusted(&unbounded, 2, None);
}

#[test]
fn a_cauchy() {
    let cauchy = from_fn(3, |z, grad| {
        let spread = 1.0 + z.iter().map(|z| z * z).sum::<f64>();
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -4.0 * z / spread);
        -2.0 * spread.ln()
    });
    not_fully_trusted(&cauchy);
}

#[test]
fn a_funnel() {
    let mut sd = [2.25f64.exp(); 10];
    sd[0] = 3.0;
    trusted_only_if_right(&Funnel::new(10).unwrap(), (&[0.0; 10], &sd), 3, Some(LIMIT));
}

/// The density grows without bound where all schools are the same; the spike holds the less the higher it is, and
/// chains in coordinates of the scale see both of its ends. Moments by quadrature over log τ.
#[test]
fn eight_schools_centred() {
    let mean = [4.3968, 0.8021, 6.2119, 4.9402, 3.927, 4.7571, 3.6155, 4.0426, 6.2967, 4.8543];
    let sd = [3.3177, 1.1712, 5.5931, 4.6743, 5.2626, 4.7803, 4.6575, 4.8269, 5.0778, 5.2908];
    let target = EightSchools::new(Parametrisation::Centred);
    for posterior in trusted_only_if_right(&target, (&mean, &sd), 5, Some(LIMIT)) {
        let corrected = posterior.corrected().expect("chains run where a search goes up without end");
        assert!(posterior.agreement().unbounded, "{:?}", posterior.agreement());
        assert!(!corrected.doubts.contains(&Doubt::Unbounded), "{:?}", corrected.doubts);
    }
}

/// Where steps from a pool of evaluations lead nowhere, a fit goes on from where it was. Of thirty seeds one, the
/// eighth, ended at means in the hundreds.
#[test]
fn a_gaussian_of_eight_schools_is_never_far_out() {
    let target = crate::subjects::GradientsOnly(&EightSchools::new(Parametrisation::NonCentred));
    for seed in [5, 8, 12] {
        let posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan { seed, ..Plan::default() }).unwrap();
        let (mean, covariance) = (posterior.approximation().mean(), posterior.approximation().covariance());
        assert!((mean[1] - 0.85).abs() < 0.15 && (covariance[11].sqrt() - 0.735).abs() < 0.1, "{seed}: {mean:?}");
    }
}

/// A scale without data: the density has no maximum, and climbs from its chains go on without end.
#[test]
fn a_scale_without_data_is_answered() {
    use elinvar::prelude::{Fit, Parameters, log_density};
    let model = log_density(Parameters::new().real("mu", 1).positive("sigma", 1), |x, gradient| {
        let (mu, sigma) = (x[0], x[1]);
        gradient[0] = -mu / (sigma * sigma);
        gradient[1] = mu * mu / sigma.powi(3) - 1.0 / sigma - sigma;
        -0.5 * mu * mu / (sigma * sigma) - sigma.ln() - 0.5 * sigma * sigma
    });
    for seed in 1..=8 {
        let posterior = Fit::new(&model).seed(seed).run().unwrap();
        let sigma = posterior.summary(2, 1).parameters[1].clone();
        // sigma is half-normal.
        assert!(
            (sigma.mean.value - 0.797_88).abs() < 0.06 && (sigma.sd.value / 0.602_81).ln().abs() < 0.14,
            "{sigma:?}"
        );
    }
}
