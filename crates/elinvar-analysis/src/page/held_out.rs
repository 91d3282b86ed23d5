//! What rows say that were held out, as lines.

use crate::held_out::Test;
use crate::number::{grouped, significant, with_error};

/// A line for each metric.
pub(super) fn table(test: &Test) -> String {
    let rows = if test.n_rows == 1 { "row" } else { "rows" };
    let mut text = format!("Test on {} held-out {rows}\n", grouped(test.n_rows as u64));
    for metric in &test.scores.metrics {
        let value = match metric.se {
            Some(se) => with_error(metric.value, se),
            None => significant(metric.value),
        };
        let unit = if metric.unit.is_empty() { String::new() } else { format!(" {}", metric.unit) };
        text += &format!("  {:<24}{value}{unit}\n", metric.name.replace('_', " "));
    }
    text
}
