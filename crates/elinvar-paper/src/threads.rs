//! Independent pieces of work on as many threads as there are processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const HELD: &str = "no piece of work panics while it holds the lock";

/// `work` of every index below `n`, in order, each on a thread of its own.
///
/// Not for runs whose seconds are compared: those go one after the other.
pub(crate) fn for_each<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(n));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(n) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n {
                        return;
                    }
                    let result = work(i);
                    results.lock().expect(HELD).push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect(HELD);
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order() {
        assert_eq!(super::for_each(9, |i| i * i), [0, 1, 4, 9, 16, 25, 36, 49, 64]);
        assert!(super::for_each(0, |i| i).is_empty());
    }
}
