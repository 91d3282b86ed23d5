//! Gamma regression: positive numbers whose spread grows with their mean.

use elinvar::model;
use elinvar_data::Outcome;

use super::Entry;
use super::beside::{self, Unit};
use crate::response::Gamma;

pub(super) const ENTRY: Entry = beside::entry(
    "gamma",
    "positive numbers",
    |_| Outcome::Positive,
    &["shape"],
    |given, rows, transforms| beside::make::<model::Gamma>(&LAW, given, rows, transforms),
);

static LAW: beside::Law = beside::Law {
    title: "Gamma regression",
    formula: |y| format!("{y} ~ Gamma with mean exp η and variance μ²/shape, η linear in the columns"),
    response: &Gamma,
    unit: Unit::None,
};
