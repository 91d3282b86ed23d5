//! Why an analysis could not be done: data with one sentence each that says where and what to do.

use std::io;
use std::path::PathBuf;

use crate::own::CONFIG;
use crate::shell;

/// Where kept fits come from.
const KEPT: &str = "name a folder written by elinvar fit --out";
const NEW_FOLDER: &str = "name a new folder with --out";

/// Everything that can stand in the way between a table and what is written about its fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table cannot be read, or does not suit the model.
    #[error(transparent)]
    Data(#[from] elinvar_data::Error),
    /// Something does not go with rows that are read piece by piece.
    #[error(transparent)]
    Stream(#[from] crate::stream::Refused),
    /// A formula is not one, or does not suit the table.
    #[error(transparent)]
    Formula(#[from] crate::formula::Mistake),
    /// The library does not do what was asked for, or cannot read or write a file.
    #[error(transparent)]
    Refused(elinvar::Error),
    /// The model could not be evaluated or fitted.
    #[error(transparent)]
    Model(elinvar::Error),

    /// The fit was ended from outside; its journal has what was done.
    #[error("the fit was interrupted")]
    Interrupted,

    /// A setting that belongs to other models.
    #[error("{flags} belongs to {owner} and means nothing for {model}: leave it out")]
    NotOfThisModel {
        /// The flags for it.
        flags: &'static str,
        /// Whose it is.
        owner: String,
        /// The model that was named.
        model: &'static str,
    },
    /// Ratios of a model that has none.
    #[error("--ratios shows odds ratios or rate ratios, and {model} has neither: leave it out")]
    NoRatios {
        /// The model that was named.
        model: &'static str,
    },
    /// A setting that belongs to other families.
    #[error("{flag} belongs to --family {owners} and means nothing for {family}; change the family or leave it out")]
    NotOfThisFamily {
        /// The flag for it.
        flag: &'static str,
        /// The families that have it.
        owners: String,
        /// The family that was named.
        family: &'static str,
    },
    /// `matrix` without the lengths of its modes.
    #[error(
        "--family matrix needs the shape of the parameters, such as --dims 3x4; their product is the number of \
         parameters"
    )]
    NoDims,
    /// A family that cannot find its number of components.
    #[error("--components auto belongs to --family mog; give a number for {family}")]
    NoAutoComponents {
        /// The family.
        family: &'static str,
    },
    /// More constants than a component has.
    #[error("the component {component} has at most one constant")]
    TooManyConstants {
        /// The component.
        component: &'static str,
    },
    /// A constant of another name.
    #[error("--constant {given}: the constant of the component {component} is called {known}")]
    OtherConstant {
        /// The name that was given.
        given: String,
        /// The component.
        component: &'static str,
        /// The name of its constant.
        known: &'static str,
    },
    /// Modes whose lengths do not multiply to the number of parameters.
    #[error("--dims {dims} has {total} parameters; the model has {dim}")]
    Dims {
        /// The lengths.
        dims: String,
        /// Their product.
        total: usize,
        /// The number of parameters.
        dim: usize,
    },
    /// A number that is too large for this model or table.
    #[error("{flag} {value}: {what}; give at most {most}")]
    TooLarge {
        /// The flag.
        flag: &'static str,
        /// The number that was given.
        value: usize,
        /// What it is compared with.
        what: String,
        /// The largest that will do.
        most: usize,
    },
    /// A number that is too large for this machine.
    #[error("{flag} {count} does not fit into memory; give at most {most}")]
    Memory {
        /// The flag.
        flag: &'static str,
        /// The number that was given.
        count: usize,
        /// The largest that will do.
        most: usize,
    },
    /// A model of more parameters than there is room for.
    #[error("{from} makes a model of {n_parameters} parameters: {problem}")]
    Parameters {
        /// What their number comes from.
        from: String,
        /// Their number.
        n_parameters: usize,
        /// What does not fit, and what to do.
        problem: String,
    },

    /// Settings that were changed after the fit.
    #[error(
        "{}: the file is not as the fit has left it (its checksum does not fit), and so the model may be another; bring \
         it back, or fit again by elinvar fit --config",
        .path.display()
    )]
    ChangedSettings {
        /// The file.
        path: PathBuf,
    },
    /// Other data than those of the settings.
    #[error(
        "{file}: the data are not those of the settings: their fingerprint is {found}, not {known}; restore the file, \
         or remove the key fingerprint to fit what is there now"
    )]
    OtherData {
        /// The file.
        file: String,
        /// Its fingerprint.
        found: String,
        /// That of the settings.
        known: String,
    },
    /// Columns that are named in two ways.
    #[error(
        "a formula says which columns are used: leave out --target, --features, --exclude, --no-intercept, \
         --categorical and --category, or the formula"
    )]
    BesideFormula,
    /// A regression without a table.
    #[error("{model} needs a table: elinvar fit {model} FILE.csv --target COLUMN")]
    NoTable {
        /// The model.
        model: &'static str,
    },
    /// A model of a single column without table or column.
    #[error("{model} needs a table and a column: elinvar fit {model} FILE.csv --target COLUMN")]
    NoColumn {
        /// The model.
        model: &'static str,
    },
    /// A target without a model.
    #[error("--target needs a model and a table: elinvar fit logistic FILE.csv --target COLUMN")]
    NoModel,
    /// A table of which no column is to be explained.
    #[error(
        "{}: say which column is to be explained, --target COLUMN; the columns are {}",
        path.display(), columns.join(", ")
    )]
    NoTarget {
        /// The table.
        path: PathBuf,
        /// Its columns.
        columns: Vec<String>,
    },
    /// A column with the name of a parameter.
    #[error(
        "{file}: the name of the column \"{column}\" is taken by a parameter of the model; rename the column or leave \
         it out"
    )]
    NameTaken {
        /// The table.
        file: String,
        /// The column.
        column: &'static str,
    },
    /// A prior of something that the model does not have.
    #[error("--prior '{statement}': the model {model} has no {what}; {advice}")]
    PriorOfNothing {
        /// What was stated.
        statement: String,
        /// The model.
        model: &'static str,
        /// What it lacks.
        what: String,
        /// What it has.
        advice: String,
    },
    /// A split that leaves too few rows.
    #[error("{file}: this leaves {train} rows to fit and {test} to test; there must be at least 2 and 1")]
    TooFewRows {
        /// The file with the numbers of rows.
        file: String,
        /// Rows to fit.
        train: usize,
        /// Rows to test.
        test: usize,
    },

    /// A file with settings that is not there.
    #[error("{}: there is no such file", path.display())]
    NoSettings {
        /// The file.
        path: PathBuf,
    },
    /// A file with settings that is not a text.
    #[error("{}: this is not a text file; name a TOML file with --config", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A file with settings that the system does not give out.
    #[error("{}: this cannot be read ({source})", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A mistake in a file with settings.
    #[error("{}{place}: {sentence}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// Line and column, where they are known.
        place: String,
        /// What is wrong there.
        sentence: String,
    },
    /// Settings that no file can hold.
    #[error("the settings cannot be written: {0}")]
    Unwritten(#[from] toml::ser::Error),

    /// A folder that has no name.
    #[error("{}: {NEW_FOLDER}", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// A file where a folder is to be made.
    #[error("{}: this is a file; {NEW_FOLDER}", path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
    },
    /// A folder that holds something else.
    #[error("{}: the folder is not empty; {NEW_FOLDER}", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A folder with a finished fit, where another was to begin.
    #[error("{}: the folder has a fit already; name a new folder with --out, or replace it by --overwrite", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// A folder with a fit that waits to be continued, where another was to begin.
    #[error(
        "{}: the folder has a fit that is not finished; elinvar resume {} continues it, or remove the folder",
        path.display(), shell::word(path)
    )]
    Begun {
        /// The folder.
        path: PathBuf,
    },
    /// A folder whose fit is asked for but not finished.
    #[error(
        "{}: the fit in this folder is not finished; elinvar resume {} continues it", path.display(), shell::word(path)
    )]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that another process has.
    #[error("{}: another elinvar is at work in this folder; wait for it, or end it and try again", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A run folder that is not there.
    #[error("{}: there is no such folder; {KEPT}", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// A kept fit that is not there.
    #[error("{}: there is no such folder or file; {KEPT}", path.display())]
    NoRun {
        /// The path.
        path: PathBuf,
    },
    /// A file where a run folder should be.
    #[error("{}: this is a file; {KEPT}", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A folder that is not that of a run.
    #[error("{}: there is no {file} in this folder; {KEPT}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What it lacks.
        file: &'static str,
    },
    /// A folder with settings that no run has kept there.
    #[error(
        "{0}: elinvar fit has not written the {CONFIG} in this folder, or not the comments in it, and would replace it; \
         elinvar fit --config {1} --out DIR fits by it",
        path.display(), shell::word(&path.join(CONFIG))
    )]
    OwnSettings {
        /// The folder.
        path: PathBuf,
    },
    /// Something under the name of a result that no fit has left there.
    #[error(
        "{}: this is not what a fit has left here, and the results would take its place; move it away, or bring back \
         what was there",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A fit file without its settings.
    #[error("{}: there is no {CONFIG} beside the fit, and so no model; {KEPT}", path.display())]
    NoModelBeside {
        /// The fit file.
        path: PathBuf,
    },
    /// Settings of another fit.
    #[error(
        "{}: {CONFIG} is not that of the fit beside it: the parameters have other names; restore the file",
        path.display()
    )]
    OtherSettings {
        /// The folder.
        path: PathBuf,
    },
    /// Fits whose bounds have no common zero.
    #[error(
        "{} and {} are not fits of the same model: {what}; compare fits that differ in their family or plan alone",
        first.display(), other.display()
    )]
    DifferentModels {
        /// One run.
        first: PathBuf,
        /// The other.
        other: PathBuf,
        /// In what they differ.
        what: String,
    },
    /// Fits of different models that are not of the same rows either.
    #[error(
        "{} and {} are fits of different models to different rows: {what}; compare fits of the same rows, or of the same \
         model",
        first.display(), other.display()
    )]
    OtherResponses {
        /// One run.
        first: PathBuf,
        /// The other.
        other: PathBuf,
        /// In what they differ.
        what: String,
    },
    /// Something that is asked of the rows of a regression, where there is none.
    #[error(
        "elinvar {command} works on regressions with coefficients, and {model} is none{}",
        crate::models::instead(model)
    )]
    NoRegression {
        /// The model.
        model: String,
        /// What was asked for.
        command: &'static str,
    },
    /// A column whose effect cannot be shown, or that cannot be held at a value.
    #[error("{flag} {name}: {problem}")]
    NoEffect {
        /// What was typed.
        flag: &'static str,
        /// The column.
        name: String,
        /// Why not.
        problem: String,
    },
    /// A kept fit whose table came from the standard input.
    #[error("the table of this fit came from the standard input, which is not kept: fit it from a file")]
    NotKeptInput,
    /// A fit that is done but could not be written.
    #[error(
        "{}: the fit could not be kept ({problem}); mend that, and elinvar resume {} writes it",
        path.display(), shell::word(path)
    )]
    Unkept {
        /// The folder.
        path: PathBuf,
        /// What stands in the way.
        problem: String,
    },

    /// A file that would be overwritten.
    #[error("{} exists already; {} or remove it", path.display(), other_name(*flag))]
    Exists {
        /// The file.
        path: PathBuf,
        /// The flag that names another; `None` where several do.
        flag: Option<&'static str>,
    },
    /// A file or folder that cannot be written.
    #[error("{}: it cannot be written ({kind}); name another place with {flag}", path.display())]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// What the system says; the rest names temporary files that no longer exist.
        kind: io::ErrorKind,
        /// The flag that names another place.
        flag: &'static str,
    },
}

fn other_name(flag: Option<&str>) -> String {
    flag.map_or("choose another name".into(), |flag| format!("name another file with {flag}"))
}
