//! Poisson regression: counts.

use elinvar::model::PoissonRegression;

use elinvar_data::Outcome;

use super::{Entry, glm};
use crate::response::Poisson;

pub(super) const ENTRY: Entry = glm::entry(
    "poisson",
    "counts",
    |_| Outcome::Count,
    |given, rows, transforms| glm::make(&LAW, given, rows, transforms),
);

static LAW: glm::Law<PoissonRegression> = glm::Law {
    target: PoissonRegression::new,
    title: "Poisson regression",
    formula: |y| format!("{y} ~ Poisson(exp η), η linear in the columns"),
    response: &Poisson,
    rows: |target| (target.design(), target.responses()),
};
