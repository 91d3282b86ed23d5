//! A family that somebody else brings: its parameters are free numbers with a Fisher matrix.

mod parameters;

pub use parameters::OwnParameters;
pub(crate) use parameters::OwnScratch;

use std::fmt;

use crate::Error;
use crate::registry::{Named, Registry};

/// A family of distributions over ℝᵈ that is not in elinvar. With [`Own::register`] it becomes
/// [`Family::own`](crate::Family::own), which is fitted, evaluated, saved and loaded like any other.
///
/// A member is a list of parameters θ in coordinates that you choose. A draw is a smooth function of θ and of standard
/// normal numbers ε; the gradient of the bound is E[(∂z/∂θ)ᵀ{∇log p(z) − ∇log q(z)}], and a step is θ ← θ + βF⁻¹g: in
/// natural parameters of an exponential family that is the natural gradient of elinvar's own. A step that would leave
/// the domain is halved. States of a window of steps are averaged in θ, so the domain has to be convex.
///
/// [`conformance::family`](crate::conformance::family) tries the functions against each other. The number of
/// coordinates d is known from the number of parameters. `examples/own_family.rs` is a whole family; here is N(μ, I):
///
/// ```
/// use elinvar::research::family::{Own, OwnFamily};
///
/// #[derive(Debug)]
/// struct UnitGaussian;
///
/// impl OwnFamily for UnitGaussian {
///     fn name(&self) -> &'static str {
///         "unit_gaussian"
///     }
///     fn n_parameters(&self, dim: usize) -> usize {
///         dim
///     }
///     fn near_gaussian(&self, mean: &[f64], _covariance: &[f64]) -> Vec<f64> {
///         mean.to_vec()
///     }
///     fn draw(&self, theta: &[f64], normals: &[f64], z: &mut [f64]) {
///         (0..z.len()).for_each(|i| z[i] = theta[i] + normals[i]);
///     }
///     fn pull_back(&self, _theta: &[f64], _normals: &[f64], slope: &[f64], out: &mut [f64]) {
///         out.iter_mut().zip(slope).for_each(|(out, slope)| *out += slope);
///     }
///     fn log_density(&self, theta: &[f64], z: &[f64]) -> f64 {
///         z.iter().zip(theta).map(|(z, m)| -0.5 * ((z - m) * (z - m) + std::f64::consts::TAU.ln())).sum()
///     }
///     fn score(&self, theta: &[f64], z: &[f64], out: &mut [f64]) {
///         (0..z.len()).for_each(|i| out[i] = theta[i] - z[i]);
///     }
///     fn fisher(&self, theta: &[f64], out: &mut [f64]) {
///         out.iter_mut().step_by(theta.len() + 1).for_each(|entry| *entry = 1.0);
///     }
///     fn mean(&self, theta: &[f64], out: &mut [f64]) {
///         out.copy_from_slice(theta);
///     }
///     fn covariance(&self, theta: &[f64], out: &mut [f64]) {
///         out.iter_mut().step_by(theta.len() + 1).for_each(|entry| *entry = 1.0);
///     }
/// }
///
/// elinvar::conformance::family(&UnitGaussian)?;
/// let family = elinvar::Family::own(Own::register(UnitGaussian)?);
/// let posterior = elinvar::Fit::new(&elinvar::model::Banana::default()).family(family).run()?;
/// assert_eq!(posterior.family(), family);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OwnFamily: fmt::Debug + Send + Sync + 'static {
    /// Its name in files; other constants are another family, and need another name.
    fn name(&self) -> &'static str;
    /// How many parameters a member has in so many coordinates; more for more of these.
    fn n_parameters(&self, dim: usize) -> usize;
    /// How many standard normal numbers a draw is made of.
    fn n_normals(&self, dim: usize) -> usize {
        dim
    }
    /// Whether there is a member with these parameters, all of them finite.
    fn is_inside(&self, theta: &[f64]) -> bool {
        let _ = theta;
        true
    }
    /// The parameters of a member with about this mean and this covariance (d × d), from which a fit begins.
    fn near_gaussian(&self, mean: &[f64], covariance: &[f64]) -> Vec<f64>;

    /// Writes the draw that is made of these normal numbers.
    fn draw(&self, theta: &[f64], normals: &[f64], z: &mut [f64]);
    /// Adds (∂z/∂θ)ᵀ `slope` to `out`, for the draw that is made of these normal numbers.
    fn pull_back(&self, theta: &[f64], normals: &[f64], slope: &[f64], out: &mut [f64]);
    /// log q(z), with its constant.
    fn log_density(&self, theta: &[f64], z: &[f64]) -> f64;
    /// Writes ∇log q(z), the derivatives in z.
    fn score(&self, theta: &[f64], z: &[f64], out: &mut [f64]);
    /// Writes the Fisher matrix of θ, which is symmetric; `out` arrives zeroed.
    fn fisher(&self, theta: &[f64], out: &mut [f64]);
    /// Writes E\[z\]; `out` arrives zeroed.
    fn mean(&self, theta: &[f64], out: &mut [f64]);
    /// Writes Cov\[z\], d × d; `out` arrives zeroed.
    fn covariance(&self, theta: &[f64], out: &mut [f64]);

    /// −E\[log q(z)\]; without it the entropy is averaged over draws.
    fn entropy(&self, theta: &[f64]) -> Option<f64> {
        let _ = theta;
        None
    }
    /// KL(q_next ‖ q), by which steps are bounded; without it, ½ δᵀFδ with δ = next − θ and the mean F of both ends.
    fn divergence(&self, next: &[f64], theta: &[f64]) -> Option<f64> {
        let _ = (next, theta);
        None
    }
}

/// A registered family: as small as a pointer.
#[derive(Clone, Copy)]
pub struct Own(&'static Registered);

struct Registered(Box<dyn OwnFamily>);

impl Named for Registered {
    fn name(&self) -> &'static str {
        self.0.name()
    }
}

static REGISTRY: Registry<Registered> = Registry::new("family");

impl Own {
    /// Makes a family known for the rest of the program, so that files with its name can be read.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a name that is taken.
    pub fn register(family: impl OwnFamily) -> Result<Self, Error> {
        REGISTRY.add(family.name(), false, || Ok(Registered(Box::new(family)))).map(Self)
    }

    /// The registered family of this name.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there is none.
    pub fn named(name: &str) -> Result<Self, Error> {
        REGISTRY.named(name).map(Self)
    }

    /// The family's name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The numbers of a member near N(mean, covariance), as files have them.
    pub(crate) fn near_gaussian(self, mean: &[f64], covariance: &[f64]) -> Vec<(Vec<f64>, Vec<f64>)> {
        vec![(self.family().near_gaussian(mean, covariance), Vec::new())]
    }

    /// What was registered.
    pub(crate) fn family(self) -> &'static dyn OwnFamily {
        &*self.0.0
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.fmt(f)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
