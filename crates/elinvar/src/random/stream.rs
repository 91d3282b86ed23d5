//! A generator that is opened where it is needed: its state is a function of what it is for.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, Gamma, Poisson, StandardNormal};

use crate::random::MixingNoise;

/// What random numbers are used for; different purposes never share numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// Choosing a starting point.
    Start,
    /// Draws from the approximation inside a step.
    Draws,
    /// Choosing the rows of a mini-batch.
    Minibatch,
    /// The second batch of a convergence check.
    Check,
    /// Judging a fitted approximation.
    Diagnostics,
    /// Draws handed to the user.
    Sample,
    /// Momenta and decisions of chains.
    Chains,
    /// Comparing a state with the Gaussian that its family contains.
    Contained,
    /// Holding derivatives against differences.
    Derivatives,
    /// Responses of a model given its parameters.
    Responses,
    /// What rows cannot see of coefficients.
    Unseen,
}

impl Purpose {
    // Part of the key: these numbers are never reused or reordered.
    const fn code(self) -> u32 {
        match self {
            Self::Start => 1,
            Self::Draws => 2,
            Self::Minibatch => 3,
            Self::Diagnostics => 4,
            Self::Sample => 5,
            Self::Check => 6,
            Self::Chains => 7,
            Self::Contained => 8,
            Self::Derivatives => 9,
            Self::Responses => 10,
            Self::Unseen => 11,
        }
    }
}

/// Counts beyond this leave the whole numbers that an `f64` tells apart.
const LARGEST_MEAN: f64 = 1e15;

/// The random numbers that belong to one (seed, purpose, step, block).
///
/// ```
/// use elinvar::research::random::{Purpose, Stream};
///
/// let mut first = Stream::open(7, Purpose::Draws, 12, 0);
/// let mut again = Stream::open(7, Purpose::Draws, 12, 0);
/// assert_eq!(first.normal(), again.normal());
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// Opens the stream at its beginning.
    pub fn open(seed: u64, purpose: Purpose, step: u64, block: u32) -> Self {
        Self::open_lane(seed, purpose, step, block, 0)
    }

    /// Opens one of several streams of the same (seed, purpose, step, block).
    pub(crate) fn open_lane(seed: u64, purpose: Purpose, step: u64, block: u32, lane: u32) -> Self {
        // ChaCha maps (256-bit key, 64-bit nonce, counter) to output. The five arguments fill disjoint bytes of key and
        // nonce, so different arguments are different inputs of the cipher: there is no hash that could collide.
        let mut key = *b"................elinvar random 1";
        key[0..8].copy_from_slice(&seed.to_le_bytes());
        key[8..12].copy_from_slice(&block.to_le_bytes());
        key[12..14].copy_from_slice(&(purpose.code() as u16).to_le_bytes());
        key[14..16].copy_from_slice(&(lane as u16).to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(step);
        Self { rng }
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A uniform number in the open interval (0, 1): an odd multiple of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        open_unit(self.next_u64() >> 12)
    }

    /// A standard normal number.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.rng)
    }

    /// A draw from Gamma(shape, 1); NaN if the shape is not a positive number.
    #[inline]
    pub fn gamma(&mut self, shape: f64) -> f64 {
        Gamma::new(shape, 1.0).map_or(f64::NAN, |law| law.sample(&mut self.rng))
    }

    /// A count from Poisson(mean): 0 for a mean of 0, and the mean itself, rounded, where it is so large (1e15) that a
    /// count would not be a whole number of an `f64`; NaN if the mean is negative or NaN.
    #[inline]
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean == 0.0 || mean > LARGEST_MEAN {
            return mean.round();
        }
        Poisson::new(mean).map_or(f64::NAN, |law| law.sample(&mut self.rng))
    }

    /// The number of successes in `trials` of probability p; NaN if p is no probability.
    #[inline]
    pub fn binomial(&mut self, trials: u64, p: f64) -> f64 {
        Binomial::new(trials, p).map_or(f64::NAN, |law| law.sample(&mut self.rng) as f64)
    }

    /// Fills a slice with independent standard normal numbers.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        for x in out {
            *x = StandardNormal.sample(&mut self.rng);
        }
    }

    /// A uniform integer in 0 … n − 1, without the bias of a remainder.
    ///
    /// # Panics
    /// If n = 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        self.rng.random_range(0..n)
    }

    /// Puts a slice into a uniformly random order.
    pub fn shuffle(&mut self, items: &mut [u32]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }

    /// Fills `out` with distinct indices, uniformly chosen from those in `indices`, in random order.
    ///
    /// `indices` is 0, 1, …, n − 1 and is the same afterwards: the exchanges are undone, so that a mini-batch of m of n
    /// rows costs O(m) and depends on nothing but the stream.
    ///
    /// # Panics
    /// If `out` is longer than `indices`.
    pub(crate) fn sample_without_replacement(&mut self, indices: &mut [u32], out: &mut [u32]) {
        assert!(out.len() <= indices.len(), "{} distinct indices of {}", out.len(), indices.len());
        for (i, place) in out.iter_mut().enumerate() {
            let j = i + self.below((indices.len() - i) as u32) as usize;
            indices.swap(i, j);
            *place = j as u32;
        }
        // Later exchanges touch positions above i only, so place i still holds what was chosen for it.
        for i in (0..out.len()).rev() {
            let chosen = indices[i];
            indices.swap(i, out[i] as usize);
            out[i] = chosen;
        }
    }
}

impl MixingNoise for Stream {
    fn uniform(&mut self) -> f64 {
        Stream::uniform(self)
    }

    fn normal(&mut self) -> f64 {
        Stream::normal(self)
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        Stream::gamma(self, shape)
    }
}

/// (k + ½) 2⁻⁵² for a 52-bit k: exact, symmetric about ½, never 0 or 1. With 53 bits the largest value would round to
/// 1.
#[inline]
pub(super) fn open_unit(k: u64) -> f64 {
    const SCALE: f64 = 1.0 / (1u64 << 52) as f64;
    (k as f64 + 0.5) * SCALE
}

#[cfg(test)]
mod tests;
