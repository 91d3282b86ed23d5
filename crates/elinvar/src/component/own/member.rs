//! A member of a component that somebody has brought.

use std::fmt;

use super::{Own, OwnComponent, Range, Registered};
use crate::Error;
use crate::component::{ExponentialFamily, ParameterMatrix, Parameters, implicit};
use crate::random::{MixingNoise, Purpose, Stream};
use crate::target::Support;

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
        let elsewhere = match component.support() {
            Support::Circle => Some(("on the circle", "von_mises")),
            Support::Simplex => Some(("on a simplex", "dirichlet")),
            Support::Real | Support::Positive | Support::Unit => None,
        };
        if let Some((place, instead)) = elsewhere {
            return Err(Error::Unsupported {
                wanted: format!("a component of your own {place}"),
                instead: format!("use `{instead}`, or a component on a line"),
            });
        }
        Self::bare(component, None).at(eta).ok_or(Error::Domain {
            parameter: "standard parameter of the component",
            value: eta[0],
            reason: "the standard parameters have to lie in their ranges, and A(η) has to be finite there",
        })
    }

    /// No member yet: [`OwnMember::at`] makes one.
    pub(super) fn bare(component: &'c dyn OwnComponent, registered: Option<&'static Registered>) -> Self {
        Self { component, registered, eta: [0.0; 2], log_partition: 0.0 }
    }

    /// The member with natural parameters η, if they are in their ranges and A is finite there.
    pub(crate) fn at(&self, eta: [f64; 2]) -> Option<Self> {
        let ranges = self.component.parameters();
        let inside = ranges.iter().zip(eta).all(|((_, range), value)| range.has(value));
        let log_partition = if inside { self.component.log_partition(eta) } else { f64::NAN };
        log_partition.is_finite().then_some(Self { eta, log_partition, ..*self })
    }

    /// Which component; a member that is stored belongs to a registered one.
    pub(in crate::component) fn own(&self) -> Own {
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
            Support::Real | Support::Circle | Support::Simplex => true,
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
