//! A log density as a closure, with all that a [`Model`] can say.

use crate::target::{Concavity, Model, Offers, Parameters, Transform};

type Values<'f> = Box<dyn Fn(&[f64]) -> f64 + Sync + 'f>;
type Hessians<'f> = Box<dyn Fn(&[f64], &mut [f64]) + Sync + 'f>;

/// A closure as a [`Model`]; made by [`log_density`] and [`log_density_only`].
pub struct Density<'f, F> {
    parameters: Parameters,
    gradient: F,
    offers: Offers,
    value: Option<Values<'f>>,
    hessian: Option<Hessians<'f>>,
    concavity: Concavity,
}

/// The stand-in for a gradient that does not exist.
type NoGradient = fn(&[f64], &mut [f64]) -> f64;

/// The model whose log density `f` returns and whose gradient it writes: a function of so many real numbers, or of
/// declared [`Parameters`] on their natural scale.
///
/// ```
/// use elinvar::prelude::*;
///
/// let model = log_density(2, |x, gradient| {
///     let bend = x[1] - 0.3 * x[0] * x[0];
///     gradient[0] = -x[0] / 4.0 + 0.6 * x[0] * bend;
///     gradient[1] = -bend;
///     -x[0] * x[0] / 8.0 - bend * bend / 2.0
/// })
/// .named(["x", "y"]);
/// let posterior = Fit::new(&model).run()?;
/// assert_eq!(posterior.verdict(), Some(Verdict::Trust));
/// for draw in &posterior.sample(3, 1) {
///     println!("{:.2} {:.2}", draw[0], draw[1]);
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn log_density<'f, F>(parameters: impl Into<Parameters>, f: F) -> Density<'f, F>
where
    F: Fn(&[f64], &mut [f64]) -> f64 + Sync,
{
    let (parameters, offers) = (parameters.into(), Offers::GRADIENT);
    Density { parameters, gradient: f, offers, value: None, hessian: None, concavity: Concavity::Unknown }
}

/// The model whose log density is `f`, of which nothing but values is known. A fit takes many more of them than it
/// would take gradients.
///
/// ```
/// use elinvar::prelude::*;
///
/// let model = log_density_only(Parameters::new().positive("rate", 1), |x| 15.0 * x[0].ln() - 5.0 * x[0]);
/// let posterior = Fit::new(&model).family(Family::gaussian()).run()?;
/// assert_eq!(posterior.counts().gradient, 0);
/// # Ok::<(), Error>(())
/// ```
pub fn log_density_only<'f, F>(parameters: impl Into<Parameters>, f: F) -> Density<'f, NoGradient>
where
    F: Fn(&[f64]) -> f64 + Sync + 'f,
{
    let nothing: NoGradient = |_, gradient| {
        gradient.fill(f64::NAN);
        f64::NAN
    };
    Density {
        parameters: parameters.into(),
        gradient: nothing,
        offers: Offers::VALUES,
        value: Some(Box::new(f)),
        hessian: None,
        concavity: Concavity::Unknown,
    }
}

impl<'f, F> Density<'f, F> {
    /// The same with names for its numbers.
    pub fn named<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.parameters = self.parameters.renamed(names.into_iter().map(Into::into).collect());
        self
    }

    /// The same, known to be log-concave on the unconstrained scale: there is no other mode to look for.
    pub fn log_concave(self) -> Self {
        Self { concavity: Concavity::Concave, ..self }
    }

    /// The same with a parameter that is positive.
    pub fn positive(self, name: &str) -> Self {
        self.constrained(name, Transform::Log)
    }

    /// The same with a parameter that lies between `low` and `high`.
    pub fn interval(self, name: &str, low: f64, high: f64) -> Self {
        self.constrained(name, Transform::Interval { low, high })
    }

    fn constrained(mut self, name: &str, transform: Transform) -> Self {
        self.parameters = self.parameters.constrained(name, transform);
        self
    }

    /// The same with a function for the log density alone, where that costs less.
    pub fn with_values(mut self, f: impl Fn(&[f64]) -> f64 + Sync + 'f) -> Self {
        self.value = Some(Box::new(f));
        self.offers.values = true;
        self
    }

    /// The same with a function that writes the second derivatives, a square matrix with both triangles: fits need
    /// fewer evaluations then.
    pub fn with_hessian(mut self, f: impl Fn(&[f64], &mut [f64]) + Sync + 'f) -> Self {
        self.hessian = Some(Box::new(f));
        self.offers.hessian = true;
        self
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Sync> Model for Density<'_, F> {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        (self.gradient)(x, gradient)
    }

    fn offers(&self) -> Offers {
        self.offers
    }

    fn concavity(&self) -> Concavity {
        self.concavity
    }

    fn value(&self, x: &[f64]) -> f64 {
        match &self.value {
            Some(value) => value(x),
            None => super::memory::with_memory(x.len(), |unused| (self.gradient)(x, unused)),
        }
    }

    fn hessian(&self, x: &[f64], hessian: &mut [f64]) {
        match &self.hessian {
            Some(f) => f(x, hessian),
            None => hessian.fill(f64::NAN),
        }
    }
}
