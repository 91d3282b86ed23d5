//! The shares of categories, on their simplex.

use crate::Error;
use crate::special::gamma::ln_gamma;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Support, Target, TargetError, by_point,
};

/// Items fall into category i with probability z_i, and z ~ Dirichlet(a₀, …, a₀); of some items it may be known only
/// that they fall into one of several categories.
///
/// Without such items the posterior is the Dirichlet distribution with concentrations a₀ + n_i. All constants are
/// included: the normaliser is the marginal likelihood of the items, in their order.
///
/// ```
/// use elinvar::model::CategoryShares;
/// use elinvar::{Family, Fit};
///
/// let shares = CategoryShares::new(vec![3.0, 11.0, 6.0])?;
/// let posterior = Fit::new(&shares).family(Family::dirichlet(1)).run()?;
/// assert!((posterior.approximation().mean()[1] - 12.0 / 23.0).abs() < 1e-3);
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryShares {
    counts: Vec<f64>,
    /// Categories of which one is meant, and the number of such items.
    partial: Vec<(Vec<usize>, f64)>,
    concentration: f64,
    names: Vec<String>,
}

impl CategoryShares {
    /// The numbers of items in each category, and the uniform prior, a₀ = 1.
    ///
    /// # Errors
    /// [`Error::Data`] for a count that is not a whole number from 0 on, or for fewer than two categories.
    pub fn new(counts: Vec<f64>) -> Result<Self, Error> {
        if counts.len() < 2 {
            let problem = "there are fewer than two; one has all of the items".into();
            return Err(Error::Data { place: "categories".into(), problem });
        }
        if let Some(i) = counts.iter().position(|n| !is_count(*n)) {
            let problem = format!("{} is no count; give whole numbers from 0 on", counts[i]);
            return Err(Error::Data { place: format!("category {}", i + 1), problem });
        }
        let names = (1..=counts.len()).map(|i| format!("share_{i}")).collect();
        Ok(Self { counts, partial: Vec::new(), concentration: 1.0, names })
    }

    /// The model with the prior Dirichlet(a₀, …, a₀).
    ///
    /// # Errors
    /// [`Error::Domain`] for an a₀ that is not positive.
    pub fn with_prior(self, concentration: f64) -> Result<Self, Error> {
        if concentration > 0.0 && concentration.is_finite() {
            return Ok(Self { concentration, ..self });
        }
        let reason = "concentrations are positive numbers";
        Err(Error::Domain { parameter: "concentration", value: concentration, reason })
    }

    /// The model with so many further items of which it is known only that each is in one of these categories, the
    /// first of which is 0.
    ///
    /// # Errors
    /// [`Error::Data`] for a category that is not there, named twice or alone, and for what is no count.
    pub fn with_partial(mut self, categories: &[usize], count: f64) -> Result<Self, Error> {
        let place = || format!("items of {} categories", categories.len());
        let refuse = |problem: String| Err(Error::Data { place: place(), problem });
        if let Some(i) = categories.iter().find(|i| **i >= self.counts.len()) {
            return refuse(format!("there is no category {i}; the last one is {}", self.counts.len() - 1));
        }
        if categories.len() < 2 || categories.iter().enumerate().any(|(at, i)| categories[..at].contains(i)) {
            return refuse("name two or more different ones; items of a single category are among the counts".into());
        }
        if !is_count(count) {
            return refuse(format!("{count} is no count; give a whole number from 0 on"));
        }
        self.partial.push((categories.to_vec(), count));
        Ok(self)
    }

    /// The model with names of its categories.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of them.
    pub fn with_names(self, names: Vec<String>) -> Result<Self, Error> {
        if names.len() == self.counts.len() {
            return Ok(Self { names, ..self });
        }
        Err(Error::Shape { what: "names of categories", expected: self.counts.len(), found: names.len() })
    }

    /// Number of items in each category.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }
}

fn is_count(n: f64) -> bool {
    n >= 0.0 && n.is_finite() && n.fract() == 0.0
}

impl PointwiseTarget for CategoryShares {
    fn dim(&self) -> usize {
        self.counts.len()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        for ((g, n), z) in grad.iter_mut().zip(&self.counts).zip(z) {
            *g = (n + self.concentration - 1.0) / z;
        }
        for (categories, n) in &self.partial {
            let total: f64 = categories.iter().map(|i| z[*i]).sum();
            categories.iter().for_each(|i| grad[*i] += n / total);
        }
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn support(&self) -> Support {
        Support::Simplex
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

impl PointwiseValue for CategoryShares {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let (a, categories) = (self.concentration, self.counts.len() as f64);
        let prior = ln_gamma(categories * a) - categories * ln_gamma(a);
        let whole: f64 = self.counts.iter().zip(z).map(|(n, z)| (n + a - 1.0) * z.ln()).sum();
        let of_part = |(categories, n): &(Vec<usize>, f64)| n * categories.iter().map(|i| z[*i]).sum::<f64>().ln();
        Ok(prior + whole + self.partial.iter().map(of_part).sum::<f64>())
    }
}

impl PointwiseHessian for CategoryShares {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = z.len();
        hessian.fill(0.0);
        for (i, (n, z)) in self.counts.iter().zip(z).enumerate() {
            hessian[i * d + i] = -(n + self.concentration - 1.0) / (z * z);
        }
        for (categories, n) in &self.partial {
            let total: f64 = categories.iter().map(|i| z[*i]).sum();
            for i in categories {
                categories.iter().for_each(|j| hessian[i * d + j] -= n / (total * total));
            }
        }
        Ok(())
    }
}

impl Target for CategoryShares {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}
