//! What must hold for every target; registering a new one is one line in `registered`.

#[path = "../state/mod.rs"]
mod state;
#[path = "../subjects/mod.rs"]
mod subjects;

mod categorical;
mod conformance;
mod expectations;
mod neural_network;
mod normalisers;
mod registered;
mod row_laws;
mod shards;
mod threads;

/// The only tolerances of these tests.
mod tolerance {
    /// Algebra that is exact but for rounding, relative to the size of what is summed.
    pub(crate) const EXACT: f64 = 1e-12;
    /// First differences.
    pub(crate) const FD1: f64 = 1e-6;
    /// Differences of the gradient. The five-point rule is good for much better than the 1e-4 of a plain second
    /// difference.
    pub(crate) const FD2: f64 = 1e-6;
}
