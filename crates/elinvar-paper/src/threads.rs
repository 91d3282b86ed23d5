//! Independent pieces of work on as many threads as there are processors.

/// `work` of every index below `n`, in order, each on a thread of its own.
///
/// Not for runs whose seconds are compared: those go one after the other.
pub(crate) fn for_each<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    elinvar::internals::threads::for_each(threads, n, work)
}
