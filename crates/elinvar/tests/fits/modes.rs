//! Several modes that no Gaussian is the shape of, in few and in many dimensions: chains on each, weighed by evidence.

use elinvar::internals::special::gamma::{digamma, ln_gamma, trigamma};
use elinvar::internals::special::logistic::log_sum_exp;
use elinvar::model::GaussianMixture;
use elinvar::posterior::{GivenBy, Verdict};
use elinvar::target::{Target, from_fn};
use elinvar::{Family, Plan, Posterior};

use crate::subjects::GradientsOnly;

/// The shape of the log-gamma law that every coordinate of a mode has: its skewness is −0.6.
const SHAPE: f64 = 3.0;
/// Share of the first mode.
const SHARE: f64 = 0.65;

/// Two products of log-gamma laws, the second mirrored and moved by `apart` standard deviations in the first two
/// coordinates; gradients only.
fn two_modes(dim: usize, apart: f64) -> impl Target {
    let (mean, sd) = (digamma(SHAPE), trigamma(SHAPE).sqrt());
    let place = move |i: usize| 2.0 * mean + if i < 2 { apart * sd } else { 0.0 };
    from_fn(dim, move |z, grad| {
        let log_density = |z: f64| SHAPE * z - z.exp() - ln_gamma(SHAPE);
        let first: f64 = z.iter().map(|z| log_density(*z)).sum();
        let second: f64 = z.iter().enumerate().map(|(i, z)| log_density(place(i) - z)).sum();
        let logs = [SHARE.ln() + first, (1.0 - SHARE).ln() + second];
        let log_p = log_sum_exp(&logs);
        let share = (logs[0] - log_p).exp();
        for (i, (g, z)) in grad.iter_mut().zip(z).enumerate() {
            *g = share * (SHAPE - z.exp()) - (1.0 - share) * (SHAPE - (place(i) - z).exp());
        }
        log_p
    })
}

fn fitted(dim: usize, apart: f64, seed: u64) -> Posterior {
    elinvar::run::fit(&two_modes(dim, apart), Family::auto(), &Plan { seed, ..Plan::default() }).unwrap()
}

/// The claim of `trust` holds, by moments that are known.
fn is_right(posterior: &Posterior, apart: f64) -> bool {
    let (mean, sd) = (digamma(SHAPE), trigamma(SHAPE).sqrt());
    posterior.summary(2, 1).parameters.iter().enumerate().all(|(i, number)| {
        let away = if i < 2 { apart * sd } else { 0.0 };
        let total = (sd * sd + SHARE * (1.0 - SHARE) * away * away).sqrt();
        let off = (number.mean.value - mean - (1.0 - SHARE) * away).abs() / total;
        off < 0.1 && (number.sd.value / total - 1.0).abs() < 0.15
    })
}

/// A mixture of Gaussians is no approximation of these that weights could confirm for less than some hundred thousand
/// gradients in ten dimensions. All numbers follow from the seeds.
#[test]
fn both_modes_have_their_share() {
    for (dim, apart, seed) in [(2, 10.0, 1), (10, 10.0, 2), (30, 10.0, 1), (60, 14.0, 1)] {
        let posterior = fitted(dim, apart, seed);
        assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{dim}: {:?}", posterior.judgement());
        assert_eq!(posterior.given_by(), GivenBy::Chains);
        assert!(is_right(&posterior, apart), "{dim}");
        let corrected = posterior.corrected().unwrap();
        let [first, second] = &corrected.modes[..] else { panic!("{:?}", corrected.modes) };
        let share = if first.mean[0] < second.mean[0] { first.share } else { second.share };
        // False alarms: 6e-5 for each.
        assert!((share.value - SHARE).abs() < 4.0 * share.mcse && share.mcse < 0.03, "{dim}: {share:?}");
        let evidence = posterior.summary(2, 1).log_evidence.unwrap();
        assert!(evidence.value.abs() < 4.0 * evidence.mcse && evidence.mcse < 0.1, "{dim}: {evidence:?}");
        assert!(posterior.counts().gradient < 40_000, "{dim}: {:?}", posterior.counts());
        let reason = &posterior.judgement().unwrap().reason;
        assert!(reason.contains("2 modes, with "), "{reason}");
    }
}

/// Draws are of both modes, quantiles too, and a file keeps the shares.
#[test]
fn draws_and_quantiles_are_of_both_modes() {
    let posterior = fitted(2, 10.0, 1);
    let corrected = posterior.corrected().unwrap();
    let draws = corrected.draws(1_000);
    let middle = digamma(SHAPE) + 5.0 * trigamma(SHAPE).sqrt();
    let below = draws.view().iter().filter(|z| z[0] < middle).count() as f64 / 1_000.0;
    assert!((below - SHARE).abs() < 0.1, "{below}");
    let number = &corrected.coordinates[0];
    assert!(number.q5.value < number.q50.value && number.q50.value < middle && middle < number.q95.value, "{number:?}");
    // Within a mode, the moments of a log-gamma law or of its mirror image, which lie where it is.
    let modes = posterior.modes();
    assert!(modes.len() == 2 && modes[0].share.value > modes[1].share.value);
    let sd = trigamma(SHAPE).sqrt();
    for (mode, at) in modes.iter().zip([digamma(SHAPE), digamma(SHAPE) + 10.0 * sd]) {
        let number = &mode.parameters[0];
        assert!((number.mean.value - at).abs() < 0.1 * sd && (number.sd.value / sd - 1.0).abs() < 0.15, "{number:?}");
    }
    let shown = posterior.to_string();
    let share = modes[0].share_in_percent();
    assert!(shown.lines().any(|line| line.starts_with("mode") && line.contains(&share)), "{shown}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("modes.fit.json");
    posterior.save(&path).unwrap();
    assert_eq!(Posterior::load(&path).unwrap().corrected(), Some(corrected));
}

/// Modes that run into each other are one place, and the answer is that of chains that cross.
#[test]
fn modes_without_a_valley_are_one_place() {
    let posterior = fitted(2, 2.5, 1);
    assert!(posterior.corrected().is_none_or(|corrected| corrected.modes.is_empty()));
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    assert!(is_right(&posterior, 2.5));
}

/// 1 − w of N(0, I) and w of N((at, 0, …), sd² I), by gradients alone: whether the answer is right, and the fit.
fn beside(dim: usize, weight: f64, at: f64, sd: f64, seed: u64) -> (bool, Posterior) {
    let mut means = vec![0.0; 2 * dim];
    means[dim] = at;
    let mut covariances = vec![0.0; 2 * dim * dim];
    for i in 0..dim {
        covariances[i * (dim + 1)] = 1.0;
        covariances[dim * dim + i * (dim + 1)] = sd * sd;
    }
    let target = GaussianMixture::new(&[1.0 - weight, weight], means, &covariances).unwrap();
    let plan = Plan { seed, ..Plan::default() };
    let posterior = elinvar::run::fit(&GradientsOnly(&target), Family::auto(), &plan).unwrap();
    let right = posterior.summary(2, 1).coordinates.iter().enumerate().all(|(i, number)| {
        let away = if i == 0 { at } else { 0.0 };
        let variance = 1.0 - weight + weight * sd * sd + weight * (1.0 - weight) * away * away;
        let (off, ratio) = ((number.mean.value - weight * away).abs(), number.sd.value / variance.sqrt());
        off < 0.1 * variance.sqrt() && (ratio - 1.0).abs() < 0.15
    });
    (right, posterior)
}

/// A spike that the look around has met is weighed, though no valley is around it. All numbers follow from the seeds.
#[test]
fn a_spike_has_its_share() {
    for (weight, at, sd) in [(0.2, 1.5, 0.002), (0.35, 2.5, 0.01)] {
        let (right, posterior) = beside(1, weight, at, sd, 1);
        assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{at}: {:?}", posterior.judgement());
        assert!(right && posterior.counts().gradient < 30_000, "{at}: {:?}", posterior.counts());
    }
}

/// Two modes that chains cross between now and then, and of which no search has met the second: chains that move slowly
/// are asked where they would climb to.
#[test]
fn slow_chains_on_two_modes_find_them() {
    let (right, posterior) = beside(3, 0.47, 7.0, 1.13, 10);
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    assert!(right && posterior.counts().gradient < 60_000, "{:?}", posterior.counts());
    assert_eq!(posterior.corrected().map(|corrected| corrected.modes.len()), Some(2));
}
