//! Means and slopes of a smooth function under N(0, I), by a regression that knows the next two orders of Hermite's
//! polynomials (mathematics §12.2).

use crate::linalg::{axpy, cholesky, dot, products};

/// Which part of a function its mirrored draws have kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parity {
    /// 1, then polynomials of the second order; the first coefficient is the mean.
    Even,
    /// The coordinates, then polynomials of the third order; the first d coefficients are the slopes.
    Odd,
}

impl Parity {
    /// Number of polynomials in `d` coordinates, and of those that are wanted.
    fn counts(self, d: usize) -> (usize, usize) {
        match self {
            Self::Even => (1 + d * (d + 1) / 2, 1),
            Self::Odd => (d + d * (d + 1) * (d + 2) / 6, d),
        }
    }

    /// Writes the polynomials at x, each with variance 1 under N(0, I).
    fn write(self, x: &[f64], out: &mut [f64]) {
        let d = x.len();
        let mut place = self.counts(d).1;
        let mut push = |value: f64| {
            out[place] = value;
            place += 1;
        };
        let second = |i: usize, j: usize| match i == j {
            true => (x[i] * x[i] - 1.0) * std::f64::consts::FRAC_1_SQRT_2,
            false => x[i] * x[j],
        };
        for i in 0..d {
            for j in i..d {
                match self {
                    Self::Even => push(second(i, j)),
                    Self::Odd => (j..d).for_each(|l| {
                        push(match (i == j, j == l) {
                            (true, true) => x[i] * (x[i] * x[i] - 3.0) / 6f64.sqrt(),
                            (true, false) => second(i, i) * x[l],
                            (false, true) => x[i] * second(l, l),
                            (false, false) => x[i] * x[j] * x[l],
                        });
                    }),
                }
            }
        }
        match self {
            Self::Even => out[0] = 1.0,
            Self::Odd => out[..d].copy_from_slice(x),
        }
    }
}

/// Memory for up to n draws in d dimensions; nothing else allocates.
pub(crate) struct HermiteRegression {
    d: usize,
    parity: Parity,
    /// Polynomials at the draws, then their weights in the coefficients; k × n.
    features: Vec<f64>,
    weights: Vec<f64>,
    gram: Vec<f64>,
    factor: Vec<f64>,
    workspace: cholesky::Workspace,
    /// d × k.
    coefficients: Vec<f64>,
    residual: Vec<f64>,
}

impl HermiteRegression {
    /// Polynomials of one regression, at most: beyond, they need more draws than they save.
    const MOST: usize = 64;

    /// Memory for up to `n` draws in `d` dimensions; nothing where there are too few for so many polynomials.
    pub(crate) fn new(d: usize, n: usize, parity: Parity) -> Option<Self> {
        let (k, _) = parity.counts(d);
        (k <= Self::MOST && Self::is_enough(k, n)).then(|| Self {
            d,
            parity,
            features: vec![0.0; k * n],
            weights: vec![0.0; k * n],
            gram: vec![0.0; k * k],
            factor: vec![0.0; k * k],
            workspace: cholesky::Workspace::new(k),
            coefficients: vec![0.0; d * k],
            residual: vec![0.0; d],
        })
    }

    /// A third more draws than polynomials, and two at least, tell what these leave unexplained.
    fn is_enough(k: usize, n: usize) -> bool {
        n >= k + (k / 3).max(2)
    }

    /// Regresses the values `v` (d × n) at the draws `e` (d × n); writes the mean, or the slopes (d × d, one column
    /// for each coordinate of the draws), and returns the expected squared norm of the noise in what is written, the
    /// slopes symmetrised. Nothing where the draws do not tell the polynomials apart.
    pub(crate) fn estimate(&mut self, e: &[f64], v: &[f64], out: &mut [f64]) -> Option<f64> {
        let (d, (k, wanted)) = (self.d, self.parity.counts(self.d));
        let n = e.len() / d;
        if !Self::is_enough(k, n) {
            return None;
        }
        let (features, weights) = (&mut self.features[..k * n], &mut self.weights[..k * n]);
        e.chunks_exact(d).zip(features.chunks_exact_mut(k)).for_each(|(x, out)| self.parity.write(x, out));
        self.gram.fill(0.0);
        for f in features.chunks_exact(k) {
            self.gram.chunks_exact_mut(k).zip(f).for_each(|(column, c)| axpy(*c, f, column));
        }
        cholesky::factor(k, &self.gram, &mut self.factor, &mut self.workspace).ok()?;
        weights.copy_from_slice(features);
        cholesky::solve_factor(k, &self.factor, weights);
        cholesky::solve_factor_transposed(k, &self.factor, weights);
        self.coefficients.fill(0.0);
        for (w, v) in weights.chunks_exact(k).zip(v.chunks_exact(d)) {
            self.coefficients.chunks_exact_mut(d).zip(w).for_each(|(column, w)| axpy(*w, v, column));
        }
        out.copy_from_slice(&self.coefficients[..d * wanted]);
        let (mut noise, rows) = (0.0, features.chunks_exact(k).zip(weights.chunks_exact(k)));
        for ((f, w), v) in rows.zip(v.chunks_exact(d)) {
            // A draw that pulls the regression to itself leaves less than its noise.
            let left = (1.0 - dot(f, w)).max(1e-3);
            self.residual.copy_from_slice(v);
            self.coefficients.chunks_exact(d).zip(f).for_each(|(column, f)| axpy(-f, column, &mut self.residual));
            let (r, w) = (&self.residual, &w[..wanted]);
            noise += match self.parity {
                Parity::Even => w[0] * w[0] * dot(r, r) / (left * left),
                Parity::Odd => 0.5 * (dot(w, w) * dot(r, r) + dot(w, r).powi(2)) / (left * left),
            };
        }
        if self.parity == Parity::Odd {
            symmetrise(d, out);
        }
        (noise.is_finite() && out.iter().all(|v| v.is_finite())).then_some(noise)
    }
}

/// A ← (A + Aᵀ)/2.
fn symmetrise(d: usize, a: &mut [f64]) {
    for j in 0..d {
        for i in j + 1..d {
            a[j * d + i] = 0.5 * (a[j * d + i] + a[i * d + j]);
        }
    }
    products::mirror_lower(d, a);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// E and the slopes of f(x) = (cubic, cubic), known by hand: f₁ = x₁³ + x₂, f₂ = x₁x₂² − 2x₂.
    fn cubic(x: &[f64]) -> [f64; 2] {
        [x[0].powi(3) + x[1], x[0] * x[1] * x[1] - 2.0 * x[1]]
    }

    fn draws(n: usize, seed: u64) -> Vec<f64> {
        let mut e = vec![0.0; 2 * n];
        Stream::open(seed, Purpose::Sample, 4, 0).fill_normal(&mut e);
        e
    }

    #[test]
    fn slopes_of_a_cubic_and_the_mean_of_a_square_are_exact() {
        let e = draws(9, 1);
        let v: Vec<f64> = e.chunks_exact(2).flat_map(cubic).collect();
        let mut out = [0.0; 4];
        let noise = HermiteRegression::new(2, 9, Parity::Odd).unwrap().estimate(&e, &v, &mut out).unwrap();
        // E[∂f] = (3, 1; 1, −2), its off-diagonal E[∂₂f₁] = 1 and E[∂₁f₂] = E[x₂²] = 1.
        let known = [3.0, 1.0, 1.0, -2.0];
        out.iter().zip(known).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
        assert!(noise < 1e-20, "{noise}");
        let v: Vec<f64> = e.chunks_exact(2).flat_map(|x| [x[0] * x[1] - 4.0, 3.0 * x[0] * x[0]]).collect();
        let mut out = [0.0; 2];
        let noise = HermiteRegression::new(2, 9, Parity::Even).unwrap().estimate(&e, &v, &mut out).unwrap();
        assert!((out[0] + 4.0).abs() < 1e-10 && (out[1] - 3.0).abs() < 1e-10 && noise < 1e-20);
        assert!(HermiteRegression::new(2, 7, Parity::Odd).is_none());
    }

    #[test]
    fn the_noise_is_that_of_repetitions() {
        // A part of the fifth order, which the polynomials do not know: E[∂f] = 15 × 0.02 for 0.02 x⁵.
        let n = 24;
        let mut regression = HermiteRegression::new(2, n, Parity::Odd).unwrap();
        let (mut told, mut seen, repetitions) = (0.0, 0.0, 400);
        for seed in 0..repetitions {
            let e = draws(n, 10 + seed);
            let v: Vec<f64> = e.chunks_exact(2).flat_map(|x| [0.02 * x[0].powi(5), 0.0]).collect();
            let mut out = [0.0; 4];
            told += regression.estimate(&e, &v, &mut out).unwrap();
            seen += (out[0] - 0.3).powi(2) + 2.0 * out[1] * out[1] + out[3] * out[3];
        }
        // Told from residuals that lean to the safe side, within a factor of three.
        assert!(told > 0.8 * seen && told < 3.0 * seen, "{} told, {} seen", told / 400.0, seen / 400.0);
    }
}
