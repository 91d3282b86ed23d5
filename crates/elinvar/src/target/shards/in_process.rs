//! Shards that are in the memory of this process.

use super::{AddUp, Request, ShardError, Shards, SumOfShards, Sums, evaluate};
use crate::Error;
use crate::target::{Target, TargetError};

/// Parts of one model, side by side on as many threads as there are.
#[derive(Clone, Debug)]
pub struct InProcess<T> {
    parts: Vec<T>,
}

impl<T: Target> SumOfShards<InProcess<T>> {
    /// The sum over parts of one model, which are numbered as they come.
    ///
    /// # Errors
    /// If there is none, or they are not parts of one model: with other coordinates or another declared prior.
    pub fn of_parts(parts: Vec<T>) -> Result<Self, Error> {
        let place = |k: usize| format!("shard {k}");
        let Some(first) = parts.first().map(Target::about) else {
            return Err(Error::Data { place: "shards".into(), problem: "there are none; give at least one".into() });
        };
        let mut n_rows = 0;
        for (k, about) in parts.iter().map(Target::about).enumerate() {
            let problem = match () {
                () if about.names != first.names => "its coordinates are not those of shard 0",
                () if about.prior != first.prior => "its prior is not that of shard 0",
                () if about.n_rows.is_none() => "it is not a sum over rows",
                () => {
                    n_rows += about.n_rows.unwrap_or(0);
                    continue;
                }
            };
            let problem = format!("{problem}; all shards must be parts of one model");
            return Err(Error::Data { place: place(k), problem });
        }
        Ok(Self::new(InProcess { parts }, first, n_rows))
    }
}

impl<T: Target> InProcess<T> {
    /// These parts, of which [`SumOfShards::of_parts`] would check that they belong together.
    pub fn of(parts: Vec<T>) -> Self {
        Self { parts }
    }

    /// The parts.
    pub fn parts(&self) -> &[T] {
        &self.parts
    }

    fn sums(&self, shard: usize, request: &Request) -> Result<Sums, ShardError> {
        let failed = |error: TargetError| ShardError::Failed { shard, problem: error.message.into_owned() };
        evaluate(&self.parts[shard], request).map_err(failed)
    }
}

impl<T: Target> Shards for InProcess<T> {
    fn len(&self) -> usize {
        self.parts.len()
    }

    #[cfg(feature = "parallel")]
    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError> {
        use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
        // As many at once as keep all threads busy, not as many sums as there are shards.
        let at_once = 4 * rayon::current_num_threads();
        for first in (0..self.len()).step_by(at_once) {
            let shards = first..self.len().min(first + at_once);
            let answers: Vec<_> = shards.into_par_iter().map(|k| (k, self.sums(k, request))).collect();
            answers.into_iter().try_for_each(|(k, answer)| sums.add(k, answer?))?;
        }
        Ok(())
    }

    #[cfg(not(feature = "parallel"))]
    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError> {
        (0..self.len()).try_for_each(|k| sums.add(k, self.sums(k, request)?))
    }
}
