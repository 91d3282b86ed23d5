//! How the mean response of a kept regression changes with one column, the others held where they are usual.

mod drawn;
mod grid;
mod page;

use elinvar::model::DesignMatrix;

use crate::answer_draws::AnswerDraws;
use crate::error::Error;
use crate::kept::Kept;
use crate::predict::to_scale_of_fit;
use crate::quantiles::Ordered;
use crate::response::{Regression, Values};
use crate::size::check_draws;
use grid::Grid;

/// Draws of the answer unless others are asked for.
const DRAWS: usize = 4_000;

/// What is asked of the effect of a column.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The column.
    pub by: String,
    /// Columns that are held at other values than their mean or reference, as they were written.
    pub at: Vec<(String, String)>,
    /// Probability of the intervals.
    pub interval: f64,
    /// Draws of the answer; the usual number if none is given.
    pub draws: Option<usize>,
    /// Seed of the draws.
    pub seed: u64,
}

/// The mean response over the values of a column.
#[derive(Clone, Debug)]
pub struct Effects {
    /// The model, in the words of a page.
    title: String,
    /// What the curves show, as part of a sentence.
    of: String,
    grid: Grid,
    curves: Vec<Curve>,
    interval: f64,
}

/// One number over the values of a column: the mean response, or the probability of a class.
#[derive(Clone, Debug)]
struct Curve {
    /// The class; empty where there is but one curve.
    name: String,
    points: Vec<Summary>,
}

/// A number under the posterior.
#[derive(Clone, Copy, Debug)]
struct Summary {
    mean: f64,
    sd: f64,
    low: f64,
    high: f64,
}

impl Effects {
    /// What the curves show, by itself.
    fn label(&self) -> &str {
        self.of.strip_prefix("the ").unwrap_or(&self.of)
    }

    /// Computes them.
    ///
    /// # Errors
    /// [`Error::NoRegression`], [`Error::NoEffect`], those of the model and its data, and values that columns cannot
    /// be held at.
    pub fn new(kept: &Kept, asked: &Asked) -> Result<Self, Error> {
        let job = kept.job()?;
        let n = asked.draws.unwrap_or(DRAWS);
        check_draws("--draws", n, 1, kept.posterior.dim())?;
        let Some(fitted) = job.model.regression() else {
            let model = job.settings().model.name.map_or("this model", |name| name.name());
            return Err(Error::NoRegression { model: model.into(), command: "effects" });
        };
        let recipe = job.recipe().expect("a regression has columns");
        let grid = Grid::new(kept, recipe, asked)?;
        let mut design = recipe.apply(&grid.table)?;
        to_scale_of_fit(&job, &mut design);
        let names = fitted.design.table_names();
        let x = DesignMatrix::new(design.features, names.len(), names.to_vec());
        let x = x.map_err(Error::Refused)?;
        let rows = Regression { offsets: &design.offset, ..Regression::plain(fitted.response, &x, &[]) };
        let draws = AnswerDraws::new(&kept.posterior, job.target(), None, asked.seed)?.take_different(n);

        let classes = &job.rows.classes;
        let n_curves = if let Values::Classes(n @ 3..) = rows.response.values() { n } else { 1 };
        let mut values = vec![Vec::with_capacity(draws.len()); n_curves * rows.n_rows()];
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        let mut now = vec![0.0; n_curves];
        for z in draws.view().iter() {
            rows.under(z, kept.posterior.transforms(), &all, |place, _, given| {
                match now.as_mut_slice() {
                    [mean] => *mean = rows.response.mean(given),
                    several => rows.response.probabilities(given, several),
                }
                now.iter().enumerate().for_each(|(k, value)| values[k * all.len() + place].push(*value));
            });
        }
        let mut summaries = values.into_iter().map(|values| Summary::of(values, asked.interval));
        let name = |k: usize| if n_curves == 1 { String::new() } else { classes.get(k).cloned().unwrap_or_default() };
        let curve = |k: usize| Curve { name: name(k), points: summaries.by_ref().take(all.len()).collect() };
        let curves = (0..n_curves).map(curve).collect();
        let target = &job.rows.target;
        let of = match rows.response.values() {
            Values::Classes(2) => format!("P({target} = {})", classes.get(1).map_or("1", String::as_str)),
            Values::Classes(_) => format!("the probabilities of {target}"),
            _ if recipe.response.trials.is_some() => format!("the share of {target} among trials"),
            _ => format!("the mean of {target}"),
        };
        let title = crate::words::title(&job, &kept.posterior, crate::words::FileName::Given);
        Ok(Self { title, of, grid, curves, interval: asked.interval })
    }
}

impl Summary {
    fn of(values: Vec<f64>, interval: f64) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        let ordered = Ordered::new(values);
        let outside = 0.5 * (1.0 - interval);
        Self { mean, sd: variance.sqrt(), low: ordered.at(outside), high: ordered.at(1.0 - outside) }
    }
}
