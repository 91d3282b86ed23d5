//! A component that somebody else brings: an exponential family of one or two natural parameters on a line.

use std::fmt;

use super::{ExponentialFamily, ParameterMatrix, Parameters, implicit};
use crate::Error;
use crate::random::{MixingNoise, Purpose, Stream};
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
/// use elinvar::component::{Derivatives, Own, OwnComponent, Range};
/// use elinvar::random::MixingNoise;
/// use elinvar::target::Support;
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

    pub(super) fn parameter_names(self) -> &'static [&'static str] {
        &self.0.parameter_names
    }

    pub(super) fn standard(self) -> OwnMember<'static> {
        let component = &*self.0.component;
        let member = OwnMember { registered: Some(self.0), ..OwnMember::bare(component) };
        member.at(component.standard()).expect("the standard member was made when the component was registered")
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

/// A member of such a component.
#[derive(Clone, Copy)]
pub struct OwnMember<'c> {
    component: &'c dyn OwnComponent,
    registered: Option<&'static Registered>,
    eta: [f64; 2],
    log_partition: f64,
}

impl<'c> OwnMember<'c> {
    /// The standard member of a component that need not be registered.
    ///
    /// # Errors
    /// As [`Own::register`].
    pub(crate) fn standard_of(component: &'c dyn OwnComponent) -> Result<Self, Error> {
        let (n, eta) = (component.parameters().len(), component.standard());
        if !(1..=2).contains(&n) {
            let what = "natural parameters of a component of your own (one or two)";
            return Err(Error::Shape { what, expected: 2, found: n });
        }
        if component.support() == Support::Circle {
            return Err(Error::Unsupported {
                wanted: "a component of your own on the circle".into(),
                instead: "use `von_mises`, or a component on a line".into(),
            });
        }
        Self::bare(component).at(eta).ok_or(Error::Domain {
            parameter: "standard parameter of the component",
            value: eta[0],
            reason: "the standard parameters have to lie in their ranges, and A(η) has to be finite there",
        })
    }

    fn bare(component: &'c dyn OwnComponent) -> Self {
        Self { component, registered: None, eta: [0.0; 2], log_partition: 0.0 }
    }

    /// The member with natural parameters η, if they are in their ranges and A is finite there.
    pub(crate) fn at(&self, eta: [f64; 2]) -> Option<Self> {
        let ranges = self.component.parameters();
        let inside = ranges.iter().zip(eta).all(|((_, range), value)| range.has(value));
        let log_partition = if inside { self.component.log_partition(eta) } else { f64::NAN };
        log_partition.is_finite().then_some(Self { eta, log_partition, ..*self })
    }

    /// Which component; a member that is stored belongs to a registered one.
    pub(super) fn own(&self) -> Own {
        Own(self.registered.expect("members of a component that is not registered stay in tests of conformance"))
    }

    /// A point where there is mass.
    pub(crate) fn somewhere(&self) -> f64 {
        self.sample(&mut Stream::open(0, Purpose::Draws, 0, 0))
    }

    /// t(z)·η summed with the base, of the k-th derivatives.
    fn exponent(&self, z: f64, k: usize) -> f64 {
        let (base, [one, two]) = (self.component.log_base(z), self.component.statistics(z));
        base[k] + (one[k] * self.eta[0] + if self.n_free() == 2 { two[k] * self.eta[1] } else { 0.0 })
    }
}

impl fmt::Debug for OwnMember<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?}", self.component, &self.eta[..self.n_free()])
    }
}

impl PartialEq for OwnMember<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.component.name() == other.component.name() && self.eta == other.eta
    }
}

/// A random source of unknown size, passed on as a trait object.
struct Passed<'n, N: ?Sized>(&'n mut N);

impl<N: MixingNoise + ?Sized> MixingNoise for Passed<'_, N> {
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        self.0.gamma(shape)
    }
}

fn widened([one, two]: [f64; 2]) -> Parameters {
    [one, two, 0.0]
}

impl ExponentialFamily for OwnMember<'_> {
    const NAME: &'static str = "own";
    /// Not asked: see [`ExponentialFamily::support`].
    const SUPPORT: Support = Support::Real;
    const PARAMETERS: &'static [&'static str] = &[];

    fn support(&self) -> Support {
        self.component.support()
    }

    fn n_free(&self) -> usize {
        self.component.parameters().len()
    }

    /// Nobody's: [`Own::standard`] makes the standard member.
    fn standard(_constant: f64) -> Option<Self> {
        None
    }

    fn parameters(&self) -> Parameters {
        self.natural()
    }

    fn with_parameters(&self, parameters: Parameters) -> Option<Self> {
        self.with_natural(parameters)
    }

    fn natural(&self) -> Parameters {
        widened(self.eta)
    }

    fn with_natural(&self, natural: Parameters) -> Option<Self> {
        self.at([natural[0], natural[1]])
    }

    fn expectation(&self) -> Parameters {
        widened(self.component.expectation(self.eta))
    }

    /// The maximum of ⟨η, m⟩ − A(η), which is concave, by Newton's method from here.
    fn with_expectation(&self, expectation: Parameters) -> Option<Self> {
        /// In Newton's decrement, nats.
        const TOLERANCE: f64 = 1e-22;
        let dual =
            |member: &Self| member.eta[0] * expectation[0] + member.eta[1] * expectation[1] - member.log_partition;
        let mut member = *self;
        for _ in 0..200 {
            let m = member.expectation();
            let residual = std::array::from_fn(|i| if i < self.n_free() { expectation[i] - m[i] } else { 0.0 });
            let step = member.natural_gradient(residual);
            let decrement = residual[0] * step[0] + residual[1] * step[1];
            if decrement.is_nan() {
                return None;
            }
            let (value, noise) = (dual(&member), 1e-15 * dual(&member).abs().max(1.0));
            let moved = (0..60).find_map(|halvings| {
                let share = 0.5_f64.powi(halvings);
                let next = member.at([member.eta[0] + share * step[0], member.eta[1] + share * step[1]])?;
                (dual(&next) >= value + 0.1 * share * decrement - noise).then_some(next)
            });
            member = moved?;
            if decrement < TOLERANCE {
                return Some(member);
            }
        }
        // Newton's method is quadratic: what is left after so many steps is rounding, or there is no such member.
        let m = member.expectation();
        let near = |i: usize| (m[i] - expectation[i]).abs() <= 1e-6 * expectation[i].abs().max(1e-300);
        (0..self.n_free()).all(near).then_some(member)
    }

    fn fisher(&self) -> ParameterMatrix {
        let [[a, b], [c, d]] = self.component.fisher(self.eta);
        [[a, b, 0.0], [c, d, 0.0], [0.0; 3]]
    }

    fn log_partition(&self) -> f64 {
        self.log_partition
    }

    fn statistics(&self, z: f64) -> Parameters {
        widened(self.component.statistics(z).map(|t| t[0]))
    }

    fn statistics_slope(&self, z: f64) -> Option<Parameters> {
        Some(widened(self.component.statistics(z).map(|t| t[1])))
    }

    fn log_density(&self, z: f64) -> f64 {
        let inside = match self.support() {
            Support::Positive => z > 0.0,
            Support::Unit => z > 0.0 && z < 1.0,
            Support::Real | Support::Circle => true,
        };
        if inside { self.exponent(z, 0) - self.log_partition } else { f64::NEG_INFINITY }
    }

    fn score(&self, z: f64) -> f64 {
        self.exponent(z, 1)
    }

    fn second_derivative(&self, z: f64) -> f64 {
        self.exponent(z, 2)
    }

    fn mean_and_variance(&self) -> (f64, f64) {
        let known = self.component.mean_and_variance(self.eta);
        known.unwrap_or_else(|| implicit::mean_and_variance(self, self.somewhere()))
    }

    fn entropy(&self) -> Option<f64> {
        self.component.entropy(self.eta)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.support().inside(self.component.sample(self.eta, &mut Passed(noise)))
    }

    fn path_derivative(&self, z: f64) -> Parameters {
        let known = self.component.path_derivative(self.eta, z).map(widened);
        known.unwrap_or_else(|| implicit::path_derivative(self, z))
    }

    /// A fit that cannot begin with the expected statistics begins with the standard member.
    fn with_moments(&self, _mean: f64, _variance: f64) -> Option<Self> {
        None
    }

    /// η itself, or log |η| where it has a sign.
    fn chart(&self) -> Parameters {
        let ranges = self.component.parameters();
        std::array::from_fn(|i| match ranges.get(i) {
            Some((_, Range::Real)) => self.eta[i],
            Some(_) => self.eta[i].abs().ln(),
            None => 0.0,
        })
    }

    fn with_chart(&self, coordinates: Parameters) -> Option<Self> {
        let ranges = self.component.parameters();
        self.at(std::array::from_fn(|i| match ranges.get(i) {
            Some((_, Range::Real)) => coordinates[i],
            Some((_, Range::Positive)) => coordinates[i].exp(),
            Some((_, Range::Negative)) => -coordinates[i].exp(),
            None => 0.0,
        }))
    }

    fn chart_jacobian(&self) -> ParameterMatrix {
        let ranges = self.component.parameters();
        let mut jacobian = [[0.0; 3]; 3];
        for (i, (_, range)) in ranges.iter().enumerate() {
            jacobian[i][i] = if *range == Range::Real { 1.0 } else { self.eta[i] };
        }
        jacobian
    }
}
