//! Beta regression: shares between 0 and 1.

use elinvar::model;
use elinvar_data::Outcome;

use super::Entry;
use super::beside::{self, Unit};
use crate::response::Beta;

pub(super) const ENTRY: Entry = beside::entry(
    "beta",
    "shares between 0 and 1",
    |_| Outcome::Share,
    &["phi"],
    |given, rows, transforms| beside::make::<model::Beta>(&LAW, given, rows, transforms),
);

static LAW: beside::Law = beside::Law {
    title: "Beta regression",
    formula: |y| format!("{y} ~ Beta with mean 1/(1 + exp(−η)) and precision phi, η linear in the columns"),
    response: &Beta,
    unit: Unit::None,
};
