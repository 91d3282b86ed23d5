//! Families that are brought from outside: one of elinvar's, written again, takes the same steps; what is wrong with
//! one is named.

use elinvar::conformance;
use elinvar::estimate::Curvature;
use elinvar::family::{Own, OwnFamily};
use elinvar::internals::special::gamma::ln_gamma;
use elinvar::internals::special::normal::log_ndtr;
use elinvar::law::Law;
use elinvar::random::Noise;
use elinvar::rule::{Rule, StepSize};
use elinvar::run::Placement;
use elinvar::target::{Target, from_fn};
use elinvar::{Family, Fit, Plan, Posterior};

/// Coordinates with Student's t of six degrees of freedom each, z = μ + √(w/P) ε with w ~ InvGamma(3, 3), in η = (Pμ,
/// −P/2): what `scale_mixture` with `product` is. Its metric is that of (z, w).
#[derive(Debug)]
struct Product {
    name: &'static str,
}

/// The quantile of Gamma(3, 1).
fn gamma_quantile(p: f64) -> f64 {
    let below = |x: f64| 1.0 - (-x).exp() * (1.0 + x + 0.5 * x * x);
    let (mut low, mut high) = (-40.0_f64, 10.0_f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if below(middle.exp()) < p { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).exp()
}

/// μ and P.
fn usual(eta: &[f64]) -> (f64, f64) {
    (-0.5 * eta[0] / eta[1], -2.0 * eta[1])
}

impl OwnFamily for Product {
    fn name(&self) -> &'static str {
        self.name
    }

    fn n_parameters(&self, dim: usize) -> usize {
        2 * dim
    }

    /// ε of all coordinates, and what w is made from.
    fn n_normals(&self, dim: usize) -> usize {
        2 * dim
    }

    fn is_inside(&self, eta: &[f64]) -> bool {
        eta.chunks_exact(2).all(|eta| eta[1] < 0.0)
    }

    /// As elinvar starts around a place: P is the inverse of the variance.
    fn near_gaussian(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        let variances = covariance.iter().step_by(mean.len() + 1);
        mean.iter().zip(variances).flat_map(|(mean, v)| [mean / v, -0.5 / v]).collect()
    }

    fn draw(&self, eta: &[f64], normals: &[f64], z: &mut [f64]) {
        let d = z.len();
        for (i, (z, eta)) in z.iter_mut().zip(eta.chunks_exact(2)).enumerate() {
            let (mu, p) = usual(eta);
            let w = 3.0 / gamma_quantile(log_ndtr(normals[d + i]).exp());
            *z = mu + (w / p).sqrt() * normals[i];
        }
    }

    fn pull_back(&self, eta: &[f64], normals: &[f64], slope: &[f64], out: &mut [f64]) {
        let mut z = vec![0.0; slope.len()];
        self.draw(eta, normals, &mut z);
        for (i, eta) in eta.chunks_exact(2).enumerate() {
            let (mu, p) = usual(eta);
            out[2 * i] += slope[i] / p;
            out[2 * i + 1] += slope[i] * (2.0 * mu / p + (z[i] - mu) / p);
        }
    }

    fn log_density(&self, eta: &[f64], z: &[f64]) -> f64 {
        let constant = ln_gamma(3.5) - ln_gamma(3.0) - 0.5 * (6.0 * std::f64::consts::PI).ln();
        let one = |(eta, z): (&[f64], &f64)| {
            let (mu, p) = usual(eta);
            constant + 0.5 * p.ln() - 3.5 * (p * (z - mu) * (z - mu) / 6.0).ln_1p()
        };
        eta.chunks_exact(2).zip(z).map(one).sum()
    }

    fn score(&self, eta: &[f64], z: &[f64], out: &mut [f64]) {
        for ((eta, z), out) in eta.chunks_exact(2).zip(z).zip(out) {
            let (mu, p) = usual(eta);
            *out = -7.0 / 6.0 * p * (z - mu) / (1.0 + p * (z - mu) * (z - mu) / 6.0);
        }
    }

    /// The covariance of (z/w, z²/w), with E[1/w] = 1.
    fn fisher(&self, eta: &[f64], out: &mut [f64]) {
        let n = eta.len();
        for (i, eta) in eta.chunks_exact(2).enumerate() {
            let (mu, p) = usual(eta);
            let both = 2.0 * mu / p;
            for (k, entry) in [1.0 / p, both, both, 2.0 / (p * p) + 4.0 * mu * mu / p].into_iter().enumerate() {
                out[(2 * i + k / 2) * n + 2 * i + k % 2] = entry;
            }
        }
    }

    fn mean(&self, eta: &[f64], out: &mut [f64]) {
        eta.chunks_exact(2).zip(out).for_each(|(eta, out)| *out = usual(eta).0);
    }

    fn covariance(&self, eta: &[f64], out: &mut [f64]) {
        let d = eta.len() / 2;
        eta.chunks_exact(2).enumerate().for_each(|(i, eta)| out[i * d + i] = 1.5 / usual(eta).1);
    }
}

/// A ridge that bends.
fn target() -> impl Target {
    from_fn(2, |z, gradient| {
        let bend = z[1] - 0.3 * z[0] * z[0];
        gradient[0] = -z[0] / 4.0 + 0.6 * z[0] * bend;
        gradient[1] = -bend;
        -z[0] * z[0] / 8.0 - bend * bend / 2.0
    })
}

#[test]
fn one_written_again_takes_the_steps_of_that_which_is_there() {
    let inside = Family::scale_mixture(Law::of_scale("student_t", &[("a", 3.0)]).unwrap()).product();
    let brought = Family::own(Own::register(Product { name: "brought product" }).unwrap());
    let target = target();
    for rule in [Rule::NaturalGradient, Rule::NaturalMomentum { gamma: 0.5 }] {
        let plan = Plan {
            rule,
            max_kl: None,
            step_size: StepSize::Constant(0.1),
            curvature: Curvature::Stein { control_variate: false },
            // Antithetic partners of the one share their w.
            noise: Noise::Independent,
            n_draws: 40,
            ..Plan::default()
        };
        let [own, known] = [brought, inside].map(|family| {
            let place = Placement { mean: 0.7, sd: 0.0, variance: 0.8 };
            let mut run = Fit::new(&target).family(family).plan(plan.clone()).start_around(place).begin().unwrap();
            let bounds: Vec<f64> = (0..30).map(|_| run.step().unwrap().elbo.unwrap()).collect();
            (bounds, run.q().mean(), run.q().covariance())
        });
        for (found, truth) in
            own.0.iter().zip(&known.0).chain(own.1.iter().zip(&known.1)).chain(own.2.iter().zip(&known.2))
        {
            assert!((found - truth).abs() <= 1e-9 * truth.abs().max(1.0), "{rule:?}: {found} instead of {truth}");
        }
    }
}

/// A whole fit by the default plan reaches the same bound, and its file is read back.
#[test]
fn one_written_again_is_fitted_saved_and_read() {
    let inside = Family::scale_mixture(Law::of_scale("student_t", &[("a", 3.0)]).unwrap()).product();
    let brought = Family::own(Own::register(Product { name: "brought product, fitted" }).unwrap());
    let target = target();
    let fits = [brought, inside].map(|family| Fit::new(&target).family(family).run().unwrap());
    let [own, known] = [&fits[0], &fits[1]].map(|fit| fit.diagnostics().unwrap().elbo);
    // Each ends within 0.01 nats of its optimum; three errors of the difference are passed once in 370.
    assert!((own.value - known.value).abs() < 0.02 + 3.0 * own.mcse.hypot(known.mcse), "{own:?} {known:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    fits[0].save(&path).unwrap();
    let back = Posterior::load(&path).unwrap();
    assert_eq!((back.family(), back.approximation()), (brought, fits[0].approximation()));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("brought product, fitted"));
    let said = Own::named("nobody's").unwrap_err().to_string();
    assert!(said.contains("Own::register") && said.contains("family"), "{said}");
}

/// N(μ, diag σ²) in μ and log σ, one part of which may be wrong.
#[derive(Debug)]
struct Gaussian {
    wrong: &'static str,
}

impl Gaussian {
    fn off(&self, part: &str) -> f64 {
        if self.wrong == part { 1.3 } else { 1.0 }
    }
}

impl OwnFamily for Gaussian {
    fn name(&self) -> &'static str {
        "tried"
    }

    fn n_parameters(&self, dim: usize) -> usize {
        if self.wrong == "number" { 4 } else { 2 * dim }
    }

    fn near_gaussian(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64> {
        let d = mean.len();
        mean.iter().copied().chain(covariance.iter().step_by(d + 1).map(|v| 0.5 * v.ln())).collect()
    }

    fn draw(&self, theta: &[f64], normals: &[f64], z: &mut [f64]) {
        let d = z.len();
        (0..d).for_each(|i| z[i] = theta[i] + self.off("draws") * theta[d + i].exp() * normals[i]);
    }

    fn pull_back(&self, theta: &[f64], normals: &[f64], slope: &[f64], out: &mut [f64]) {
        let d = slope.len();
        for i in 0..d {
            out[i] += self.off("pull_back") * slope[i];
            out[d + i] += self.off("draws") * slope[i] * theta[d + i].exp() * normals[i];
        }
        if self.wrong == "overwrites" {
            (0..d).for_each(|i| out[i] = slope[i]);
        }
    }

    fn log_density(&self, theta: &[f64], z: &[f64]) -> f64 {
        let d = z.len();
        let one = |i: usize| {
            let r = (z[i] - theta[i]) * (-theta[d + i]).exp();
            -0.5 * (r * r + std::f64::consts::TAU.ln()) - self.off("constant") * theta[d + i]
        };
        (0..d).map(one).sum()
    }

    fn score(&self, theta: &[f64], z: &[f64], out: &mut [f64]) {
        let d = z.len();
        (0..d).for_each(|i| out[i] = self.off("score") * (theta[i] - z[i]) * (-2.0 * theta[d + i]).exp());
    }

    fn fisher(&self, theta: &[f64], out: &mut [f64]) {
        let (n, d) = (theta.len(), theta.len() / 2);
        for i in 0..d {
            out[i * n + i] = (-2.0 * theta[d + i]).exp();
            out[(d + i) * n + d + i] = 2.0 * self.off("fisher");
        }
    }

    fn mean(&self, theta: &[f64], out: &mut [f64]) {
        (0..out.len()).for_each(|i| out[i] = theta[i] + self.off("mean") - 1.0);
    }

    fn covariance(&self, theta: &[f64], out: &mut [f64]) {
        let d = theta.len() / 2;
        (0..d).for_each(|i| out[i * d + i] = self.off("covariance") * (2.0 * theta[d + i]).exp());
    }

    fn entropy(&self, theta: &[f64]) -> Option<f64> {
        let d = theta.len() / 2;
        let each = 0.5 * (1.0 + std::f64::consts::TAU.ln());
        Some(self.off("entropy") * (0..d).map(|i| each + theta[d + i]).sum::<f64>())
    }

    fn divergence(&self, next: &[f64], theta: &[f64]) -> Option<f64> {
        let d = theta.len() / 2;
        let one = |i: usize| {
            let (log, shift) = (next[d + i] - theta[d + i], (next[i] - theta[i]) * (-theta[d + i]).exp());
            0.5 * ((2.0 * log).exp() + shift * shift - 1.0) - log
        };
        let sum: f64 = (0..d).map(one).sum();
        Some(if self.wrong == "divergence" { 2.5 * sum } else { sum })
    }
}

#[test]
fn what_is_wrong_with_a_family_is_named() {
    let said = |wrong: &'static str| conformance::family(&Gaussian { wrong });
    assert_eq!(said(""), Ok(()));
    for (wrong, rule) in [
        ("number", "the number of parameters rises"),
        ("score", "the score is the derivative"),
        ("pull_back", "pull_back adds"),
        ("overwrites", "pull_back adds"),
        ("draws", "draws have the density"),
        ("constant", "draws have the density"),
        ("mean", "the mean is that of the draws"),
        ("covariance", "the covariance is that of the draws"),
        ("entropy", "the entropy"),
        ("fisher", "the Fisher matrix"),
        ("divergence", "the divergence of a short step"),
    ] {
        let broken = said(wrong).expect_err(wrong);
        assert!(broken.rule.contains(rule), "{wrong}: {broken}");
    }
}
