//! From a fitted Gaussian to the first member of another family.

use super::skewness::{most_skewed, shift};
use crate::Error;
use crate::block::ScaleMatrix;
use crate::evaluate::Evaluator;
use crate::family::{AnyApproximation, Approximation, BlockState, Family, Gaussian, Kind, State, by_factors};
use crate::law::MixingLaw;
use crate::linalg::axpy;
use crate::random::{Purpose, SobolNormals, Stream};

/// The member of `family` with about the mean and covariance of `fitted`: a mixture spreads its components over it, a family with
/// a shift points it along the direction in which the target is most skewed.
pub(in crate::run) fn bend<S: ScaleMatrix>(
    evaluator: &mut Evaluator<'_>,
    fitted: &Gaussian<S>,
    family: Family,
    seed: u64,
) -> Result<AnyApproximation, Error> {
    let mut state = fitted.state();
    state.family = family;
    match family.kind {
        Kind::Gaussian | Kind::Auto => state.family.kind = Kind::Gaussian,
        Kind::StudentT { a, .. } => scale_precision(&mut state, a / (a - 1.0)),
        Kind::Snig { lambda } => scale_precision(&mut state, 1.0 + 1.0 / lambda),
        Kind::ScaleMixture { law, .. } => scale_precision(&mut state, law.moments().s),
        Kind::Skew | Kind::Emg | Kind::Nig { .. } => {
            let (direction, third) = most_skewed(evaluator, fitted, seed)?;
            shift(&mut state, fitted, &direction, third);
        }
        Kind::RankK { rank } => add_factors(&mut state, fitted, rank, seed),
        Kind::Mog { components } => {
            state.blocks = spread(fitted, components, seed, 0);
            state.log_weights = vec![-(components as f64).ln(); components];
        }
        Kind::EfMixture { .. } => {
            return Err(Error::Unsupported {
                wanted: format!("`{family}` in place of a fitted Gaussian"),
                instead: "start it on its own support".into(),
            });
        }
        Kind::Matrix { layout, .. } => {
            state.blocks = by_factors(&state.blocks[0], S::COVARIANCE, layout, family.covariance);
        }
        // The mixture grows from one component.
        Kind::MogAuto => state.family.kind = Kind::Mog { components: 1 },
    }
    AnyApproximation::from_state(&state)
}

/// P ← c P.
fn scale_precision(state: &mut State, c: f64) {
    state.blocks[0].precision.iter_mut().for_each(|p| *p *= c);
}

/// Components drawn evenly from the Gaussian, each narrower so that together they keep its covariance.
pub(super) fn spread<S: ScaleMatrix>(
    gaussian: &Gaussian<S>,
    components: usize,
    seed: u64,
    mode: u32,
) -> Vec<BlockState> {
    /// Mean squared distance of a centre from the mean, in standard deviations.
    const BETWEEN: f64 = 0.4;
    let block = gaussian.block();
    let d = block.dim();
    // The share of the variance that lies between components: in many dimensions a few points cannot fill the bulk, and a
    // mixture of narrow components around them would miss most of it.
    let between = if components == 1 { 0.0 } else { BETWEEN / d as f64 };
    let mut eps = vec![0.0; d * components];
    let mut stream = Stream::open(seed, Purpose::Start, 0, mode);
    SobolNormals::new(d, components).fill_normal(0..d, &mut stream, &mut eps);
    block.scale().unwhiten(&mut eps);
    let precision: Vec<f64> = block.scale().precision().iter().map(|p| p / (1.0 - between)).collect();
    let component = |offset: &[f64]| {
        let mut b = block.column(0).to_vec();
        axpy(between.sqrt(), offset, &mut b);
        BlockState { b, precision: precision.clone() }
    };
    eps.chunks_exact(d).map(component).collect()
}

/// Small random columns of A: at A = 0 the expected natural gradient in A vanishes (mathematics §3.5).
fn add_factors<S: ScaleMatrix>(state: &mut State, gaussian: &Gaussian<S>, rank: usize, seed: u64) {
    /// Share of the variance that the factors take over.
    const SHARE: f64 = 0.1;
    let d = gaussian.dim();
    let mut a = vec![0.0; d * rank];
    Stream::open(seed, Purpose::Start, 0, 0).fill_normal(&mut a);
    gaussian.block().scale().unwhiten(&mut a);
    let size = (SHARE / rank as f64).sqrt();
    state.blocks[0].b.extend(a.iter().map(|v| size * v));
    scale_precision(state, 1.0 / (1.0 - SHARE));
}
