//! A component that somebody else brings: an exponential family of one or two natural parameters on a line.

mod member;

pub(crate) use member::OwnMember;

use std::fmt;

use crate::Error;
use crate::random::MixingNoise;
use crate::registry::{Named, Registry};
use crate::target::Support;

/// The values of a natural parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// All real numbers.
    Real,
    /// Those above 0.
    Positive,
    /// Those below 0.
    Negative,
}

impl Range {
    fn has(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Real => true,
                Self::Positive => value > 0.0,
                Self::Negative => value < 0.0,
            }
    }
}

/// The value, the first and the second derivative of a function at a point.
pub type Derivatives = [f64; 3];

/// An exponential family q(z) = exp{b(z) + t₁(z)η₁ + t₂(z)η₂ − A(η)} that is not in elinvar. With [`Own::register`] it
/// is a component of [`Family::ef_mixture`](crate::Family::ef_mixture), which is fitted, evaluated, saved and loaded
/// like any other; files hold its natural parameters.
///
/// One natural parameter or two; with one, the second entries are zero. The density has to have one peak in z, in log z
/// where z is positive and in its log-odds where z is between 0 and 1. What has a default follows from integrals, some
/// hundred evaluations each: a path derivative of your own makes fits many times faster. [`conformance::component`]
/// tries the functions against each other; `examples/own_component.rs` is a whole one.
///
/// ```
/// use elinvar::research::component::{Derivatives, Own, OwnComponent, Range};
/// use elinvar::research::random::MixingNoise;
/// use elinvar::research::target::Support;
///
/// /// Rayleigh's law, z exp(−z²/2σ²)/σ²; t = z², η = −1/2σ².
/// #[derive(Debug)]
/// struct Rayleigh;
///
/// impl OwnComponent for Rayleigh {
///     fn name(&self) -> &'static str {
///         "rayleigh"
///     }
///     fn support(&self) -> Support {
///         Support::Positive
///     }
///     fn parameters(&self) -> &'static [(&'static str, Range)] {
///         &[("eta", Range::Negative)]
///     }
///     fn standard(&self) -> [f64; 2] {
///         [-0.5, 0.0]
///     }
///     fn log_base(&self, z: f64) -> Derivatives {
///         [z.ln(), 1.0 / z, -1.0 / (z * z)]
///     }
///     fn statistics(&self, z: f64) -> [Derivatives; 2] {
///         [[z * z, 2.0 * z, 2.0], [0.0; 3]]
///     }
///     fn log_partition(&self, eta: [f64; 2]) -> f64 {
///         -(-2.0 * eta[0]).ln()
///     }
///     fn expectation(&self, eta: [f64; 2]) -> [f64; 2] {
///         [-1.0 / eta[0], 0.0]
///     }
///     fn fisher(&self, eta: [f64; 2]) -> [[f64; 2]; 2] {
///         [[1.0 / (eta[0] * eta[0]), 0.0], [0.0; 2]]
///     }
///     fn sample(&self, eta: [f64; 2], noise: &mut dyn MixingNoise) -> f64 {
///         (noise.uniform().ln() / eta[0]).sqrt()
///     }
/// }
///
/// elinvar::conformance::component(&Rayleigh)?;
/// let family = elinvar::Family::ef_mixture(Own::register(Rayleigh)?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`conformance::component`]: crate::conformance::component
pub trait OwnComponent: fmt::Debug + Send + Sync + 'static {
    /// Its name in files; other constants are another component, and need another name.
    fn name(&self) -> &'static str;
    /// Where z lives: anything but the circle.
    fn support(&self) -> Support;
    /// The natural parameters: one or two, each with a name and its values.
    fn parameters(&self) -> &'static [(&'static str, Range)];
    /// The natural parameters of a member of ordinary size.
    fn standard(&self) -> [f64; 2];
    /// b(z).
    fn log_base(&self, z: f64) -> Derivatives;
    /// t(z).
    fn statistics(&self, z: f64) -> [Derivatives; 2];
    /// A(η).
    fn log_partition(&self, eta: [f64; 2]) -> f64;
    /// m = E\[t(z)\] = ∇A.
    fn expectation(&self, eta: [f64; 2]) -> [f64; 2];
    /// F = Cov\[t(z)\] = ∇²A.
    fn fisher(&self, eta: [f64; 2]) -> [[f64; 2]; 2];
    /// A draw.
    fn sample(&self, eta: [f64; 2], noise: &mut dyn MixingNoise) -> f64;

    /// ∂z/∂η of a draw at fixed probability, −∂P(z; η)/∂η over q(z) with the distribution function P (mathematics §5
    /// (5.1)).
    fn path_derivative(&self, eta: [f64; 2], z: f64) -> Option<[f64; 2]> {
        let _ = (eta, z);
        None
    }
    /// E\[z\] and Var\[z\].
    fn mean_and_variance(&self, eta: [f64; 2]) -> Option<(f64, f64)> {
        let _ = eta;
        None
    }
    /// −E\[log q(z)\]; without it the entropy is averaged over draws.
    fn entropy(&self, eta: [f64; 2]) -> Option<f64> {
        let _ = eta;
        None
    }
}

/// A registered component: as small as a pointer.
#[derive(Clone, Copy)]
pub struct Own(&'static Registered);

struct Registered {
    component: Box<dyn OwnComponent>,
    parameter_names: Vec<&'static str>,
}

impl Named for Registered {
    fn name(&self) -> &'static str {
        self.component.name()
    }
}

static REGISTRY: Registry<Registered> = Registry::new("component");

impl Own {
    /// Makes a component known for the rest of the program, so that files with its name can be read.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a name that is taken, a circle, or a number of parameters other than one and two;
    /// [`Error::Domain`] for standard parameters outside their ranges.
    pub fn register(component: impl OwnComponent) -> Result<Self, Error> {
        let name = component.name();
        let is_taken = super::ComponentKind::NAMES.contains(&name);
        REGISTRY
            .add(name, is_taken, || {
                OwnMember::standard_of(&component)?;
                let parameter_names = component.parameters().iter().map(|(name, _)| *name).collect();
                Ok(Registered { component: Box::new(component), parameter_names })
            })
            .map(Self)
    }

    /// The registered component of this name.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there is none.
    pub fn named(name: &str) -> Result<Self, Error> {
        REGISTRY.named(name).map(Self)
    }

    /// The component's name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    pub(in crate::component) fn parameter_names(self) -> &'static [&'static str] {
        &self.0.parameter_names
    }

    pub(in crate::component) fn standard(self) -> OwnMember<'static> {
        let member = OwnMember::bare(&*self.0.component, Some(self.0));
        member.at(self.0.component.standard()).expect("the standard member was made when the component was registered")
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.component.fmt(f)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
