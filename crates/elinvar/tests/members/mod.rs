//! One random member of every family, full and diagonal, with exact expectations by quadrature.
#![allow(dead_code, unused_imports, unused_macros, reason = "each test uses a part")]

mod bent;
pub(crate) mod differences;
mod nodes;

pub(crate) use bent::{Affine, bent, bent_target};
pub(crate) use elinvar::block::{Diagonal, Full, LocationBlock, ScaleMatrix};
use elinvar::block::{LocationGradient, LogWeights};
use elinvar::family::{AnyApproximation, Approximation, BlockState, FactorGaussian, Mcef, MeanVarianceMixture};
use elinvar::family::{MixtureOfGaussians, State};
use elinvar::law::MixingLaw;
pub(crate) use elinvar::law::{
    Exponential, HalfNormal, InverseGamma, InverseGaussian, Logistic, PointMass, ReciprocalInverseGaussian, ScaleLaw,
};
use elinvar::random::{Purpose, Stream};
use elinvar::target::Covariance;
pub(crate) use nodes::{Fineness, Node};

/// Calls `check(&member, arguments…)` for every family, full and diagonal: the one place where a family is registered.
macro_rules! every_member {
    ($check:ident($dim:expr, $seed:expr $(, $argument:expr)*)) => {{
        every_member!(full $check($dim, $seed $(, $argument)*));
        every_member!(@ $crate::members::Diagonal, $check, $dim, $seed, ($($argument),*));
    }};
    (full $check:ident($dim:expr, $seed:expr $(, $argument:expr)*)) => {
        every_member!(@ $crate::members::Full, $check, $dim, $seed, ($($argument),*))
    };
    (@ $scale:ty, $check:ident, $dim:expr, $seed:expr, ($($argument:expr),*)) => {{
        use $crate::members as m;
        let lambda = 2.0;
        $check(&m::mixture::<_, $scale>(m::PointMass, $dim, $seed) $(, $argument)*);
        $check(&m::mog::<$scale>(3, $dim, $seed) $(, $argument)*);
        $check(&m::mixture::<_, $scale>(m::InverseGamma::new(6.0).unwrap(), $dim, $seed) $(, $argument)*);
        $check(&m::mixture::<_, $scale>(m::HalfNormal, $dim, $seed) $(, $argument)*);
        $check(&m::mixture::<_, $scale>(m::Exponential, $dim, $seed) $(, $argument)*);
        $check(&m::mixture::<_, $scale>(m::InverseGaussian::new(lambda).unwrap(), $dim, $seed) $(, $argument)*);
        $check(&m::mixture::<_, $scale>(m::ReciprocalInverseGaussian::new(lambda).unwrap(), $dim, $seed) $(, $argument)*);
        $check(&m::mixture::<_, $scale>(m::ScaleLaw::from(m::Logistic), $dim, $seed) $(, $argument)*);
        $check(&m::rank_k::<$scale>(if $dim > 1 { 2 } else { 1 }, $dim, $seed) $(, $argument)*);
    }};
}

/// ∇L in the plain coordinates of a family: for each component ∇_B L and ∇_Σ L (full matrices), and ∂L/∂π_c.
pub(crate) struct Slopes {
    pub(crate) location: Vec<Vec<f64>>,
    pub(crate) scale: Vec<Vec<f64>>,
    pub(crate) weights: Vec<f64>,
}

/// What the tests ask of a member of a family, beyond the library's own interface.
pub(crate) trait Member: Mcef + PartialEq + std::fmt::Debug + Into<AnyApproximation> {
    /// The gradient of a function of the parameters, in the form that the library's steps take.
    fn gradient_of(&self, slopes: &Slopes) -> Self::Gradient;
    /// The gradient as plain numbers: for each component ∇_B and G, then E_c[h] − E_K[h].
    fn gradient_entries(&self, gradient: &Self::Gradient) -> Vec<f64>;
    /// Nodes and weights of expectations under q(z, w) given component `c`.
    fn nodes(&self, c: usize, fineness: Fineness) -> Vec<Node>;
    /// E[ũ | z] and E[s | z], written independently of the library where it is short.
    fn conditional(&self, z: &[f64]) -> Option<(Vec<f64>, f64)>;
    /// u(z) and v₀ of the two-point form.
    fn two_point(&self, z: &[f64]) -> Option<(f64, f64)>;

    fn name(&self) -> String {
        format!("{} {:?}, d = {}", self.family(), self.covariance_kind(), self.dim())
    }

    fn component_weights(&self) -> Vec<f64> {
        self.state().log_weights.iter().map(|log| log.exp()).collect()
    }

    /// Σ of component `c`.
    fn scale_matrix(&self, c: usize) -> Vec<f64> {
        let state = self.state();
        let mut sigma = vec![0.0; state.dim * state.dim];
        let precision = full_precision(&state, c);
        Full::from_precision(state.dim, precision).unwrap().covariance_into(&mut sigma);
        sigma
    }

    /// The member with other parameters.
    fn with(&self, change: impl FnOnce(&mut State)) -> Self {
        let mut state = self.state();
        change(&mut state);
        Self::from_state(&state).unwrap()
    }
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

pub(crate) fn block<S: ScaleMatrix>(stream: &mut Stream, d: usize, r: usize) -> LocationBlock<S> {
    let b = normals(stream, d * r);
    let precision = stored(S::COVARIANCE, d, &positive_definite(stream, d));
    LocationBlock::new(b, S::from_precision(d, precision).unwrap()).unwrap()
}

pub(crate) fn mixture<L: MixingLaw, S: ScaleMatrix>(law: L, d: usize, seed: u64) -> MeanVarianceMixture<L, S> {
    MeanVarianceMixture::new(law, block(&mut stream(seed), d, if L::SHIFTED { 2 } else { 1 })).unwrap()
}

pub(crate) fn rank_k<S: ScaleMatrix>(rank: usize, d: usize, seed: u64) -> FactorGaussian<S> {
    FactorGaussian::new(block(&mut stream(seed), d, 1 + rank)).unwrap()
}

pub(crate) fn mog<S: ScaleMatrix>(k: usize, d: usize, seed: u64) -> MixtureOfGaussians<S> {
    let stream = &mut stream(seed);
    let log = (0..k).map(|_| 0.7 * stream.normal()).collect();
    MixtureOfGaussians::new(LogWeights::new(log).unwrap(), (0..k).map(|_| block(stream, d, 1)).collect()).unwrap()
}

fn location_gradient(slopes: &Slopes, covariance: Covariance, d: usize, c: usize, weight: f64) -> LocationGradient {
    let g = stored(covariance, d, &slopes.scale[c]).iter().map(|v| -2.0 * v / weight).collect();
    LocationGradient { b: slopes.location[c].iter().map(|v| v / weight).collect(), g, shape: 0.0 }
}

/// Q = rᵀPr, L = rᵀPα, κ = αᵀPα at a point, from the entries of P.
fn forms(state: &State, z: &[f64]) -> elinvar::law::Forms {
    let d = state.dim;
    let (p, BlockState { b, .. }) = (full_precision(state, 0), &state.blocks[0]);
    let r: Vec<f64> = z.iter().zip(b).map(|(z, mu)| z - mu).collect();
    let alpha = if b.len() > d { b[d..2 * d].to_vec() } else { vec![0.0; d] };
    let product = |x: &[f64], y: &[f64]| (0..d * d).map(|k| p[k] * x[k % d] * y[k / d]).sum::<f64>();
    elinvar::law::Forms { dim: d, q: product(&r, &r), l: product(&r, &alpha), kappa: product(&alpha, &alpha) }
}

impl<L: MixingLaw, S: ScaleMatrix> Member for MeanVarianceMixture<L, S>
where
    Self: Mcef + Approximation<Gradient = LocationGradient> + PartialEq + std::fmt::Debug + Into<AnyApproximation>,
{
    fn gradient_of(&self, slopes: &Slopes) -> LocationGradient {
        location_gradient(slopes, S::COVARIANCE, self.dim(), 0, 1.0)
    }

    fn gradient_entries(&self, gradient: &LocationGradient) -> Vec<f64> {
        [&gradient.b[..], &gradient.g].concat()
    }

    fn nodes(&self, _c: usize, fineness: Fineness) -> Vec<Node> {
        let mixing = if L::NAME == "gaussian" { vec![(1.0, 1.0)] } else { nodes::mixing_nodes(self.law(), fineness) };
        let loading = |w: f64| {
            let u = if L::SHIFTED { vec![1.0, self.law().shift(w)] } else { vec![1.0] };
            (u, self.law().scale(w))
        };
        let loadings = mixing.iter().map(|&(w, weight)| (loading(w), weight));
        nodes::joint_nodes(self.block(), loadings, fineness)
    }

    fn conditional(&self, z: &[f64]) -> Option<(Vec<f64>, f64)> {
        let c = self.law().conditional(forms(&self.state(), z));
        Some((if L::SHIFTED { vec![1.0, c.u] } else { vec![1.0] }, c.s))
    }

    fn two_point(&self, z: &[f64]) -> Option<(f64, f64)> {
        self.law().two_point(forms(&self.state(), z)).map(|two| (two.u, two.v0))
    }
}

impl<S: ScaleMatrix> Member for FactorGaussian<S>
where
    Self: Into<AnyApproximation> + PartialEq,
{
    fn gradient_of(&self, slopes: &Slopes) -> LocationGradient {
        location_gradient(slopes, S::COVARIANCE, self.dim(), 0, 1.0)
    }

    fn gradient_entries(&self, gradient: &LocationGradient) -> Vec<f64> {
        [&gradient.b[..], &gradient.g].concat()
    }

    fn nodes(&self, _c: usize, fineness: Fineness) -> Vec<Node> {
        let loadings = nodes::normal_nodes(self.rank(), 1.0, fineness).into_iter();
        let loadings = loadings.map(|(w, weight)| (([&[1.0], &w[..]].concat(), 1.0), weight));
        nodes::joint_nodes(self.block(), loadings, fineness)
    }

    /// For k = d = 1 only, where E[w | z] = PA(z − μ)/(1 + PA²).
    fn conditional(&self, z: &[f64]) -> Option<(Vec<f64>, f64)> {
        let (b, p) = (self.block().b(), self.block().scale().precision());
        (self.rank() == 1 && self.dim() == 1)
            .then(|| (vec![1.0, p[0] * b[1] * (z[0] - b[0]) / (1.0 + p[0] * b[1] * b[1])], 1.0))
    }

    fn two_point(&self, _z: &[f64]) -> Option<(f64, f64)> {
        None
    }
}

impl<S: ScaleMatrix> Member for MixtureOfGaussians<S>
where
    Self: Into<AnyApproximation> + PartialEq,
{
    fn gradient_of(&self, slopes: &Slopes) -> Self::Gradient {
        let mut out = self.gradient_buffer();
        for (c, weight) in self.component_weights().iter().enumerate() {
            out.components[c] = location_gradient(slopes, S::COVARIANCE, self.dim(), c, *weight);
            out.expected_h[c] = -slopes.weights[c];
        }
        out
    }

    fn gradient_entries(&self, gradient: &Self::Gradient) -> Vec<f64> {
        let mut out: Vec<f64> = gradient.components.iter().flat_map(|g| [&g.b[..], &g.g].concat()).collect();
        let (last, others) = gradient.expected_h.split_last().unwrap();
        out.extend(others.iter().map(|h| h - last));
        out
    }

    fn nodes(&self, c: usize, fineness: Fineness) -> Vec<Node> {
        nodes::joint_nodes(&self.components()[c], std::iter::once(((vec![1.0], 1.0), 1.0)), fineness)
    }

    fn conditional(&self, _z: &[f64]) -> Option<(Vec<f64>, f64)> {
        None
    }

    fn two_point(&self, _z: &[f64]) -> Option<(f64, f64)> {
        None
    }
}
