//! Independent pieces of work on two threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const THREADS: usize = 2;

/// `work` of every index below `n`, in order; at most two run at the same time.
pub(crate) fn for_each<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(n));
    std::thread::scope(|scope| {
        for _ in 0..THREADS.min(n) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n {
                        return;
                    }
                    let result = work(i);
                    results.lock().expect("no piece of work panics while it holds the lock").push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no piece of work panics while it holds the lock");
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
