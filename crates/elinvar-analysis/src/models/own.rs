//! Which settings belong to which models.

use elinvar_data::{Scaling, nearest};

use super::{Columns, ModelName, REGISTRY, UsualFamily};
use crate::error::Error;
use crate::settings::{PriorOf, Settings};

/// Refuses a prior of a column or parameter that is not there.
pub(crate) fn check_priors(settings: &Settings, name: ModelName, columns: &[String]) -> Result<(), Error> {
    let entry = name.entry();
    for statement in settings.model.priors.iter().flatten() {
        let (what, known): (String, Vec<&str>) = match &statement.of {
            PriorOf::Slope(column) if !columns.contains(column) => {
                (format!("column {column:?}"), columns.iter().map(String::as_str).collect())
            }
            PriorOf::Beside(parameter) if !entry.beside.contains(&parameter.as_str()) => {
                (format!("parameter {parameter}"), entry.beside.iter().copied().chain(["b", "intercept"]).collect())
            }
            PriorOf::Intercept if columns.first().is_none_or(|first| first != "intercept") => {
                ("intercept".into(), vec!["b"])
            }
            _ => continue,
        };
        let wanted = match &statement.of {
            PriorOf::Slope(name) | PriorOf::Beside(name) => name.as_str(),
            _ => "",
        };
        let advice = match nearest(wanted, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", known.join(", ")),
        };
        return Err(Error::PriorOfNothing { statement: statement.to_string(), model: entry.name, what, advice });
    }
    Ok(())
}

/// Refuses a setting that means nothing for this model.
pub(crate) fn check_owners(settings: &Settings, name: ModelName) -> Result<(), Error> {
    let (data, plan, entry) = (&settings.data, &settings.plan, name.entry());
    let is_regression = entry.columns != Columns::Single;
    let regression = "a regression";
    let no_intercept = data.intercept == Some(false);
    let of_columns = data.features.is_some() || data.exclude.is_some() || no_intercept;
    let of_categories = data.categorical.is_some() || data.category.is_some();
    let scaled = data.scaling.is_some_and(|scaling| scaling != Scaling::None);
    let held_out = data.test_fraction.is_some() || data.test_rows.is_some() || data.train_rows.is_some();
    let of_prior = settings.model.prior.is_some() || settings.model.prior_shape.is_some();
    let searches = entry.usual_family != UsualFamily::OwnStart;
    let of_table = [
        ("--features, --exclude or --no-intercept", of_columns, is_regression, regression),
        ("--categorical or --category", of_categories, is_regression, regression),
        ("--standardize or --scale", scaled, is_regression, regression),
        ("--test-fraction, --test-rows or --train-rows", held_out, is_regression, regression),
    ];
    let of_fit = [
        ("--no-intercept", no_intercept, name.has_coefficients(), "a model with coefficients"),
        ("--prior-precision or --prior-sd", settings.model.has_prior(), is_regression, regression),
        ("--prior or --prior-shape", of_prior, is_regression, regression),
        ("--prior 'b ~ …'", settings.model.priors.is_some(), name.has_coefficients(), "a model with coefficients"),
        ("--minibatch", plan.minibatch.is_some(), is_regression, regression),
        ("--restarts", plan.restarts > 1, searches, "a model whose start is searched for"),
    ];
    let refused = |flags, owner: String| Err(Error::NotOfThisModel { flags, owner, model: name.name() });
    let of_others = |(_, is_given, is_owned, _): &&(&str, bool, bool, &str)| *is_given && !is_owned;
    if let Some((flags, _, _, owner)) = of_table.iter().find(of_others) {
        return refused(flags, (*owner).into());
    }
    let is_own = |flags: &str| entry.own.iter().any(|own| own.flags == flags);
    for other in REGISTRY {
        if let Some(own) = other.own.iter().find(|own| (own.is_given)(&settings.model) && !is_own(own.flags)) {
            return refused(own.flags, format!("the model {}", other.name));
        }
    }
    match of_fit.iter().find(of_others) {
        Some((flags, _, _, owner)) => refused(flags, (*owner).into()),
        None => Ok(()),
    }
}
