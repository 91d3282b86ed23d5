//! Families over laws that are brought from outside: those of elinvar, known by density and quantiles alone, give the
//! same fits.

use elinvar::law::{Own, OwnLaw, Role};
use elinvar::model::Banana;
use elinvar::posterior::Estimate;
use elinvar::target::{Target, from_fn};
use elinvar::{Family, Plan, Posterior};

/// Student's t with 2a = 6 degrees of freedom: w ~ InvGamma(3, 3)'s density; with a quantile by bisection.
#[derive(Debug)]
struct InverseGamma3;

/// P(w > x) for w ~ InvGamma(3, 3): Poisson's tail at 3/x.
fn beyond(x: f64) -> f64 {
    let rate = 3.0 / x;
    1.0 - (-rate).exp() * (1.0 + rate + 0.5 * rate * rate)
}

impl OwnLaw for InverseGamma3 {
    fn name(&self) -> &'static str {
        "brought inverse gamma"
    }

    fn log_density(&self, w: f64) -> f64 {
        3.0 * 3.0_f64.ln() - 2.0_f64.ln() - 4.0 * w.ln() - 3.0 / w
    }

    fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (-10.0_f64, 30.0_f64);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if 1.0 - beyond(middle.exp()) < p { low = middle } else { high = middle }
        }
        (0.5 * (low + high)).exp()
    }
}

/// The law of `emg`.
#[derive(Debug)]
struct Exponential;

impl OwnLaw for Exponential {
    fn name(&self) -> &'static str {
        "brought exponential"
    }

    fn role(&self) -> Role {
        Role::Shift
    }

    fn log_density(&self, w: f64) -> f64 {
        -w
    }

    fn quantile(&self, p: f64) -> f64 {
        -(-p).ln_1p()
    }
}

/// z₁ = log x₁ and z₂ = log x₂ + ½ log x₁ with x from Gamma(2, 1): skewed to the left.
fn log_gammas() -> impl Target {
    from_fn(2, |z, gradient| {
        let other = z[1] - 0.5 * z[0];
        gradient[1] = 2.0 - other.exp();
        gradient[0] = 2.0 - z[0].exp() - 0.5 * gradient[1];
        2.0 * (z[0] + other) - z[0].exp() - other.exp()
    })
}

/// Student's t with six degrees of freedom in two dimensions, off the origin; its integral is 2π.
fn student() -> impl Target {
    from_fn(2, |z, gradient| {
        let (x, y) = (z[0] - 1.0, z[1] - z[0]);
        let inside = 1.0 + (x * x + y * y) / 6.0;
        let slope = -4.0 / 3.0 / inside;
        gradient[0] = slope * (x - y);
        gradient[1] = slope * y;
        -4.0 * inside.ln()
    })
}

/// Bounds of the family and of the same one over the law that was brought.
fn bounds(target: &dyn Target, family: Family, own: impl OwnLaw) -> [Estimate; 2] {
    [family, Family::own(Own::register(own).unwrap())].map(|family| {
        let mut fit = elinvar::run::fit(target, family, &Plan::default()).unwrap();
        fit.diagnose(target, 20_000, 9).unwrap().elbo
    })
}

/// Both end within 0.01 nats of the target itself, whose log normaliser is log 2π; at the optimum the bound has no
/// noise.
#[test]
fn a_scale_that_is_brought_fits_its_own_law() {
    for bound in bounds(&student(), Family::student_t(3.0), InverseGamma3) {
        let below = std::f64::consts::TAU.ln() - bound.value;
        assert!(below.abs() < 0.01 + 3.0 * bound.mcse && bound.mcse < 0.002, "{bound:?}, {below} below");
    }
}

/// The bounds agree within what two fits of one family may differ by: each ends within 0.01 nats of its optimum.
/// Three standard errors of the difference are passed in one of 370 pairs of fits.
#[test]
fn a_shift_that_is_brought_gives_the_fit_of_that_which_is_there() {
    let bounds = bounds(&log_gammas(), Family::emg(), Exponential);
    let [one, other] = bounds;
    assert!((one.value - other.value).abs() < 0.02 + 3.0 * one.mcse.hypot(other.mcse), "{bounds:?}");
    assert!(one.mcse < 0.005, "{bounds:?}");
}

/// A file names the law; nobody knows one that was not registered.
#[test]
fn a_file_of_an_unknown_law_says_what_to_do() {
    let own = Own::register(elsewhere::Rayleigh).unwrap();
    let posterior = elinvar::run::fit(&Banana::default(), Family::own(own), &Plan::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    posterior.save(&path).unwrap();
    assert_eq!(Posterior::load(&path).unwrap().sample_z(5, 2), posterior.sample_z(5, 2));
    let text = std::fs::read_to_string(&path).unwrap().replace("\"rayleigh\"", "\"rayleigh 2\"");
    let (content, _) = text.split_once(",\n  \"checksum\"").unwrap();
    let sealed = format!("{content},\n  \"checksum\": \"{}\"\n}}\n", elinvar::file::fingerprint(content.as_bytes()));
    std::fs::write(&path, sealed).unwrap();
    let said = Posterior::load(&path).unwrap_err().to_string();
    assert!(said.contains("\"rayleigh 2\"") && said.contains("Own::register"), "{said}");
}

mod elsewhere {
    /// w has the density w exp(−w²/2), and is a scale.
    #[derive(Debug)]
    pub(super) struct Rayleigh;

    impl elinvar::law::OwnLaw for Rayleigh {
        fn name(&self) -> &'static str {
            "rayleigh"
        }

        fn log_density(&self, w: f64) -> f64 {
            w.ln() - 0.5 * w * w
        }

        fn quantile(&self, p: f64) -> f64 {
            (-2.0 * (-p).ln_1p()).sqrt()
        }
    }
}
