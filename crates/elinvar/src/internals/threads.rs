//! Independent pieces of work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// `work` of every index below `n`, in order; at most `threads` run at the same time.
///
/// Not for runs whose seconds are compared: those go one after the other.
///
/// # Panics
/// If a piece of work does.
pub fn for_each<T: Send>(threads: usize, n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < n);
    let some = || std::iter::from_fn(take).map(|i| (i, work(i))).collect::<Vec<_>>();
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.min(n)).map(|_| scope.spawn(some)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("no piece of work panics")).collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order() {
        assert_eq!(super::for_each(2, 9, |i| i * i), [0, 1, 4, 9, 16, 25, 36, 49, 64]);
        assert!(super::for_each(2, 0, |i| i).is_empty());
    }
}
