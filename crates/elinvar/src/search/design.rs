//! Places that fill the surroundings of N(0, I): evenly in its bulk, and beyond it as far apart as they are far away
//! (mathematics §13.1).

use crate::linalg::dot;
use crate::random::{Purpose, Stream};
use crate::tuning::scan::{BULK, FAR_CLIMBS, FAR_OUT, REACH};

/// Block of [`Purpose::Diagnostics`] that belongs to places.
const BLOCK: u32 = 1 << 20;
/// Coordinates up to which places are those of a lattice.
const MOST_EVEN: usize = 3;

/// Places x, and where they are on a map y on which they lie evenly: y = x in the bulk, beyond it the distance is the
/// logarithm of that of x.
#[derive(Debug)]
pub(super) struct Design {
    pub(super) dim: usize,
    /// One place after the other.
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

impl Design {
    /// `n` places in `dim` dimensions.
    pub(super) fn new(dim: usize, n: usize, seed: u64) -> Self {
        let mut stream = Stream::open(seed, Purpose::Diagnostics, 0, BLOCK);
        let y = if dim <= MOST_EVEN { even(dim, n, &mut stream) } else { random(dim, n, &mut stream) };
        let mut x = y.clone();
        for x in x.chunks_exact_mut(dim) {
            let radius = dot(x, x).sqrt();
            if radius > BULK {
                let times = BULK * (radius / BULK - 1.0).exp() / radius;
                x.iter_mut().for_each(|x| *x *= times);
            }
        }
        Self { dim, x, y }
    }

    pub(super) fn len(&self) -> usize {
        self.x.len() / self.dim
    }

    /// The distance of neighbours on the map if places were on a cubic lattice; nothing where they are too few for
    /// neighbours to mean anything.
    pub(super) fn spacing(&self) -> Option<f64> {
        let d = self.dim;
        let unit_ball = [2.0, std::f64::consts::PI, 4.0 * std::f64::consts::FRAC_PI_3];
        let volume = unit_ball.get(d - 1)? * radius_of_map().powi(d as i32);
        Some((volume / self.len() as f64).powf(1.0 / d as f64))
    }
}

/// How far the map reaches.
fn radius_of_map() -> f64 {
    BULK * (1.0 + (REACH / BULK).ln())
}

/// A shifted Kronecker sequence with the powers of the root of g^{d+1} = g + 1, as far as it is in the ball.
fn even(dim: usize, n: usize, stream: &mut Stream) -> Vec<f64> {
    let mut g = 2.0f64;
    for _ in 0..64 {
        g = (1.0 + g).powf(1.0 / (dim as f64 + 1.0));
    }
    let shift: Vec<f64> = (0..dim).map(|_| stream.uniform()).collect();
    let radius = radius_of_map();
    let mut y = Vec::with_capacity(n * dim);
    let mut place = vec![0.0; dim];
    let mut index = 0.0;
    while y.len() < n * dim {
        for (j, (place, shift)) in place.iter_mut().zip(&shift).enumerate() {
            *place = radius * (2.0 * (shift + index * g.powi(-(j as i32) - 1)).fract() - 1.0);
        }
        index += 1.0;
        if dot(&place, &place) <= radius * radius {
            y.extend_from_slice(&place);
        }
    }
    y
}

/// Random directions, and distances that are even on the map beyond the bulk: in many dimensions a ball is all surface,
/// but another mode may be near.
fn random(dim: usize, n: usize, stream: &mut Stream) -> Vec<f64> {
    let mut y = vec![0.0; n * dim];
    stream.fill_normal(&mut y);
    let beyond = radius_of_map() - BULK;
    for (s, y) in y.chunks_exact_mut(dim).enumerate() {
        let radius = BULK + beyond * (s as f64 + stream.uniform()) / n as f64;
        let times = radius / dot(y, y).sqrt().max(f64::MIN_POSITIVE);
        y.iter_mut().for_each(|y| *y *= times);
    }
    y
}

/// Places to climb from, so far out in random directions that up to half of them belong to any other mode that is as
/// wide as the answer: there it need not stand out to be met. None in few dimensions, where places are close.
pub(super) fn far_out(dim: usize, seed: u64) -> Vec<Vec<f64>> {
    if dim <= MOST_EVEN {
        return Vec::new();
    }
    let mut stream = Stream::open(seed, Purpose::Diagnostics, 0, BLOCK + 1);
    let [near, far] = FAR_OUT;
    let place = |_| {
        let width = near * (far / near).powf(stream.uniform());
        let mut x = vec![0.0; dim];
        stream.fill_normal(&mut x);
        x.iter_mut().for_each(|x| *x *= width);
        x
    };
    (0..FAR_CLIMBS).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_evenly_on_the_map_and_reach_as_far_as_they_should() {
        for (dim, n) in [(1, 200), (2, 1_000), (3, 4_000)] {
            let design = Design::new(dim, n, 7);
            assert_eq!(design.len(), n);
            let spacing = design.spacing().unwrap();
            let nearest = |s: usize| {
                let y = &design.y[s * dim..(s + 1) * dim];
                let others = (0..n).filter(|t| *t != s).map(|t| {
                    let other = &design.y[t * dim..(t + 1) * dim];
                    y.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
                });
                others.fold(f64::INFINITY, f64::min) / spacing
            };
            // Independent places would have some at a hundredth of the spacing.
            let least = (0..n).map(nearest).fold(f64::INFINITY, f64::min);
            assert!(least > 0.3, "{dim}: {least}");
            let far = design.x.chunks_exact(dim).map(|x| dot(x, x).sqrt()).fold(0.0, f64::max);
            assert!(far <= REACH * (1.0 + 1e-12) && far > 0.85 * REACH, "{dim}: {far}");
        }
    }

    #[test]
    fn in_many_dimensions_all_distances_occur() {
        let design = Design::new(12, 400, 3);
        let radii: Vec<f64> = design.x.chunks_exact(12).map(|x| dot(x, x).sqrt()).collect();
        assert!(radii.iter().all(|r| (BULK..=REACH).contains(r)));
        // Even in the logarithm: half of them within √(4 · 20) ≈ 9.
        assert_eq!(radii.iter().filter(|r| **r < (BULK * REACH).sqrt()).count(), 200);
        assert!(design.spacing().is_none());
    }
}
