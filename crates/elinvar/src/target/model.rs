//! A model as most people write it: parameters on their natural scale, one point at a time.

use super::by_point::{self, PointwiseHessian, PointwiseTarget, PointwiseValue};
use super::{About, Answer, Ask, Concavity, Constrained, Offers, Parameters, Target, TargetError, Want};

/// A log density of parameters that say themselves what they are called and where they may lie.
///
/// The model sees x on its natural scale, a standard deviation as a positive number; maps to unconstrained coordinates
/// and their Jacobians are the library's. Draws, tables and files are on the natural scale, too.
///
/// ```
/// use elinvar::{Model, Parameters};
///
/// /// Normal measurements with unknown mean and standard deviation.
/// struct Measurements(Vec<f64>);
///
/// impl Model for Measurements {
///     fn parameters(&self) -> Parameters {
///         Parameters::new().real("mu", 1).positive("sigma", 1)
///     }
///
///     fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
///         let (mu, sigma) = (x[0], x[1]);
///         // A flat prior of mu and 1/sigma for sigma.
///         gradient.copy_from_slice(&[0.0, -1.0 / sigma]);
///         let mut log_p = -sigma.ln();
///         for y in &self.0 {
///             let r = (y - mu) / sigma;
///             log_p -= 0.5 * r * r + sigma.ln();
///             gradient[0] += r / sigma;
///             gradient[1] += (r * r - 1.0) / sigma;
///         }
///         log_p
///     }
/// }
///
/// let model = Measurements(vec![9.8, 10.4, 10.1, 9.5, 10.9, 10.2]);
/// let posterior = elinvar::Fit::new(&model).run()?;
/// let sigma: Vec<f64> = posterior.sample(1_000, 1).column("sigma").collect();
/// assert!(sigma.iter().all(|sigma| *sigma > 0.0));
/// # Ok::<(), elinvar::Error>(())
/// ```
///
/// The points of a batch are evaluated on all processors where one takes more than some microseconds; the bits do not
/// depend on that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    note = "implement `elinvar::Model`, or make one from a closure by `elinvar::log_density`"
)]
pub trait Model: Sync {
    /// Names, shapes and constraints. Asked for with every batch: build it, do not compute it.
    fn parameters(&self) -> Parameters;

    /// Returns log p(x), up to a constant, and writes its gradient by x. A value that is not a number drops the point,
    /// which is counted; −∞ is a density of zero.
    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// What else is there: [`Offers::values`] if [`Model::value`] costs less than a gradient, [`Offers::hessian`] if
    /// there is [`Model::hessian`].
    fn offers(&self) -> Offers {
        Offers::GRADIENT
    }

    /// Whether log p is known to be concave on the unconstrained scale, Jacobians of constraints included.
    fn concavity(&self) -> Concavity {
        Concavity::Unknown
    }

    /// log p(x) alone.
    fn value(&self, x: &[f64]) -> f64 {
        by_point::memory::with_memory(x.len(), |unused| self.log_density(x, unused))
    }

    /// Writes the second derivatives by x, a square matrix with both triangles.
    fn hessian(&self, x: &[f64], hessian: &mut [f64]) {
        let _ = x;
        hessian.fill(f64::NAN);
    }
}

/// A model as a function of one point on the natural scale.
struct Natural<'m, M: ?Sized> {
    model: &'m M,
    n: usize,
    offers: Offers,
}

impl<M: Model + ?Sized> PointwiseTarget for Natural<'_, M> {
    fn dim(&self) -> usize {
        self.n
    }

    fn gradient(&self, x: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        Ok(self.model.log_density(x, grad))
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        self.offers.values.then_some(self)
    }

    fn names(&self) -> Vec<String> {
        self.model.parameters().names()
    }
}

impl<M: Model + ?Sized> PointwiseValue for Natural<'_, M> {
    fn log_density(&self, x: &[f64]) -> Result<f64, TargetError> {
        Ok(self.model.value(x))
    }
}

impl<M: Model + ?Sized> PointwiseHessian for Natural<'_, M> {
    fn hessian(&self, x: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        self.model.hessian(x, hessian);
        Ok(())
    }
}

fn unconstrained<M: Model + ?Sized>(model: &M) -> Constrained<Natural<'_, M>> {
    let transforms = model.parameters().transforms();
    let natural = Natural { model, n: transforms.n_constrained(), offers: model.offers() };
    Constrained::around(natural, transforms)
}

impl<M: Model> Target for M {
    fn about(&self) -> About {
        // Constants that are wrong are told before anything is mapped.
        let (parameters, offers) = (self.parameters(), self.offers());
        if parameters.is_empty() || parameters.names().len() != parameters.len() {
            return About { parameters: parameters.names(), ..About::new(parameters.len()) };
        }
        if parameters.transforms().check().is_err() {
            return About { transforms: parameters.transforms(), ..About::new(1) };
        }
        let inner = unconstrained(self);
        let about = if offers.hessian { by_point::about_second_order(&inner) } else { by_point::about(&inner) };
        let offers = Offers { gradient: offers.gradient, ..about.offers };
        About { offers, concavity: self.concavity(), ..about }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let inner = unconstrained(self);
        match ask.want {
            Want::Hessian(_) | Want::HessianAlone(_) => by_point::evaluate_second_order(&inner, ask, answer),
            _ => by_point::evaluate(&inner, ask, answer),
        }
    }
}
