//! Gauss rules whose tail weights are relatively accurate (mathematics §8.7).

/// Nodes and weights of a rule for expectations: E\[f\] ≈ Σ wᵢ f(xᵢ).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Nodes in increasing order.
    pub nodes: Vec<f64>,
    /// Weights; those below the smallest double are zero.
    pub weights: Vec<f64>,
}

impl Rule {
    /// Σ wᵢ f(xᵢ).
    pub(crate) fn expectation(&self, mut f: impl FnMut(f64) -> f64) -> f64 {
        self.nodes.iter().zip(&self.weights).map(|(&x, &w)| w * f(x)).sum()
    }
}

/// The n-point Gauss–Hermite rule for N(0, 1).
pub(crate) fn gauss_hermite(n: usize) -> Rule {
    let off_diagonal: Vec<f64> = (1..=n).map(|k| (k as f64).sqrt()).collect();
    let mut rule = gauss(&vec![0.0; n], &off_diagonal);
    // The rule is symmetric; rounding is not.
    for i in 0..n / 2 {
        let j = n - 1 - i;
        let node = 0.5 * (rule.nodes[j] - rule.nodes[i]);
        let weight = 0.5 * (rule.weights[j] + rule.weights[i]);
        (rule.nodes[i], rule.nodes[j]) = (-node, node);
        (rule.weights[i], rule.weights[j]) = (weight, weight);
    }
    if n % 2 == 1 {
        rule.nodes[n / 2] = 0.0;
    }
    rule
}

/// The n-point generalised Gauss–Laguerre rule for Gamma(γ + 1, 1), density w^γ e^{−w}/Γ(γ+1), γ > −1.
///
/// For a χ²_d variable take γ = d/2 − 1 and twice the nodes.
pub(crate) fn gauss_laguerre(n: usize, gamma: f64) -> Rule {
    let diagonal: Vec<f64> = (0..n).map(|k| 2.0 * k as f64 + 1.0 + gamma).collect();
    let off_diagonal: Vec<f64> = (1..=n).map(|k| (k as f64 * (k as f64 + gamma)).sqrt()).collect();
    gauss(&diagonal, &off_diagonal)
}

/// The Gauss rule of a probability law whose orthonormal polynomials obey b_k p_{k+1} = (x − a_k) p_k − b_{k−1}
/// p_{k−1}.
///
/// `off_diagonal` has one entry more than the Jacobi matrix needs: its last one only scales p_n.
fn gauss(diagonal: &[f64], off_diagonal: &[f64]) -> Rule {
    let mut nodes = tridiagonal_eigenvalues(diagonal, off_diagonal);
    nodes.sort_by(f64::total_cmp);
    let weights = nodes
        .iter_mut()
        .map(|x| {
            for _ in 0..3 {
                *x -= Orthonormal::at(*x, diagonal, off_diagonal).newton_step;
            }
            (-Orthonormal::at(*x, diagonal, off_diagonal).log_christoffel).exp()
        })
        .collect();
    Rule { nodes, weights }
}

/// What the orthonormal polynomials say at one point.
struct Orthonormal {
    /// p_n/p_n′.
    newton_step: f64,
    /// log Σ_{k<n} p_k².
    log_christoffel: f64,
}

impl Orthonormal {
    fn at(x: f64, diagonal: &[f64], off_diagonal: &[f64]) -> Self {
        let (mut previous, mut current, mut sum, mut log_scale) = (0.0f64, 1.0f64, 0.0f64, 0.0f64);
        let mut b_previous = 0.0;
        for (&a, &b) in diagonal.iter().zip(off_diagonal) {
            sum += current * current;
            (previous, current) = (current, ((x - a) * current - b_previous * previous) / b);
            b_previous = b;
            if current.abs() > 1e100 {
                previous *= 1e-100;
                current *= 1e-100;
                sum *= 1e-200;
                log_scale += 200.0 * std::f64::consts::LN_10;
            }
        }
        // Christoffel–Darboux: Σ p_k² = b_{n−1}(p_n′ p_{n−1} − p_{n−1}′ p_n), the second part being negligible at a
        // root.
        Self { newton_step: current * b_previous * previous / sum, log_christoffel: sum.ln() + log_scale }
    }
}

/// Eigenvalues of a symmetric tridiagonal matrix by the implicit QL method with Wilkinson shifts.
fn tridiagonal_eigenvalues(diagonal: &[f64], off_diagonal: &[f64]) -> Vec<f64> {
    let n = diagonal.len();
    let mut d = diagonal.to_vec();
    let mut e = off_diagonal.to_vec();
    if n > 0 {
        e[n - 1] = 0.0;
    }
    for l in 0..n {
        // Three sweeps per eigenvalue are usual; Newton's method mends what a stopped iteration leaves.
        for _ in 0..60 {
            let m = (l..n - 1).find(|&m| e[m].abs() <= f64::EPSILON * (d[m].abs() + d[m + 1].abs())).unwrap_or(n - 1);
            if m == l {
                break;
            }
            let shift = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut g = d[m] - d[l] + e[l] / (shift + shift.hypot(1.0).copysign(shift));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut deflated = false;
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    deflated = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
            }
            if !deflated {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    d
}

#[cfg(test)]
mod tests {
    use super::super::gamma::ln_gamma;
    use super::*;

    #[test]
    fn hermite_weights_have_relative_accuracy_in_the_tails() {
        // 50-digit values of the last node and weight for n = 32 and 100.
        for (n, node, weight) in HERMITE_LAST {
            let rule = gauss_hermite(n);
            assert!((rule.nodes[n - 1] / node - 1.0).abs() < 1e-15);
            assert!((rule.weights[n - 1] / weight - 1.0).abs() < 1e-13, "{:e}", rule.weights[n - 1] / weight - 1.0);
            assert!((rule.weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!((rule.expectation(|x| x.powi(20)) / 654_729_075.0 - 1.0).abs() < 1e-12);
        }
        assert_eq!(gauss_hermite(1), Rule { nodes: vec![0.0], weights: vec![1.0] });
        assert!(gauss_hermite(600).weights.iter().all(|w| w.is_finite()));
    }

    #[test]
    fn laguerre_moments_are_exact_up_to_the_highest_degree() {
        for (n, gamma) in [(2usize, 0.0), (16, -0.5), (30, 0.0), (64, 2.5), (100, 9.0)] {
            let rule = gauss_laguerre(n, gamma);
            for k in [0usize, 1, 3, n, 2 * n - 1] {
                let log_exact = ln_gamma(gamma + 1.0 + k as f64) - ln_gamma(gamma + 1.0);
                let sum = rule.expectation(|x| (k as f64 * x.ln() - log_exact).exp());
                assert!((sum - 1.0).abs() < 2e-12, "n = {n}, k = {k}: {:e}", sum - 1.0);
            }
        }
        let (n, node, weight) = LAGUERRE_LAST;
        let rule = gauss_laguerre(n, 0.0);
        assert!((rule.nodes[n - 1] / node - 1.0).abs() < 2e-15);
        assert!((rule.weights[n - 1] / weight - 1.0).abs() < 1e-13);
    }

    const HERMITE_LAST: [(usize, f64, f64); 2] =
        [(32, 10.077422674229465, 4.1246074890182694e-23), (100, 18.959636217387708, 3.3332703483438384e-79)];
    const LAGUERRE_LAST: (usize, f64, f64) = (64, 234.80957917132616, 2.0890635084369527e-101);
}
