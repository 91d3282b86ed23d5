//! What the cost of a Gaussian was meant to be, in gradients of the median seed.

use super::measured::{Measured, Spread};

/// The beginning of a name, and the bar with Hessians and with gradients only.
const BARS: [(&str, [Option<f64>; 2]); 12] = [
    ("Breast-Cancer", [Some(200.0), Some(300.0)]),
    ("kidiq", [Some(200.0), Some(300.0)]),
    ("sblrc", [Some(200.0), Some(300.0)]),
    ("diamonds", [Some(200.0), Some(450.0)]),
    ("Sonar", [Some(900.0), Some(3_000.0)]),
    ("banana", [Some(200.0), Some(500.0)]),
    ("murphy", [Some(1_000.0), None]),
    // 6 d.
    ("Gaussian, condition 1 (200)", [None, Some(1_200.0)]),
    ("Gaussian, condition 10000 (200)", [None, Some(1_200.0)]),
    ("Gaussian, condition 1 (500)", [None, Some(3_000.0)]),
    ("Gaussian, condition 10000 (500)", [None, Some(3_000.0)]),
    // With gradients only 20 d.
    ("logistic, N = 5 d", [Some(1_000.0), None]),
];
/// Bars of the median over the posteriors of posteriordb.
const OF_COLLECTION: [f64; 2] = [200.0, 400.0];
/// Gradients for each coordinate of a large regression without Hessians.
const OF_REGRESSIONS: f64 = 20.0;

/// The dimension in the brackets of a name.
fn dimension(name: &str) -> Option<f64> {
    name.rsplit_once('(')?.1.split(')').next()?.parse().ok()
}

fn bar(name: &str) -> Option<f64> {
    let hessians = name.ends_with("with Hessians");
    if name.starts_with("logistic") && !hessians {
        return dimension(name).map(|d| OF_REGRESSIONS * d);
    }
    let (_, bars) = BARS.iter().find(|(start, _)| name.starts_with(start))?;
    bars[usize::from(!hessians)]
}

/// What is met, and what is not.
fn against(bar: f64, gradients: f64) -> String {
    format!("{bar:.0}, {}", if gradients <= bar { "met" } else { "missed" })
}

/// The bar of a row, and whether its gradients are within it.
pub(super) fn shown(name: &str, gradients: f64) -> String {
    bar(name).map_or("–".into(), |bar| against(bar, gradients))
}

/// The medians over the rows of a collection against their bars.
pub(super) fn of_collection(rows: &[Measured], names: &[&str]) -> String {
    let line = |(bar, what): (f64, &str)| {
        let own = |row: &&Measured| row.name.ends_with(what) && names.iter().any(|name| row.name.starts_with(name));
        let gradients: Vec<f64> = rows.iter().filter(own).map(|row| row.values[1].median).collect();
        let (n, middle) = (gradients.len(), Spread::of(gradients.clone()).median);
        format!("- {what}: {middle:.0} gradients in the median of {n} posteriors; bar {}.\n", against(bar, middle))
    };
    let any = rows.iter().any(|row| names.iter().any(|name| row.name.starts_with(name)));
    let lines = OF_COLLECTION.into_iter().zip(["with Hessians", "gradients only"]).map(line);
    if any { format!("posteriordb:\n\n{}", lines.collect::<String>()) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_found_by_name_kind_and_dimension() {
        assert_eq!(shown("diamonds (26), gradients only", 451.0), "450, missed");
        assert_eq!(shown("diamonds (26), with Hessians", 200.0), "200, met");
        assert_eq!(shown("logistic, N = 5 d (500), gradients only", 10_000.0), "10000, met");
        assert_eq!(shown("logistic, N = 5 d (500), with Hessians", 1_001.0), "1000, missed");
        assert_eq!(shown("Gaussian, condition 10000 (500), gradients only", 3_001.0), "3000, missed");
        assert_eq!(shown("eight schools (10), gradients only", 1.0), "–");
    }

    #[test]
    fn medians_of_a_collection_are_those_of_its_rows() {
        let row = |name: &str, gradients: f64| {
            let spread = Spread { median: gradients, worst: gradients };
            Measured { name: name.into(), values: [spread; 5] }
        };
        let rows =
            [row("a (3), with Hessians", 100.0), row("a (3), gradients only", 500.0), row("b, gradients only", 1.0)];
        let text = of_collection(&rows, &["a"]);
        assert!(text.contains("with Hessians: 100 gradients in the median of 1 posteriors; bar 200, met"), "{text}");
        assert!(
            text.contains("gradients only: 500 gradients in the median of 1 posteriors; bar 400, missed"),
            "{text}"
        );
        assert!(of_collection(&rows, &["c"]).is_empty());
    }
}
