//! What regressions with positive parameters beside the coefficients share.

use elinvar::model::{NoisePrior, Regression, RowLaw};
use elinvar::target::Target;
use elinvar_data::{Beside, ColumnTransform, Outcome, RegressionData};

use super::coefficients::{Coefficients, Design, moments, where_given};
use super::over_columns::{self, Behind, OverColumns};
use super::{Columns, Entry, Make, Model, Trials, UsualFamily};
use crate::prior::Prior;
use crate::response::{Regression as Rows, Response};
use crate::settings::ModelSettings;

/// What one regression differs by.
pub(super) struct Law {
    pub(super) title: &'static str,
    /// The law of the column with this name.
    pub(super) formula: fn(&str) -> String,
    pub(super) response: &'static dyn Response,
    pub(super) unit: Unit,
}

/// What the linear predictor is measured in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// The unit of the response; the first parameter beside the coefficients is its scale.
    OfResponse,
    /// None: it is a logarithm or a logit.
    None,
}

struct OfLaw<L: RowLaw> {
    target: Regression<L>,
    priors: Vec<NoisePrior>,
    law: &'static Law,
}

/// A regression in the list of models.
pub(super) const fn entry(
    name: &'static str,
    about: &'static str,
    outcome: fn(&ModelSettings) -> Outcome,
    beside: &'static [&'static str],
    make: Make,
) -> Entry {
    let (columns, usual_family, trials) = (Columns::Coefficients, UsualFamily::Ladder, Trials::None);
    Entry { name, about, columns, outcome, beside, trials, own: &[], usual_family, make }
}

/// The regression with this law over rows.
pub(super) fn make<L: RowLaw>(
    law: &'static Law,
    given: &ModelSettings,
    rows: RegressionData,
    transforms: &[ColumnTransform],
) -> Result<Box<dyn Model>, elinvar::Error> {
    let Beside { offset, weights, trials } = rows.beside.clone();
    let (mean, sd) = moments(&rows.y);
    let by_data = match law.unit {
        Unit::OfResponse => Prior::ByData { centre: mean, spread: sd },
        Unit::None => Prior::WITHOUT_UNIT,
    };
    let mut priors = L::usual_priors();
    if let (Unit::OfResponse, Some(first)) = (law.unit, priors.first_mut()) {
        *first = NoisePrior::Exponential { rate: 1.0 / sd };
    }
    for (prior, name) in priors.iter_mut().zip(L::AUXILIARY) {
        *prior = given.beside(name).unwrap_or(*prior);
    }
    let coefficients = Coefficients::new(given, &rows, transforms, by_data);
    let Design { x, y, prior, tails } = coefficients.design(rows)?;
    let mut target = Regression::<L>::of_trials(x, y, trials, coefficients.priors.base.precision())?
        .with_coefficient_prior(prior)?
        .with_auxiliary_priors(priors.clone())?;
    target = where_given(target, offset, Regression::with_offset)?;
    target = where_given(target, weights, Regression::with_weights)?;
    Ok(over_columns::model(OfLaw { target, priors, law }, coefficients, tails))
}

impl<L: RowLaw> OverColumns for OfLaw<L> {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn title(&self) -> &'static str {
        self.law.title
    }

    fn formula(&self, y: &str) -> String {
        (self.law.formula)(y)
    }

    fn rows(&self) -> Rows<'_> {
        let target = &self.target;
        Rows {
            response: self.law.response,
            design: target.design(),
            y: target.responses(),
            offsets: target.offset(),
            trials: target.trials(),
            weights: target.weights(),
        }
    }

    fn beside(&self) -> Behind {
        Behind::Positive(L::AUXILIARY.iter().copied().zip(self.priors.iter().copied()).collect())
    }
}
