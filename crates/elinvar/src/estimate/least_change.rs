//! The symmetric matrix of least change that explains what was seen at some draws (mathematics §12.1).

use crate::linalg::{axpy, cholesky, eigen, products};

/// Singular values below this share of the largest say nothing.
const NEGLIGIBLE: f64 = 1e-13;

/// Memory for up to n draws in d dimensions; nothing else allocates.
pub(crate) struct LeastChange {
    d: usize,
    /// The Gram matrix of the draws, by draws or by coordinates, whichever is smaller, with its decomposition.
    gram: Vec<f64>,
    squares: Vec<f64>,
    rotation: Vec<f64>,
    eigen: eigen::Workspace,
    /// Right singular vectors of the draws, and what belongs to them; d × n.
    vectors: Vec<f64>,
    turned: Vec<f64>,
    inside: Vec<f64>,
    weights: Vec<f64>,
    scratch: Vec<f64>,
    spare: Vec<f64>,
}

impl LeastChange {
    /// Memory for up to `n` draws in `d` dimensions.
    pub(crate) fn new(d: usize, n: usize) -> Self {
        let (side, columns) = (n.min(d), n.max(d));
        Self {
            d,
            gram: vec![0.0; side * side],
            squares: vec![0.0; side],
            rotation: vec![0.0; side * side],
            eigen: eigen::Workspace::new(side),
            vectors: vec![0.0; d * side],
            turned: vec![0.0; d * side],
            inside: vec![0.0; side * side],
            weights: vec![0.0; columns],
            scratch: vec![0.0; d * products::GRAM_BLOCK.min(columns)],
            spare: vec![0.0; if n > d { d * d } else { 0 }],
        }
    }

    /// Writes the symmetric B that minimises Σ |B e + s|² + ridge ‖B‖² over draws e and residual scores s, both d × n.
    ///
    /// With E = UΣVᵀ (draws as rows) the equation BEᵀE + EᵀEB + 2 ridge B = −(EᵀS + SᵀE) decouples in the basis of V,
    /// outside of which B acts only through it. False where the decomposition fails.
    pub(crate) fn solve(&mut self, e: &[f64], s: &[f64], ridge: f64, b: &mut [f64]) -> bool {
        let n = e.len() / self.d;
        if n > self.d { self.by_coordinates(e, s, ridge, b) } else { self.by_draws(e, s, ridge, b) }
    }

    /// The same for draws whose Gram matrix is n I: the covariance of the draws was made I.
    pub(crate) fn solve_matched(&mut self, e: &[f64], s: &[f64], ridge: f64, b: &mut [f64]) {
        let n = e.len() / self.d;
        b.fill(0.0);
        self.weights[..n].fill(-1.0 / (n as f64 + ridge));
        products::add_symmetrised(e, s, self.d, &self.weights[..n], &mut self.scratch, b);
        products::mirror_lower(self.d, b);
    }

    fn by_draws(&mut self, e: &[f64], s: &[f64], ridge: f64, b: &mut [f64]) -> bool {
        let d = self.d;
        let n = e.len() / d;
        let Self { gram, squares, rotation, eigen, vectors, turned, inside, weights, scratch, .. } = self;
        let (gram, squares, rotation) = (&mut gram[..n * n], &mut squares[..n], &mut rotation[..n * n]);
        let (vectors, turned, inside) = (&mut vectors[..d * n], &mut turned[..d * n], &mut inside[..n * n]);
        gram.fill(0.0);
        products::add_transposed_product(e, e, d, gram);
        if !eigen::decompose(n, gram, squares, rotation, eigen) {
            return false;
        }
        let smallest = NEGLIGIBLE * squares[n - 1];
        vectors.fill(0.0);
        products::add_product(e, rotation, d, n, n, vectors);
        turned.fill(0.0);
        products::add_product(s, rotation, d, n, n, turned);
        for (square, vector) in squares.iter_mut().zip(vectors.chunks_exact_mut(d)) {
            *square = if *square > smallest { *square } else { 0.0 };
            let inverse = if *square > 0.0 { square.sqrt().recip() } else { 0.0 };
            vector.iter_mut().for_each(|v| *v *= inverse);
        }
        // Entry (i, j): v_i · c_j, c_j being what was seen along the singular direction j.
        inside.fill(0.0);
        products::add_transposed_product(vectors, turned, d, inside);
        // The part of c_i outside the draws, then half of the part inside: B = −(V Wᵀ + W Vᵀ).
        let own = &mut gram[..n];
        for (i, column) in turned.chunks_exact_mut(d).enumerate() {
            let across = squares[i].sqrt() / (squares[i] + 2.0 * ridge).max(f64::MIN_POSITIVE);
            column.iter_mut().for_each(|v| *v *= across);
            for (j, entry) in own.iter_mut().enumerate() {
                let both = squares[i].sqrt() * inside[i * n + j] + squares[j].sqrt() * inside[j * n + i];
                let within = both / (squares[i] + squares[j] + 2.0 * ridge).max(f64::MIN_POSITIVE);
                *entry = 0.5 * within - across * inside[i * n + j];
            }
            for (c, vector) in own.iter().zip(vectors.chunks_exact(d)) {
                axpy(*c, vector, column);
            }
        }
        b.fill(0.0);
        weights[..n].fill(-2.0);
        products::add_symmetrised(vectors, turned, d, &weights[..n], scratch, b);
        products::mirror_lower(d, b);
        true
    }

    fn by_coordinates(&mut self, e: &[f64], s: &[f64], ridge: f64, b: &mut [f64]) -> bool {
        let d = self.d;
        let n = e.len() / d;
        let Self { gram, squares, rotation, eigen, inside, weights, scratch, spare, .. } = self;
        gram.fill(0.0);
        weights[..n].fill(1.0);
        products::add_weighted_gram(e, d, &weights[..n], scratch, gram);
        products::mirror_lower(d, gram);
        if !eigen::decompose(d, gram, squares, rotation, eigen) {
            return false;
        }
        // M = −(EᵀS + SᵀE), turned to the basis of V, divided there and turned back.
        weights[..n].fill(-2.0);
        b.fill(0.0);
        products::add_symmetrised(e, s, d, &weights[..n], scratch, b);
        products::mirror_lower(d, b);
        spare.fill(0.0);
        products::add_product(b, rotation, d, d, d, spare);
        inside.fill(0.0);
        products::add_transposed_product(rotation, spare, d, inside);
        let smallest = NEGLIGIBLE * squares[d - 1];
        for (j, column) in inside.chunks_exact_mut(d).enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                let sum = squares[i] + squares[j] + 2.0 * ridge;
                *entry = if sum > smallest { *entry / sum } else { 0.0 };
            }
        }
        spare.fill(0.0);
        products::add_product(rotation, inside, d, d, d, spare);
        // V B̃ Vᵀ = (V (V B̃)ᵀ)ᵀ, and B̃ is symmetric.
        for (j, column) in gram.chunks_exact_mut(d).enumerate() {
            column.iter_mut().enumerate().for_each(|(i, entry)| *entry = rotation[i * d + j]);
        }
        b.fill(0.0);
        products::add_product(spare, gram, d, d, d, b);
        products::mirror_lower(d, b);
        true
    }
}

/// Gives the d × n draws the covariance I, E ← C⁻¹E with CCᵀ = EEᵀ/n; false, and nothing changed, where that has no
/// factor. `gram` and `factor` hold d² numbers, `scratch` a Gram block.
pub(crate) fn match_covariance(
    d: usize,
    e: &mut [f64],
    weights: &mut [f64],
    scratch: &mut [f64],
    [gram, factor]: [&mut [f64]; 2],
    workspace: &mut cholesky::Workspace,
) -> bool {
    let n = e.len() / d;
    gram.fill(0.0);
    weights[..n].fill(1.0 / n as f64);
    products::add_weighted_gram(e, d, &weights[..n], scratch, gram);
    products::mirror_lower(d, gram);
    if cholesky::factor(d, gram, factor, workspace).is_err() {
        return false;
    }
    cholesky::solve_factor(d, factor, e);
    true
}

/// An unbiased estimate of ‖B‖² for residual scores s = −Be + noise at independent draws: the mean of
/// ½{(eᵢ·eⱼ)(sᵢ·sⱼ) + (eᵢ·sⱼ)(sᵢ·eⱼ)} over pairs. The slices hold n² numbers.
pub(crate) fn square_norm_by_pairs(d: usize, e: &[f64], s: &[f64], [ee, ss, es]: [&mut [f64]; 3]) -> f64 {
    let n = e.len() / d;
    for (left, right, out) in [(e, e, &mut *ee), (s, s, &mut *ss), (e, s, &mut *es)] {
        out.fill(0.0);
        products::add_transposed_product(left, right, d, out);
    }
    let mut sum = 0.0;
    for j in 0..n {
        for i in 0..j {
            let at = j * n + i;
            sum += ee[at] * ss[at] + es[at] * es[i * n + j];
        }
    }
    sum / (n * (n - 1)).max(1) as f64
}

#[cfg(test)]
mod tests;
