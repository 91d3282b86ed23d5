//! Deterministic expectations under q(z, w): trapezoid rules, which converge exponentially for these integrands.

use elinvar::block::Location;
use elinvar::internals::Numbers;
use elinvar::internals::Whitening;
use elinvar::law::Law;

/// A point (z, w) with its weight; `hat` is z without its shift, Bũ with ũ = (1, 0) in place of ũ(w).
pub(crate) struct Node {
    pub(crate) weight: f64,
    pub(crate) z: Vec<f64>,
    pub(crate) hat: Vec<f64>,
    pub(crate) u: Vec<f64>,
    pub(crate) s: f64,
}

/// How far into the tails the rules reach, and how fine they are.
#[derive(Clone, Copy)]
pub(crate) struct Fineness {
    /// Largest |ε|.
    pub(crate) reach: f64,
    /// Step of ε where s ≤ 1 and Σ ≤ 1; smaller in proportion to √s and √Σ where they are larger.
    pub(crate) step: f64,
    /// Step of log w.
    pub(crate) mixing_step: f64,
    /// w is cut off where its density in log w is e^−depth of its peak.
    pub(crate) depth: f64,
}

impl Fineness {
    /// Errors near 1e−13 for functions analytic in a strip of width π.
    pub(crate) const EXACT: Self = Self { reach: 8.5, step: 0.25, mixing_step: 0.1, depth: 36.0 };
    /// Errors below 1e−6.
    pub(crate) const COARSE: Self = Self { reach: 5.6, step: 0.7, mixing_step: 0.25, depth: 19.0 };
}

/// Nodes and weights of q(w), w > 0, by the trapezoid rule in log w.
pub(crate) fn mixing_nodes(law: &Law, fineness: Fineness) -> Vec<(f64, f64)> {
    let log_density = |tau: f64| tau + law.log_mixing_density(tau.exp());
    let grid: Vec<f64> = (-600..=600).map(|i| i as f64 * fineness.mixing_step).collect();
    let peak = grid.iter().map(|tau| log_density(*tau)).fold(f64::NEG_INFINITY, f64::max);
    let kept = grid.iter().map(|tau| (tau.exp(), log_density(*tau))).filter(|(_, log)| *log > peak - fineness.depth);
    let nodes: Vec<(f64, f64)> = kept.map(|(w, log)| (w, fineness.mixing_step * log.exp())).collect();
    let total: f64 = nodes.iter().map(|node| node.1).sum();
    assert!((total - 1.0).abs() < 1e-7, "the weights of q(w) sum to {total}");
    nodes
}

/// Nodes and weights of k independent w > 0, each by a double-exponential rule in w = exp(x − e^{−x}).
pub(crate) fn positive_nodes(law: &Law, k: usize, fineness: Fineness) -> Vec<(Vec<f64>, f64)> {
    let step = 0.9 * fineness.mixing_step;
    let line: Vec<(f64, f64)> = (-200..=200)
        .map(|i| i as f64 * step)
        .map(|x| ((x - (-x).exp()).exp(), (-x).exp()))
        .map(|(w, shrink)| (w, step * w * (1.0 + shrink) * law.log_mixing_density(w).exp()))
        .filter(|(_, weight)| *weight > (-fineness.depth).exp())
        .collect();
    let total: f64 = line.iter().map(|node| node.1).sum();
    assert!((total - 1.0).abs() < 1e-7, "the weights of q(w) sum to {total}");
    products(&line, k)
}

/// Nodes and weights of N(0, I_k); `spread` is how much wider than 1 the integrand sees them.
pub(crate) fn normal_nodes(k: usize, spread: f64, fineness: Fineness) -> Vec<(Vec<f64>, f64)> {
    let step = fineness.step / spread.max(1.0);
    let half = (fineness.reach / step).ceil() as i64;
    let line: Vec<(f64, f64)> = (-half..=half)
        .map(|i| {
            let x = i as f64 * step;
            (x, step * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt())
        })
        .collect();
    products(&line, k)
}

/// The product rule over k variables.
fn products(line: &[(f64, f64)], k: usize) -> Vec<(Vec<f64>, f64)> {
    let mut out = vec![(Vec::new(), 1.0)];
    for _ in 0..k {
        let extend = |(point, weight): &(Vec<f64>, f64)| {
            let (point, weight) = (point.clone(), *weight);
            line.iter().map(move |(x, w)| ([&point[..], &[*x]].concat(), weight * w)).collect::<Vec<_>>()
        };
        out = out.iter().flat_map(extend).collect();
    }
    out
}

/// z = Bũ + √s L⁻ᵀε over all loadings (ũ, s) and ε.
pub(crate) fn joint_nodes(
    block: &Location,
    loadings: impl Iterator<Item = ((Vec<f64>, f64), f64)>,
    fineness: Fineness,
) -> Vec<Node> {
    let d = block.dim();
    let mut sigma = vec![0.0; d * d];
    block.scale().covariance_into(&mut sigma);
    // At least 1: E[s | z] has its singularities where |z − μ| is of the size of √Σ, however narrow the law is.
    let widest = (0..d).map(|i| sigma[i * d + i].sqrt()).fold(1.0, f64::max);
    let mut out = Vec::new();
    for ((u, s), mixing_weight) in loadings {
        for (mut eps, weight) in normal_nodes(d, s.sqrt() * widest, fineness) {
            block.scale().unwhiten(&mut eps);
            let hat: Vec<f64> = eps.iter().zip(block.column(0)).map(|(e, mu)| mu + s.sqrt() * e).collect();
            let mut z = hat.clone();
            for (j, u) in u.iter().enumerate().skip(1) {
                z.iter_mut().zip(block.column(j)).for_each(|(z, b)| *z += u * b);
            }
            out.push(Node { weight: weight * mixing_weight, z, hat, u: u.clone(), s });
        }
    }
    out
}
