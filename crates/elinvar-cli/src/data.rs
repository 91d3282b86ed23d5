//! `elinvar data`: a file as elinvar reads it.

use crate::error::Failure;
use elinvar_data::{Columns, Reading, describe};

use crate::Outcome;
use crate::args::DataArgs;
use crate::print::print;

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
        description.to_string()
    };
    print(&text)?;
    Ok(Outcome::Done)
}
