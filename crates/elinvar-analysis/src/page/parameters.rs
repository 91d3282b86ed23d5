//! The table of parameters.

use elinvar::chains::CorrectedNumber;
use elinvar::posterior::{Estimate, ParameterSummary};

use crate::analysis::unbounded;
use crate::number::{decimals, fixed};
use crate::table::{self, Align, Column};

/// Columns aligned at the decimal points, the number of decimals following the standard deviation.
pub(super) fn table(parameters: &[ParameterSummary]) -> String {
    /// Up to this many decimals, all rows have as many as the one that needs most.
    const UNIFORM: usize = 4;
    let most = parameters.iter().map(|p| decimals(p.sd)).max().unwrap_or(0);
    let numbers = |name: &str, value: fn(&ParameterSummary) -> f64| {
        let cell = |p: &ParameterSummary| fixed(value(p), if most <= UNIFORM { most } else { decimals(p.sd) });
        Column::new(Align::Point, name, parameters.iter().map(cell))
    };
    table::text(vec![
        Column::new(Align::Left, "parameter", parameters.iter().map(|p| p.name.clone())),
        numbers("mean", |p| p.mean),
        numbers("sd", |p| p.sd),
        numbers("q5", |p| p.q5),
        numbers("q95", |p| p.q95),
    ])
}

/// The same of what chains found, means and standard deviations with their errors.
pub(super) fn corrected(parameters: &[CorrectedNumber]) -> String {
    let estimates = |name: &str, value: fn(&CorrectedNumber) -> Estimate| {
        let cell = |p: &CorrectedNumber| {
            let Estimate { value, mcse } = unbounded(value(p));
            let decimals = decimals(p.sd.value);
            let error = if mcse.is_finite() { fixed(mcse, decimals + 1) } else { "unknown".into() };
            format!("{} ± {error}", fixed(value, decimals))
        };
        Column::new(Align::Estimate, name, parameters.iter().map(cell))
    };
    table::text(vec![
        Column::new(Align::Left, "parameter", parameters.iter().map(|p| p.name.clone())),
        estimates("mean", |p| p.mean),
        estimates("sd", |p| p.sd),
        estimates("q5", |p| p.q5),
        estimates("q95", |p| p.q95),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, mean: f64, sd: f64) -> ParameterSummary {
        ParameterSummary { name: name.into(), mean, sd, q5: mean - sd, q95: mean + sd }
    }

    #[test]
    fn points_stand_below_each_other() {
        let text = table(&[row("a", -1.0, 0.25), row("länge", 123.5, 2.0)]);
        let expected = "parameter      mean      sd        q5       q95
a            -1.000   0.250    -1.250    -0.750
länge       123.500   2.000   121.500   125.500
";
        assert_eq!(text, expected);
        let text = table(&[row("a", 1e-5, 2e-6), row("b", 123456.0, 2e3)]);
        let points: Vec<_> = text.lines().filter_map(|line| line.find('.')).collect();
        assert_eq!(points.len(), 1, "{text}");
        assert!(text.contains("123456") && text.contains("0.00001000"), "{text}");
    }
}
