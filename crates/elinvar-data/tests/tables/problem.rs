//! Files that cannot be read.

use std::path::Path;

use elinvar_data::{Reading, Table};

/// The sentence for a file that cannot be read, without the name of the file.
pub(crate) fn problem(path: &Path, reading: &Reading) -> String {
    let error = Table::read_with(path, reading).expect_err("the file is wrong").to_string();
    error
        .strip_prefix(&path.display().to_string())
        .expect("the file is named")
        .trim_start_matches([':', ','])
        .trim()
        .into()
}
