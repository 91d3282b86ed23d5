//! Poisson regression: counts.

use elinvar::model::{self, PoissonRegression};

use elinvar_data::Outcome;

use super::{Entry, glm};
use crate::response::Poisson;

pub(super) const ENTRY: Entry = glm::entry(
    "poisson",
    "counts",
    |_| Outcome::Count,
    |given, rows, transforms| glm::make(&LAW, given, rows, transforms),
);

static LAW: glm::Law<model::Poisson> = glm::Law {
    target: PoissonRegression::new,
    title: "Poisson regression",
    formula: |y, _| format!("{y} ~ Poisson(exp η), η linear in the columns"),
    response: &Poisson,
};
