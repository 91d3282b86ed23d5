//! Fits whose answer is known.

use elinvar::estimate::Sampling;
use elinvar::model::CategoryShares;
use elinvar::random::Noise;
use elinvar::rule::{EuclideanAdam, Rule};
use elinvar::run::Stop;
use elinvar::target::{PointwiseSecondOrder, Target};
use elinvar::{Error, Plan, Posterior};

use super::*;
use crate::subjects::{Member, divergence};

fn fitted(target: &dyn Target, components: usize, plan: &Plan) -> Posterior {
    elinvar::run::fit(target, Family::dirichlet(components), plan).unwrap()
}

/// h = log q − log p is constant at the posterior, so that there is no noise at the end: the fit finds all digits that
/// it is asked for.
#[test]
fn shares_of_counts_have_their_conjugate_posterior() {
    for counts in [vec![3.0, 11.0, 6.0], vec![0.0, 1.0], vec![4000.0, 0.0, 250.0, 17.0, 3.0]] {
        let target = CategoryShares::new(counts.clone()).unwrap().with_prior(0.8).unwrap();
        let exact: Vec<f64> = counts.iter().map(|n| n + 0.8).collect();
        let stop = Stop { remaining_nats: 1e-18, max_steps: 200, ..Stop::default() };
        let mut posterior = fitted(&target, 1, &Plan { stop, average: false, ..Plan::default() });
        let found = posterior.approximation().naturals()[0].concentrations().to_vec();
        let worst = found.iter().zip(&exact).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        let evidence = log_beta(&exact) - log_beta(&vec![0.8; counts.len()]);
        let elbo = posterior.diagnose(&target, 4_000, 3).unwrap().elbo;
        println!("{counts:?}: {worst:.1e} after {} gradients", posterior.counts().gradient);
        assert!(worst < 1e-9, "{found:?} {exact:?}");
        assert!((elbo.value - evidence).abs() < 1e-8, "{} {evidence}", elbo.value);

        // The default plan, which stops sooner.
        let posterior = fitted(&target, 1, &Plan::default());
        let found = posterior.approximation().naturals()[0].concentrations();
        let worst = found.iter().zip(&exact).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        println!("{counts:?}: {worst:.1e} by default, {} gradients", posterior.counts().gradient);
        assert!(posterior.converged() && worst < 1e-3, "{found:?} {exact:?}");
    }
}

/// Every scheme, noise and rule ends at the posterior.
#[test]
fn schemes_noises_and_rules_agree() {
    let target = CategoryShares::new(vec![5.0, 2.0, 9.0]).unwrap();
    let stop = Stop { remaining_nats: 1e-12, max_steps: 4_000, ..Stop::default() };
    let plan = Plan { stop, ..Plan::default() };
    let mut plans = Vec::new();
    for sampling in [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture] {
        plans.extend(Noise::ALL.map(|noise| Plan { sampling, noise, ..plan.clone() }));
    }
    for rule in
        [Rule::NaturalGradient, Rule::NaturalMomentum { gamma: 0.4 }, Rule::EuclideanAdam(EuclideanAdam::default())]
    {
        plans.push(Plan { rule, ..plan.clone() });
    }
    for plan in plans {
        let posterior = fitted(&target, 1, &plan);
        let found = posterior.approximation().naturals()[0].concentrations();
        for (a, exact) in found.iter().zip([6.0, 3.0, 10.0]) {
            assert!((a / exact - 1.0).abs() < 1e-3, "{} {} {}: {found:?}", plan.sampling, plan.noise, plan.rule);
        }
    }
}

#[test]
fn mixtures_are_recovered() {
    for p in [
        mixture(&[0.35, 0.65], &[&[20.0, 5.0, 4.0], &[3.0, 6.0, 30.0]]),
        mixture(&[0.5, 0.5], &[&[2.0, 2.0], &[40.0, 9.0]]),
        mixture(&[0.2, 0.8], &[&[5.0, 1.0, 1.0, 9.0, 2.0], &[1.0, 8.0, 4.0, 1.0, 1.0]]),
    ] {
        let target = PointwiseSecondOrder(Member(p.clone()));
        let posterior = fitted(&target, 2, &Plan::default());
        let (kl, error) = divergence(&posterior, &p);
        println!("{kl:.2e} ± {error:.1e}, {} gradients", posterior.counts().gradient);
        assert!(posterior.converged() && kl < 0.005, "{kl} ± {error}: {:?}", posterior.approximation());
    }
}

/// Items of which only one of two categories is known pin the sum of two shares and say nothing of either: no Dirichlet
/// distribution is like that, and the posterior is a mixture of as many as there are such items and one.
#[test]
fn partly_known_items_need_a_mixture() {
    let (counts, n_partial) = ([1.0, 1.0, 10.0], 40);
    let target = CategoryShares::new(counts.to_vec()).unwrap();
    let target = target.with_partial(&[0, 1], f64::from(n_partial)).unwrap();
    let of_first = |k: i32| {
        let binomial = ln_gamma(f64::from(n_partial) + 1.0)
            - ln_gamma(f64::from(k) + 1.0)
            - ln_gamma(f64::from(n_partial - k) + 1.0);
        let a = [counts[0] + 1.0 + f64::from(k), counts[1] + 1.0 + f64::from(n_partial - k), counts[2] + 1.0];
        (binomial + log_beta(&a) - log_beta(&[1.0; 3])).exp()
    };
    let evidence = (0..=n_partial).map(of_first).sum::<f64>().ln();
    let mut last = f64::INFINITY;
    for (components, least, most) in [(1, 0.55, 0.7), (2, 0.18, 0.3), (4, 0.02, 0.06)] {
        let mut posterior = fitted(&target, components, &Plan::default());
        let elbo = posterior.diagnose(&target, 40_000, 8).unwrap().elbo;
        let kl = evidence - elbo.value;
        println!("K = {components}: KL {kl:.4} ± {:.4}, {} gradients", elbo.mcse, posterior.counts().gradient);
        assert!((least..most).contains(&kl), "K = {components}: {kl}");
        assert!(kl < 0.6 * last, "K = {components}: {kl} after {last}");
        last = kl;
    }
}

#[test]
fn a_dirichlet_lives_where_the_target_does() {
    let target = CategoryShares::new(vec![1.0, 2.0, 3.0]).unwrap();
    let sentence = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap_err().to_string();
    assert!(
        sentence.contains("for a target on shares that sum to one") && sentence.contains("`dirichlet`"),
        "{sentence}"
    );
    let banana = elinvar::model::Banana::default();
    let error = elinvar::run::fit(&banana, Family::dirichlet(2), &Plan::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(Family::dirichlet(0).check().is_err());
    for (counts, sentence) in
        [(vec![3.0], "fewer than two"), (vec![1.0, 0.5], "no count"), (vec![1.0, -1.0], "no count")]
    {
        let error = CategoryShares::new(counts).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    for (categories, n) in [(&[0, 3][..], 1.0), (&[1], 1.0), (&[1, 1], 1.0), (&[0, 1], 0.5)] {
        assert!(target.clone().with_partial(categories, n).is_err(), "{categories:?} {n}");
    }
    assert!(target.clone().with_prior(0.0).is_err() && target.with_names(vec!["a".into()]).is_err());
}
