//! Effects as a page, a JSON object and a table.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::grid::Values;
use super::{Effects, Summary};
use crate::draws::csv_cell;
use crate::number::{decimals, fixed, significant};
use crate::page::evidence::folded;
use crate::quantiles::percent;
use crate::table::{self, Align, Column};

/// Lines of a curve that a page shows.
const LINES: usize = 9;

#[derive(Serialize)]
struct Object<'a> {
    by: &'a str,
    of: &'a str,
    interval: f64,
    held: std::collections::BTreeMap<&'a str, &'a str>,
    values: Vec<serde_json::Value>,
    curves: Vec<CurveObject<'a>>,
}

#[derive(Serialize)]
struct CurveObject<'a> {
    /// The class, where there is one curve for each.
    #[serde(skip_serializing_if = "str::is_empty")]
    class: &'a str,
    mean: Vec<f64>,
    sd: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Effects {
    /// Names of the lower and the upper end of the intervals, such as `2.5 %`.
    pub(super) fn ends(&self) -> [String; 2] {
        let outside = 0.5 * (1.0 - self.interval);
        [outside, 1.0 - outside].map(|p| format!("{} %", percent(p)))
    }

    /// What the other columns are held at, in a sentence; nothing where there are none.
    pub(super) fn held(&self) -> Option<String> {
        let held: Vec<String> = self.grid.held.iter().map(|(name, value)| format!("{name} {value}")).collect();
        (!held.is_empty()).then(|| format!("Held: {}.", held.join(", ")))
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut page = format!("Effect of {} on {}: {}\n\n", self.grid.by, self.of, self.title);
        if let Some(held) = self.held() {
            page += &folded(&held);
            page.push('\n');
        }
        let all = self.curves[0].points.len();
        let chosen: Vec<usize> = match &self.grid.values {
            Values::Range(_) => (0..LINES).map(|i| i * (all - 1) / (LINES - 1)).collect(),
            Values::Few(_) | Values::Levels(_) => (0..all).collect(),
        };
        let shown: Vec<String> = match &self.grid.values {
            Values::Range(numbers) | Values::Few(numbers) => numbers.iter().map(|x| significant(*x)).collect(),
            Values::Levels(levels) => levels.clone(),
        };
        let align = if matches!(self.grid.values, Values::Levels(_)) { Align::Left } else { Align::Point };
        let [low, high] = self.ends();
        for curve in &self.curves {
            let points: Vec<&Summary> = chosen.iter().map(|i| &curve.points[*i]).collect();
            // As many digits as tell the ends of the narrowest interval apart.
            let narrowest = points.iter().map(|point| point.sd).fold(f64::INFINITY, f64::min);
            let digits = decimals(narrowest);
            let column = |name: &str, of: fn(&Summary) -> f64| {
                Column::new(Align::Point, name, points.iter().map(|point| fixed(of(point), digits)))
            };
            let name = if curve.name.is_empty() { "mean".into() } else { format!("P({})", curve.name) };
            page += &table::text(vec![
                Column::new(align, &self.grid.by, chosen.iter().map(|i| shown[*i].clone())),
                column(&name, |point| point.mean),
                column("sd", |point| point.sd),
                column(&low, |point| point.low),
                column(&high, |point| point.high),
            ]);
            page.push('\n');
        }
        page + &folded(
            "Intervals are those of the mean response, not of single rows: elinvar predict has these. Nothing is said \
             about causes.",
        )
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let list = |points: &[Summary], of: fn(&Summary) -> f64| points.iter().map(of).collect();
        let values = match &self.grid.values {
            Values::Range(numbers) | Values::Few(numbers) => numbers.iter().map(|x| (*x).into()).collect(),
            Values::Levels(levels) => levels.iter().map(|level| level.as_str().into()).collect(),
        };
        let curves = self.curves.iter().map(|curve| CurveObject {
            class: &curve.name,
            mean: list(&curve.points, |point| point.mean),
            sd: list(&curve.points, |point| point.sd),
            low: list(&curve.points, |point| point.low),
            high: list(&curve.points, |point| point.high),
        });
        let object = Object {
            by: &self.grid.by,
            of: self.label(),
            interval: self.interval,
            held: self.grid.held.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            values,
            curves: curves.collect(),
        };
        serde_json::to_string(&object).expect("numbers and strings are always JSON") + "\n"
    }

    /// A header and a line for each value, and for each class where there are several.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let [low, high] = self.ends().map(|end| format!("q{}", end.trim_end_matches(" %")));
        let has_classes = self.curves.len() > 1;
        let class = |name: &str| if has_classes { format!("{},", csv_cell(name)) } else { String::new() };
        let header = if has_classes { "class," } else { "" };
        writeln!(out, "{header}{},mean,sd,{low},{high}", csv_cell(&self.grid.by))?;
        for curve in &self.curves {
            for (cell, Summary { mean, sd, low, high }) in self.grid.values.cells().iter().zip(&curve.points) {
                let (class, cell) = (class(&curve.name), csv_cell(cell));
                writeln!(out, "{class}{cell},{mean:?},{sd:?},{low:?},{high:?}")?;
            }
        }
        out.flush()
    }
}
