//! The table of parameters.

use elinvar::chains::CorrectedNumber;
use elinvar::posterior::{Answer, Estimate, GivenBy};

use crate::analysis::unbounded;
use crate::number::{decimals, fixed};
use crate::table::{self, Align, Column};

/// Up to this many decimals, all rows have as many as the one that needs most.
const UNIFORM: usize = 4;

/// Columns aligned at the decimal points, the number of decimals following the standard deviation. Numbers have their
/// errors, but for those of a bare approximation, of which the verdict says how far they are off.
pub(super) fn table(answer: &Answer) -> String {
    shown(&answer.parameters, answer.given_by == GivenBy::Approximation)
}

fn shown(parameters: &[CorrectedNumber], is_bare: bool) -> String {
    let most = parameters.iter().map(|p| decimals(p.sd.value)).max().unwrap_or(0);
    let numbers = |name: &str, value: fn(&CorrectedNumber) -> Estimate| {
        let cell = |p: &CorrectedNumber| {
            let decimals = if most <= UNIFORM { most } else { decimals(p.sd.value) };
            let Estimate { value, mcse } = unbounded(value(p));
            if is_bare {
                return fixed(value, decimals);
            }
            if !mcse.is_finite() {
                return format!("{} ± unknown", fixed(value, decimals));
            }
            // One digit of the error, and of the number as many decimals.
            let decimals =
                if mcse > 0.0 { ((-mcse.log10()).ceil().max(0.0) as usize).min(decimals + 1) } else { decimals };
            format!("{} ± {}", fixed(value, decimals), fixed(mcse, decimals))
        };
        Column::new(if is_bare { Align::Point } else { Align::Estimate }, name, parameters.iter().map(cell))
    };
    table::text(vec![
        Column::new(Align::Left, "parameter", parameters.iter().map(|p| p.name.clone())),
        numbers("mean", |p| p.mean),
        numbers("sd", |p| p.sd),
        numbers("q5", |p| p.q5),
        numbers("q95", |p| p.q95),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, mean: f64, sd: f64) -> CorrectedNumber {
        let known = |value| Estimate { value, mcse: 0.004 * sd };
        CorrectedNumber {
            name: name.into(),
            mean: known(mean),
            sd: known(sd),
            q5: known(mean - sd),
            q50: known(mean),
            q95: known(mean + sd),
            judged: true,
        }
    }

    #[test]
    fn points_stand_below_each_other() {
        let text = shown(&[row("a", -1.0, 0.25), row("länge", 123.5, 2.0)], true);
        let expected = "parameter      mean      sd        q5       q95
a            -1.000   0.250    -1.250    -0.750
länge       123.500   2.000   121.500   125.500
";
        assert_eq!(text, expected);
        let text = shown(&[row("a", 1e-5, 2e-6), row("b", 123456.0, 2e3)], true);
        let points: Vec<_> = text.lines().filter_map(|line| line.find('.')).collect();
        assert_eq!(points.len(), 1, "{text}");
        assert!(text.contains("123456") && text.contains("0.00001000"), "{text}");
    }

    #[test]
    fn errors_stand_beside_what_they_belong_to() {
        let text = shown(&[row("a", -1.0, 0.25), row("länge", 123.5, 2.0)], false);
        let expected = "\
parameter              mean              sd                q5               q95
a          -1.000 ± 0.001   0.250 ± 0.001   -1.250 ± 0.001   -0.750 ± 0.001
";
        let squeezed = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>().join(" ");
        assert!(squeezed(&text).starts_with(&squeezed(expected)), "{text}");
        // Two decimals where the error has its first digit in the second.
        let mut rough = row("b", 12.345, 2.0);
        rough.mean.mcse = 0.066;
        assert!(shown(&[rough], false).contains("12.35 ± 0.07"), "{text}");
    }
}
