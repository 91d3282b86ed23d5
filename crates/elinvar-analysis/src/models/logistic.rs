//! Logistic regression: two classes.

use elinvar::model::{Bernoulli, LogisticRegression};
use elinvar_data::{Link, Outcome};

use super::coefficients::predictions;
use super::{Entry, glm};
use crate::held_out::Scores;

pub(super) const ENTRY: Entry = glm::entry(
    "logistic",
    "two classes",
    |_| Outcome::Binary,
    |given, rows, transforms| glm::make(&LAW, given, rows, transforms),
);

static LAW: glm::Law<Bernoulli> = glm::Law {
    target: LogisticRegression::new,
    title: "Logistic regression",
    formula: |y, event| format!("P({y} = {event}) = 1/(1 + exp(−η)), η linear in the columns"),
    test: |rows, draws| Scores::of_two_classes(&rows.y, &predictions(rows, draws, Link::Logit)),
};
