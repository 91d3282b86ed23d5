//! The trace as numbers, for read-outs and zooming.

use serde_json::{Map, Value, json};

use super::script_json::script_json;
use crate::content::TraceRow;

/// Of a longer trace, every second row or fewer.
const MOST_ROWS: usize = 4000;

pub(super) fn html(trace: &[TraceRow]) -> String {
    let stride = trace.len().div_ceil(MOST_ROWS).max(1);
    let last = trace.len().saturating_sub(1);
    let rows: Vec<&TraceRow> =
        trace.iter().enumerate().filter(|(i, _)| i % stride == 0 || *i == last).map(|(_, row)| row).collect();
    let column = |of: &dyn Fn(&TraceRow) -> Option<f64>| -> Value { rows.iter().map(|row| rounded(of(row))).collect() };
    let mut columns = Map::new();
    let mut add = |name: &str, of: &dyn Fn(&TraceRow) -> Option<f64>| columns.insert(name.into(), column(of));
    add("step", &|row| Some(row.step as f64));
    add("evaluations", &|row| Some(row.evaluations as f64));
    add("seconds", &|row| Some(row.seconds));
    add("elbo", &|row| row.elbo);
    add("elbo_se", &|row| row.elbo_se);
    add("step_size", &|row| row.step_size);
    add("kl", &|row| row.kl);
    add("components", &|row| Some(row.components as f64));
    add("n_draws", &|row| Some(row.n_draws as f64));
    format!("<script type=\"application/json\" id=\"trace-data\">{}</script>", script_json(&Value::Object(columns)))
}

/// Seven digits are more than a read-out shows.
fn rounded(value: Option<f64>) -> Value {
    match value.filter(|v| v.is_finite()) {
        Some(v) if v.fract() == 0.0 && v.abs() < 1e15 => json!(v as i64),
        Some(v) => json!(format!("{v:.6e}").parse::<f64>().unwrap_or(v)),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_unknown_is_null() {
        assert_eq!(rounded(Some(1.0 / 3.0)).to_string(), "0.3333333");
        assert_eq!(rounded(Some(12.0)).to_string(), "12");
        assert_eq!(rounded(Some(f64::NAN)), Value::Null);
        assert_eq!(rounded(None), Value::Null);
    }

    #[test]
    fn a_long_trace_keeps_its_last_row() {
        let trace: Vec<TraceRow> = (0..10_001).map(|step| TraceRow { step, ..TraceRow::default() }).collect();
        let text = html(&trace);
        assert!(text.contains("10000]") && text.len() < 200_000);
    }
}
