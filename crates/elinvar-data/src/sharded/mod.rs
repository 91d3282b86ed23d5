//! A table that does not have to fit into memory: parts of it, one after the other, as often as they are needed.
//!
//! Rows are cut into shards of at most [`ShardedTable::shard_rows`], never across two files or two groups of rows of a
//! parquet file. Where they are cut depends on the files and the number of columns alone.

mod compact;
mod scaled;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::SystemTime;

pub use compact::{Compact, CompactShard, MemoryOrFile};
pub use scaled::Scaled;

use crate::open::open;
use crate::sentence::excerpt;
use crate::{Columns, Error, Missing, Place, nearest};

/// Numbers of a shard, where its rows are not too long: few enough to stay in a cache of the processor between being
/// decoded and being multiplied.
const NUMBERS: usize = 1 << 17;
/// Rows of a shard, at least and at most.
const ROWS: [usize; 2] = [4_096, 65_536];

/// Takes the numbers of a shard, with a function that says where each stands; false if nobody wants another.
pub(crate) type Taker<'t> = &'t mut dyn FnMut(Vec<f64>, &dyn Fn(usize) -> Place) -> Result<bool, Error>;

/// Files of one table, whose columns of numbers are read shard by shard.
#[derive(Clone, Debug)]
pub struct ShardedTable {
    parts: Vec<Part>,
    /// The features, and the target behind them.
    names: Vec<String>,
    /// Number in the files, counted from 1, of each of them.
    numbers: Vec<usize>,
    missing: Missing,
}

#[derive(Clone, Debug)]
struct Part {
    file: PathBuf,
    kind: Kind,
    /// By which a change is noticed.
    stamp: (u64, Option<SystemTime>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    #[cfg(feature = "parquet")]
    Parquet,
    Csv,
}

/// Rows of a table that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardRows {
    /// Which of the files.
    pub file: usize,
    /// Row by row the features, and the target behind them. Every number is finite.
    pub values: Vec<f64>,
    /// Rows that were dropped because a cell was missing.
    pub n_dropped: usize,
}

impl ShardedTable {
    /// The table of these files, which have the same columns; all numbers, parquet or CSV.
    ///
    /// # Errors
    /// A file cannot be read or is of another kind, columns differ between files, or one that is named is not there.
    pub fn open(files: &[PathBuf], features: &Columns, target: &str, missing: Missing) -> Result<Self, Error> {
        let mut parts: Vec<Part> = Vec::with_capacity(files.len());
        let mut known: Option<Vec<String>> = None;
        for file in files {
            let (kind, names) = header(file)?;
            if let Some((known, first)) = known.as_ref().zip(parts.first()) {
                check_same(file, &names, &first.file, known)?;
            }
            parts.push(Part { file: file.clone(), kind, stamp: stamp(file) });
            known.get_or_insert(names);
        }
        let (Some(known), Some(first)) = (known, files.first()) else {
            return Err(Error::NotFound { file: PathBuf::new(), similar: None });
        };
        let at = crate::table::find(first, &known, target)?;
        match features {
            Columns::Only(list) if list.iter().any(|name| name == target) => {
                return Err(Error::TargetAmongFeatures { file: first.clone(), name: target.into() });
            }
            Columns::Except(list) if list.iter().any(|name| name == target) => {
                return Err(Error::TargetLeftOut { file: first.clone(), name: target.into() });
            }
            _ => {}
        }
        let mut kept = features.positions(first, &known)?;
        kept.retain(|k| *k != at);
        if kept.is_empty() {
            return Err(Error::NoFeatures { file: first.clone(), target: target.into() });
        }
        kept.push(at);
        let names: Vec<String> = kept.iter().map(|k| known[*k].clone()).collect();
        let reserved = |name: &String| crate::DRAWS_COLUMNS.contains(&name.as_str());
        if let Some(j) = names[..names.len() - 1].iter().position(reserved) {
            return Err(Error::NameTaken { file: first.clone(), number: kept[j] + 1, column: names[j].clone() });
        }
        Ok(Self { parts, names, numbers: kept.iter().map(|k| k + 1).collect(), missing })
    }

    /// Names of the features, and of the target behind them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number in the files, counted from 1, of column j.
    pub fn number(&self, j: usize) -> usize {
        self.numbers[j]
    }

    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|part| part.file.as_path())
    }

    /// File k.
    pub fn file(&self, k: usize) -> &Path {
        &self.parts[k].file
    }

    /// Rows of a shard, at most.
    pub fn shard_rows(&self) -> usize {
        (NUMBERS / self.names.len()).clamp(ROWS[0], ROWS[1])
    }

    /// Bytes of a shard, at most.
    pub fn shard_bytes(&self) -> usize {
        8 * self.names.len() * self.shard_rows()
    }

    /// Reads all shards once, in their order, in a thread of its own that is at most `ahead` of them before `take`.
    ///
    /// # Errors
    /// What is wrong with a file, that one has changed since it was opened, or what `take` says.
    pub fn pass<E: From<Error>>(
        &self,
        ahead: usize,
        mut take: impl FnMut(ShardRows) -> Result<(), E>,
    ) -> Result<(), E> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(ahead);
            let reader = scope.spawn(move || {
                for (file, part) in self.parts.iter().enumerate() {
                    part.check_unchanged()?;
                    let mut hand_over = |values: Vec<f64>, n_dropped: usize| {
                        // Nobody takes what follows an error.
                        sender.send(ShardRows { file, values, n_dropped }).is_ok()
                    };
                    if !self.read_part(part, &mut hand_over)? {
                        return Ok(());
                    }
                    part.check_unchanged()?;
                }
                Ok(())
            });
            let taken = receiver.iter().try_for_each(&mut take);
            // A reader that waits for room is told that nobody listens.
            drop(receiver);
            let read: Result<(), Error> = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            taken.and(read.map_err(E::from))
        })
    }

    /// Hands over the shards of a file until it is told that nobody takes them.
    fn read_part(&self, part: &Part, take: &mut dyn FnMut(Vec<f64>, usize) -> bool) -> Result<bool, Error> {
        let mut settled = |mut values: Vec<f64>, lines: &dyn Fn(usize) -> Place| {
            let n_dropped = self.settle(&mut values, lines)?;
            Ok(values.is_empty() || take(values, n_dropped))
        };
        match part.kind {
            #[cfg(feature = "parquet")]
            Kind::Parquet => crate::parquet::each_shard(&part.file, &self.names, self.shard_rows(), &mut settled),
            Kind::Csv => text::each_shard(&part.file, &self.names, self.shard_rows(), &mut settled),
        }
    }

    /// Drops or refuses rows with missing cells, and refuses what is too large; `place` names a cell by its position.
    fn settle(&self, values: &mut Vec<f64>, place: &dyn Fn(usize) -> Place) -> Result<usize, Error> {
        const LARGEST: f64 = 1e100;
        if values.iter().fold(true, |all, value| all & (value.abs() <= LARGEST)) {
            return Ok(0);
        }
        if let Some(k) = values.iter().position(|value| value.is_infinite()) {
            return Err(Error::NotFinite { place: place(k), text: excerpt(&values[k].to_string()) });
        }
        if let Some(k) = values.iter().position(|value| value.abs() > LARGEST) {
            return Err(Error::TooLarge { place: place(k), value: values[k] });
        }
        if let (Missing::Refuse, Some(k)) = (self.missing, values.iter().position(|value| value.is_nan())) {
            return Err(Error::Missing { place: place(k), text: "empty, null or NaN".into() });
        }
        let (width, n) = (self.names.len(), values.len() / self.names.len());
        let mut kept = 0;
        for i in 0..n {
            if !values[i * width..(i + 1) * width].iter().any(|value| value.is_nan()) {
                values.copy_within(i * width..(i + 1) * width, kept * width);
                kept += 1;
            }
        }
        values.truncate(kept * width);
        Ok(n - kept)
    }
}

impl Part {
    fn check_unchanged(&self) -> Result<(), Error> {
        if stamp(&self.file) == self.stamp { Ok(()) } else { Err(Error::Changed { file: self.file.clone() }) }
    }
}

fn stamp(file: &Path) -> (u64, Option<SystemTime>) {
    fs::metadata(file).map_or((0, None), |about| (about.len(), about.modified().ok()))
}

/// The kind of a file and the names of its columns.
fn header(file: &Path) -> Result<(Kind, Vec<String>), Error> {
    let (handle, first) = open(file)?;
    #[cfg(feature = "parquet")]
    if first.starts_with(b"PAR1") {
        return Ok((Kind::Parquet, crate::parquet::column_names(file, handle)?));
    }
    let is_other = [&b"PK\x03\x04"[..], b"PAR1", b"\x93NUMPY", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
    if is_other.iter().any(|begin| first.starts_with(begin)) {
        return Err(Error::NotInShards { file: file.into() });
    }
    drop(handle);
    Ok((Kind::Csv, text::column_names(file)?))
}

fn check_same(file: &Path, names: &[String], first: &Path, known: &[String]) -> Result<(), Error> {
    if names == known {
        return Ok(());
    }
    let missing = known.iter().find(|name| !names.contains(name));
    let more = names.iter().find(|name| !known.contains(name));
    let difference = match (missing, more) {
        (Some(name), _) => match nearest(name, names.iter().map(String::as_str)) {
            Some(similar) => format!("there is no column {name:?}, but {similar:?}"),
            None => format!("there is no column {name:?}"),
        },
        (None, Some(name)) => format!("there is a column {name:?} more"),
        (None, None) => "they stand in another order".into(),
    };
    Err(Error::OtherColumns { file: file.into(), first: first.into(), difference })
}
