//! Negative binomial regression: counts with more spread than a Poisson law.

use elinvar::model;
use elinvar_data::Outcome;

use super::Entry;
use super::beside::{self, Unit};
use crate::response::NegativeBinomial;

pub(super) const ENTRY: Entry = beside::entry(
    "negative_binomial",
    "counts that vary more than Poisson",
    |_| Outcome::Count,
    &["shape"],
    |given, rows, transforms| beside::make::<model::NegativeBinomial>(&LAW, given, rows, transforms),
);

static LAW: beside::Law = beside::Law {
    title: "Negative binomial regression",
    formula: |y| format!("{y} ~ NB(exp η, shape), variance μ + μ²/shape, η linear in the columns"),
    response: &NegativeBinomial,
    unit: Unit::None,
};
