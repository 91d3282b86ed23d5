//! What models with a coefficient for each column share: the design matrix and the prior.

use elinvar::Posterior;
use elinvar::model::DesignMatrix;
use elinvar::target::{self, ColumnScale};
use elinvar_data::{ColumnTransform, DesignColumn, RegressionData};

use super::PriorWords;
use crate::prior::Prior;
use crate::settings::ModelSettings;

/// The coefficients of the columns.
pub(super) struct Coefficients {
    kinds: Vec<DesignColumn>,
    transforms: Vec<ColumnTransform>,
    pub(super) prior: Prior,
}

impl Coefficients {
    /// With the prior that is given, or `by_data`.
    pub(super) fn new(
        given: &ModelSettings,
        rows: &RegressionData,
        transforms: &[ColumnTransform],
        by_data: Prior,
    ) -> Self {
        let prior = given.precision().map_or(by_data, |precision| Prior::Given { precision });
        Self { kinds: rows.kinds.clone(), transforms: transforms.to_vec(), prior }
    }

    /// The design matrix, which knows how to bring coefficients back to the units of the file, and the target.
    pub(super) fn design(&self, rows: RegressionData) -> Result<(DesignMatrix, Vec<f64>), elinvar::Error> {
        let n_cols = rows.n_cols();
        let matrix = DesignMatrix::new(rows.features, n_cols, rows.names)?;
        let is_scaled = self.transforms.iter().any(ColumnTransform::changes);
        let scale = |t: &ColumnTransform| ColumnScale { shift: t.shift, scale: t.scale };
        let matrix = if is_scaled { matrix.with_scales(self.transforms.iter().map(scale).collect())? } else { matrix };
        Ok((matrix, rows.y))
    }

    /// The prior of a model that takes one for each column.
    pub(super) fn column_prior(&self) -> target::Prior {
        self.prior.of_columns(&self.kinds)
    }

    pub(super) fn settings(&self) -> ModelSettings {
        ModelSettings { prior_precision: self.prior.given(), ..ModelSettings::default() }
    }

    pub(super) fn prior_words(&self) -> PriorWords {
        PriorWords {
            short: self.prior.title(),
            numbers: self.prior.numbers(&self.kinds, &self.transforms),
            of: " on every coefficient",
            beside: None,
        }
    }

    /// Means that the data put into the tail of their prior.
    pub(super) fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        self.prior.conflicts(posterior, &self.kinds)
    }

    /// The mean of the last parameter, which stands behind the coefficients.
    pub(super) fn mean_of_last(&self, posterior: &Posterior) -> Option<f64> {
        posterior.approximation().mean().get(self.kinds.len()).copied()
    }
}
