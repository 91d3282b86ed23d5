//! The modes of a posterior that has several: the share of each, and every parameter within it.

use elinvar::chains::{CorrectedMode, CorrectedNumber};

use crate::number::{decimals, fixed};
use crate::table::{self, Align, Column, shown_len};

/// Modes with a column each.
const MOST: usize = 4;

/// A column for each mode, as many as a screen has room for; nothing where there is one mode.
pub(super) fn table(modes: &[&CorrectedMode], width: Option<usize>) -> Option<String> {
    let first = modes.first().filter(|mode| !mode.parameters.is_empty())?;
    let with = |n: usize| {
        let mut columns =
            vec![Column::new(Align::Left, "mode", first.parameters.iter().map(|number| number.name.clone()))];
        columns.extend(
            modes[..n]
                .iter()
                .map(|mode| Column::new(Align::Right, &mode.share_in_percent(), mode.parameters.iter().map(cell))),
        );
        table::text(columns)
    };
    let fits = |text: &String| width.is_none_or(|width| text.lines().all(|line| shown_len(line) <= width));
    let most = modes.len().min(MOST);
    let n = (2..=most).rev().find(|n| fits(&with(*n))).unwrap_or(1);
    let left = modes.len() - n;
    let more = if left == 0 { String::new() } else { format!("and {left} more, with smaller shares\n") };
    Some(with(n) + &more)
}

/// The mean, and the standard deviation in brackets.
fn cell(number: &CorrectedNumber) -> String {
    let decimals = decimals(number.sd.value);
    format!("{} (sd {})", fixed(number.mean.value, decimals), fixed(number.sd.value, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(share: f64, mean: f64) -> CorrectedMode {
        let text = format!(
            r#"{{"share":{{"value":{share},"mcse":0.004}},"mean":[{mean}],"parameters":[{{"name":"level",
            "mean":{{"value":{mean},"mcse":0.01}},"sd":{{"value":0.5,"mcse":0.01}},"q5":{{"value":0,"mcse":0}},
            "q50":{{"value":0,"mcse":0}},"q95":{{"value":0,"mcse":0}},"judged":true}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn every_mode_has_a_column_as_far_as_there_is_room() {
        let modes = [mode(0.623, 1.25), mode(0.377, -4.0)];
        let modes: Vec<_> = modes.iter().collect();
        let expected = "\
mode         62.3 ± 0.4 %      37.7 ± 0.4 %
level   1.250 (sd 0.500)   -4.000 (sd 0.500)
";
        let squeezed = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(squeezed(&table(&modes, None).unwrap()), squeezed(expected));
        let narrow = table(&modes, Some(30)).unwrap();
        assert!(narrow.ends_with("and 1 more, with smaller shares\n"), "{narrow}");
        assert!(!narrow.contains("37.7"), "{narrow}");
        assert_eq!(table(&[], None), None);
    }
}
