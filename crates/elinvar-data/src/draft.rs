//! What a reader found in a file, before missing cells and categories are dealt with.

use crate::category::levels_of_numbers;
use crate::cell::number;
use crate::format::Format;
use crate::sentence::excerpt;
use crate::table::find;
use crate::{Error, Missing, Reading, Table};

/// A category with more levels than this and more than half as many as there are rows is taken for an identifier.
pub(crate) const MANY_LEVELS: usize = 50;

/// A table in which NaN marks a missing cell.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) table: Table,
    pub(crate) format: Format,
    /// What stands in the first missing cell, row by row.
    pub(crate) first_missing: Option<String>,
}

impl Draft {
    /// The table as `reading` wants it, every value finite.
    pub(crate) fn settle(mut self, reading: &Reading) -> Result<Table, Error> {
        let all_finite = all_finite(&self.table.values);
        if !all_finite {
            self.refuse_infinite()?;
        }
        self.make_categories(&reading.as_category)?;
        forget_unused_levels(&mut self.table);
        check_levels(&self.table)?;
        if !all_finite {
            self.settle_missing(reading.missing)?;
        }
        Ok(self.table)
    }

    fn refuse_infinite(&self) -> Result<(), Error> {
        let table = &self.table;
        match table.values.iter().position(|value| value.is_infinite()) {
            None => Ok(()),
            Some(k) => {
                let place = table.place(k / table.n_cols(), k % table.n_cols());
                Err(Error::NotFinite { place, text: excerpt(&table.values[k].to_string()) })
            }
        }
    }

    /// Turns columns of numbers that are named into categories.
    pub(crate) fn make_categories(&mut self, names: &[String]) -> Result<(), Error> {
        let table = &mut self.table;
        for name in names {
            let j = find(&table.file, &table.names, name)?;
            if table.levels[j].is_empty() {
                let n_cols = table.names.len();
                table.levels[j] = levels_of_numbers(&mut table.values, j, n_cols);
            }
        }
        Ok(())
    }

    fn settle_missing(&mut self, missing: Missing) -> Result<(), Error> {
        let table = &mut self.table;
        let n_cols = table.n_cols();
        let Some(first) = table.values.iter().position(|value| value.is_nan()) else {
            return Ok(());
        };
        let has_missing = |row: &[f64]| row.iter().any(|value| value.is_nan());
        let kept: Vec<usize> = table
            .values
            .chunks_exact(n_cols)
            .enumerate()
            .filter(|(_, row)| !has_missing(row))
            .map(|(i, _)| i)
            .collect();
        match missing {
            Missing::Refuse => {
                let place = table.place(first / n_cols, first % n_cols);
                let text = self.first_missing.clone().unwrap_or_else(|| "NaN".into());
                match table.values.iter().filter(|value| value.is_nan()).count() {
                    1 => Err(Error::Missing { place, text }),
                    n_cells => Err(Error::MissingCells { place, text, n_cells, n_rows: table.n_rows() - kept.len() }),
                }
            }
            Missing::Drop if kept.is_empty() => {
                Err(Error::AllRowsMissing { file: table.file.clone(), n_rows: table.n_rows() })
            }
            Missing::Drop => {
                for (to, &from) in kept.iter().enumerate() {
                    table.values.copy_within(from * n_cols..(from + 1) * n_cols, to * n_cols);
                    table.lines[to] = table.lines[from];
                }
                table.n_dropped = table.n_rows() - kept.len();
                table.values.truncate(kept.len() * n_cols);
                table.lines.truncate(kept.len());
                table.kept_rows = kept;
                forget_unused_levels(table);
                Ok(())
            }
        }
    }
}

/// Whether no value is infinite or NaN, without a branch for each value.
fn all_finite(values: &[f64]) -> bool {
    const AT_ONCE: usize = 4096;
    values.chunks(AT_ONCE).all(|chunk| chunk.iter().fold(true, |all, value| all & value.is_finite()))
}

/// Refuses a column of texts that looks like an identifier, or like numbers with a slip among them.
fn check_levels(table: &Table) -> Result<(), Error> {
    for (j, levels) in table.levels.iter().enumerate() {
        if levels.len() <= MANY_LEVELS {
            continue;
        }
        let n_rows = table.column(j).filter(|value| !value.is_nan()).count();
        if 2 * levels.len() <= n_rows {
            continue;
        }
        let is_text: Vec<bool> = levels.iter().map(|level| number(level.as_bytes()).is_err()).collect();
        let n_texts = is_text.iter().filter(|&&text| text).count();
        if n_texts > 0 && 2 * n_texts < levels.len() {
            let first = table.column(j).position(|value| !value.is_nan() && is_text[value as usize]);
            let row = first.expect("every level has a row");
            let text = excerpt(&levels[table.row(row)[j] as usize]);
            let remedy = "correct it or leave the column out";
            return Err(Error::NotANumber { place: table.place(row, j), text, remedy });
        }
        let (file, number, column) = (table.file.clone(), table.numbers[j], table.names[j].clone());
        return Err(Error::TooManyLevels { file, number, column, n_levels: levels.len(), n_rows });
    }
    Ok(())
}

/// Takes levels off the list that no row has.
pub(crate) fn forget_unused_levels(table: &mut Table) {
    let n_cols = table.n_cols();
    for (j, levels) in table.levels.iter_mut().enumerate().filter(|(_, levels)| !levels.is_empty()) {
        let mut used = vec![false; levels.len()];
        for value in table.values.iter().skip(j).step_by(n_cols).filter(|value| !value.is_nan()) {
            used[*value as usize] = true;
        }
        if used.iter().all(|&used| used) {
            continue;
        }
        let mut positions = vec![f64::NAN; used.len()];
        (0..used.len()).filter(|&level| used[level]).enumerate().for_each(|(at, level)| positions[level] = at as f64);
        for value in table.values.iter_mut().skip(j).step_by(n_cols).filter(|value| !value.is_nan()) {
            *value = positions[*value as usize];
        }
        let mut used = used.into_iter();
        levels.retain(|_| used.next().unwrap_or(false));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Categorical, Missing, Reading, Table};

    fn read(text: &str, how: &Reading) -> Table {
        Table::from_csv_with("t.csv", text.as_bytes(), how).unwrap()
    }

    #[test]
    fn rows_with_missing_cells_are_dropped() {
        let how = Reading { missing: Missing::Drop, ..Reading::default() };
        let table = read("a,b\n1,2\nNA,3\n\n4,5\n6,?\n7,8\n", &how);
        assert_eq!(table.values(), [1.0, 2.0, 4.0, 5.0, 7.0, 8.0]);
        assert_eq!((table.n_dropped(), table.line(1), table.kept_rows.as_slice()), (2, 5, [0, 2, 4].as_slice()));
        let whole = read("a,b\n1,2\n", &how);
        assert_eq!((whole.n_dropped(), whole.kept_rows.len()), (0, 0));
    }

    #[test]
    fn levels_that_are_dropped_with_their_rows_are_forgotten() {
        let how = Reading { missing: Missing::Drop, categorical: Categorical::Indicators, ..Reading::default() };
        let table = read("a,b\n1,y\nNA,x\n4,z\n6,\n", &how);
        assert_eq!(table.levels(1).unwrap(), ["y", "z"]);
        assert_eq!(table.values(), [1.0, 0.0, 4.0, 1.0]);
        assert_eq!(table.levels(0), None);
    }

    #[test]
    fn numbers_are_categories_when_named() {
        let how = Reading { as_category: vec!["a".into()], ..Reading::default() };
        let table = read("a,b\n10,1\n2,1\n2.0,3\n", &how);
        assert_eq!(table.levels(0).unwrap(), ["2", "10"]);
        assert_eq!(table.values(), [1.0, 1.0, 0.0, 1.0, 0.0, 3.0]);
        let text = read("a,b\nx,1\n2,1\n", &how);
        assert_eq!(text.levels(0).unwrap(), ["2", "x"]);
    }
}
