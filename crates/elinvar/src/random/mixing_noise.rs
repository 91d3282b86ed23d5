//! What a draw of a scalar law is made of.

/// Random numbers from which one draw of a scalar law is made.
pub trait MixingNoise {
    /// A uniform number in the open unit interval; the first two calls for a draw may come from a low-discrepancy point
    /// set.
    fn uniform(&mut self) -> f64;
    /// A standard normal number, made like [`MixingNoise::uniform`].
    fn normal(&mut self) -> f64;
    /// A draw from Gamma(shape, 1).
    fn gamma(&mut self, shape: f64) -> f64;
}
