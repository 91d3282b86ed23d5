//! A regression on a table that is never in memory as a whole: shards of it, read again at every pass.
//!
//! The first pass reads the files: it checks them, finds means and standard deviations of the columns, and keeps every
//! number in a compact cache. Later passes read the cache in a second thread, ahead of the products.

mod files;
mod hold_out;
mod passes;
mod reading;
mod refused;
mod sample;
mod summary;

use std::sync::{Arc, Mutex};

use elinvar::model::DesignMatrix;
use elinvar_data::{
    Columns as Chosen, Compact, DesignColumn, MemoryOrFile, Missing, RegressionData, Scaled, ShardRows, ShardedTable,
};

pub use passes::{Pass, Passes, Purpose};
pub(crate) use reading::{Fault, MakePart, Stream, StreamedShards};
pub use refused::Refused;

use crate::error::Error;
use crate::formula::Recipe;
use crate::models::{Model, ModelName, streamed};
use crate::rows::Rows;
use crate::settings::Settings;
use hold_out::{Divider, HoldOut};
use sample::Sample;
use summary::Summary;

/// Memory for shards unless another number is given, in MB.
pub const MEMORY: usize = 512;
/// Fewest shards in memory: two that are read ahead, one that is being read, one being decoded and what it becomes.
const FEWEST: usize = 5;
/// Shards that are handed to every thread at once, if memory allows.
const EACH: usize = 4;
/// Most shards that are read ahead.
const AHEAD: usize = 8;

/// A model over rows that are not in memory.
pub(crate) struct Streamed {
    pub(crate) rows: Rows,
    pub(crate) model: Box<dyn Model>,
    /// The rows that are held out, if any are.
    pub(crate) held_out: Option<Arc<Stream>>,
}

/// The model over the files that the settings name, with what is known of its rows; `watch` sees every pass.
pub(crate) fn load(
    settings: &Settings,
    name: ModelName,
    watch: Box<dyn Fn(&Pass) + Send + Sync>,
) -> Result<Streamed, Error> {
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
    let of_shard = table.shard_bytes() + 8 * table.shard_rows();
    let in_memory = (memory << 20) / of_shard;
    if in_memory < FEWEST {
        return Err(Refused::Memory { memory, needed: (FEWEST * of_shard).div_ceil(1 << 20) }.into());
    }
    let at_once = (EACH * rayon::current_num_threads()).min((in_memory - 2) / 3);
    // Those that are worked on are there twice, as they were read and decoded.
    let ahead = AHEAD.min(in_memory - 2 * at_once - 1);

    let passes = Arc::new(Passes::new(watch));
    let mut summary = Summary::new(&table);
    let width = table.names().len();
    let (mut cache, mut sample) = (open_cache(data.cache.as_deref(), width)?, Sample::new(width));
    let hold_out = data.test_fraction.map(|share| HoldOut { share, seed: data.split_seed() });
    let mut held_out = if hold_out.is_some() { open_cache(data.cache.as_deref(), width)? } else { None };
    let (mut divider, mut n_held_out) = (Divider::new(hold_out, width), 0);
    let mut refused = None;
    passes.begin("files", 0);
    table.pass(ahead, |shard: ShardRows| -> Result<(), Error> {
        summary.look_at(&table, &shard, (entry.outcome)(&settings.model))?;
        let n = shard.values.len() / width;
        let (values, tested) = divider.divide(shard.values);
        n_held_out += tested.len() / width;
        let mut full = None;
        if !values.is_empty() {
            summary.add(&values);
            sample.add(&values);
            full = cache.as_mut().and_then(|cache| cache.push(&values).err());
        }
        if !tested.is_empty() {
            full = full.or(held_out.as_mut().and_then(|cache| cache.push(&tested).err()));
        }
        if let Some(full) = full {
            if data.cache.is_some() {
                return Err(Refused::Cache { problem: full.to_string() }.into());
            }
            // Without room for it every pass decodes the files again.
            (cache, held_out, refused) = (None, None, Some(full));
        }
        passes.read(n);
        Ok(())
    })?;
    passes.end();
    if let Some(HoldOut { share, .. }) = hold_out.filter(|_| n_held_out == 0 || summary.n_rows() < 2) {
        let n_rows = summary.n_rows() + n_held_out;
        return Err(elinvar_data::Error::BadFraction { fraction: 1.0 - share, n_rows }.into());
    }
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
        hold_out,
        held_out: Mutex::new(held_out),
        n_held_out,
        ahead,
        at_once,
        scaled: Scaled::new(has_intercept, &transforms[usize::from(has_intercept)..]),
        columns: names.clone(),
        lower_class: summary.lower_class((entry.outcome)(&settings.model)),
        passes: Arc::clone(&passes),
        table,
    };
    let (sampled, y) = stream.design_of_rows(sample.values());
    let sampled = DesignMatrix::new(sampled, names.len(), names.clone()).map_err(Error::of_fit)?;
    let of_all = streamed::OfAll {
        n_rows: summary.n_rows(),
        moments: summary.moments_of_target(),
        sample: (sampled, y),
        memory,
    };
    let recipe = Some(Recipe::of_columns(&header));
    let stream = Arc::new(stream);
    let model = streamed::make(name, &settings.model, &header, &transforms, of_all, Arc::clone(&stream))?;
    let rows = Rows {
        file: Some(file.clone()),
        target: target.clone(),
        columns: names,
        kinds,
        transforms,
        scaling_is_asked: scaling != elinvar_data::Scaling::None,
        n_rows: summary.n_rows(),
        n_read: summary.n_rows() + n_held_out,
        n_dropped: summary.n_dropped(),
        fingerprint,
        recipe,
        classes: Vec::new(),
        file_rows: Vec::new(),
        passes: Some(passes),
    };
    Ok(Streamed { rows, model, held_out: hold_out.map(|_| stream) })
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
        (data.test_rows.is_some(), "--test-rows", "; give --test-fraction, which holds rows out by their numbers"),
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
