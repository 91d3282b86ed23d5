//! Targets inside a family are found, and families live where their targets do.

use super::*;
use crate::state::Stated;
use elinvar::Family;
use elinvar::run::Run;

#[test]
fn one_member_is_recovered() {
    for (name, parameters) in [
        ("exponential", &[2.5][..]),
        ("gamma", &[3.0, 0.7]),
        ("gamma", &[0.4, 5.0]),
        ("gamma", &[300.0, 7.0]),
        ("normal", &[3.0, 0.6]),
        ("log_normal", &[1.0, 0.6]),
        ("inverse_gaussian", &[2.0, 3.0]),
        ("weibull", &[0.4]),
        ("beta", &[2.0, 5.0]),
        ("beta", &[0.6, 0.5]),
        ("von_mises", &[2.5, 4.0]),
        ("von_mises", &[-3.1, 0.3]),
        ("birnbaum_saunders", &[2.0, 3.0]),
    ] {
        if known(name) {
            recovers(member(name, 1, &[1.0], &[parameters]));
        }
    }
}

/// Two components; the labels are the target's own, so that the order of the components is free.
#[test]
fn mixtures_of_two_are_recovered() {
    for (name, one, two) in [
        ("gamma", &[20.0, 10.0][..], &[30.0, 5.0][..]),
        ("exponential", &[5.0], &[0.3]),
        ("gamma and log_normal", &[20.0, 10.0], &[1.8, 0.3]),
        ("log_normal", &[0.0, 0.3], &[1.5, 0.4]),
        ("inverse_gaussian", &[1.0, 8.0], &[6.0, 40.0]),
        ("beta", &[4.0, 16.0], &[20.0, 6.0]),
        ("von_mises", &[0.5, 6.0], &[-2.6, 3.0]),
        ("birnbaum_saunders", &[1.0, 8.0], &[6.0, 40.0]),
    ] {
        if known(name) {
            recovers(member(name, 1, &[0.35, 0.65], &[one, two]));
        }
    }
}

/// In two dimensions KL(q ‖ p) is estimated from draws of q: log q − log p is nearly zero everywhere.
#[test]
fn products_in_two_dimensions_are_recovered() {
    for p in [
        member("gamma", 2, &[1.0], &[&[3.0, 0.7, 12.0, 2.0]]),
        member("gamma", 2, &[0.4, 0.6], &[&[9.0, 9.0, 12.0, 2.0], &[30.0, 5.0, 20.0, 10.0]]),
        member("log_normal", 2, &[1.0], &[&[1.0, 0.5, -2.0, 0.2]]),
    ] {
        let posterior = fitted(&p);
        let draws = posterior.sample_z(20_000, 7);
        let terms: Vec<f64> = draws.view().iter().map(|z| posterior.log_density(z) - p.log_density(z)).collect();
        let kl = terms.iter().sum::<f64>() / terms.len() as f64;
        assert!(posterior.converged() && kl.abs() < 0.005, "{:?}: KL {kl}", p.state());
    }
}

/// The posterior of a rate, a proportion and a direction, against quadrature.
#[test]
fn models_on_their_own_scale() {
    let counts = PoissonRate::new(vec![3.0, 5.0, 2.0, 7.0, 4.0]).unwrap();
    let outcomes = Proportion::new(&[1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]).unwrap();
    let angles = Direction::new(&[2.8, -3.0, 3.1, 2.5, -2.9], 2.0).unwrap();
    let cases: [(&dyn Target, &str); 3] = [(&counts, "gamma"), (&outcomes, "beta"), (&angles, "von_mises")];
    for (target, name) in cases.into_iter().filter(|(_, name)| known(name)) {
        let family = Family::ef_mixture(ComponentKind::new(name, None).unwrap(), 1);
        let mut posterior = elinvar::run::fit(target, family, &Plan::default()).unwrap();
        let nodes = grid(target.about().support);
        let z: Vec<f64> = nodes.iter().map(|(z, _)| *z).collect();
        let mut out = Answer::new(1, z.len());
        target.evaluate(&Ask::all(Draws::new(1, &z), Want::Gradients), &mut out).unwrap();
        let log_normaliser =
            nodes.iter().zip(out.log_p()).map(|((_, width), log_p)| width * log_p.exp()).sum::<f64>().ln();
        let elbo = posterior.diagnose(target, 20_000, 3).unwrap().elbo;
        let gap = log_normaliser - elbo.value;
        // A Gaussian prior of the logarithm or logit bends the posterior a little; that of the direction is exact.
        assert!(gap.abs() < 0.01 && posterior.converged(), "{name}: gap {gap} ± {}", elbo.mcse);
    }
}

#[test]
fn families_live_where_the_target_does() {
    let gamma = Family::ef_mixture(ComponentKind::new("gamma", None).unwrap(), 2);
    let rate = PoissonRate::new(vec![3.0]).unwrap();
    for family in [Family::gaussian(), Family::mog(2), Family::auto()] {
        let error = elinvar::run::fit(&rate, family, &Plan::default()).unwrap_err();
        let sentence = error.to_string();
        assert!(matches!(error, Error::Unsupported { .. }), "{sentence}");
        assert!(
            sentence.contains("for a target on positive numbers") && sentence.contains("exponential, gamma"),
            "{sentence}"
        );
        assert!(sentence.contains("`Constrained`"), "{sentence}");
    }
    let real = elinvar::model::Banana::default();
    let sentence = elinvar::run::fit(&real, gamma, &Plan::default()).unwrap_err().to_string();
    assert!(sentence.contains("which lives on positive numbers, for a target on all real numbers"), "{sentence}");
    let start = member("gamma", 2, &[1.0], &[&[1.0, 1.0, 1.0, 1.0]]);
    assert!(Run::new(&real, start, &Plan::default()).is_err());
    let values = from_values(1, |z| -z[0]).on(Support::Positive);
    let sentence = elinvar::run::fit(&values, gamma, &Plan::default()).unwrap_err().to_string();
    assert!(sentence.contains("`ef_mixture` from values of the log density alone"), "{sentence}");
}
