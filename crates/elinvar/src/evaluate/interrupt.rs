//! A wish from outside that a fit should end.

/// Says whether a fit should end at the next moment at which it can; asked before every batch of evaluations, and from
/// several threads at once. Every function without arguments that returns a boolean is one.
pub trait Interrupt: Sync {
    /// Whether the fit should end.
    fn is_raised(&self) -> bool;
}

impl<F: Fn() -> bool + Sync> Interrupt for F {
    fn is_raised(&self) -> bool {
        self()
    }
}
