//! Linear regression with noise of unknown size.

use elinvar::Posterior;
use elinvar::model::{DesignMatrix, LinearRegression, NoisePrior};
use elinvar::target::Target;
use elinvar_data::{Beside, ColumnTransform, Outcome, RegressionData};

use super::coefficients::{Coefficients, Design, moments};
use super::over_columns::{self, Behind, OverColumns};
use super::{Columns, Entry, Model, OwnSetting, Trials, UsualFamily};
use crate::number::significant;
use crate::prior::Prior;
use crate::response::{Normal, Regression};
use crate::settings::ModelSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "linear",
    about: "any number",
    columns: Columns::Coefficients,
    outcome: |_| Outcome::Real,
    beside: &["sigma"],
    trials: Trials::None,
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
    noise: NoisePrior,
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
    let noise = noise(given, &coefficients, sd_of_y);
    let Design { x, y: remaining, prior, tails } = coefficients.design(rows)?;
    let unweighted = (!weights.is_empty()).then(|| x.clone());
    let mut target = LinearRegression::new(x, remaining, coefficients.priors.base.precision())?
        .with_coefficient_prior(prior)?
        .with_noise_prior(noise)?;
    if !weights.is_empty() {
        target = target.with_weights(weights.clone())?;
    }
    let linear = Linear { target, unweighted, y, offset, weights, noise, sd_of_y };
    Ok(over_columns::model(linear, coefficients, tails))
}

/// The prior of sigma, given or by the standard deviation of the response.
pub(super) fn noise(given: &ModelSettings, coefficients: &Coefficients, sd_of_y: f64) -> NoisePrior {
    let beside_given = coefficients.priors.base.given().map(|_| SIGMA_SCALE);
    let usual = match given.sigma_scale.or(beside_given) {
        Some(scale) => NoisePrior::HalfCauchy { scale },
        None => NoisePrior::Exponential { rate: 1.0 / sd_of_y },
    };
    given.beside("sigma").unwrap_or(usual)
}

/// Settings with the scale of sigma, where its prior is a half-Cauchy.
pub(super) fn with_sigma(settings: ModelSettings, noise: &NoisePrior) -> ModelSettings {
    match noise {
        NoisePrior::HalfCauchy { scale } => ModelSettings { sigma_scale: Some(*scale), ..settings },
        _ => settings,
    }
}

impl OverColumns for Linear {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn title(&self) -> &'static str {
        "Linear regression"
    }

    fn formula(&self, y: &str) -> String {
        format!("{y} ~ N(η, sigma²), η linear in the columns")
    }

    fn rows(&self) -> Regression<'_> {
        let design = self.unweighted.as_ref().unwrap_or(self.target.design());
        Regression { weights: &self.weights, offsets: &self.offset, ..Regression::plain(&Normal, design, &self.y) }
    }

    fn beside(&self) -> Behind {
        Behind::Positive(vec![("sigma", self.noise)])
    }

    fn settings(&self, of_coefficients: ModelSettings) -> ModelSettings {
        with_sigma(of_coefficients, &self.noise)
    }

    fn conflicts(&self, mut sentences: Vec<String>, coefficients: &Coefficients, posterior: &Posterior) -> Vec<String> {
        let sigma = coefficients.mean_of_last(posterior).map(f64::exp);
        if let Some(sigma) = sigma.filter(|sigma| *sigma > 1.02 * self.sd_of_y) {
            sentences.push(format!(
                "Prior against data: the noise sigma, {}, is larger than the standard deviation of the response, {}: the \
                 prior keeps the coefficients from explaining anything; {}.",
                significant(sigma),
                significant(self.sd_of_y),
                coefficients.priors.remedy()
            ));
        }
        if sentences.is_empty() {
            sentences.extend(coefficients.pulled(posterior, self.target.least_squares()));
        }
        sentences
    }
}
