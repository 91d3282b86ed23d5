//! Binomial regression: events among trials.

use elinvar::model;
use elinvar_data::Outcome;

use super::beside::{self, Unit};
use super::{Entry, Trials};
use crate::response::Binomial;

pub(super) const ENTRY: Entry = Entry {
    trials: Trials::Needed,
    ..beside::entry(
        "binomial",
        "events of trials",
        |_| Outcome::Events,
        &[],
        |given, rows, transforms| beside::make::<model::Binomial>(&LAW, given, rows, transforms),
    )
};

static LAW: beside::Law = beside::Law {
    title: "Binomial regression",
    formula: |y| format!("{y} ~ Binomial(trials, 1/(1 + exp(−η))), η linear in the columns"),
    response: &Binomial,
    unit: Unit::None,
};
