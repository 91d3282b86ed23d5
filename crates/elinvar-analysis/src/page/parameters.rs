//! The table of parameters.

use elinvar::chains::CorrectedNumber;
use elinvar::posterior::{Answer, Estimate, GivenBy};

use crate::analysis::unbounded;
use crate::number::{decimals, fixed, significant};
use crate::parameter_quantiles::ParameterQuantiles;
use crate::quantiles::percent;
use crate::table::{self, Align, Column, shown_len};

/// Up to this many decimals, all rows have as many as the one that needs most.
const UNIFORM: usize = 4;

/// What the table shows beside means and standard deviations.
pub(super) struct Beside<'a> {
    pub(super) quantiles: &'a ParameterQuantiles,
    /// The first of the parameters that are coefficients of columns.
    pub(super) n_coefficients: usize,
    /// What e^β is called, where it was asked for.
    pub(super) ratio: Option<&'static str>,
    /// Independent draws that the answer is worth.
    pub(super) worth: f64,
}

/// What a screen has room for; each leaves out something more than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Room {
    Everything,
    NoErrors,
    /// The outermost quantiles alone.
    NoMiddle,
    NoProbability,
}

/// Columns aligned at the decimal points, the number of decimals following the standard deviation. Means and sds have
/// their errors, but for those of a bare approximation, of which the verdict says how far they are off. Where a screen
/// is narrower than that, the errors go first, then quantiles between the outermost, then P(> 0).
pub(super) fn table(answer: &Answer, beside: &Beside<'_>, width: Option<usize>) -> String {
    let least = if answer.given_by == GivenBy::Approximation { Room::NoErrors } else { Room::Everything };
    let fits = |text: &String| width.is_none_or(|width| text.lines().all(|line| shown_len(line) <= width));
    let rooms = [Room::Everything, Room::NoErrors, Room::NoMiddle].into_iter().filter(|room| *room >= least);
    let mut texts = rooms.map(|room| shown(&answer.parameters, beside, room));
    texts.find(fits).unwrap_or_else(|| shown(&answer.parameters, beside, Room::NoProbability))
}

fn shown(parameters: &[CorrectedNumber], beside: &Beside<'_>, room: Room) -> String {
    let is_bare = room >= Room::NoErrors;
    let most = parameters.iter().map(|p| decimals(p.sd.value)).max().unwrap_or(0);
    let decimals_of = |p: &CorrectedNumber| if most <= UNIFORM { most } else { decimals(p.sd.value) };
    let estimates = |name: &str, value: fn(&CorrectedNumber) -> Estimate| {
        let cell = |p: &CorrectedNumber| {
            let decimals = decimals_of(p);
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
    let Beside { quantiles, n_coefficients, ratio, worth } = beside;
    let mut columns = vec![
        Column::new(Align::Left, "parameter", parameters.iter().map(|p| p.name.clone())),
        estimates("mean", |p| p.mean),
        estimates("sd", |p| p.sd),
    ];
    let last = quantiles.probabilities.len().saturating_sub(1);
    let is_shown = |k: usize| room < Room::NoMiddle || k == 0 || k == last;
    for (k, p) in quantiles.probabilities.iter().enumerate().filter(|(k, _)| is_shown(*k)) {
        let cells = parameters
            .iter()
            .zip(&quantiles.values)
            .map(|(p, values)| fixed(values[k], quantile_decimals(p, decimals_of(p))));
        columns.push(Column::new(Align::Point, &format!("{} %", percent(*p)), cells));
    }
    if *n_coefficients > 0 && room < Room::NoProbability {
        let of =
            |i: usize, positive: &f64| if i < *n_coefficients { probability(*positive, *worth) } else { String::new() };
        let cells = quantiles.positive.iter().enumerate().map(|(i, positive)| of(i, positive));
        columns.push(Column::new(Align::Right, "P(> 0)", cells));
    }
    if let Some(name) = ratio {
        let cells = quantiles
            .values
            .iter()
            .enumerate()
            .map(|(i, values)| if i < *n_coefficients { ratio_of(values) } else { String::new() });
        columns.push(Column::new(Align::Left, name, cells));
    }
    table::text(columns)
}

/// Decimals of a quantile: one fewer than its sd has, as many as its error leaves.
fn quantile_decimals(parameter: &CorrectedNumber, decimals: usize) -> usize {
    let error = unbounded(parameter.q95).mcse.max(unbounded(parameter.q5).mcse);
    let known = if error > 0.0 && error.is_finite() { (-error.log10()).ceil().max(0.0) as usize } else { decimals };
    known.min(decimals)
}

/// A share of an answer that is worth `n` draws; never more certain than they can tell: what none of n has is below
/// 3/n, with 95 % confidence.
fn probability(share: f64, n: f64) -> String {
    let rounded_up = |x: f64| {
        let unit = 10f64.powf(x.log10().floor());
        unit * (x / unit - 1e-9).ceil()
    };
    let least = rounded_up(3.0 / n.max(1.0)).clamp(0.001, 0.5);
    let decimals = if least < 0.0095 { 3 } else { 2 };
    match share {
        p if p < least => format!("< {}", fixed(least, decimals)),
        p if p > 1.0 - least => format!("> {}", fixed(1.0 - least, decimals)),
        p => fixed(p, decimals),
    }
}

/// The median of e^β, and the outermost quantiles.
fn ratio_of(values: &[f64]) -> String {
    let digits = |x: f64| {
        let rounded: f64 = format!("{:.2e}", x.exp()).parse().unwrap_or(x.exp());
        significant(rounded)
    };
    match values {
        [] => String::new(),
        [only] => digits(*only),
        [first, .., last] => {
            let middle = values.len() / 2;
            if values.len() % 2 == 1 {
                format!("{} ({} to {})", digits(values[middle]), digits(*first), digits(*last))
            } else {
                format!("{} to {}", digits(*first), digits(*last))
            }
        }
    }
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

    fn quantiles(rows: &[CorrectedNumber]) -> ParameterQuantiles {
        ParameterQuantiles {
            probabilities: vec![0.025, 0.5, 0.975],
            values: rows
                .iter()
                .map(|p| vec![p.mean.value - 2.0 * p.sd.value, p.mean.value, p.mean.value + 2.0 * p.sd.value])
                .collect(),
            positive: rows.iter().map(|p| if p.mean.value > 0.0 { 1.0 } else { 0.25 }).collect(),
        }
    }

    fn text(rows: &[CorrectedNumber], is_bare: bool, ratio: Option<&'static str>) -> String {
        let quantiles = quantiles(rows);
        let room = if is_bare { Room::NoErrors } else { Room::Everything };
        shown(rows, &Beside { quantiles: &quantiles, n_coefficients: 1, ratio, worth: 10_000.0 }, room)
    }

    #[test]
    fn a_narrow_screen_shows_less() {
        let rows = [row("a", -1.0, 0.25)];
        let beside = Beside { quantiles: &quantiles(&rows), n_coefficients: 1, ratio: None, worth: 1e4 };
        let head = |room| shown(&rows, &beside, room).lines().next().unwrap().split_whitespace().collect::<String>();
        assert_eq!(head(Room::NoErrors), "parametermeansd2.5%50%97.5%P(>0)");
        assert_eq!(head(Room::NoMiddle), "parametermeansd2.5%97.5%P(>0)");
        assert_eq!(head(Room::NoProbability), "parametermeansd2.5%97.5%");
    }

    #[test]
    fn points_stand_below_each_other() {
        let found = text(&[row("a", -1.0, 0.25), row("länge", 123.5, 2.0)], true, None);
        let expected = "parameter      mean      sd     2.5 %      50 %    97.5 %   P(> 0)
a            -1.000   0.250    -1.500    -1.000    -0.500    0.250
länge       123.50…
";
        assert!(found.starts_with(&expected[..expected.find('…').unwrap()]), "{found}");
        let found = text(&[row("a", 1e-5, 2e-6), row("b", 123456.0, 2e3)], true, None);
        let points: Vec<_> = found.lines().skip(1).filter_map(|line| line.find('.')).collect();
        assert!(!points.is_empty() && found.contains("> 0.999"), "{found}");
        assert!(found.contains("123456") && found.contains("0.00001000"), "{found}");
    }

    #[test]
    fn errors_stand_beside_what_they_belong_to() {
        let found = text(&[row("a", -1.0, 0.25), row("länge", 123.5, 2.0)], false, None);
        let squeezed = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>().join(" ");
        assert!(squeezed(&found).contains("a -1.000 ± 0.001 0.250 ± 0.001 -1.500 -1.000 -0.500 0.250 "), "{found}");
        // Two decimals where the error has its first digit in the second.
        let mut rough = row("b", 12.345, 2.0);
        rough.mean.mcse = 0.066;
        assert!(text(&[rough], false, None).contains("12.35 ± 0.07"), "{found}");
    }

    #[test]
    fn probabilities_are_no_surer_than_draws() {
        assert_eq!(
            [probability(0.25, 1e4), probability(0.0, 1e4), probability(1.0, 1e4)],
            ["0.250", "< 0.001", "> 0.999"]
        );
        assert_eq!(
            [probability(0.25, 216.0), probability(0.0, 216.0), probability(0.99, 216.0)],
            ["0.25", "< 0.02", "> 0.98"]
        );
        assert_eq!(probability(0.002, 1_000.0), "< 0.003");
    }

    #[test]
    fn ratios_have_their_interval() {
        let found = text(&[row("a", 0.0, 0.5), row("b", 1.0, 0.5)], true, Some("odds ratio"));
        assert!(found.lines().next().unwrap().ends_with("odds ratio"), "{found}");
        assert!(found.lines().nth(1).unwrap().ends_with(" 1 (0.368 to 2.72)"), "{found}");
        // Only coefficients have them.
        assert!(!found.lines().nth(2).unwrap().contains(" to "), "{found}");
        assert_eq!((ratio_of(&[0.0, 1.0]), ratio_of(&[0.0])), ("1 to 2.72".into(), "1".into()));
    }
}
