//! Poisson regression: counts.

use elinvar::model::{Poisson, PoissonRegression};

use elinvar_data::{Link, Outcome, rmse};

use super::coefficients::{log_predictive, predictions};
use super::{Entry, glm};
use crate::held_out::Scores;

pub(super) const ENTRY: Entry = glm::entry(
    "poisson",
    "counts",
    |_| Outcome::Count,
    |given, rows, transforms| glm::make(&LAW, given, rows, transforms),
);

static LAW: glm::Law<Poisson> = glm::Law {
    target: PoissonRegression::new,
    title: "Poisson regression",
    formula: |y, _| format!("{y} ~ Poisson(exp η), η linear in the columns"),
    test: |rows, draws| {
        let logs = log_predictive(rows, draws, |y, eta, _| y * eta - eta.exp() - libm::lgamma(y + 1.0));
        Scores::of_numbers(&logs, rmse(&rows.y, &predictions(rows, draws, Link::Log)))
    },
};
