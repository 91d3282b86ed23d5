//! The rows of a fit: read, held out and scaled as the settings say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use elinvar_data::{
    Beside, ColumnTransform, Columns as Chosen, DesignColumn, Intercept, Outcome, Reading, RegressionData, Scaling,
    Selection, Split, Table, breast_cancer, read_row_numbers, split_fraction, unit_columns,
};

use crate::error::Error;
use crate::formula::{Design, Formula, Left, Mistake, Problem, Recipe, check_number};
use crate::models::{Columns, ModelName, Trials};
use crate::settings::Settings;
use crate::stream::Passes;

/// What is known of the rows of a fit when the rows themselves have gone into the model.
pub(crate) struct Rows {
    /// The file as it was named; `None` for the embedded table.
    pub(crate) file: Option<String>,
    /// The column that is explained.
    pub(crate) target: String,
    /// Columns of the design matrix.
    pub(crate) columns: Vec<String>,
    pub(crate) kinds: Vec<DesignColumn>,
    /// What was done to these columns.
    pub(crate) transforms: Vec<ColumnTransform>,
    /// Whether the settings ask for scaled columns.
    pub(crate) scaling_is_asked: bool,
    /// Rows of the fit.
    pub(crate) n_rows: usize,
    /// Rows that were read, with those that are held out and without those that were dropped.
    pub(crate) n_read: usize,
    /// Rows that were dropped because a cell was missing.
    pub(crate) n_dropped: usize,
    /// Of the rows that were read.
    pub(crate) fingerprint: String,
    /// How a table becomes a design matrix; `None` for a model of a single column.
    pub(crate) recipe: Option<Recipe>,
    /// The levels of a target that is a text.
    pub(crate) classes: Vec<String>,
    /// Number in the file, counted from 0, of each row of the fit; empty where rows are in their place.
    pub(crate) file_rows: Vec<usize>,
    /// Passes over rows that are not in memory.
    pub(crate) passes: Option<Arc<Passes>>,
}

/// Rows with their numbers.
pub(crate) struct Loaded {
    pub(crate) rows: Rows,
    pub(crate) train: RegressionData,
    pub(crate) test: Option<RegressionData>,
}

impl Rows {
    pub(crate) fn n_held_out(&self) -> usize {
        self.n_read - self.n_rows
    }

    /// Number in the file, counted from 0, of row i of the fit.
    pub(crate) fn file_row(&self, i: usize) -> usize {
        self.file_rows.get(i).copied().unwrap_or(i)
    }

    /// Whether the rows are read piece by piece.
    pub(crate) fn is_streamed(&self) -> bool {
        self.passes.is_some()
    }

    pub(crate) fn has_intercept(&self) -> bool {
        self.kinds.first() == Some(&DesignColumn::Intercept)
    }

    /// Whether columns were shifted or scaled because the settings say so.
    pub(crate) fn is_scaled(&self) -> bool {
        self.scaling_is_asked && self.transforms.iter().any(ColumnTransform::changes)
    }
}

/// Reads the table that the settings name.
pub(crate) fn load(settings: &Settings, model: ModelName) -> Result<Loaded, Error> {
    if settings.data.file.as_deref() == Some("-") && settings.base.is_some() {
        return Err(Error::NotKeptInput);
    }
    let (mut data, formula) = match &settings.data.formula {
        Some(text) => {
            let formula = formula(settings, model, text)?;
            let (data, recipe) = formula.rows(None)?;
            (data, Some((formula, recipe)))
        }
        None => (read(settings, model)?, None),
    };
    let (n_read, n_dropped, fingerprint) = (data.n_rows(), data.n_dropped, data.fingerprint.clone());
    if let Some(known) = settings.data.fingerprint.clone().filter(|known| *known != fingerprint) {
        let file = settings.data.file.clone().unwrap_or_else(|| "the embedded table".into());
        return Err(Error::OtherData { file, found: fingerprint, known });
    }
    let split = split(settings, &data)?;
    let recipe = match (formula, &split) {
        (Some((formula, _)), Some(split)) => {
            // What is learned is learned from the rows of the fit.
            let (again, recipe) = formula.rows(Some(&split.train))?;
            data = again;
            Some(recipe)
        }
        (Some((_, recipe)), None) => Some(recipe),
        (None, _) => (model.entry().columns != Columns::Single).then(|| Recipe::of_columns(&data)),
    };
    let file_rows = match &split {
        Some(split) => split.train.iter().map(|i| data.file_row(*i)).collect(),
        None if n_dropped > 0 => (0..n_read).map(|i| data.file_row(i)).collect(),
        None => Vec::new(),
    };
    let (mut train, mut test) = match split {
        Some(split) => data.split(&split).map(|(train, test)| (train, Some(test)))?,
        None => (data, None),
    };
    let scaling = settings.data.scaling.unwrap_or_default();
    let transforms = match model.entry().columns {
        Columns::Inputs => scaling.of_columns(&train),
        // A prior that follows the data means the same whatever the columns are scaled by; on these its scales are
        // equal.
        Columns::Coefficients if !settings.model.has_prior() => {
            scaling.transforms(&train)?;
            unit_columns(&train)
        }
        _ => scaling.transforms(&train)?,
    };
    train.transform(&transforms);
    if let Some(test) = &mut test {
        test.transform(&transforms);
    }
    let rows = Rows {
        file: settings.data.file.clone(),
        target: train.target.clone(),
        columns: train.names.clone(),
        kinds: train.kinds.clone(),
        transforms,
        scaling_is_asked: scaling != Scaling::None,
        n_rows: train.n_rows(),
        n_read,
        n_dropped,
        fingerprint,
        recipe,
        classes: train.classes.clone(),
        file_rows,
        passes: None,
    };
    Ok(Loaded { rows, train, test })
}

/// The file under its name, or under that name beside the file with the settings.
pub(crate) fn find(settings: &Settings, name: &str) -> PathBuf {
    let plain = PathBuf::from(name);
    if plain.exists() {
        return plain;
    }
    let beside = settings.base.iter().flat_map(|base| base.ancestors().take(2)).map(|folder| folder.join(name));
    beside.into_iter().find(|path| path.exists()).unwrap_or(plain)
}

fn read(settings: &Settings, model: ModelName) -> Result<RegressionData, Error> {
    let (data, entry) = (&settings.data, model.entry());
    if entry.columns == Columns::Single {
        return single_column(settings, model);
    }
    let features = match (&data.features, &data.exclude) {
        (Some(list), _) => Chosen::Only(list.clone()),
        (None, Some(list)) => Chosen::Except(list.clone()),
        (None, None) => Chosen::All,
    };
    let with_ones = model.has_coefficients() && data.intercept.unwrap_or(true);
    let selection = |target: &str| Selection {
        features,
        intercept: if with_ones { Intercept::First } else { Intercept::None },
        missing: data.missing.unwrap_or_default(),
        categorical: data.categorical.unwrap_or_default(),
        as_category: data.category.clone().unwrap_or_default(),
        array: data.array.clone(),
        ..Selection::new(target, (entry.outcome)(&settings.model))
    };
    if data.example.is_some() {
        return Ok(RegressionData::from_table(&breast_cancer(), &selection("y"))?);
    }
    let Some(file) = &data.file else {
        let named = settings.model.name.is_some();
        return Err(if named { Error::NoTable { model: entry.name } } else { Error::NoModel });
    };
    let path = find(settings, file);
    if entry.trials == Trials::Needed {
        return Err(Mistake::from(Problem::NoTrials { model: entry.name }).into());
    }
    if (entry.outcome)(&settings.model) == Outcome::Levels {
        return Err(Mistake::from(Problem::NeedsFormula { model: entry.name }).into());
    }
    let Some(target) = &data.target else { return Err(without_target(&path, data.array.as_ref())) };
    let read = RegressionData::read(&path, &selection(target))?;
    if (entry.outcome)(&settings.model) == Outcome::Classes {
        check_number(&path, target, &read.classes)?;
    }
    match entry.beside.iter().find(|taken| read.names.iter().any(|name| name == *taken)) {
        Some(column) => Err(Error::NameTaken { file: file.clone(), column }),
        None => Ok(read),
    }
}

fn without_target(path: &Path, array: Option<&String>) -> Error {
    match names(path, array) {
        Ok(columns) => Error::NoTarget { path: path.into(), columns },
        Err(error) => error,
    }
}

/// The names of all columns of a file.
fn names(path: &Path, array: Option<&String>) -> Result<Vec<String>, Error> {
    let no_column = Chosen::Only(vec![String::new()]);
    match Table::read_with(path, &Reading { array: array.cloned(), ..Reading::from(&no_column) }) {
        Err(elinvar_data::Error::NoSuchColumn { available, .. }) => Ok(available),
        Err(error) => Err(error.into()),
        Ok(table) => Ok(table.names().to_vec()),
    }
}

/// A formula with the table that it is about.
struct OfTable {
    formula: Formula,
    table: Table,
    model: ModelName,
    outcome: Outcome,
}

/// Reads the columns that a formula needs.
fn formula(settings: &Settings, model: ModelName, text: &str) -> Result<OfTable, Error> {
    let (data, entry) = (&settings.data, model.entry());
    let formula = Formula::parse(text)?;
    if !model.has_coefficients() {
        return Err(Error::NotOfThisModel {
            flags: "a formula",
            owner: "a model with coefficients".into(),
            model: entry.name,
        });
    }
    let beside = data.target.is_some()
        || data.features.is_some()
        || data.exclude.is_some()
        || data.intercept.is_some()
        || data.categorical.is_some()
        || data.category.is_some();
    if beside {
        return Err(Error::BesideFormula);
    }
    let Some(file) = &data.file else { return Err(Error::NoTable { model: entry.name }) };
    let path = find(settings, file);
    let missing = data.missing.unwrap_or_default();
    let available = names(&path, data.array.as_ref())?;
    let reading = formula.reading(Path::new(file), &available, missing)?;
    let table = Table::read_with(&path, &Reading { array: data.array.clone(), ..reading });
    let table = table.map_err(|error| formula.blamed(error))?;
    if table.n_rows() < 2 {
        return Err(elinvar_data::Error::TooFewRows { file: path, found: table.n_rows() }.into());
    }
    Ok(OfTable { formula, table, model, outcome: (entry.outcome)(&settings.model) })
}

impl OfTable {
    /// The rows, with what was learned from some of them or from all.
    fn rows(&self, learn_from: Option<&[usize]>) -> Result<(RegressionData, Recipe), Error> {
        let (table, entry) = (&self.table, self.model.entry());
        let mut recipe = self.formula.learn(table, learn_from)?;
        match self.outcome {
            Outcome::Levels => recipe = recipe.with_levels(table)?.centred(table, learn_from)?,
            Outcome::Classes => recipe = recipe.with_levels(table)?,
            _ => {}
        }
        if let Some(name) = entry.beside.iter().find(|taken| recipe.names().iter().any(|name| name == *taken)) {
            return Err(Error::NameTaken { file: table.file().display().to_string(), column: name });
        }
        match (entry.trials, recipe.response.trials.is_none()) {
            (Trials::None, false) => {
                let (model, what, instead) = (entry.name, "trials", "binomial");
                return Err(Mistake::from(Problem::NotOfThisModel { model, what, instead }).into());
            }
            (Trials::Needed, true) => return Err(Mistake::from(Problem::NoTrials { model: entry.name }).into()),
            _ => {}
        }
        let Left { y, trials, weights } = recipe.left(table, self.outcome)?;
        let Design { features, offset } = recipe.apply(table)?;
        let columns = (recipe.names(), recipe.kinds());
        let target = (self.formula.response(), recipe.response.levels.clone());
        let beside = Beside { offset, weights, trials };
        Ok((RegressionData::of_design(table, features, columns, target, y, beside), recipe))
    }
}

/// The column of a model without coefficients; a rate has its exposures as the one feature.
fn single_column(settings: &Settings, model: ModelName) -> Result<RegressionData, Error> {
    let (Some(file), Some(target)) = (&settings.data.file, &settings.data.target) else {
        return Err(Error::NoColumn { model: model.name() });
    };
    let names: Vec<String> = std::iter::once(target).chain(&settings.model.exposure).cloned().collect();
    let outcome = (model.entry().outcome)(&settings.model);
    let reading = Reading {
        columns: Chosen::Only(names),
        missing: settings.data.missing.unwrap_or_default(),
        as_category: if outcome == Outcome::Classes { vec![target.clone()] } else { Vec::new() },
        array: settings.data.array.clone(),
        ..Reading::default()
    };
    let table = Table::read_with(find(settings, file), &reading)?;
    Ok(RegressionData::columns(&table, outcome)?)
}

/// Which rows are held out, if any are.
fn split(settings: &Settings, data: &RegressionData) -> Result<Option<Split>, Error> {
    let n_rows = data.n_rows();
    let numbers = |name: &String| -> Result<Vec<usize>, Error> {
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
    let (train, test) = (split.train.len(), split.test.len());
    let file = settings.data.test_rows.as_ref().or(settings.data.train_rows.as_ref());
    match file.filter(|_| train < 2 || test == 0) {
        Some(file) => Err(Error::TooFewRows { file: file.clone(), train, test }),
        None => Ok(Some(split)),
    }
}
