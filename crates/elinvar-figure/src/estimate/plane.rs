//! Density of two parameters from their draws, on a grid, and the levels that hold a share of the mass.

use super::bandwidth::bandwidth;
use super::sample::Sample;

/// Values on a grid, x fastest.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Points per side.
    pub len: usize,
    /// First and last x.
    pub x: (f64, f64),
    /// First and last y.
    pub y: (f64, f64),
    /// The values.
    pub values: Vec<f64>,
}

/// Kernel widths of a pair: those of each alone, for the slower rate of two dimensions, and a little more, because
/// outlines far out rest on few draws.
pub fn widths(x: &Sample, y: &Sample) -> (f64, f64) {
    const CALM: f64 = 1.6;
    let slower = CALM * x.effective_len().powf(1.0 / 5.0 - 1.0 / 6.0);
    (slower * bandwidth(x), slower * bandwidth(y))
}

impl Plane {
    /// Density of pairs with weights: binned, then smoothed along x and along y.
    pub fn estimate(
        pairs: impl Iterator<Item = (f64, f64, f64)>,
        (hx, hy): (f64, f64),
        x: (f64, f64),
        y: (f64, f64),
        len: usize,
    ) -> Self {
        let mut values = vec![0.0; len * len];
        let to_grid = |v: f64, (low, high): (f64, f64)| (v - low) / (high - low) * (len - 1) as f64;
        let inside = 0.0..(len - 1) as f64;
        for (px, py, weight) in pairs {
            let (gx, gy) = (to_grid(px, x), to_grid(py, y));
            if !(inside.contains(&gx) && inside.contains(&gy)) {
                continue;
            }
            let (i, j) = (gx as usize, gy as usize);
            let (u, v) = (gx.fract(), gy.fract());
            for (di, dj, share) in
                [(0, 0, (1.0 - u) * (1.0 - v)), (1, 0, u * (1.0 - v)), (0, 1, (1.0 - u) * v), (1, 1, u * v)]
            {
                values[(j + dj) * len + i + di] += weight * share;
            }
        }
        let step = |(low, high): (f64, f64)| (high - low) / (len - 1) as f64;
        let mut plane = Self { len, x, y, values };
        plane.smooth(hx / step(x), 1, len);
        plane.smooth(hy / step(y), len, 1);
        plane
    }

    /// Convolves every line of the grid with a Gaussian of width `h` grid steps.
    fn smooth(&mut self, h: f64, stride: usize, line_stride: usize) {
        let h = h.max(0.5);
        let reach = ((4.0 * h).ceil() as usize).min(self.len);
        let half: Vec<f64> = (0..=reach).map(|i| (-0.5 * (i as f64 / h).powi(2)).exp()).collect();
        let total = half[0] + 2.0 * half[1..].iter().sum::<f64>();
        let mut line = vec![0.0; self.len];
        for l in 0..self.len {
            let at = |i: usize| l * line_stride + i * stride;
            for (i, value) in line.iter_mut().enumerate() {
                *value = self.values[at(i)];
            }
            for i in 0..self.len {
                let (first, last) = (i.saturating_sub(reach), (i + reach).min(self.len - 1));
                self.values[at(i)] = (first..=last).map(|k| line[k] * half[k.abs_diff(i)]).sum::<f64>() / total;
            }
        }
    }

    /// The level above which a share `mass` of the density lies.
    pub fn level(&self, mass: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = sorted.iter().sum();
        let mut above = 0.0;
        for value in sorted {
            above += value;
            if above >= mass * total {
                return value;
            }
        }
        0.0
    }

    /// The place of a point of the grid, which may lie between two.
    pub fn place(&self, (i, j): (f64, f64)) -> (f64, f64) {
        let along = |v: f64, (low, high): (f64, f64)| low + (high - low) * v / (self.len - 1) as f64;
        (along(i, self.x), along(j, self.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_a_normal_law_hold_their_share() {
        // One pair in the middle: the density is the kernel, and mass m lies within r² = −2 log(1 − m).
        let plane = Plane::estimate([(0.0, 0.0, 1.0)].into_iter(), (1.0, 1.0), (-5.0, 5.0), (-5.0, 5.0), 201);
        let peak = plane.values.iter().copied().fold(0.0, f64::max);
        for mass in [0.5, 0.9] {
            let ratio = plane.level(mass) / peak;
            assert!((ratio - (1.0 - mass)).abs() < 0.01, "{mass}: {ratio}");
        }
    }
}
