//! The rows of a fit: read, held out and scaled as the settings say.

use std::path::{Path, PathBuf};

use elinvar_data::{
    ColumnTransform, Columns, Intercept, Outcome, Reading, RegressionData, Scaling, Selection, Split, Table,
    breast_cancer, read_row_numbers, split_fraction, unit_columns,
};

use crate::error::Failure;
use crate::settings::{Likelihood, ModelName, Settings};

/// Training and test rows.
pub struct Rows {
    pub train: RegressionData,
    pub test: Option<RegressionData>,
    /// What was done to the columns of both.
    pub transforms: Vec<ColumnTransform>,
    /// Rows that were read, before any was held out.
    pub n_read: usize,
    /// Rows that were dropped because a cell was missing.
    pub n_dropped: usize,
    /// Of the rows that were read.
    pub fingerprint: String,
}

impl Rows {
    /// Reads the table that the settings name.
    pub fn load(settings: &Settings, model: ModelName) -> Result<Self, Failure> {
        let data = read(settings, model)?;
        let (n_read, n_dropped, fingerprint) = (data.n_rows(), data.n_dropped, data.fingerprint.clone());
        if let Some(known) = settings.data.fingerprint.as_ref().filter(|known| **known != fingerprint) {
            let file = settings.data.file.as_deref().unwrap_or("the embedded table");
            return Err(Failure::input(format!(
                "{file}: the data are not those of the settings: their fingerprint is {fingerprint}, not {known}; \
                 restore the file, or remove the key fingerprint to fit what is there now"
            )));
        }
        let (mut train, mut test) = match split(settings, &data)? {
            Some(split) => data.split(&split).map(|(train, test)| (train, Some(test)))?,
            None => (data, None),
        };
        let scaling = settings.data.scaling.unwrap_or_default();
        let mut transforms =
            if model == ModelName::Network { scaling.of_columns(&train) } else { scaling.transforms(&train)? };
        if model.is_linear() && !settings.model.has_prior() {
            // A prior that follows the data means the same whatever the columns are scaled by; on these its scales are equal.
            transforms = unit_columns(&train);
        }
        train.transform(&transforms);
        if let Some(test) = &mut test {
            test.transform(&transforms);
        }
        Ok(Self { train, test, transforms, n_read, n_dropped, fingerprint })
    }
}

/// The file under its name, or under that name beside the file with the settings.
pub fn find(settings: &Settings, name: &str) -> PathBuf {
    let plain = PathBuf::from(name);
    if plain.exists() {
        return plain;
    }
    let beside = settings.base.iter().flat_map(|base| base.ancestors().take(2)).map(|folder| folder.join(name));
    beside.into_iter().find(|path| path.exists()).unwrap_or(plain)
}

fn read(settings: &Settings, model: ModelName) -> Result<RegressionData, Failure> {
    let data = &settings.data;
    let features = match (&data.features, &data.exclude) {
        (Some(list), _) => Columns::Only(list.clone()),
        (None, Some(list)) => Columns::Except(list.clone()),
        (None, None) => Columns::All,
    };
    let outcome = match model {
        ModelName::Logistic => Outcome::Binary,
        ModelName::Linear => Outcome::Real,
        ModelName::Poisson => Outcome::Count,
        ModelName::Network => match settings.model.likelihood.unwrap_or(Likelihood::Gaussian) {
            Likelihood::Gaussian => Outcome::Real,
            Likelihood::Binary => Outcome::Binary,
            Likelihood::Multiclass => Outcome::Count,
        },
        ModelName::Rate => return single_column(settings, model, Outcome::Count),
        ModelName::Proportion => return single_column(settings, model, Outcome::Binary),
        ModelName::Direction => return single_column(settings, model, Outcome::Real),
    };
    let with_ones = model.is_linear() && data.intercept.unwrap_or(true);
    let selection = |target: &str| Selection {
        features,
        intercept: if with_ones { Intercept::First } else { Intercept::None },
        missing: data.missing.unwrap_or_default(),
        categorical: data.categorical.unwrap_or_default(),
        as_category: data.category.clone().unwrap_or_default(),
        array: data.array.clone(),
        ..Selection::new(target, outcome)
    };
    if data.example.is_some() {
        return Ok(RegressionData::from_table(&breast_cancer(), &selection("y"))?);
    }
    let Some(file) = &data.file else {
        if settings.model.name.is_some() {
            return Err(Failure::input(format!(
                "{0} needs a table: elinvar fit {0} FILE.csv --target COLUMN",
                model.name()
            )));
        }
        return Err(Failure::input(
            "--target needs a model and a table: elinvar fit logistic FILE.csv --target COLUMN",
        ));
    };
    let path = find(settings, file);
    let Some(target) = &data.target else { return Err(without_target(&path)) };
    let read = RegressionData::read(&path, &selection(target))?;
    if model == ModelName::Linear && read.names.iter().any(|name| name == "sigma") {
        return Err(Failure::input(format!(
            "{file}: the name of the column \"sigma\" is taken by the noise of the model; rename the column or leave it out"
        )));
    }
    Ok(read)
}

fn without_target(path: &Path) -> Failure {
    let columns = match Table::read(path, &Columns::Only(vec![String::new()])) {
        Err(elinvar_data::Error::NoSuchColumn { available, .. }) => available,
        Err(error) => return error.into(),
        Ok(table) => table.names().to_vec(),
    };
    Failure::input(format!(
        "{}: say which column is to be explained, --target COLUMN; the columns are {}",
        path.display(),
        columns.join(", ")
    ))
}

/// The column of a model without coefficients; a rate has its exposures as the one feature.
fn single_column(settings: &Settings, model: ModelName, outcome: Outcome) -> Result<RegressionData, Failure> {
    let (Some(file), Some(target)) = (&settings.data.file, &settings.data.target) else {
        return Err(Failure::input(format!(
            "{0} needs a table and a column: elinvar fit {0} FILE.csv --target COLUMN",
            model.name()
        )));
    };
    let names: Vec<String> = std::iter::once(target).chain(&settings.model.exposure).cloned().collect();
    let reading = Reading {
        columns: Columns::Only(names),
        missing: settings.data.missing.unwrap_or_default(),
        array: settings.data.array.clone(),
        ..Reading::default()
    };
    Ok(RegressionData::columns(&Table::read_with(find(settings, file), &reading)?, outcome)?)
}

/// Which rows are held out, if any are.
fn split(settings: &Settings, data: &RegressionData) -> Result<Option<Split>, Failure> {
    let n_rows = data.n_rows();
    let numbers = |name: &String| -> Result<Vec<usize>, Failure> {
        let rows = read_row_numbers(find(settings, name), data.n_rows_of_file())?;
        Ok(data.rows_from_file(&rows))
    };
    let split = if let Some(fraction) = settings.data.test_fraction {
        split_fraction(n_rows, 1.0 - fraction, settings.data.split_seed())?
    } else if let Some(name) = &settings.data.test_rows {
        Split::by_test(numbers(name)?, n_rows)
    } else if let Some(name) = &settings.data.train_rows {
        Split::by_train(numbers(name)?, n_rows)
    } else {
        return Ok(None);
    };
    let file = settings.data.test_rows.as_ref().or(settings.data.train_rows.as_ref());
    if let Some(file) = file.filter(|_| split.train.len() < 2 || split.test.is_empty()) {
        return Err(Failure::input(format!(
            "{file}: this leaves {} rows to fit and {} to test; there must be at least 2 and 1",
            split.train.len(),
            split.test.len()
        )));
    }
    Ok(Some(split))
}

/// Refuses settings that mean nothing for a model of a single column.
pub fn check_single(settings: &Settings, model: ModelName) -> Result<(), Failure> {
    let data = &settings.data;
    let columns = data.features.is_some() || data.exclude.is_some() || data.intercept == Some(false);
    let categories = data.categorical.is_some() || data.category.is_some();
    let scaled = data.scaling.is_some_and(|scaling| scaling != Scaling::None);
    let held_out = data.test_fraction.is_some() || data.test_rows.is_some() || data.train_rows.is_some();
    let given = [
        ("--features, --exclude or --no-intercept", columns),
        ("--categorical or --category", categories),
        ("--standardize or --scale", scaled),
        ("--test-fraction, --test-rows or --train-rows", held_out),
    ];
    match given.iter().find(|(_, is_given)| *is_given && !model.is_regression()) {
        Some((flag, _)) => Err(Failure::input(format!(
            "{flag} belongs to a regression and means nothing for {}: leave it out",
            model.name()
        ))),
        None => Ok(()),
    }
}
