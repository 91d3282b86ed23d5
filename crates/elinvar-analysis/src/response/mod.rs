//! The law of a regression's response, row by row, and the rows under a draw of its parameters.
//!
//! A likelihood is one file with a [`Response`]: scalar functions of what a row is given. Checks of the model,
//! leave-one-out and predictions are written once, over [`Regression`].

mod bernoulli;
mod beta;
mod binomial;
mod categorical;
mod gamma;
mod negative_binomial;
mod normal;
mod ordinal;
mod poisson;
mod student_t;

use std::borrow::Cow;

use elinvar::model::DesignMatrix;
use elinvar::random::Stream;
use elinvar::target::Transforms;

pub(crate) use bernoulli::Bernoulli;
pub(crate) use beta::Beta;
pub(crate) use binomial::Binomial;
pub(crate) use categorical::Categorical;
pub(crate) use gamma::Gamma;
pub(crate) use negative_binomial::NegativeBinomial;
pub(crate) use normal::Normal;
pub(crate) use ordinal::Ordinal;
pub(crate) use poisson::Poisson;
pub(crate) use student_t::StudentT;

/// What the law of a row depends on, under one draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    /// The linear predictors of the row, offset included: one, or one for each class but the first.
    pub(crate) eta: &'a [f64],
    /// Parameters beside the coefficients, on the scale that is printed: sigma, degrees of freedom, cut points….
    pub(crate) auxiliary: &'a [f64],
    /// Number of trials of the row; 1 where there are none.
    pub(crate) trials: f64,
}

/// What values a response takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Any number, or any positive one.
    Numbers,
    /// 0, 1, 2, ….
    Counts,
    /// So many classes, written 0, 1, 2, …; the mean of two of them is the probability of the second.
    Classes(usize),
}

/// The law of a response given its linear predictor. Every function is finite, or ±∞, wherever parameters are in their
/// domain; none is NaN.
pub(crate) trait Response: Sync {
    /// The word for it in commands and files.
    fn name(&self) -> &'static str;

    /// What it takes.
    fn values(&self) -> Values;

    /// Linear predictors of a row.
    fn n_predictors(&self) -> usize {
        1
    }

    /// Whether larger and smaller mean something, as they do not for classes without an order.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Whether the linear predictor is a logarithm or a logit, and not in the unit of the response.
    fn is_without_unit(&self) -> bool {
        true
    }

    /// The response as the law has it, of the number that the table gives: a class −1 is 0.
    fn observed(&self, y: f64) -> f64 {
        y
    }

    /// log p(y | given), normalised.
    fn log_density(&self, y: f64, given: Given<'_>) -> f64;

    /// E(y | given).
    fn mean(&self, given: Given<'_>) -> f64;

    /// Var(y | given).
    fn variance(&self, given: Given<'_>) -> f64;

    /// A random response.
    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64;

    /// The probability of each class; only asked of a law of classes.
    fn probabilities(&self, given: Given<'_>, out: &mut [f64]) {
        if let [first, second] = out {
            *second = self.mean(given);
            *first = 1.0 - *second;
        }
    }

    /// What to call e^β of a coefficient, if it has a name: an odds ratio, a rate ratio.
    fn ratio(&self) -> Option<&'static str> {
        None
    }
}

/// Rows of a regression with their law.
#[derive(Clone, Copy)]
pub(crate) struct Regression<'a> {
    pub(crate) response: &'a dyn Response,
    /// The columns as the fit has them, or the directions that its rows see. Coefficients are the first coordinates of
    /// z, those of one predictor after those of another.
    pub(crate) design: &'a DesignMatrix,
    /// Responses as the table gives them; empty for rows that are to be predicted.
    pub(crate) y: &'a [f64],
    /// What is added to every linear predictor of a row; empty for nothing.
    pub(crate) offsets: &'a [f64],
    /// Trials of each row; empty for one each.
    pub(crate) trials: &'a [f64],
    /// What the log density of a row counts in the model; empty for one each.
    pub(crate) weights: &'a [f64],
}

impl<'a> Regression<'a> {
    /// Rows without offsets, trials and weights.
    pub(crate) fn plain(response: &'a dyn Response, design: &'a DesignMatrix, y: &'a [f64]) -> Self {
        Self { response, design, y, offsets: &[], trials: &[], weights: &[] }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.design.n_rows()
    }

    /// The response of row i, as the law has it.
    pub(crate) fn observed(&self, i: usize) -> f64 {
        self.response.observed(self.y[i])
    }

    /// What the log density of row i counts.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Trials of row i.
    pub(crate) fn trials(&self, i: usize) -> f64 {
        self.trials.get(i).copied().unwrap_or(1.0)
    }

    /// log p(y | given) of row i, times its weight.
    pub(crate) fn log_density(&self, i: usize, given: Given<'_>) -> f64 {
        self.weight(i) * self.response.log_density(self.observed(i), given)
    }

    /// Calls `each` with the place in `rows`, the row and what it is given, for all `rows` under the draw z.
    pub(crate) fn under(
        &self,
        z: &[f64],
        transforms: &Transforms,
        rows: &[usize],
        mut each: impl FnMut(usize, usize, Given<'_>),
    ) {
        let (d, n_predictors) = (self.design.n_cols(), self.response.n_predictors());
        // Rows in the directions of a fit take these as they are, other rows the coefficients of their columns.
        let in_directions = self.design.row_space().is_some() || transforms.row_space().is_none();
        let coefficients = if in_directions { Cow::Borrowed(z) } else { transforms.coefficients(z) };
        let n_behind = coefficients.len() - n_predictors * d;
        let auxiliary = transforms.constrain_behind(z.len() - n_behind, z);
        let mut eta = vec![0.0; n_predictors];
        for (place, &i) in rows.iter().enumerate() {
            let offset = self.offsets.get(i).copied().unwrap_or(0.0);
            for (eta, beta) in eta.iter_mut().zip(coefficients.chunks_exact(d)) {
                *eta = offset + self.design.row(i).iter().zip(beta).map(|(x, beta)| x * beta).sum::<f64>();
            }
            each(place, i, Given { eta: &eta, auxiliary: &auxiliary, trials: self.trials(i) });
        }
    }
}

#[cfg(test)]
mod tests;
