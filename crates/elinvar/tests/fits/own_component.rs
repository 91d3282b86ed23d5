//! Components that are brought from outside: one of elinvar's, written again, has the same numbers and takes the same
//! steps; what is wrong with one is named.

use elinvar::block::LogWeights;
use elinvar::component::{Component, ComponentKind, Derivatives, Own, OwnComponent, Range};
use elinvar::conformance;
use elinvar::family::Approximation;
use elinvar::internals::special::gamma::{digamma, ln_gamma, trigamma};
use elinvar::random::MixingNoise;
use elinvar::target::{Support, Target, from_fn};
use elinvar::{Family, Fit, Posterior};

/// The gamma law with t = (log z, z), base 1/z and η = (a, −ρ), one part of which may be wrong.
#[derive(Debug)]
struct Gamma {
    name: &'static str,
    wrong: &'static str,
}

impl Gamma {
    fn off(&self, part: &str) -> f64 {
        if self.wrong == part { 1.001 } else { 1.0 }
    }
}

impl OwnComponent for Gamma {
    fn name(&self) -> &'static str {
        self.name
    }

    fn support(&self) -> Support {
        Support::Positive
    }

    fn parameters(&self) -> &'static [(&'static str, Range)] {
        &[("shape", Range::Positive), ("minus_rate", Range::Negative)]
    }

    fn standard(&self) -> [f64; 2] {
        [2.0, -2.0]
    }

    fn log_base(&self, z: f64) -> Derivatives {
        [-z.ln(), -self.off("base") / z, 1.0 / (z * z)]
    }

    fn statistics(&self, z: f64) -> [Derivatives; 2] {
        [[z.ln(), 1.0 / z, -self.off("second") / (z * z)], [z, 1.0, 0.0]]
    }

    fn log_partition(&self, eta: [f64; 2]) -> f64 {
        self.off("partition") * (ln_gamma(eta[0]) - eta[0] * (-eta[1]).ln())
    }

    fn expectation(&self, eta: [f64; 2]) -> [f64; 2] {
        [digamma(eta[0]) - (-eta[1]).ln(), -self.off("expectation") * eta[0] / eta[1]]
    }

    fn fisher(&self, eta: [f64; 2]) -> [[f64; 2]; 2] {
        let life = -1.0 / eta[1];
        [[self.off("fisher") * trigamma(eta[0]), life], [life, eta[0] * life * life]]
    }

    fn sample(&self, eta: [f64; 2], noise: &mut dyn MixingNoise) -> f64 {
        let shape = if self.wrong == "draws" { 1.15 * eta[0] } else { eta[0] };
        -noise.gamma(shape) / eta[1]
    }

    fn path_derivative(&self, eta: [f64; 2], z: f64) -> Option<[f64; 2]> {
        // That of the shape is left to the integral, unless it is to be wrong.
        (self.wrong == "path").then_some([z, -z / eta[1]])
    }

    fn mean_and_variance(&self, eta: [f64; 2]) -> Option<(f64, f64)> {
        let mean = -eta[0] / eta[1];
        Some((self.off("mean") * mean, -self.off("variance") * mean / eta[1]))
    }

    fn entropy(&self, eta: [f64; 2]) -> Option<f64> {
        let [log, _] = self.expectation(eta);
        Some(self.off("entropy") * (self.log_partition(eta) - (eta[0] - 1.0) * log + eta[0]))
    }
}

fn near(found: &[f64], truth: &[f64], tolerance: f64, what: &str) {
    for (found, truth) in found.iter().zip(truth) {
        let size = truth.abs().max(1.0);
        assert!((found - truth).abs() <= tolerance * size, "{what}: {found} instead of {truth}");
    }
}

fn inside() -> ComponentKind {
    ComponentKind::new("gamma", None).unwrap()
}

/// Two gamma laws for each of two coordinates.
fn start(kind: ComponentKind) -> Approximation {
    let member = |shape: f64, rate: f64| kind.standard().with_natural([shape, -rate, 0.0]).unwrap();
    let members = vec![member(2.0, 2.0), member(3.0, 1.0), member(0.7, 1.5), member(5.0, 4.0)];
    Approximation::ef_mixture(LogWeights::uniform(2), members).unwrap()
}

/// A log-normal law of x₁ and a gamma law of x₂ given x₁.
fn target() -> impl Target {
    from_fn(2, |z, gradient| {
        let (log, rest) = (z[0].ln(), z[1] * (1.0 + z[0]));
        gradient[0] = (-log - 1.0) / z[0] + 3.0 / (1.0 + z[0]) - z[1];
        gradient[1] = 2.0 / z[1] - (1.0 + z[0]);
        -0.5 * log * log - log + 3.0 * (1.0 + z[0]).ln() + 2.0 * z[1].ln() - rest
    })
    .on(Support::Positive)
}

#[test]
fn one_written_again_has_the_numbers_of_that_which_is_there() {
    let brought = ComponentKind::from(Own::register(Gamma { name: "brought gamma", wrong: "" }).unwrap());
    for (shape, rate) in [(0.4, 0.3), (2.0, 2.0), (7.5, 0.1), (60.0, 30.0)] {
        let [own, known]: [Component; 2] =
            [brought, inside()].map(|kind| kind.standard().with_natural([shape, -rate, 0.0]).unwrap());
        let what = format!("Gamma({shape}, {rate})");
        near(&own.expectation(), &known.expectation(), 1e-12, &what);
        near(&own.fisher().concat(), &known.fisher().concat(), 1e-12, &what);
        near(&own.natural_gradient([0.3, -0.7, 0.0]), &known.natural_gradient([0.3, -0.7, 0.0]), 1e-9, &what);
        near(&[own.entropy().unwrap()], &[known.entropy().unwrap()], 1e-12, &what);
        near(&own.with_expectation(known.expectation()).unwrap().natural(), &known.natural(), 1e-9, &what);
        for z in [0.02, 0.5, 1.7, 9.0] {
            let numbers = |c: &Component| [c.log_density(z), c.score(z), c.second_derivative(z)];
            near(&numbers(&own), &numbers(&known), 1e-12, &what);
            near(&own.path_derivative(z), &known.path_derivative(z), 1e-9, &what);
        }
        near(&own.with_chart(own.chart()).unwrap().natural(), &own.natural(), 1e-14, &what);
        near(&own.chart_jacobian().concat(), &known.chart_jacobian().concat(), 1e-14, &what);
    }
}

/// The researcher's loop and a whole fit: the same draws, the same gradients but for rounding.
#[test]
fn one_written_again_takes_the_steps_of_that_which_is_there() {
    let brought = Own::register(Gamma { name: "brought gamma, stepped", wrong: "" }).unwrap();
    let target = target();
    let ends = [brought.into(), inside()].map(|kind| {
        let mut run = Fit::new(&target).start_from(start(kind)).begin().unwrap();
        (0..25).for_each(|_| assert!(run.step().unwrap().taken > 0.0));
        let numbers: Vec<f64> = run.q().parts().into_iter().flat_map(|(b, _)| b).collect();
        (numbers, run.finish())
    });
    // Files of the one hold its natural parameters, (a, −ρ), those of the other (a, ρ).
    let sizes = |end: &(Vec<f64>, Posterior)| end.0.iter().map(|v| v.abs()).collect::<Vec<f64>>();
    near(&sizes(&ends[0]), &sizes(&ends[1]), 1e-8, "parameters after 25 steps");

    let fitted = Fit::new(&target).family(Family::ef_mixture(brought, 1)).run().unwrap();
    let known = Fit::new(&target).family(Family::ef_mixture(inside(), 1)).run().unwrap();
    near(&fitted.approximation().mean(), &known.approximation().mean(), 1e-6, "mean of a fit");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    fitted.save(&path).unwrap();
    let back = Posterior::load(&path).unwrap();
    assert_eq!(back.family().to_string(), fitted.family().to_string());
    assert_eq!(back.approximation(), fitted.approximation());
    assert!(std::fs::read_to_string(&path).unwrap().contains("brought gamma, stepped"));
}

#[test]
fn what_is_wrong_with_a_component_is_named() {
    let said = |wrong: &'static str| conformance::component(&Gamma { name: "tried", wrong });
    assert_eq!(said(""), Ok(()));
    for (wrong, rule) in [
        ("base", "derivatives are those of the values"),
        ("second", "derivatives are those of the values"),
        ("partition", "integrates to one"),
        ("expectation", "the expectation is E[t(z)]"),
        ("fisher", "the Fisher matrix is the covariance"),
        ("draws", "draws have the density"),
        ("path", "the path derivative"),
        ("mean", "the mean is that of the density"),
        ("variance", "the variance is that of the density"),
        ("entropy", "the entropy"),
    ] {
        let broken = said(wrong).expect_err(wrong);
        assert!(broken.rule.contains(rule), "{wrong}: {broken}");
    }
    assert!(conformance::component(&Gamma { name: " tried", wrong: "" }).unwrap_err().rule.contains("name"));
}

#[test]
fn a_name_that_is_taken_or_unknown_gets_a_sentence() {
    assert!(Own::register(Gamma { name: "gamma", wrong: "" }).is_err());
    Own::register(Gamma { name: "once", wrong: "" }).unwrap();
    let twice = Own::register(Gamma { name: "once", wrong: "" }).unwrap_err().to_string();
    assert!(twice.contains("a name of its own"), "{twice}");
    let unknown = ComponentKind::new("nobody's", None).unwrap_err().to_string();
    assert!(unknown.contains("Own::register"), "{unknown}");
}
