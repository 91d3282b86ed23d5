//! A regression on a table that is never in memory as a whole: shards of it, read again at every pass.
//!
//! The first pass reads the files: it checks them, finds means and standard deviations of the columns, and keeps every
//! number in a compact cache. Later passes read the cache in a second thread, ahead of the products.

mod files;
mod passes;
mod refused;
mod sample;
mod summary;

use std::sync::{Arc, Mutex, PoisonError};

use elinvar::model::DesignMatrix;
use elinvar::research::target::shards::{AddUp, Request, ShardError, Shards, evaluate};
use elinvar::target::Target;
use elinvar_data::{
    ColumnTransform, Columns as Chosen, Compact, DesignColumn, MemoryOrFile, Missing, RegressionData, ShardRows,
    ShardedTable,
};

pub use passes::{Pass, Passes};
pub use refused::Refused;

use crate::error::Error;
use crate::formula::Recipe;
use crate::models::{Model, ModelName, streamed};
use crate::rows::Rows;
use crate::settings::Settings;
use sample::Sample;
use summary::Summary;

/// Memory for shards unless another number is given, in MB.
pub const MEMORY: usize = 512;
/// Shards in memory at once besides those read ahead: one being decoded, with its bytes, and one being evaluated.
const BESIDE: usize = 4;
/// Most shards that are read ahead.
const AHEAD: usize = 8;

/// Makes the model of a shard.
pub(crate) type MakePart = Box<dyn Fn(DesignMatrix, Vec<f64>) -> Result<Box<dyn Target>, elinvar::Error> + Send + Sync>;

/// The shards of a table, from its files or from the cache.
pub(crate) struct Stream {
    table: ShardedTable,
    cache: Mutex<Option<Compact>>,
    ahead: usize,
    n_shards: usize,
    has_intercept: bool,
    transforms: Vec<ColumnTransform>,
    /// The label that becomes −1, of a model of two classes.
    lower_class: Option<f64>,
    passes: Arc<Passes>,
}

/// Why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Data(#[from] elinvar_data::Error),
    #[error("the cache cannot be read ({0}); fit again, with --cache in another folder")]
    Cache(#[from] std::io::Error),
    #[error(transparent)]
    Model(#[from] elinvar::Error),
    #[error(transparent)]
    Shard(#[from] ShardError),
}

impl Stream {
    /// Design matrix and responses of a shard.
    fn design(&self, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let width = self.table.names().len();
        let (n, first) = (values.len() / width, usize::from(self.has_intercept));
        let (mut rows, mut y) = (Vec::with_capacity(n * (width - 1 + first)), Vec::with_capacity(n));
        for row in values.chunks_exact(width) {
            if self.has_intercept {
                rows.push(1.0);
            }
            let scaled = row.iter().zip(&self.transforms[first..]).map(|(x, t)| (x - t.shift) / t.scale);
            rows.extend(scaled);
            let label = row[width - 1];
            y.push(match self.lower_class {
                Some(low) => {
                    if label == low {
                        -1.0
                    } else {
                        1.0
                    }
                }
                None => label,
            });
        }
        (rows, y)
    }

    /// Gives design matrix and responses of every shard, in their order; those behind the first are read ahead.
    pub(crate) fn each(&self, mut take: impl FnMut(Vec<f64>, Vec<f64>) -> Result<(), Fault>) -> Result<(), Fault> {
        self.passes.begin();
        let mut counted = |(rows, y): (Vec<f64>, Vec<f64>)| {
            let n = y.len();
            take(rows, y)?;
            self.passes.read(n);
            Ok(())
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        match cache.as_mut() {
            None => self.table.pass(self.ahead, |shard: ShardRows| counted(self.design(&shard.values)))?,
            Some(cache) => std::thread::scope(|scope| {
                let (sender, receiver) = std::sync::mpsc::sync_channel(self.ahead);
                let reader = scope.spawn(move || {
                    cache.pass(|shard| {
                        // Nobody takes what follows an error.
                        let taken = sender.send(self.design(&shard.values()));
                        taken.map_err(|_| Fault::Cache(std::io::ErrorKind::BrokenPipe.into()))
                    })
                });
                let taken = receiver.iter().try_for_each(&mut counted);
                drop(receiver);
                let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                taken.and(read)
            })?,
        }
        self.passes.end();
        Ok(())
    }

    /// Number of shards.
    pub(crate) fn n_shards(&self) -> usize {
        self.n_shards
    }

    /// Names of the columns of the design matrix.
    fn columns(&self) -> Vec<String> {
        self.transforms.iter().map(|t| t.name.clone()).collect()
    }
}

/// The shards with their model.
pub(crate) struct StreamedShards {
    pub(crate) stream: Stream,
    pub(crate) make: MakePart,
}

impl Shards for StreamedShards {
    fn len(&self) -> usize {
        self.stream.n_shards
    }

    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError> {
        let (names, mut k) = (self.stream.columns(), 0);
        let asked = self.stream.each(|rows, y| {
            let x = DesignMatrix::new(rows, names.len(), names.clone())?;
            let answered = evaluate(&*(self.make)(x, y)?, request);
            sums.add(k, answered.map_err(|error| ShardError::Failed { shard: k, problem: error.message.into() })?)?;
            k += 1;
            Ok(())
        });
        asked.map_err(|fault| match fault {
            Fault::Shard(error) => error,
            fault => ShardError::Failed { shard: k, problem: fault.to_string() },
        })
    }
}

/// The model over the files that the settings name, with what is known of its rows; `watch` sees every pass.
pub(crate) fn load(
    settings: &Settings,
    name: ModelName,
    watch: Box<dyn Fn(&Pass) + Send + Sync>,
) -> Result<(Rows, Box<dyn Model>), Error> {
    let (data, entry) = (&settings.data, name.entry());
    check(settings, name)?;
    let Some(file) = &data.file else { return Err(Error::NoTable { model: entry.name }) };
    let Some(target) = &data.target else { return Err(Error::NoColumn { model: entry.name }) };
    let features = match (&data.features, &data.exclude) {
        (Some(list), _) => Chosen::Only(list.clone()),
        (None, Some(list)) => Chosen::Except(list.clone()),
        (None, None) => Chosen::All,
    };
    let missing = data.missing.unwrap_or(Missing::Refuse);
    let table = ShardedTable::open(&files::of(settings, file)?, &features, target, missing)?;
    let memory = data.memory.unwrap_or(MEMORY);
    let in_memory = (memory << 20) / (table.shard_bytes() + 8 * table.shard_rows());
    let Some(ahead) = in_memory.checked_sub(BESIDE).filter(|ahead| *ahead > 0) else {
        let needed = ((BESIDE + 1) * (table.shard_bytes() + 8 * table.shard_rows())).div_ceil(1 << 20);
        return Err(Refused::Memory { memory, needed }.into());
    };
    let ahead = ahead.min(AHEAD);

    let passes = Arc::new(Passes::new(watch));
    let mut summary = Summary::new(&table);
    let (mut cache, mut sample) =
        (open_cache(data.cache.as_deref(), table.names().len())?, Sample::new(table.names().len()));
    let mut refused = None;
    passes.begin();
    table.pass(ahead, |shard: ShardRows| -> Result<(), Error> {
        summary.add(&table, &shard, (entry.outcome)(&settings.model))?;
        sample.add(&shard.values);
        if let Some(full) = cache.as_mut().and_then(|cache| cache.push(&shard.values).err()) {
            if data.cache.is_some() {
                return Err(Refused::Cache { problem: full.to_string() }.into());
            }
            // Without room for it every pass decodes the files again.
            (cache, refused) = (None, Some(full));
        }
        passes.read(shard.values.len() / table.names().len());
        Ok(())
    })?;
    passes.end();
    let has_intercept = data.intercept.unwrap_or(true);
    summary.check(&table, (entry.outcome)(&settings.model), has_intercept)?;
    let fingerprint = summary.fingerprint();
    if let Some(known) = data.fingerprint.clone().filter(|known| *known != fingerprint) {
        return Err(Error::OtherData { file: file.clone(), found: fingerprint, known });
    }

    let scaling = data.scaling.unwrap_or_default();
    let transforms = summary.transforms(&table, scaling, has_intercept, settings.model.has_prior())?;
    passes.keep(summary.n_rows(), cache.as_ref().map(Compact::n_bytes), memory, refused.map(|e| e.to_string()));
    let kinds: Vec<DesignColumn> = (0..transforms.len())
        .map(|j| if has_intercept && j == 0 { DesignColumn::Intercept } else { DesignColumn::Number })
        .collect();
    let names: Vec<String> = transforms.iter().map(|t| t.name.clone()).collect();
    let header = RegressionData::without_rows(names.clone(), kinds.clone(), target.clone());
    let stream = Stream {
        n_shards: summary.n_shards(),
        cache: Mutex::new(cache),
        ahead,
        has_intercept,
        transforms: transforms.clone(),
        lower_class: summary.lower_class((entry.outcome)(&settings.model)),
        passes: Arc::clone(&passes),
        table,
    };
    let (sampled, y) = stream.design(sample.values());
    let sampled = DesignMatrix::new(sampled, names.len(), names.clone()).map_err(Error::of_fit)?;
    let of_all = streamed::OfAll {
        n_rows: summary.n_rows(),
        moments: summary.moments_of_target(),
        sample: (sampled, y),
        memory,
    };
    let recipe = Some(Recipe::of_columns(&header));
    let model = streamed::make(name, &settings.model, &header, &transforms, of_all, stream)?;
    let rows = Rows {
        file: Some(file.clone()),
        target: target.clone(),
        columns: names,
        kinds,
        transforms,
        scaling_is_asked: scaling != elinvar_data::Scaling::None,
        n_rows: summary.n_rows(),
        n_read: summary.n_rows(),
        n_dropped: summary.n_dropped(),
        fingerprint,
        recipe,
        classes: Vec::new(),
        file_rows: Vec::new(),
        passes: Some(passes),
    };
    Ok((rows, model))
}

/// A file for the cache: in the folder that is named, or in the system's folder for such files.
fn open_cache(folder: Option<&str>, width: usize) -> Result<Option<Compact>, Error> {
    let file = match folder {
        Some(folder) => {
            let refused = |error| Refused::Cache { problem: format!("{folder}: {error}") };
            Some(tempfile::tempfile_in(folder).map_err(refused)?)
        }
        None => tempfile::tempfile().ok(),
    };
    Ok(file.map(|file| Compact::new(MemoryOrFile::File(file), width)))
}

/// Refuses what needs all rows at once.
fn check(settings: &Settings, name: ModelName) -> Result<(), Error> {
    let data = &settings.data;
    if !streamed::NAMES.contains(&name.name()) {
        return Err(Refused::NotStreamed { model: name.name(), models: streamed::NAMES.join(", ") }.into());
    }
    let refused = [
        (data.formula.is_some(), "a formula", "; write its columns into the files and name them by --features"),
        (data.test_fraction.is_some(), "--test-fraction", "; put the rows to hold out into a file of their own"),
        (data.test_rows.is_some(), "--test-rows", "; put the rows to hold out into a file of their own"),
        (data.train_rows.is_some(), "--train-rows", "; put the rows to fit into files of their own"),
        (data.category.is_some(), "--category", "; write indicators into the files"),
        (
            data.categorical.is_some_and(|c| c != elinvar_data::Categorical::Refuse),
            "--categorical indicators",
            "; write indicators into the files",
        ),
        (data.array.is_some(), "--array", ""),
        (data.file.as_deref() == Some("-"), "the standard input", "; it can be read but once"),
        (settings.plan.minibatch.is_some(), "--minibatch", "; every step takes all rows"),
    ];
    match refused.into_iter().find(|(given, ..)| *given) {
        Some((_, what, remedy)) => Err(Refused::NotWithStream { what, remedy }.into()),
        None => Ok(()),
    }
}
