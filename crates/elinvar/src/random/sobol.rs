//! Owen-scrambled Sobol points: every draw is uniform, together they fill the cube evenly.
//!
//! The first n points of a Sobol sequence differ in their first m = ⌈log₂ n⌉ binary digits, in each coordinate. Nested
//! uniform scrambling (Owen 1995) flips digit l by a random bit that belongs to the digits before it. As no two points
//! share m digits, the digits after the m-th are simply independent of everything else: an exact scramble of a
//! coordinate needs one random bit for each node of a tree of depth m and a few random digits for each point, and no
//! hash.

use std::ops::Range;

use super::sobol_table::{INITIAL, POLYNOMIALS};
use super::stream::{Stream, open_unit};
use crate::special::normal_quantile::normal_quantile;

/// Number of coordinates that have Sobol points; later ones are independent Latin-hypercube columns.
const TABULATED: usize = POLYNOMIALS.len();

/// n points in `dim` coordinates, scrambled anew whenever they are asked for.
///
/// If n is a power of two, each coordinate has exactly one point in each of the intervals [i/n, (i+1)/n). For every n
/// each point is uniform on the cube, so averages over the points are unbiased. All memory is allocated by
/// [`SobolNormals::new`].
#[derive(Clone, Debug)]
pub(crate) struct SobolNormals {
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
    pub(crate) fn new(dim: usize, n: usize) -> Self {
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

    /// Calls `take(i, u)` with coordinate `j` of each point i = 0 … n − 1, under a fresh scramble read from the stream.
    ///
    /// # Panics
    /// If j is not below [`SobolNormals::dim`].
    #[inline]
    pub(crate) fn column(&mut self, j: usize, stream: &mut Stream, mut take: impl FnMut(usize, f64)) {
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
            // In the order of the Gray code neighbours differ by one direction number. After the last point of a full
            // net there is none.
            if let Some(v) = directions.get((i + 1).trailing_zeros() as usize) {
                x ^= v;
            }
        }
    }

    /// Fills `out` with standard normals: point i, coordinate `coordinates.start + j` at `out[i * coordinates.len() +
    /// j]`.
    ///
    /// # Panics
    /// If `out` does not have n × `coordinates.len()` places or a coordinate is not below [`SobolNormals::dim`].
    pub(crate) fn fill_normal(&mut self, coordinates: Range<usize>, stream: &mut Stream, out: &mut [f64]) {
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
            // The sum may round to n.
            let u = (f64::from(stratum) + stream.uniform()) / self.n as f64;
            take(i, u.min(1.0 - f64::EPSILON / 2.0));
        }
    }
}

/// Appends the first `digits` direction numbers of a coordinate as integers of `digits` binary digits.
///
/// m_k = 2 a₁ m_{k−1} ⊕ … ⊕ 2^{s−1} a_{s−1} m_{k−s+1} ⊕ 2^s m_{k−s} ⊕ m_{k−s} for the polynomial x^s + a₁x^{s−1} + … +
/// 1.
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

#[cfg(test)]
mod tests;
