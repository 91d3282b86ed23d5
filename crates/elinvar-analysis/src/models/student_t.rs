//! Linear regression with Student-t noise: outliers count less.

use elinvar::model;
use elinvar_data::Outcome;

use super::Entry;
use super::beside::{self, Unit};
use crate::response::StudentT;

pub(super) const ENTRY: Entry = beside::entry(
    "student_t",
    "numbers with outliers",
    |_| Outcome::Real,
    &["sigma", "nu"],
    |given, rows, transforms| beside::make::<model::StudentT>(&LAW, given, rows, transforms),
);

static LAW: beside::Law = beside::Law {
    title: "Student-t regression",
    formula: |y| format!("{y} ~ η + sigma t(nu), η linear in the columns"),
    response: &StudentT,
    unit: Unit::OfResponse,
};
