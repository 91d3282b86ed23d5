//! A log density that is a sum over numbered shards, each of which is evaluated anywhere.
//!
//! Of the data a step needs sums only: log p and gradients at the draws, contracted Hessians, expectations under a
//! Gaussian. A [`Request`] asks for them and [`Sums`] answer, both plain data with one form in bytes. Whoever holds a
//! shard calls [`evaluate`]; [`SumOfShards`] adds what comes back in the order of the shards' numbers, by pairs, so
//! that the bits depend on how the rows are cut and on nothing else: not on workers, threads, machines or who answers
//! first.

mod add_up;
mod book;
mod bytes;
mod in_process;
mod request;
mod sums;

pub use add_up::AddUp;
pub use book::Book;
pub use in_process::InProcess;
pub use request::{Request, Wanted, Which};
pub use sums::{Sums, evaluate, evaluate_with};

use std::sync::Arc;

use super::{About, Answer, Ask, Offers, Parts, Room, Target, TargetError};

/// Why the sums over shards are not there.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// A shard could not be evaluated.
    #[error("shard {shard}: {problem}")]
    Failed {
        /// Its number.
        shard: usize,
        /// What happened, as the end of a sentence.
        problem: String,
    },
    /// A shard answered something else than what was asked.
    #[error("shard {shard} answered {found} {what} instead of {expected}; all shards must be parts of one model")]
    OtherShape {
        /// Its number.
        shard: usize,
        /// What there are so many of.
        what: &'static str,
        /// How many were asked for.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A shard answered twice, or there is none of this number.
    #[error("an answer came from shard {shard}, which {problem}")]
    Unexpected {
        /// Its number.
        shard: usize,
        /// Why that cannot be.
        problem: &'static str,
    },
    /// A shard did not answer.
    #[error("no answer came from shard {shard}; it was asked and left out")]
    Missing {
        /// The first such.
        shard: usize,
    },
    /// Nobody answers any more.
    #[error("the shards do not answer: {problem}")]
    Gone {
        /// What happened, as the end of a sentence.
        problem: String,
    },
}

/// Shards, wherever they are: all that an adaptor of Dask, MPI or of files has to say.
pub trait Shards: Sync {
    /// How many there are. Their numbers are 0, 1, 2, …
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Has every shard evaluated once and hands its sums on, in any order.
    ///
    /// # Errors
    /// What keeps a shard from answering, or what `sums` says to an answer.
    fn ask(&self, request: &Request, sums: &mut AddUp) -> Result<(), ShardError>;
}

/// The sum over [`Shards`], as a target.
///
/// ```
/// use elinvar::model::{DesignMatrix, LogisticRegression};
/// use elinvar::research::target::shards::SumOfShards;
///
/// // Two parts of one table: the prior of the coefficients is declared, and stays that of the whole.
/// let part = |x: Vec<f64>, y: Vec<f64>| {
///     let x = DesignMatrix::new(x, 1, vec!["dose".into()])?.with_intercept();
///     LogisticRegression::from_labels(x, y, 0.1)
/// };
/// let parts = vec![part(vec![-1.0, 0.5, 2.0], vec![0.0, 1.0, 1.0])?, part(vec![0.1, -0.4], vec![1.0, 0.0])?];
/// let posterior = elinvar::fit(&SumOfShards::of_parts(parts)?)?;
/// assert_eq!(posterior.names(), ["intercept", "dose"]);
/// # Ok::<(), elinvar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumOfShards<S> {
    about: About,
    shards: S,
    book: Option<Arc<Book>>,
}

impl<S: Shards> SumOfShards<S> {
    /// The sum over these shards; `about` is what one of them says of itself, and `n_rows` the rows of all.
    pub fn new(shards: S, about: About, n_rows: usize) -> Self {
        let offers = Offers { item_gradients: false, ..about.offers };
        Self { about: About { n_rows: Some(n_rows), offers, room: Room::default(), ..about }, shards, book: None }
    }

    /// The same, with sums that are looked up in this book first and kept there: a fit that was ended and begins again
    /// asks no shard twice, and has the bits of one that nothing has ended.
    pub fn with_book(self, book: Book) -> Self {
        Self { book: Some(Arc::new(book)), ..self }
    }

    /// The shards.
    pub fn shards(&self) -> &S {
        &self.shards
    }

    fn add_up(&self, request: &Request) -> Result<Sums, ShardError> {
        if let Some(known) = self.book.as_ref().and_then(|book| book.find(request)) {
            return Ok(known);
        }
        let mut sums = AddUp::new(self.shards.len(), request);
        self.shards.ask(request, &mut sums)?;
        let total = sums.total()?;
        self.book.iter().try_for_each(|book| book.keep(request, &total))?;
        Ok(total)
    }
}

impl<S: Shards> Target for SumOfShards<S> {
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Mini-batches are not taken: shards are asked for all of their rows.
    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let request = Request::of(ask, answer.covariance())?;
        let total = self.add_up(&request).map_err(|error| TargetError::fatal(error.to_string()))?;
        let Parts { log_p, grad, mut curvature, work, .. } = answer.parts_mut();
        // What was not asked for is empty.
        log_p.iter_mut().zip(&total.log_p).for_each(|(to, value)| *to = *value);
        grad.iter_mut().zip(&total.grad).for_each(|(to, value)| *to = *value);
        curvature.as_mut_slice().iter_mut().zip(&total.curvature).for_each(|(to, value)| *to += value);
        *work = total.gradients();
        Ok(())
    }
}
