//! The noise from which a batch of draws is made: how ε and w of the draws depend on each other.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::gamma_quantile::GammaQuantile;
use super::sobol::SobolNormals;
use super::stream::{Purpose, Stream};
use crate::Error;
use crate::random::MixingNoise;
use crate::special::normal_quantile::normal_quantile;

/// How the draws of a batch depend on each other; each single draw has the same law under all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Noise {
    /// Independent draws.
    Independent,
    /// Pairs with the same w and with ε, −ε: averages of odd functions of ε are exact.
    Antithetic,
    /// Scrambled Sobol points: the draws of a batch fill the space evenly.
    QuasiMonteCarlo,
}

impl Noise {
    /// All schemes.
    pub const ALL: [Self; 3] = [Self::Independent, Self::Antithetic, Self::QuasiMonteCarlo];

    /// The word for it in files and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Antithetic => "antithetic",
            Self::QuasiMonteCarlo => "quasi_monte_carlo",
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Noise {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|noise| noise.name() == word).ok_or_else(|| Error::Unsupported {
            wanted: format!("noise {word:?}"),
            instead: format!("use {}, {} or {}", Self::ALL[0], Self::ALL[1], Self::ALL[2]),
        })
    }
}

/// Sobol coordinates of each w, in front of those of ε.
const MIXING_COORDINATES: usize = 2;

// Streams of one batch; w number i uses the second and third of these plus 2i.
const EPS: u32 = 1;
const COORDINATES: u32 = 2;
const MIXING: u32 = 3;
/// Lanes have 16 bits.
const LANES: usize = (1 << 15) - 2;

/// The noise of batches of n draws in d dimensions; allocates only in [`NoiseSource::new`].
#[derive(Clone, Debug)]
pub struct NoiseSource {
    noise: Noise,
    dim: usize,
    n: usize,
    batch: (u64, Purpose, u64, u32),
    mixing: Stream,
    /// The state of `mixing` before the first draw of an antithetic pair.
    pair: Stream,
    sobol: Option<SobolNormals>,
    /// The coordinates of each draw that are kept for w.
    coordinates: Box<[[f64; MIXING_COORDINATES]]>,
    quantile: Option<GammaQuantile>,
    /// Whether antithetic partners have opposite w; otherwise they share it.
    opposite: bool,
    /// Which w of a draw is asked for.
    number: usize,
}

impl NoiseSource {
    /// Prepares batches of n draws in `dim` dimensions; [`NoiseSource::begin`] comes next.
    pub fn new(noise: Noise, dim: usize, n: usize) -> Self {
        Self::with_coordinates(noise, dim, 1, n, false)
    }

    /// Prepares batches of n draws that have no ε but `numbers` of w each; antithetic partners have opposite w, made
    /// from u and 1 − u. [`NoiseSource::begin`] and [`NoiseSource::turn_to`] come next.
    pub fn of_mixing(noise: Noise, numbers: usize, n: usize) -> Self {
        Self::with_coordinates(noise, 0, numbers, n, noise == Noise::Antithetic)
    }

    fn with_coordinates(noise: Noise, dim: usize, numbers: usize, n: usize, opposite: bool) -> Self {
        let quasi = noise == Noise::QuasiMonteCarlo;
        let batch = (0, Purpose::Draws, 0, 0);
        let stream = Stream::open(0, Purpose::Draws, 0, 0);
        Self {
            noise,
            dim,
            n,
            batch,
            mixing: stream.clone(),
            pair: stream,
            sobol: quasi.then(|| SobolNormals::new(dim + numbers * MIXING_COORDINATES, n)),
            coordinates: vec![[0.5; MIXING_COORDINATES]; if quasi || opposite { n } else { 0 }].into(),
            quantile: None,
            opposite,
            number: 0,
        }
    }

    /// The scheme.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Number of draws in a batch.
    pub fn n_draws(&self) -> usize {
        self.n
    }

    /// Turns to the batch of this (seed, purpose, step, block).
    pub fn begin(&mut self, seed: u64, purpose: Purpose, step: u64, block: u32) {
        self.batch = (seed, purpose, step, block);
        self.turn_to(0);
    }

    /// Turns to w number i of every draw of the batch.
    pub fn turn_to(&mut self, i: usize) {
        self.number = i;
        self.mixing = self.open_numbered(MIXING);
    }

    /// Fills ε of the batch, draw s in `eps[s * d..(s + 1) * d]`; a second call gives the same numbers.
    ///
    /// # Panics
    /// If `eps` does not have d × n places.
    pub fn fill_eps(&mut self, eps: &mut [f64]) {
        assert_eq!(eps.len(), self.dim * self.n, "d × n");
        let mut stream = self.open(EPS);
        match (&mut self.sobol, self.noise) {
            (Some(sobol), _) => {
                sobol.fill_normal(MIXING_COORDINATES..MIXING_COORDINATES + self.dim, &mut stream, eps);
            }
            (None, Noise::Antithetic) if self.dim > 0 => {
                for pair in eps.chunks_mut(2 * self.dim) {
                    let (first, second) = pair.split_at_mut(self.dim);
                    stream.fill_normal(first);
                    for (b, a) in second.iter_mut().zip(&*first) {
                        *b = -a;
                    }
                }
            }
            (None, _) => stream.fill_normal(eps),
        }
    }

    /// The random numbers for w of draw s; draws are asked for in the order 0, 1, …, n − 1.
    ///
    /// # Panics
    /// If s is not below n.
    pub fn mixing(&mut self, s: usize) -> DrawNoise<'_> {
        assert!(s < self.n, "draw {s} of {}", self.n);
        if s == 0 {
            // Not before: a law that never asks for w does not pay for it.
            let mut stream = self.open_numbered(COORDINATES);
            if let Some(sobol) = &mut self.sobol {
                let first = MIXING_COORDINATES * self.number;
                for j in 0..MIXING_COORDINATES {
                    sobol.column(first + j, &mut stream, |s, u| self.coordinates[s][j] = u);
                }
            } else if self.opposite {
                for pair in self.coordinates.chunks_mut(2) {
                    pair[0] = [stream.uniform(), stream.uniform()];
                    let opposite = pair[0].map(|u| 1.0 - u);
                    pair[1..].fill(opposite);
                }
            }
        }
        if self.noise == Noise::Antithetic && !self.opposite {
            if s.is_multiple_of(2) {
                self.pair.clone_from(&self.mixing);
            } else {
                self.mixing.clone_from(&self.pair);
            }
        }
        let (coordinates, used) = match self.coordinates.get(s) {
            Some(&coordinates) => (coordinates, 0),
            None => ([0.5; MIXING_COORDINATES], MIXING_COORDINATES),
        };
        DrawNoise { stream: &mut self.mixing, quantile: &mut self.quantile, coordinates, used }
    }

    /// Where a draw has more of w than there are lanes, the later ones begin a step that no batch has reached.
    fn open_numbered(&self, lane: u32) -> Stream {
        let (seed, purpose, step, block) = self.batch;
        let (round, number) = ((self.number / LANES) as u64, (self.number % LANES) as u32);
        Stream::open_lane(seed, purpose, step ^ (round << 48), block, lane + 2 * number)
    }

    /// The random numbers for a mixing variable of its own, the first of which is the quantile at `u`; the others come
    /// from the stream of the batch.
    pub fn mixing_at(&mut self, u: f64) -> DrawNoise<'_> {
        let (coordinates, used) = ([0.5, u], MIXING_COORDINATES - 1);
        DrawNoise { stream: &mut self.mixing, quantile: &mut self.quantile, coordinates, used }
    }

    fn open(&self, lane: u32) -> Stream {
        let (seed, purpose, step, block) = self.batch;
        Stream::open_lane(seed, purpose, step, block, lane)
    }
}

/// The random numbers from which w of one draw is made.
///
/// Under [`Noise::QuasiMonteCarlo`] the first two numbers asked for are quantiles at the Sobol coordinates of the draw;
/// all others come from the stream of the batch.
#[derive(Debug)]
pub struct DrawNoise<'a> {
    stream: &'a mut Stream,
    /// The quantile function used last: in a batch the shape is the same for all draws.
    quantile: &'a mut Option<GammaQuantile>,
    coordinates: [f64; MIXING_COORDINATES],
    used: usize,
}

impl DrawNoise<'_> {
    fn coordinate(&mut self) -> Option<f64> {
        let u = self.coordinates.get(self.used).copied();
        self.used += usize::from(u.is_some());
        u
    }
}

impl MixingNoise for DrawNoise<'_> {
    fn uniform(&mut self) -> f64 {
        self.coordinate().unwrap_or_else(|| self.stream.uniform())
    }

    fn normal(&mut self) -> f64 {
        match self.coordinate() {
            Some(u) => normal_quantile(u),
            None => self.stream.normal(),
        }
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        let Some(u) = self.coordinate() else { return self.stream.gamma(shape) };
        if self.quantile.as_ref().is_none_or(|known| known.shape() != shape) {
            *self.quantile = GammaQuantile::new(shape);
        }
        self.quantile.as_ref().map_or(f64::NAN, |known| known.at(u))
    }
}

#[cfg(test)]
mod tests;
