//! What models with a coefficient for each column share: the design matrix and the prior.

use elinvar::Posterior;
use elinvar::model::{DesignMatrix, NoisePrior};
use elinvar::random::Stream;
use elinvar::target::{self, ColumnScale};
use elinvar_data::{ColumnTransform, DesignColumn, RegressionData};

use super::PriorWords;
use super::under_t::SHAPE;
use crate::number::significant;
use crate::prior::{Prior, Priors, Tail, draw_positive};
use crate::settings::{ModelSettings, STUDENT_T};

/// Standard errors by which a prior moves a coefficient from least squares before that is worth a sentence.
const FAR: f64 = 3.0;

/// The coefficients of the columns.
pub(super) struct Coefficients {
    kinds: Vec<DesignColumn>,
    transforms: Vec<ColumnTransform>,
    pub(super) priors: Priors,
    given: ModelSettings,
    /// How many linear predictors have such coefficients.
    groups: usize,
}

/// What a model with coefficients is made of.
pub(super) struct Design {
    pub(super) x: DesignMatrix,
    pub(super) y: Vec<f64>,
    /// The prior of the coefficients of x, as far as the library declares it.
    pub(super) prior: target::Prior,
    /// Priors with heavy tails, which are no part of that.
    pub(super) tails: Vec<Tail>,
}

/// The target with the numbers of its rows, if there are any.
pub(super) fn where_given<T>(
    target: T,
    numbers: Vec<f64>,
    with: fn(T, Vec<f64>) -> Result<T, elinvar::Error>,
) -> Result<T, elinvar::Error> {
    if numbers.is_empty() { Ok(target) } else { with(target, numbers) }
}

impl Coefficients {
    /// With the prior that is given, or `by_data`.
    pub(super) fn new(
        given: &ModelSettings,
        rows: &RegressionData,
        transforms: &[ColumnTransform],
        by_data: Prior,
    ) -> Self {
        let base = given.precision().map_or(by_data, |precision| Prior::Given { precision });
        let shared = (given.prior == Some(STUDENT_T)).then(|| given.prior_shape.unwrap_or(SHAPE));
        let priors = Priors::new(base, given.priors.as_deref().unwrap_or_default(), &rows.kinds, transforms)
            .with_shared_scale(shared);
        Self { kinds: rows.kinds.clone(), transforms: transforms.to_vec(), priors, given: given.clone(), groups: 1 }
    }

    /// The same for each of so many linear predictors.
    pub(super) fn for_each_of(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// The design matrix, which knows how to bring coefficients back to the units of the file, and the responses. Where
    /// it has fewer rows than columns and the priors are normal, it is the matrix of the directions that its rows see.
    pub(super) fn design(&self, rows: RegressionData) -> Result<Design, elinvar::Error> {
        let n_cols = rows.n_cols();
        let matrix = DesignMatrix::new(rows.features, n_cols, rows.names)?;
        let is_scaled = self.transforms.iter().any(ColumnTransform::changes);
        let scale = |t: &ColumnTransform| ColumnScale { shift: t.shift, scale: t.scale };
        let matrix = if is_scaled { matrix.with_scales(self.transforms.iter().map(scale).collect())? } else { matrix };
        let prior = self.priors.declared(&self.kinds, &self.transforms);
        let shares_scale = self.given.prior == Some(STUDENT_T);
        let (x, prior) = if shares_scale { (matrix, prior) } else { matrix.in_row_space(&prior)? };
        let mut tails = self.priors.tails(&self.transforms);
        if let Some(space) = x.row_space() {
            tails.iter_mut().for_each(|t| t.coordinate = space.own_direction(t.coordinate).unwrap_or(t.coordinate));
        }
        Ok(Design { x, y: rows.y, prior, tails })
    }

    /// The prior as far as the library declares it, and the tails that it does not.
    pub(super) fn declared(&self) -> (target::Prior, Vec<Tail>) {
        (self.priors.declared(&self.kinds, &self.transforms), self.priors.tails(&self.transforms))
    }

    pub(super) fn settings(&self) -> ModelSettings {
        let priors = self.given.priors.clone();
        ModelSettings { prior_precision: self.priors.base.given(), priors, ..ModelSettings::default() }
    }

    pub(super) fn prior_words(&self) -> PriorWords {
        PriorWords {
            short: self.priors.title(),
            numbers: self.priors.numbers(&self.kinds, &self.transforms),
            of: " on every coefficient",
            beside: None,
        }
    }

    /// Means that the data put into the tail of their prior.
    pub(super) fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.priors.conflicts(posterior, (&self.kinds, &self.transforms), self.groups)
    }

    /// Where the prior keeps a coefficient far from least squares, whose estimates and standard errors are given.
    pub(super) fn pulled(&self, posterior: &Posterior, least_squares: Option<Vec<(f64, f64)>>) -> Option<String> {
        if posterior.transforms().row_space().is_some() {
            return None;
        }
        let means = posterior.approximation().mean();
        let pulls = least_squares.as_deref().unwrap_or_default().iter().zip(means).zip(&self.transforms);
        let pulls = pulls.map(|(((truth, error), mean), t)| {
            ((mean - truth).abs() / error, mean / t.scale, truth / t.scale, &t.name)
        });
        let is_slope = |i: usize| self.kinds[i] != DesignColumn::Intercept;
        let far = pulls.enumerate().filter(|(_, (pull, ..))| *pull > FAR);
        // A slope says more than the intercept, which follows it.
        let worst = far.max_by(|(i, a), (j, b)| is_slope(*i).cmp(&is_slope(*j)).then(a.0.total_cmp(&b.0)));
        worst.map(|(_, (pull, mean, truth, name))| {
            format!(
                "Prior against data: the prior keeps {name} at {}, {} standard errors from {}, which least squares gives; \
                 {}.",
                significant(mean),
                significant(pull),
                significant(truth),
                self.priors.remedy()
            )
        })
    }

    /// Draws coefficients and, behind them, positive parameters from their priors, as coordinates of the fit; false
    /// where one of them is flat, or several linear predictors share the columns.
    pub(super) fn draw_prior(&self, beside: &[NoisePrior], stream: &mut Stream, z: &mut [f64]) -> bool {
        let n = self.kinds.len();
        if self.groups > 1 || !self.priors.draw(&self.kinds, &self.transforms, stream, &mut z[..n]) {
            return false;
        }
        z[n..].iter_mut().zip(beside).all(|(z, prior)| match draw_positive(prior, stream) {
            Some(value) => {
                *z = value.ln();
                true
            }
            None => false,
        })
    }

    /// The mean of the last parameter, which stands behind the coefficients.
    pub(super) fn mean_of_last(&self, posterior: &Posterior) -> Option<f64> {
        let mean = posterior.approximation().mean();
        posterior.transforms().expected_coefficients(&mean).get(self.kinds.len()).copied()
    }
}

/// Mean and standard deviation of a response.
pub(super) fn moments(y: &[f64]) -> (f64, f64) {
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let sd = (squares / (n - 1.0).max(1.0)).sqrt();
    // A constant response has no spread of its own.
    (mean, if sd > 1e-13 * mean.abs() { sd } else { 1.0 })
}
