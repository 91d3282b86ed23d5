//! Logistic regression: two classes.

use elinvar::model::LogisticRegression;
use elinvar_data::Outcome;

use super::{Entry, glm};
use crate::response::Bernoulli;

pub(super) const ENTRY: Entry = glm::entry(
    "logistic",
    "target 0/1",
    |_| Outcome::Binary,
    |given, rows, transforms| glm::make(&LAW, given, rows, transforms),
);

static LAW: glm::Law<LogisticRegression> = glm::Law {
    target: LogisticRegression::new,
    title: "Logistic regression",
    formula: |y| format!("P({y} = 1) = 1/(1 + exp(−η)), η linear in the columns"),
    response: &Bernoulli,
    rows: |target| (target.design(), target.responses()),
};
