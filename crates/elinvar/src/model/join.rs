//! Two pieces of work at the same time where there are threads, one after the other elsewhere.

/// Does both.
#[cfg(feature = "parallel")]
pub(super) fn join(left: impl FnOnce() + Send, right: impl FnOnce() + Send) {
    rayon::join(left, right);
}

/// Does both.
#[cfg(not(feature = "parallel"))]
pub(super) fn join(left: impl FnOnce(), right: impl FnOnce()) {
    left();
    right();
}
