//! What in a table stands in the way of a model, in words.

use std::collections::HashMap;

use crate::cell::number;
use crate::describe::{ColumnDescription, ColumnKind, Problem};
use crate::draft::MANY_LEVELS;
use crate::listing::four_digits;
use crate::sentence::{excerpt, quoted, rows};
use crate::{DRAWS_COLUMNS, Table};

/// Ratio of standard deviations beyond which columns are of different scales.
const SCALES_APART: f64 = 1e4;

/// The problems, column by column, then those of several columns.
pub(crate) fn problems(table: &Table, columns: &[ColumnDescription]) -> Vec<Problem> {
    let mut found = Vec::new();
    for (j, column) in columns.iter().enumerate() {
        let mut add = |what: String, remedy: &str| {
            found.push(Problem { column: Some(column.name.clone()), found: what, remedy: remedy.into() });
        };
        let at = |row: usize| table.unit.at(table.lines[row]);
        if column.kind == ColumnKind::Missing {
            add("no cell has a value".into(), "leave the column out");
            continue;
        }
        if let Some(first) = table.column(j).position(f64::is_nan) {
            let what = format!("{} missing, the first in {}", cells(column.n_missing, table), at(first));
            add(what, "fill them in, drop the rows by --missing drop or leave the column out");
        }
        if column.kind == ColumnKind::Constant {
            add("every row has the same value".into(), "leave the column out");
        }
        if let Some(first) = table.column(j).position(f64::is_infinite) {
            let n = table.column(j).filter(|value| value.is_infinite()).count();
            let what = format!("{} infinite, the first in {}", cells(n, table), at(first));
            add(what, "correct them, remove the rows or leave the column out");
        }
        if let Some((n_texts, first)) = slips(table, j) {
            let text = excerpt(&table.levels[j][table.row(first)[j] as usize]);
            let what = format!("{} no number, the first {text} in {}", cells(n_texts, table), at(first));
            add(what, "correct them, or the column is taken as a category");
        } else if column.n_levels > MANY_LEVELS && 2 * column.n_levels > table.n_rows() - column.n_missing {
            add(format!("{} different texts in {}", column.n_levels, rows(table.n_rows())), "leave the column out");
        } else if column.kind == ColumnKind::Category {
            add(
                "it holds texts".into(),
                "take texts as categories by --categorical indicators, or leave the column out",
            );
        }
        if column.name == "intercept" {
            add("the name is taken by the model's own intercept".into(), "rename the column or use --no-intercept");
        }
        if DRAWS_COLUMNS.contains(&column.name.as_str()) {
            add("the name is taken by a column of the draws".into(), "rename the column or leave it out");
        }
    }
    found.extend(same_columns(table));
    found.extend(scales(columns));
    found
}

fn cells(n: usize, table: &Table) -> String {
    format!("{n} of {} cells {}", table.n_rows(), if n == 1 { "is" } else { "are" })
}

/// In a category most rows of which have a number: how many have a text, and the first of them.
fn slips(table: &Table, j: usize) -> Option<(usize, usize)> {
    let is_text: Vec<bool> = table.levels(j)?.iter().map(|level| number(level.as_bytes()).is_err()).collect();
    let cells = || table.column(j).enumerate().filter(|(_, value)| !value.is_nan());
    let n_texts = cells().filter(|(_, value)| is_text[*value as usize]).count();
    let (first, _) = cells().find(|(_, value)| is_text[*value as usize])?;
    (2 * n_texts < cells().count()).then_some((n_texts, first))
}

/// Columns that are the same in every row.
fn same_columns(table: &Table) -> Vec<Problem> {
    let n_cols = table.n_cols();
    let mut hashes = vec![0xcbf2_9ce4_8422_2325_u64; n_cols];
    for row in table.values.chunks_exact(n_cols) {
        hashes.iter_mut().zip(row).for_each(|(hash, value)| {
            *hash = (*hash ^ (value + 0.0).to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        });
    }
    let mut first: HashMap<(u64, &[String]), usize> = HashMap::new();
    let mut found = Vec::new();
    for (j, hash) in hashes.into_iter().enumerate() {
        let earlier = *first.entry((hash, &table.levels[j])).or_insert(j);
        let varies = table.column(j).any(|value| value != table.values[j]);
        let is_same = || table.column(j).zip(table.column(earlier)).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
        if earlier != j && varies && is_same() {
            let what = format!("it is the same as {} in every row", quoted(&table.names[earlier]));
            let (column, remedy) = (Some(table.names[j].clone()), "leave one of them out".into());
            found.push(Problem { column, found: what, remedy });
        }
    }
    found
}

/// Columns of very different scales.
fn scales(columns: &[ColumnDescription]) -> Option<Problem> {
    let is_number = |column: &&ColumnDescription| column.kind == ColumnKind::Number;
    let mut sds: Vec<(f64, &str)> =
        columns.iter().filter(is_number).filter_map(|column| Some((column.range?.sd, column.name.as_str()))).collect();
    sds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((low, narrow), (high, wide)) = (*sds.first()?, *sds.last()?);
    let what = || {
        let (narrow, wide) = (quoted(narrow), quoted(wide));
        format!("standard deviations go from {} ({narrow}) to {} ({wide})", four_digits(low), four_digits(high))
    };
    let remedy = "use --standardize, so that one prior suits all coefficients".into();
    (high > SCALES_APART * low).then(|| Problem { column: None, found: what(), remedy })
}
