//! Random numbers as pure functions of (seed, purpose, step, block), and the noise of a batch of draws.
//!
//! No generator is ever stored in a file or carried from step to step, so a resumed run and a run on another number of
//! threads see the same numbers.

mod gamma_quantile;
mod noise;
mod sobol;
mod sobol_table;
mod stream;
#[cfg(test)]
mod test_statistics;

pub use noise::{DrawNoise, Noise, NoiseSource};
pub use sobol::SobolNormals;
pub use stream::{Purpose, Stream};

/// Random numbers from which one draw of a scalar law is made.
pub trait MixingNoise {
    /// A uniform number in the open unit interval; the first two calls for a draw may come from a low-discrepancy point set.
    fn uniform(&mut self) -> f64;
    /// A standard normal number, made like [`MixingNoise::uniform`].
    fn normal(&mut self) -> f64;
    /// A draw from Gamma(shape, 1).
    fn gamma(&mut self, shape: f64) -> f64;
}
