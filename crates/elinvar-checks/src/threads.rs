//! Independent pieces of work on two threads.

/// `work` of every index below `n`, in order; at most two run at the same time.
pub(crate) fn for_each<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    elinvar::internals::threads::for_each(2, n, work)
}
