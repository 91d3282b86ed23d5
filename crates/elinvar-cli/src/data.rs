//! `elinvar data`: a file as elinvar reads it.

use elinvar_data::{ColumnDescription, ColumnKind, Columns, Description, Format, Reading, describe};

use crate::Outcome;
use crate::args::DataArgs;
use crate::error::Failure;
use crate::number::{grouped, significant};
use crate::print::print;

/// Levels of a category that are listed.
const SHOWN_LEVELS: usize = 4;

/// Reads the file and prints what is in it.
pub(crate) fn run(args: &DataArgs) -> Result<Outcome, Failure> {
    let reading = Reading {
        columns: args.columns.clone().map_or(Columns::All, Columns::Only),
        as_category: args.category.clone().unwrap_or_default(),
        array: args.array.clone(),
        ..Reading::default()
    };
    let description = describe(&args.file, &reading)?;
    let text = if args.json {
        serde_json::to_string(&description).map_err(|e| Failure::input(e.to_string()))? + "\n"
    } else {
        page(&description)
    };
    print(&text)?;
    Ok(Outcome::Done)
}

fn page(description: &Description) -> String {
    let Description { file, format, n_rows, n_rows_missing, columns, problems } = description;
    let plural = |n: usize, one: &str| format!("{} {one}{}", grouped(n as u64), if n == 1 { "" } else { "s" });
    let mut text = format!(
        "{}: {}, {}, {}",
        file.display(),
        name_of(*format),
        plural(*n_rows, "row"),
        plural(columns.len(), "column")
    );
    if *n_rows_missing > 0 {
        text += &format!("; {} with missing cells", plural(*n_rows_missing, "row"));
    }
    text += "\n\n";
    text += &table(columns);
    if problems.is_empty() {
        return text + "\nNothing stands in the way of a model.\n";
    }
    text += "\nBefore a model is fitted:\n";
    for problem in problems {
        text += &format!("- {}; {}\n", problem.found, problem.remedy);
    }
    text
}

fn name_of(format: Format) -> String {
    let word = match format {
        Format::Csv { delimiter: ',' } => "CSV",
        Format::Csv { delimiter: ';' } => "CSV with semicolons",
        Format::Csv { delimiter: '\t' } => "CSV with tabs",
        Format::Csv { delimiter } => return format!("CSV with {delimiter:?} between cells"),
        Format::Libsvm => "LIBSVM",
        Format::Npy => "npy",
        Format::Npz => "npz",
        Format::Parquet => "parquet",
    };
    word.into()
}

/// One line for each column, numbers to the right.
fn table(columns: &[ColumnDescription]) -> String {
    let head = ["column", "holds", "missing", "min", "mean", "sd", "max", "levels"].map(String::from);
    let mut rows = vec![head];
    for column in columns {
        let range = |value: fn(&elinvar_data::Range) -> f64| {
            column.range.as_ref().map_or(String::new(), |range| significant(value(range)))
        };
        rows.push([
            column.name.clone(),
            column.kind.name().into(),
            if column.n_missing > 0 { grouped(column.n_missing as u64) } else { String::new() },
            range(|r| r.min),
            range(|r| r.mean),
            range(|r| r.sd),
            range(|r| r.max),
            levels(column),
        ]);
    }
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..8).map(width).collect();
    // A column of the page that says nothing is left out.
    let is_used: Vec<bool> = (0..8).map(|k| k < 2 || rows[1..].iter().any(|row| !row[k].is_empty())).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (k, cell) in row.iter().enumerate().filter(|(k, _)| is_used[*k]) {
            let padding = " ".repeat(widths[k] - cell.chars().count());
            let is_left = k < 2 || k == 7;
            line += &if is_left { format!("{cell}{padding}   ") } else { format!("{padding}{cell}   ") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn levels(column: &ColumnDescription) -> String {
    if column.kind != ColumnKind::Category {
        return String::new();
    }
    let shown = column.levels.iter().take(SHOWN_LEVELS);
    let mut text: Vec<String> = shown.map(|level| format!("{} ({})", level.level, level.n_rows)).collect();
    if column.n_levels > SHOWN_LEVELS {
        text.push(format!("{} more", column.n_levels - SHOWN_LEVELS));
    }
    text.join(", ")
}
