//! Owen-scrambled Sobol points: every draw is uniform, together they fill the cube evenly.
//!
//! The first n points of a Sobol sequence differ in their first m = ⌈log₂ n⌉ binary digits, in each coordinate. Nested
//! uniform scrambling (Owen 1995) flips digit l by a random bit that belongs to the digits before it. As no two points share
//! m digits, the digits after the m-th are simply independent of everything else: an exact scramble of a coordinate
//! needs one random bit for each node of a tree of depth m and a few random digits for each point, and no hash.

use std::ops::Range;

use super::sobol_table::{INITIAL, POLYNOMIALS};
use super::stream::{Stream, open_unit};

/// Number of coordinates that have Sobol points; later ones are independent Latin-hypercube columns.
const TABULATED: usize = POLYNOMIALS.len();

/// n points in `dim` coordinates, scrambled anew whenever they are asked for.
///
/// If n is a power of two, each coordinate has exactly one point in each of the intervals [i/n, (i+1)/n). For every n each
/// point is uniform on the cube, so averages over the points are unbiased. All memory is allocated by [`SobolNormals::new`].
#[derive(Clone, Debug)]
pub struct SobolNormals {
    dim: usize,
    n: usize,
    /// m, the number of digits that tell the points apart.
    digits: u32,
    /// m direction numbers of m digits for each tabulated coordinate.
    directions: Box<[u32]>,
    /// The scramble of one coordinate: where the interval i of 2^m goes; or the order of a Latin-hypercube column.
    image: Box<[u32]>,
}

impl SobolNormals {
    /// Prepares n points in `dim` coordinates.
    ///
    /// # Panics
    /// If n is 0 or above 2³⁰.
    pub fn new(dim: usize, n: usize) -> Self {
        assert!((1..=1 << 30).contains(&n), "the number of points must be between 1 and 2³⁰, not {n}");
        let digits = n.next_power_of_two().trailing_zeros();
        let tabulated = dim.min(TABULATED);
        let mut directions = Vec::with_capacity(tabulated * digits as usize);
        let mut initial = INITIAL.as_slice();
        for &polynomial in &POLYNOMIALS[..tabulated] {
            let (own, rest) = initial.split_at(polynomial.ilog2() as usize);
            initial = rest;
            push_directions(u32::from(polynomial), own, digits, &mut directions);
        }
        Self { dim, n, digits, directions: directions.into(), image: vec![0; 1 << digits].into() }
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.n
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Calls `take(i, u)` with coordinate `j` of each point i = 0 … n − 1, under a fresh scramble read from the stream.
    ///
    /// # Panics
    /// If j is not below [`SobolNormals::dim`].
    #[inline]
    pub fn column(&mut self, j: usize, stream: &mut Stream, mut take: impl FnMut(usize, f64)) {
        assert!(j < self.dim, "coordinate {j} of {}", self.dim);
        if j >= TABULATED {
            return self.latin_hypercube_column(stream, take);
        }
        scramble(self.digits, &mut self.image, stream);
        let m = self.digits as usize;
        let directions = &self.directions[j * m..(j + 1) * m];
        let mut x = 0u32;
        for i in 0..self.n {
            let head = u64::from(self.image[x as usize]) << (52 - self.digits);
            take(i, open_unit(head | (stream.next_u64() >> (12 + self.digits))));
            // In the order of the Gray code neighbours differ by one direction number. After the last point of a full net
            // there is none.
            if let Some(v) = directions.get((i + 1).trailing_zeros() as usize) {
                x ^= v;
            }
        }
    }

    /// Fills `out` with standard normals: point i, coordinate `coordinates.start + j` at `out[i * coordinates.len() + j]`.
    ///
    /// # Panics
    /// If `out` does not have n × `coordinates.len()` places or a coordinate is not below [`SobolNormals::dim`].
    pub fn fill_normal(&mut self, coordinates: Range<usize>, stream: &mut Stream, out: &mut [f64]) {
        let stride = coordinates.len();
        assert_eq!(out.len(), self.n * stride, "n × coordinates");
        for (place, j) in coordinates.enumerate() {
            self.column(j, stream, |i, u| out[i * stride + place] = normal_quantile(u));
        }
    }

    fn latin_hypercube_column(&mut self, stream: &mut Stream, mut take: impl FnMut(usize, f64)) {
        let order = &mut self.image[..self.n];
        for (i, place) in order.iter_mut().enumerate() {
            *place = i as u32;
        }
        stream.shuffle(order);
        for (i, &stratum) in order.iter().enumerate() {
            // For tiny u the sum is the lower edge of its interval, hence the largest number below 1 as a bound only.
            let u = (f64::from(stratum) + stream.uniform()) / self.n as f64;
            take(i, u.min(1.0 - f64::EPSILON / 2.0));
        }
    }
}

/// Appends the first `digits` direction numbers of a coordinate as integers of `digits` binary digits.
///
/// m_k = 2 a₁ m_{k−1} ⊕ … ⊕ 2^{s−1} a_{s−1} m_{k−s+1} ⊕ 2^s m_{k−s} ⊕ m_{k−s} for the polynomial x^s + a₁x^{s−1} + … + 1.
fn push_directions(polynomial: u32, initial: &[u16], digits: u32, out: &mut Vec<u32>) {
    let degree = initial.len();
    let mut m = [0u32; 32];
    for k in 0..digits as usize {
        m[k] = if degree == 0 {
            1
        } else if k < degree {
            u32::from(initial[k])
        } else {
            (1..=degree)
                .filter(|i| polynomial >> (degree - i) & 1 == 1)
                .fold(m[k - degree], |sum, i| sum ^ (m[k - i] << i))
        };
        out.push(m[k] << (digits as usize - 1 - k));
    }
}

/// A random nested permutation of the numbers of `digits` binary digits.
fn scramble(digits: u32, image: &mut [u32], stream: &mut Stream) {
    image[0] = 0;
    for level in 0..digits {
        let mut bits = 0u64;
        // Backwards, because the children 2p and 2p + 1 overwrite nodes that have been dealt with already.
        for p in (0..1usize << level).rev() {
            if (p + 1).is_multiple_of(64) || p + 1 == 1 << level {
                bits = stream.next_u64();
            }
            let flip = (bits & 1) as u32;
            bits >>= 1;
            let node = image[p] << 1;
            image[2 * p] = node | flip;
            image[2 * p + 1] = node | (flip ^ 1);
        }
    }
}

/// Φ⁻¹(u): the rational approximations PPND16 of M. J. Wichura, Algorithm AS 241, Appl. Statist. 37 (1988).
#[inline]
pub(super) fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 8] = [
        3.387_132_872_796_366_608,
        1.331_416_678_917_843_774_5e2,
        1.971_590_950_306_551_442_7e3,
        1.373_169_376_550_946_112_5e4,
        4.592_195_393_154_987_145_7e4,
        6.726_577_092_700_870_085_3e4,
        3.343_057_558_358_812_810_5e4,
        2.509_080_928_730_122_672_7e3,
    ];
    const B: [f64; 8] = [
        1.0,
        4.231_333_070_160_091_125_2e1,
        6.871_870_074_920_579_083e2,
        5.394_196_021_424_751_107_7e3,
        2.121_379_430_158_659_586_7e4,
        3.930_789_580_009_271_061e4,
        2.872_908_573_572_194_267_4e4,
        5.226_495_278_852_854_561e3,
    ];
    const C: [f64; 8] = [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        2.417_807_251_774_506_117_7e-1,
        2.272_384_498_926_918_458_33e-2,
        7.745_450_142_783_414_076_4e-4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        6.897_673_349_851_000_045_5e-1,
        1.481_039_764_274_800_745_9e-1,
        1.519_866_656_361_645_719_66e-2,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ];
    const E: [f64; 8] = [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        2.965_605_718_285_048_912_3e-1,
        2.653_218_952_657_612_309_3e-2,
        1.242_660_947_388_078_438_6e-3,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        5.998_322_065_558_879_376_9e-1,
        1.369_298_809_227_358_053_1e-1,
        1.487_536_129_085_061_485_25e-2,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ];
    fn ratio(top: &[f64; 8], bottom: &[f64; 8], x: f64) -> f64 {
        let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, &c| sum * x + c);
        horner(top) / horner(bottom)
    }
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&A, &B, 0.180_625 - q * q);
    }
    let r = (-u.min(1.0 - u).ln()).sqrt();
    let magnitude = if r <= 5.0 { ratio(&C, &D, r - 1.6) } else { ratio(&E, &F, r - 5.0) };
    magnitude.copysign(q)
}

#[cfg(test)]
mod tests;
