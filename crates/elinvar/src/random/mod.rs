//! Random numbers as pure functions of (seed, purpose, step, block), and the noise of a batch of draws.
//!
//! No generator is ever stored in a file or carried from step to step, so a resumed run and a run on another number of
//! threads see the same numbers.

mod gamma_quantile;
pub(crate) mod mixing_noise;
pub(crate) mod noise;
mod sobol;
mod sobol_table;
mod stream;
#[cfg(test)]
mod test_statistics;

pub use mixing_noise::MixingNoise;
pub use noise::Noise;
pub(crate) use noise::NoiseSource;
pub(crate) use sobol::SobolNormals;
pub use stream::{Purpose, Stream};
