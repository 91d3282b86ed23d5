//! Quantiles of the parameters of an answer, and how often each is positive.

use elinvar::Posterior;
use elinvar::target::Draws;

use crate::answer_draws::AnswerDraws;
use crate::quantiles::Ordered;

/// Numbers that draws on the natural scale may take.
const MOST_NUMBERS: usize = 1 << 23;

/// Of every parameter the quantiles that were asked for and the share of the answer above zero.
#[derive(Clone, Debug)]
pub(crate) struct ParameterQuantiles {
    /// Their probabilities.
    pub(crate) probabilities: Vec<f64>,
    /// A list for each parameter.
    pub(crate) values: Vec<Vec<f64>>,
    /// P(parameter > 0).
    pub(crate) positive: Vec<f64>,
}

impl ParameterQuantiles {
    /// From draws of the answer: all states of chains, all weighted draws, or `n` draws of the approximation.
    pub(crate) fn of(posterior: &Posterior, answer: &AnswerDraws<'_>, n: usize, probabilities: &[f64]) -> Self {
        let n_parameters = posterior.names().len();
        let most = (MOST_NUMBERS / n_parameters.max(1)).max(1_000);
        let (draws, weights) = answer.weighted(n.min(most));
        let stride = draws.len().div_ceil(most).max(1);
        let weights: Option<Vec<f64>> = weights.map(|all| all.iter().copied().step_by(stride).collect());
        let mut columns = vec![Vec::with_capacity(draws.len() / stride + 1); n_parameters];
        let chosen: Vec<f64> = draws.view().iter().step_by(stride).flatten().copied().collect();
        for natural in &posterior.on_natural_scale(Draws::new(posterior.dim(), &chosen)) {
            columns.iter_mut().zip(natural).for_each(|(column, value)| column.push(*value));
        }
        let share = |column: &Vec<f64>| match &weights {
            Some(weights) => {
                let above: f64 = column.iter().zip(weights).filter(|(x, _)| **x > 0.0).map(|(_, w)| w).sum();
                above / weights.iter().sum::<f64>()
            }
            None => column.iter().filter(|x| **x > 0.0).count() as f64 / column.len() as f64,
        };
        let positive = columns.iter().map(share).collect();
        let quantiles = |column: Vec<f64>| -> Vec<f64> {
            let ordered = match &weights {
                Some(weights) => Ordered::weighted(&column, weights),
                None => Ordered::new(column),
            };
            probabilities.iter().map(|p| ordered.at(*p)).collect()
        };
        Self { probabilities: probabilities.to_vec(), positive, values: columns.into_iter().map(quantiles).collect() }
    }
}
