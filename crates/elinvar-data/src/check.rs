//! What a regression model asks of its columns.

use crate::{DRAWS_COLUMNS, Error, Outcome, Table};

/// Refuses values beyond ±1e100: what a model computes from them would overflow.
pub(crate) fn check_size(table: &Table, columns: impl Iterator<Item = usize>) -> Result<(), Error> {
    const LARGEST: f64 = 1e100;
    // Row by row is many times faster than column by column in a large table.
    if table.values.iter().all(|value| value.abs() <= LARGEST) {
        return Ok(());
    }
    for k in columns {
        if let Some((i, value)) = table.column(k).enumerate().find(|(_, value)| value.abs() > LARGEST) {
            return Err(Error::TooLarge { place: table.place(i, k), value });
        }
    }
    Ok(())
}

/// Refuses the names of the columns that come before the parameters wherever draws are written.
pub(crate) fn check_names(table: &Table, kept: &[usize]) -> Result<(), Error> {
    match kept.iter().find(|&&k| DRAWS_COLUMNS.contains(&table.names[k].as_str())) {
        Some(&k) => {
            let (number, column) = (table.numbers[k], table.names[k].clone());
            Err(Error::NameTaken { file: table.file.clone(), number, column })
        }
        None => Ok(()),
    }
}

/// Refuses what cannot stand beside an intercept: a constant feature and one of the same name.
pub(crate) fn check_beside_intercept(table: &Table, kept: &[usize]) -> Result<(), Error> {
    let first = table.row(0);
    let mut varies = vec![false; table.n_cols()];
    for row in table.values.chunks_exact(table.n_cols()) {
        varies.iter_mut().zip(row.iter().zip(first)).for_each(|(varies, (value, first))| *varies |= value != first);
    }
    for &k in kept {
        let (number, column, file) = (table.numbers[k], table.names[k].clone(), table.file.clone());
        match table.levels(k) {
            None if !varies[k] => return Err(Error::ConstantColumn { file, number, column, value: first[k] }),
            None if column == "intercept" => return Err(Error::InterceptTaken { file, number }),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses categories of which every row has the same level.
pub(crate) fn check_levels(table: &Table, kept: &[usize]) -> Result<(), Error> {
    for &k in kept {
        if let Some([level]) = table.levels(k) {
            let (number, column, file) = (table.numbers[k], table.names[k].clone(), table.file.clone());
            return Err(Error::OneLevel { file, number, column, level: level.clone() });
        }
    }
    Ok(())
}

/// The target as the model takes it.
pub(crate) fn outcome(table: &Table, target: usize, outcome: Outcome) -> Result<Vec<f64>, Error> {
    if let (Outcome::Binary, Some([_, _])) = (outcome, table.levels(target)) {
        return Ok(table.column(target).map(|position| 2.0 * position - 1.0).collect());
    }
    if let (Outcome::Classes, Some(_)) = (outcome, table.levels(target)) {
        return Ok(table.column(target).collect());
    }
    check_is_numeric(table, target)?;
    let mut y: Vec<f64> = table.column(target).collect();
    match outcome {
        Outcome::Real | Outcome::Positive | Outcome::Share | Outcome::Levels | Outcome::Classes => {
            check_range(table, target, outcome, &y)?;
            if y.iter().all(|&v| v == y[0]) {
                return Err(constant_target(table, target, y[0]));
            }
        }
        Outcome::Events => check_counts(table, target, &y)?,
        Outcome::Count => {
            check_counts(table, target, &y)?;
            if y.iter().all(|&v| v == 0.0) {
                return Err(constant_target(table, target, 0.0));
            }
        }
        Outcome::Binary => {
            let low = lower_class(table, target, &y)?;
            y.iter_mut().for_each(|v| *v = if *v == low { -1.0 } else { 1.0 });
        }
    }
    Ok(y)
}

/// The first column as a model of a single quantity takes it: it may be the same in every row, and classes are 0 and 1.
pub(crate) fn single_outcome(table: &Table, outcome: Outcome) -> Result<Vec<f64>, Error> {
    if let (Outcome::Classes, Some(_)) = (outcome, table.levels(0)) {
        return Ok(table.column(0).collect());
    }
    check_is_numeric(table, 0)?;
    let mut y: Vec<f64> = table.column(0).collect();
    match outcome {
        Outcome::Real | Outcome::Levels | Outcome::Classes => {}
        Outcome::Positive | Outcome::Share => check_range(table, 0, outcome, &y)?,
        Outcome::Count | Outcome::Events => check_counts(table, 0, &y)?,
        Outcome::Binary => match lower_class(table, 0, &y) {
            Ok(_) | Err(Error::OneClass { .. }) => y.iter_mut().for_each(|v| *v = v.max(0.0)),
            Err(error) => return Err(error),
        },
    }
    Ok(y)
}

fn check_is_numeric(table: &Table, target: usize) -> Result<(), Error> {
    if let Some(levels) = table.levels(target) {
        const SHOWN: usize = 3;
        let shown = levels.iter().take(SHOWN).cloned().collect();
        let (number, column) = (table.numbers[target], table.names[target].clone());
        return Err(Error::TextTarget {
            file: table.file.clone(),
            number,
            column,
            levels: shown,
            n_levels: levels.len(),
        });
    }
    Ok(())
}

fn check_counts(table: &Table, target: usize, y: &[f64]) -> Result<(), Error> {
    /// From here on not every whole number is an `f64`.
    const COUNT_LIMIT: f64 = 9_007_199_254_740_992.0;
    match y.iter().position(|&v| !(0.0..=COUNT_LIMIT).contains(&v) || v.fract() != 0.0) {
        Some(i) => Err(Error::NotACount { place: table.place(i, target), value: y[i] }),
        None => Ok(()),
    }
}

/// Refuses numbers that are not positive, or no shares.
fn check_range(table: &Table, target: usize, outcome: Outcome, y: &[f64]) -> Result<(), Error> {
    let (above, below, needed) = match outcome {
        Outcome::Positive => (0.0, f64::INFINITY, "a number greater than 0"),
        Outcome::Share => (0.0, 1.0, "a number between 0 and 1"),
        _ => return Ok(()),
    };
    match y.iter().position(|&v| !(v > above && v < below)) {
        Some(i) => Err(Error::OutOfRange { place: table.place(i, target), value: y[i], needed }),
        None => Ok(()),
    }
}

fn constant_target(table: &Table, target: usize, value: f64) -> Error {
    let (number, column) = (table.numbers[target], table.names[target].clone());
    Error::ConstantTarget { file: table.file.clone(), number, column, value }
}

/// The value that stands for the class −1: 0 or −1.
fn lower_class(table: &Table, target: usize, y: &[f64]) -> Result<f64, Error> {
    const SHOWN: usize = 5;
    let low = if y.contains(&-1.0) { -1.0 } else { 0.0 };
    let file = table.file.clone();
    let (number, column) = (table.numbers[target], table.names[target].clone());
    if y.iter().any(|&v| v != low && v != 1.0) {
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by(|&i, &j| y[i].total_cmp(&y[j]).then(i.cmp(&j)));
        order.dedup_by(|j, i| y[*i] == y[*j]);
        let n_distinct = order.len();
        let found = order.iter().take(SHOWN).map(|&i| (y[i], table.lines[i])).collect();
        return Err(Error::NotBinary { file, number, column, found, n_distinct, unit: table.unit });
    }
    if y.iter().all(|&v| v == y[0]) {
        return Err(Error::OneClass { file, number, column, value: y[0] });
    }
    Ok(low)
}
