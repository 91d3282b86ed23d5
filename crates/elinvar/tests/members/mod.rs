//! One random member of every family, full and diagonal, with exact expectations by quadrature.
#![allow(dead_code, unused_imports, unused_macros, reason = "each test uses a part")]

mod bent;
pub(crate) mod differences;
mod nodes;

pub(crate) use bent::{Affine, bent, bent_target};
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::family::{Approximation, Family, Kind};
use elinvar::internals::Numbers;
use elinvar::internals::family::BlockGradient;
use elinvar::internals::family::Gradient;
use elinvar::internals::family::Stepping;
use elinvar::internals::law::Logistic;
use elinvar::law::Law;
use elinvar::random::{Purpose, Stream};
use elinvar::target::{Covariance, Shape};
pub(crate) use nodes::{Fineness, Node};

use crate::state::{BlockState, State, Stated};

/// The families of which every member of these tests is one: the one place where a family is registered.
fn every_family(dim: usize) -> Vec<Family> {
    let (lambda, columns) = (2.0, dim.min(2));
    vec![
        Family::gaussian(),
        Family::mog(3),
        Family::student_t(6.0),
        Family::skew(),
        Family::emg(),
        Family::nig(lambda),
        Family::snig(lambda),
        Family::scale_mixture(Logistic),
        Family::rank_k(columns),
        Family::skew_k(columns),
        Family::emg_k(columns),
    ]
}

/// A member of every family with this scale matrix.
pub(crate) fn members(covariance: Covariance, dim: usize, seed: u64) -> Vec<Approximation> {
    every_family(dim).into_iter().map(|family| member(family.with_covariance(covariance), dim, seed)).collect()
}

/// Calls `check(&member, arguments…)` for every family, full and diagonal.
macro_rules! every_member {
    ($check:ident($dim:expr, $seed:expr $(, $argument:expr)*)) => {{
        every_member!(full $check($dim, $seed $(, $argument)*));
        for q in $crate::members::members(elinvar::target::Covariance::Diagonal, $dim, $seed) {
            $check(&q $(, $argument)*);
        }
    }};
    (full $check:ident($dim:expr, $seed:expr $(, $argument:expr)*)) => {
        for q in $crate::members::members(elinvar::target::Covariance::Full, $dim, $seed) {
            $check(&q $(, $argument)*);
        }
    };
}

/// ∇L in the plain coordinates of a family: for each component ∇_B L and ∇_Σ L (full matrices), and ∂L/∂π_c.
pub(crate) struct Slopes {
    pub(crate) location: Vec<Vec<f64>>,
    pub(crate) scale: Vec<Vec<f64>>,
    pub(crate) weights: Vec<f64>,
}

/// What the tests ask of a member of a family, beyond the library's own interface.
pub(crate) trait Member: Sized {
    /// The gradient of a function of the parameters, in the form that the library's steps take.
    fn gradient_of(&self, slopes: &Slopes) -> Gradient;
    /// The gradient as plain numbers: for each component ∇_B and G, then E_c[h] − E_K[h].
    fn gradient_entries(&self, gradient: &Gradient) -> Vec<f64>;
    /// Nodes and weights of expectations under q(z, w) given component `c`.
    fn nodes(&self, c: usize, fineness: Fineness) -> Vec<Node>;
    /// E[ũ | z] and E[s | z], written independently of the library where it is short.
    fn conditional(&self, z: &[f64]) -> Option<(Vec<f64>, f64)>;
    /// u(z) and v₀ of the two-point form.
    fn two_point(&self, z: &[f64]) -> Option<(f64, f64)>;
    /// The family and its scale matrix in words.
    fn name(&self) -> String;
    /// π.
    fn component_weights(&self) -> Vec<f64>;
    /// Σ of component `c`.
    fn scale_matrix(&self, c: usize) -> Vec<f64>;
    /// The member with other parameters.
    fn with(&self, change: impl FnOnce(&mut State)) -> Self;
}

/// P of component `c` with all entries.
pub(crate) fn full_precision(state: &State, c: usize) -> Vec<f64> {
    let (d, entries) = (state.dim, &state.blocks[c].precision);
    match state.family.covariance {
        Covariance::Full => entries.clone(),
        Covariance::Diagonal => (0..d * d).map(|k| if k % d == k / d { entries[k % d] } else { 0.0 }).collect(),
    }
}

fn stored(covariance: Covariance, d: usize, matrix: &[f64]) -> Vec<f64> {
    match covariance {
        Covariance::Full => matrix.to_vec(),
        Covariance::Diagonal => (0..d).map(|i| matrix[i * d + i]).collect(),
    }
}

pub(crate) fn stream(seed: u64) -> Stream {
    Stream::open(seed, Purpose::Start, 0, 0)
}

pub(crate) fn normals(stream: &mut Stream, n: usize) -> Vec<f64> {
    (0..n).map(|_| stream.normal()).collect()
}

/// ½I plus a random Gram matrix.
pub(crate) fn positive_definite(stream: &mut Stream, d: usize) -> Vec<f64> {
    let x = normals(stream, d * d);
    let gram = |i: usize, j: usize| (0..d).map(|k| x[k * d + i] * x[k * d + j]).sum::<f64>() / d as f64;
    (0..d * d).map(|k| gram(k % d, k / d) + if k % d == k / d { 0.5 } else { 0.0 }).collect()
}

pub(crate) fn block(stream: &mut Stream, covariance: Covariance, d: usize, r: usize) -> Location {
    let b = normals(stream, d * r);
    let precision = stored(covariance, d, &positive_definite(stream, d));
    Location::new(b, Scale::from_precision(Shape::new(covariance, d), precision).unwrap()).unwrap()
}

/// A random member of a family with locations.
pub(crate) fn member(family: Family, d: usize, seed: u64) -> Approximation {
    let stream = &mut stream(seed);
    let covariance = family.covariance;
    if let Kind::Mog { components } = family.kind {
        let log = (0..components).map(|_| 0.7 * stream.normal()).collect();
        let blocks = (0..components).map(|_| block(stream, covariance, d, 1)).collect();
        return Approximation::mixture(LogWeights::new(log).unwrap(), blocks).unwrap();
    }
    Approximation::single(family, block(stream, covariance, d, family.n_columns())).unwrap()
}

fn block_gradient(slopes: &Slopes, covariance: Covariance, d: usize, c: usize, weight: f64) -> BlockGradient {
    let g = stored(covariance, d, &slopes.scale[c]).iter().map(|v| -2.0 * v / weight).collect();
    BlockGradient { b: slopes.location[c].iter().map(|v| v / weight).collect(), g }
}

/// Q = rᵀPr, L = rᵀPα, κ = αᵀPα at a point, from the entries of P.
fn forms(state: &State, z: &[f64]) -> elinvar::internals::law::Forms {
    let d = state.dim;
    let (p, BlockState { b, .. }) = (full_precision(state, 0), &state.blocks[0]);
    let r: Vec<f64> = z.iter().zip(b).map(|(z, mu)| z - mu).collect();
    let alpha = if b.len() > d { b[d..2 * d].to_vec() } else { vec![0.0; d] };
    let product = |x: &[f64], y: &[f64]| (0..d * d).map(|k| p[k] * x[k % d] * y[k / d]).sum::<f64>();
    elinvar::internals::law::Forms {
        dim: d,
        q: product(&r, &r),
        l: product(&r, &alpha),
        kappa: product(&alpha, &alpha),
    }
}

/// The law of one number w, where z given it is the Gaussian of one block.
fn law_of(q: &Approximation) -> Option<Law> {
    match q.family().kind {
        Kind::SkewK { directions: 1 } => Family::skew().law().ok(),
        Kind::EmgK { directions: 1 } => Family::emg().law().ok(),
        Kind::Mog { .. } | Kind::RankK { .. } | Kind::SkewK { .. } | Kind::EmgK { .. } => None,
        _ => Some(q.law()),
    }
}

impl Member for Approximation {
    fn gradient_of(&self, slopes: &Slopes) -> Gradient {
        let mut out = self.zero_gradient();
        let weights = self.component_weights();
        for (c, weight) in weights.iter().enumerate() {
            out.blocks[c] = block_gradient(slopes, self.family().covariance, self.dim(), c, *weight);
        }
        out.expected_h.iter_mut().zip(&slopes.weights).for_each(|(h, slope)| *h = -slope);
        out
    }

    fn gradient_entries(&self, gradient: &Gradient) -> Vec<f64> {
        let mut out: Vec<f64> = gradient.blocks.iter().flat_map(|g| [&g.b[..], &g.g].concat()).collect();
        if let Some((last, others)) = gradient.expected_h.split_last() {
            out.extend(others.iter().map(|h| h - last));
        }
        out
    }

    fn nodes(&self, c: usize, fineness: Fineness) -> Vec<Node> {
        let block = &self.locations()[c];
        match (self.family().kind, law_of(self)) {
            (_, Some(law)) => {
                let mixing = if law.mixes() { nodes::mixing_nodes(&law, fineness) } else { vec![(1.0, 1.0)] };
                let loading = |w: f64| {
                    let u = if law.is_shifted() { vec![1.0, law.shift(w)] } else { vec![1.0] };
                    (u, law.scale(w))
                };
                let loadings = mixing.iter().map(|&(w, weight)| (loading(w), weight));
                nodes::joint_nodes(block, loadings, fineness)
            }
            (Kind::RankK { rank }, _) => {
                let loadings = nodes::normal_nodes(rank, 1.0, fineness).into_iter();
                let loadings = loadings.map(|(w, weight)| (([&[1.0], &w[..]].concat(), 1.0), weight));
                nodes::joint_nodes(block, loadings, fineness)
            }
            (Kind::SkewK { directions } | Kind::EmgK { directions }, _) => {
                let half_normal = self.family().name() == "skew_k";
                let law = if half_normal { Family::skew() } else { Family::emg() }.law().unwrap();
                let loadings = nodes::positive_nodes(&law, directions, fineness).into_iter();
                let loadings = loadings.map(|(w, weight)| (([&[1.0], &w[..]].concat(), 1.0), weight));
                nodes::joint_nodes(block, loadings, fineness)
            }
            _ => nodes::joint_nodes(block, std::iter::once(((vec![1.0], 1.0), 1.0)), fineness),
        }
    }

    /// For factors with k = d = 1 only, where E[w | z] = PA(z − μ)/(1 + PA²).
    fn conditional(&self, z: &[f64]) -> Option<(Vec<f64>, f64)> {
        if let Some(law) = law_of(self) {
            let c = law.conditional(forms(&self.state(), z));
            return Some((if law.is_shifted() { vec![1.0, c.u] } else { vec![1.0] }, c.s));
        }
        let (b, p) = (self.locations()[0].b(), self.locations()[0].scale().precision());
        (self.family().kind == Kind::RankK { rank: 1 } && self.dim() == 1)
            .then(|| (vec![1.0, p[0] * b[1] * (z[0] - b[0]) / (1.0 + p[0] * b[1] * b[1])], 1.0))
    }

    /// Families with a number for each column have none.
    fn two_point(&self, z: &[f64]) -> Option<(f64, f64)> {
        if let Kind::SkewK { .. } | Kind::EmgK { .. } = self.family().kind {
            return None;
        }
        law_of(self)?.two_point(forms(&self.state(), z)).map(|two| (two.u, two.v0))
    }

    fn name(&self) -> String {
        format!("{} {:?}, d = {}", self.family(), self.family().covariance, self.dim())
    }

    fn component_weights(&self) -> Vec<f64> {
        self.weights().log().iter().map(|log| log.exp()).collect()
    }

    fn scale_matrix(&self, c: usize) -> Vec<f64> {
        let d = self.dim();
        let mut sigma = vec![0.0; d * d];
        let precision = full_precision(&self.state(), c);
        Scale::from_precision(Shape::Full(d), precision).unwrap().covariance_into(&mut sigma);
        sigma
    }

    fn with(&self, change: impl FnOnce(&mut State)) -> Self {
        let mut state = self.state();
        change(&mut state);
        Self::from_state(&state).unwrap()
    }
}
