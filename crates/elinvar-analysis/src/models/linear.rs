//! Linear regression with noise of unknown size.

use elinvar::Posterior;
use elinvar::model::{DesignMatrix, LinearRegression};
use elinvar::target::Target;
use elinvar_data::{Beside, ColumnTransform, Outcome, RegressionData};

use super::coefficients::Coefficients;
use super::{Columns, Entry, Model, OwnSetting, PriorWords, UsualFamily};
use crate::number::significant;
use crate::prior::{Prior, REMEDY};
use crate::response::{Normal, Regression};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "linear",
    about: "any number",
    columns: Columns::Coefficients,
    outcome: |_| Outcome::Real,
    taken: Some("sigma"),
    own: &[OwnSetting { flags: "--sigma-scale", is_given: |given| given.sigma_scale.is_some() }],
    usual_family: UsualFamily::Ladder,
    make,
};

/// Scale of the half-Cauchy prior of sigma beside a given prior of the coefficients.
const SIGMA_SCALE: f64 = 2.5;

struct Linear {
    target: LinearRegression,
    /// The design without the weights that the target has in it, if it has any.
    unweighted: Option<DesignMatrix>,
    y: Vec<f64>,
    offset: Vec<f64>,
    weights: Vec<f64>,
    coefficients: Coefficients,
    sigma_scale: f64,
    sd_of_y: f64,
}

fn make(
    given: &ModelSettings,
    mut rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let Beside { offset, weights, .. } = std::mem::take(&mut rows.beside);
    let y = rows.y.clone();
    rows.y.iter_mut().zip(&offset).for_each(|(y, offset)| *y -= offset);
    let (mean_of_y, sd_of_y) = moments(&rows.y);
    let by_data = Prior::ByData { centre: mean_of_y, spread: sd_of_y };
    let coefficients = Coefficients::new(given, &rows, transforms, by_data);
    let usual_scale = if coefficients.prior.given().is_some() { SIGMA_SCALE } else { sd_of_y };
    let sigma_scale = given.sigma_scale.unwrap_or(usual_scale);
    let (x, remaining) = coefficients.design(rows)?;
    let unweighted = (!weights.is_empty()).then(|| x.clone());
    let mut target = LinearRegression::new(x, remaining, coefficients.prior.precision())?
        .with_coefficient_prior(coefficients.column_prior())?
        .with_noise_scale(sigma_scale)?;
    if !weights.is_empty() {
        target = target.with_weights(weights.clone())?;
    }
    Ok(Box::new(Linear { target, unweighted, y, offset, weights, coefficients, sigma_scale, sd_of_y }))
}

/// Mean and standard deviation of the response.
fn moments(y: &[f64]) -> (f64, f64) {
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let sd = (squares / (n - 1.0).max(1.0)).sqrt();
    // A constant response has no spread of its own.
    (mean, if sd > 1e-13 * mean.abs() { sd } else { 1.0 })
}

impl Model for Linear {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn settings(&self) -> ModelSettings {
        ModelSettings { sigma_scale: Some(self.sigma_scale), ..self.coefficients.settings() }
    }

    fn title(&self) -> String {
        "Linear regression".into()
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} ~ N(η, sigma²), η linear in the columns")
    }

    fn prior(&self) -> PriorWords {
        let sigma = format!("sigma half-Cauchy({})", significant(self.sigma_scale));
        PriorWords { beside: Some(sigma), ..self.coefficients.prior_words() }
    }

    fn regression(&self) -> Option<Regression<'_>> {
        let design = self.unweighted.as_ref().unwrap_or(self.target.design());
        Some(Regression {
            weights: &self.weights,
            offsets: &self.offset,
            ..Regression::plain(&Normal, design, &self.y)
        })
    }

    fn conflicts(&self, posterior: &Posterior) -> Vec<String> {
        let mut sentences = self.coefficients.conflicts(posterior);
        let sigma = self.coefficients.mean_of_last(posterior).map(f64::exp);
        if let Some(sigma) = sigma.filter(|sigma| *sigma > 1.02 * self.sd_of_y) {
            sentences.push(format!(
                "Prior against data: the noise sigma, {}, is larger than the standard deviation of the response, {}: the \
                 prior keeps the coefficients from explaining anything; {REMEDY}.",
                significant(sigma),
                significant(self.sd_of_y)
            ));
        }
        sentences
    }
}
