//! Passes over the shards: read ahead by a thread of their own, decoded and evaluated by as many as there are.

use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use elinvar::model::DesignMatrix;
use elinvar::research::target::shards::{AddUp, Request, ShardError, Shards, Wanted, evaluate_with};
use elinvar::target::{Answer, Target};
use elinvar_data::{Compact, CompactShard, Scaled, ShardRows, ShardedTable};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

use super::Passes;
use super::hold_out::{Divider, HoldOut};

/// Makes the model of a shard.
pub(crate) type MakePart = Box<dyn Fn(DesignMatrix, Vec<f64>) -> Result<Box<dyn Target>, elinvar::Error> + Send + Sync>;

/// The shards of a table, from its files or from the cache.
pub(crate) struct Stream {
    pub(super) table: ShardedTable,
    pub(super) cache: Mutex<Option<Compact>>,
    pub(super) hold_out: Option<HoldOut>,
    /// The rows that are held out, where there is a cache.
    pub(super) held_out: Mutex<Option<Compact>>,
    /// Number of these.
    pub(crate) n_held_out: usize,
    pub(super) ahead: usize,
    pub(super) at_once: usize,
    pub(super) n_shards: usize,
    pub(super) scaled: Scaled,
    /// Names of the columns of the design matrix.
    pub(super) columns: Vec<String>,
    /// The label that becomes −1, of a model of two classes.
    pub(super) lower_class: Option<f64>,
    pub(super) passes: Arc<Passes>,
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

/// A shard before it is decoded.
enum Raw {
    Rows(Vec<f64>),
    Packed(CompactShard),
}

impl Stream {
    /// Design matrix and responses of rows as they stand in the files.
    pub(super) fn design_of_rows(&self, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (rows, y) = self.scaled.of_rows(values);
        (rows, self.labelled(y))
    }

    fn labelled(&self, mut y: Vec<f64>) -> Vec<f64> {
        if let Some(low) = self.lower_class {
            y.iter_mut().for_each(|y| *y = if *y == low { -1.0 } else { 1.0 });
        }
        y
    }

    /// Has every shard worked on, several at once, and hands on what comes of it in the order of the shards; those
    /// behind them are read ahead.
    pub(crate) fn each<T: Send>(
        &self,
        (asked, draws): (&'static str, usize),
        work: impl Fn(usize, DesignMatrix, Vec<f64>) -> Result<T, Fault> + Sync,
        mut take: impl FnMut(usize, T) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.passes.begin(asked, draws);
        let (give_back, spare) = channel();
        let of_shard = |k: usize, raw: Raw, give_back: &std::sync::mpsc::Sender<Vec<u8>>| {
            let (rows, y) = match &raw {
                Raw::Rows(values) => self.scaled.of_rows(values),
                Raw::Packed(shard) => self.scaled.of_shard(shard),
            };
            if let Raw::Packed(shard) = raw {
                // Nobody reads any more where nobody takes it.
                let _ = give_back.send(shard.into_bytes());
            }
            let n = y.len();
            let x = DesignMatrix::new(rows, self.columns.len(), self.columns.clone())?;
            Ok((n, work(k, x, self.labelled(y))?))
        };
        let at_once = self.at_once;
        let (mut first, mut waiting) = (0, Vec::with_capacity(at_once));
        let mut flush = |waiting: &mut Vec<Raw>| -> Result<(), Fault> {
            let shards: Vec<_> = waiting.drain(..).map(|raw| (raw, give_back.clone())).collect();
            let of = |(i, (raw, back)): (usize, (Raw, _))| of_shard(first + i, raw, &back);
            let done: Vec<Result<(usize, T), Fault>> = shards.into_par_iter().enumerate().map(of).collect();
            for (i, done) in done.into_iter().enumerate() {
                let (n, result) = done?;
                take(first + i, result)?;
                self.passes.read(n);
            }
            first += at_once;
            Ok(())
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        match cache.as_mut() {
            None => {
                let mut divider = Divider::new(self.hold_out, self.table.names().len());
                self.table.pass(self.ahead, |shard: ShardRows| {
                    let (values, _) = divider.divide(shard.values);
                    if !values.is_empty() {
                        waiting.push(Raw::Rows(values));
                    }
                    if waiting.len() == at_once { flush(&mut waiting) } else { Ok(()) }
                })?;
            }
            Some(cache) => std::thread::scope(|scope| {
                let (sender, receiver) = sync_channel(self.ahead);
                let reader = scope.spawn(move || {
                    cache.pass(
                        || spare.try_recv().unwrap_or_default(),
                        |shard| {
                            // Nobody takes what follows an error.
                            let taken = sender.send(Raw::Packed(shard));
                            taken.map_err(|_| Fault::Cache(std::io::ErrorKind::BrokenPipe.into()))
                        },
                    )
                });
                let taken = receiver.iter().try_for_each(|raw| {
                    waiting.push(raw);
                    if waiting.len() == at_once { flush(&mut waiting) } else { Ok(()) }
                });
                drop(receiver);
                let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                taken.and(read)
            })?,
        }
        flush(&mut waiting)?;
        self.passes.end();
        Ok(())
    }

    /// Gives the rows that are held out, one shard after the other.
    pub(crate) fn each_held_out(
        &self,
        mut take: impl FnMut(DesignMatrix, Vec<f64>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut give = |(rows, y): (Vec<f64>, Vec<f64>)| {
            if y.is_empty() {
                return Ok(());
            }
            take(DesignMatrix::new(rows, self.columns.len(), self.columns.clone())?, self.labelled(y))
        };
        match self.held_out.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(cache) => cache.pass(Vec::new, |shard| give(self.scaled.of_shard(&shard))),
            None => {
                let mut divider = Divider::new(self.hold_out, self.table.names().len());
                let mut of_shard = |shard: ShardRows| give(self.scaled.of_rows(&divider.divide(shard.values).1));
                self.table.pass(self.ahead, &mut of_shard)
            }
        }
    }

    /// Number of shards.
    pub(crate) fn n_shards(&self) -> usize {
        self.n_shards
    }
}

/// The shards with their model.
pub(crate) struct StreamedShards {
    pub(crate) stream: Arc<Stream>,
    pub(crate) make: MakePart,
}

impl Shards for StreamedShards {
    fn len(&self) -> usize {
        self.stream.n_shards
    }

    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError> {
        // The memory of an answer is larger than a shard where there are many draws.
        let rooms: Mutex<Vec<Answer>> = Mutex::new(Vec::new());
        let lock = || rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let what = match &request.wanted {
            Wanted::Values => "values",
            Wanted::Gradients => "gradients",
            Wanted::Contracted { .. } => "hessian",
            Wanted::GaussianExpectation { .. } => "expectation",
        };
        let mut n_taken = 0;
        let asked = self.stream.each(
            (what, request.n_draws()),
            |k, x, y| {
                let part = (self.make)(x, y)?;
                let mut room = lock().pop().unwrap_or_else(|| request.room());
                let answered = evaluate_with(&*part, request, &mut room);
                lock().push(room);
                Ok(answered.map_err(|error| ShardError::Failed { shard: k, problem: error.message.into() })?)
            },
            |k, answer| {
                n_taken = k + 1;
                Ok(sums.add(k, answer)?)
            },
        );
        asked.map_err(|fault| match fault {
            Fault::Shard(error) => error,
            fault => ShardError::Failed { shard: n_taken, problem: fault.to_string() },
        })
    }
}
