//! What a kept regression says about rows of a new table.

mod design;
mod table;

use std::path::Path;

use elinvar::model::DesignMatrix;
use elinvar::random::{Purpose, Stream};
use elinvar::target::{DrawBuffer, Transforms};

use crate::answer_draws::AnswerDraws;
use crate::error::Error;
use crate::kept::Kept;
use crate::quantiles::{self, Ordered};
use crate::response::{Given, Regression, Values};
use crate::size::check_draws;
pub(crate) use design::to_scale_of_fit;

/// Draws of the answer unless others are asked for.
const DRAWS: usize = 4_000;
/// Numbers that are held at once: a block of rows at all draws.
const BLOCK: usize = 1 << 20;

/// What is predicted of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// A new response: the uncertainty of the parameters and the scatter of single rows.
    #[default]
    Response,
    /// Its expectation: the uncertainty of the parameters alone.
    Expectation,
    /// The linear predictor.
    Link,
}

/// How rows are predicted.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What of them.
    pub of: Of,
    /// Probabilities of the quantiles; the usual ones if there are none.
    pub quantiles: Vec<f64>,
    /// Draws of the answer; the usual number if none is given.
    pub draws: Option<usize>,
    /// Seed of the draws.
    pub seed: u64,
}

/// Predictions, a row for each of a table.
pub struct Predictions {
    names: Vec<String>,
    /// Row after row.
    values: Vec<f64>,
}

impl Predictions {
    /// Predicts the rows of the table in this file; `-` stands for the standard input.
    ///
    /// # Errors
    /// [`Error::NoRegression`], those of the model and its data, and what is wrong with the new table.
    pub fn new(kept: &Kept, file: &Path, asked: &Asked) -> Result<Self, Error> {
        let job = kept.job()?;
        let n = asked.draws.unwrap_or(DRAWS);
        check_draws("--draws", n, 1, kept.posterior.dim())?;
        let regression = job.model.regression();
        let Some((fitted, rows)) =
            regression.map(|fitted| design::of(&job, file).map(|rows| (fitted, rows))).transpose()?
        else {
            let model = job.settings().model.name.map_or("this model", |name| name.name());
            return Err(Error::NoRegression { model: model.into(), command: "predict" });
        };
        let names = fitted.design.table_names();
        let x = DesignMatrix::new(rows.design.features, names.len(), names.to_vec());
        let x = x.map_err(Error::Refused)?;
        let (offsets, trials) = (&rows.design.offset, &rows.trials);
        let new = Regression { offsets, trials, ..Regression::plain(fitted.response, &x, &[]) };
        let draws = AnswerDraws::new(&kept.posterior, job.target(), None, asked.seed)?.take_different(n);
        let classes = job.rows.classes.as_slice();
        Ok(Self::of_rows(&new, kept.posterior.transforms(), &draws, asked).with_classes(classes))
    }

    /// With columns that are named after the classes, where these have names.
    fn with_classes(mut self, classes: &[String]) -> Self {
        for (k, class) in classes.iter().enumerate() {
            let numbered = format!("p_{k}");
            self.names.iter_mut().filter(|name| **name == numbered).for_each(|name| *name = format!("p_{class}"));
        }
        self
    }

    /// Predicts rows of a regression by draws of its parameters.
    fn of_rows(new: &Regression<'_>, transforms: &Transforms, draws: &DrawBuffer, asked: &Asked) -> Self {
        let probabilities = if asked.quantiles.is_empty() { &quantiles::USUAL[..] } else { &asked.quantiles };
        let n_classes = match (new.response.values(), asked.of) {
            (Values::Classes(n), Of::Response | Of::Expectation) => n,
            _ => 0,
        };
        let names = names(n_classes, new.response.n_predictors(), probabilities);
        let mut values = Vec::with_capacity(names.len() * new.n_rows());
        let n = draws.len();
        let block = (BLOCK / (n * new.response.n_predictors())).clamp(1, new.n_rows());
        let all: Vec<usize> = (0..new.n_rows()).collect();
        let mut tallies: Vec<Tally> = Vec::new();
        for rows in all.chunks(block) {
            tallies.clear();
            tallies.extend(rows.iter().map(|i| Tally::new(*i, n_classes, asked)));
            for z in draws.view().iter() {
                new.under(z, transforms, rows, |place, _, given| tallies[place].add(new, given, asked.of));
            }
            tallies.drain(..).for_each(|tally| tally.write(probabilities, &mut values));
        }
        Self { names, values }
    }
}

fn names(n_classes: usize, n_predictors: usize, probabilities: &[f64]) -> Vec<String> {
    let summary = |of: &str| {
        let quantiles = probabilities.iter().map(|p| quantiles::name(*p) + of);
        [format!("mean{of}"), format!("sd{of}")].into_iter().chain(quantiles).collect::<Vec<_>>()
    };
    match (n_classes, n_predictors) {
        // The spread of a class is that of its probability.
        (2, _) => ["p_0".into(), "p_1".into()].into_iter().chain(summary("").into_iter().skip(1)).collect(),
        (0, 1) => summary(""),
        (0, several) => (1..=several).flat_map(|k| summary(&format!("_{k}"))).collect(),
        (several, _) => (0..several).map(|k| format!("p_{k}")).collect(),
    }
}

/// What is known of one row, draw by draw.
struct Tally {
    stream: Stream,
    n: f64,
    /// Means and squares around the first value, for each series.
    series: Vec<Series>,
    probabilities: Vec<f64>,
    /// Variance of a response around its expectation.
    scatter: f64,
}

/// Values of one number over draws.
#[derive(Default)]
struct Series {
    drawn: Vec<f64>,
    /// What mean and sd are of: the expectation where a response is drawn.
    centre: Vec<f64>,
}

impl Tally {
    fn new(row: usize, n_classes: usize, asked: &Asked) -> Self {
        // A row has its numbers wherever it stands in a block.
        let stream = Stream::open(asked.seed, Purpose::Responses, row as u64, 2);
        Self { stream, n: 0.0, series: Vec::new(), probabilities: vec![0.0; n_classes], scatter: 0.0 }
    }

    fn add(&mut self, new: &Regression<'_>, given: Given<'_>, of: Of) {
        self.n += 1.0;
        let response = new.response;
        if !self.probabilities.is_empty() {
            let mut now = vec![0.0; self.probabilities.len()];
            response.probabilities(given, &mut now);
            self.probabilities.iter_mut().zip(&now).for_each(|(sum, p)| *sum += p);
            if let [_, second] = now[..] {
                self.push(0, second, second);
            }
            return;
        }
        match of {
            Of::Link => given.eta.iter().enumerate().for_each(|(k, eta)| self.push(k, *eta, *eta)),
            Of::Expectation => self.push(0, response.mean(given), response.mean(given)),
            Of::Response => {
                let drawn = response.draw(given, &mut self.stream);
                self.push(0, drawn, response.mean(given));
                self.scatter += response.variance(given);
            }
        }
    }

    fn push(&mut self, k: usize, drawn: f64, centre: f64) {
        if self.series.len() <= k {
            self.series.push(Series::default());
        }
        self.series[k].drawn.push(drawn);
        self.series[k].centre.push(centre);
    }

    /// Appends the numbers of the row.
    fn write(self, probabilities: &[f64], out: &mut Vec<f64>) {
        let Self { n, series, scatter, probabilities: classes, .. } = self;
        out.extend(classes.iter().map(|sum| sum / n));
        for Series { drawn, centre } in series {
            let mean = centre.iter().sum::<f64>() / n;
            let variance = centre.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0).max(1.0);
            if classes.is_empty() {
                out.push(mean);
            }
            // The law of total variance.
            out.push((variance + scatter / n).sqrt());
            let ordered = Ordered::new(drawn);
            out.extend(probabilities.iter().map(|p| ordered.at(*p)));
        }
    }
}

#[cfg(test)]
mod tests;
