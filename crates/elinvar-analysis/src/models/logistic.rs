//! Logistic regression: two classes.

use elinvar::model::{self, LogisticRegression};
use elinvar_data::Outcome;

use super::{Entry, glm};
use crate::response::Bernoulli;

pub(super) const ENTRY: Entry = glm::entry(
    "logistic",
    "two classes",
    |_| Outcome::Binary,
    |given, rows, transforms| glm::make(&LAW, given, rows, transforms),
);

static LAW: glm::Law<model::Bernoulli> = glm::Law {
    target: LogisticRegression::new,
    title: "Logistic regression",
    formula: |y, event| format!("P({y} = {event}) = 1/(1 + exp(−η)), η linear in the columns"),
    response: &Bernoulli,
};
