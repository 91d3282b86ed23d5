//! The first member of a family: near the mode, as wide as the curvature there, and bent the way the target is.

use std::ops::ControlFlow;

use super::mode::{Region, locate};
use super::{Counts, Plan, Run, Stop};
use crate::Error;
use crate::block::{Diagonal, Full, ScaleMatrix};
use crate::family::{AnyApproximation, Approximation, Batch, BlockState, DrawPlan, Family, Gaussian, Kind, State};
use crate::linalg::{axpy, dot};
use crate::random::{Noise, Purpose, SobolNormals, Stream};
use crate::target::{Covariance, Draws, Evaluations, Prior, Rows, SecondOrder, Target, TargetError};

/// A start for `family` on `target`, with what it cost.
///
/// A Gaussian starts at a rough mode with the curvature there (N(0, I) where there is none). Every other family starts from a
/// short Gaussian fit with the same mean and covariance: mixtures spread their components over it, families with a shift point
/// it along the direction in which the target is most skewed. That fit takes the rule, step sizes and KL bound of the default
/// plan: a start is no place for experiments.
///
/// # Errors
/// As [`Run::new`] and [`Run::step`].
pub fn start(target: &dyn Target, family: Family, plan: &Plan) -> Result<(AnyApproximation, Counts), Error> {
    family.check()?;
    let stand_in;
    let target = match target.prior() {
        // A Gaussian cannot share w with the prior; one with the prior's covariance will do for a start.
        Prior::StudentT { precision, a } => {
            let precision = precision * if a > 1.0 { (a - 1.0) / a } else { 1.0 };
            stand_in = WithPrior { target, prior: Prior::Gaussian { precision, leading: target.dim() } };
            &stand_in
        }
        _ => target,
    };
    match family.covariance {
        Covariance::Full => start_with::<Full>(target, family, plan),
        Covariance::Diagonal => start_with::<Diagonal>(target, family, plan),
    }
}

/// A target with another prior declared.
struct WithPrior<'t> {
    target: &'t dyn Target,
    prior: Prior,
}

impl Target for WithPrior<'_> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        self.target.evaluate(draws, rows, out)
    }

    fn n_rows(&self) -> Option<usize> {
        self.target.n_rows()
    }

    fn prior(&self) -> Prior {
        self.prior
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        self.target.second_order()
    }

    fn scratch_len(&self, n_draws: usize, n_contractions: usize) -> usize {
        self.target.scratch_len(n_draws, n_contractions)
    }
}

fn start_with<S: ScaleMatrix>(
    target: &dyn Target,
    family: Family,
    plan: &Plan,
) -> Result<(AnyApproximation, Counts), Error> {
    let d = target.dim();
    let (region, counts) = locate(target, S::COVARIANCE)?;
    let Region { centre, precision } = region;
    let gaussian = State {
        family: Family { kind: Kind::Gaussian, covariance: S::COVARIANCE },
        dim: d,
        blocks: vec![BlockState { b: centre, precision }],
        log_weights: vec![0.0],
    };
    if family.kind == Kind::Gaussian {
        return Ok((AnyApproximation::from_state(&gaussian)?, counts));
    }
    let cautious = Plan::default();
    let short = Plan {
        // The fit that follows must not see the draws from which its start was made.
        seed: Stream::open(plan.seed, Purpose::Start, 3, 0).next_u64(),
        stop: Stop {
            remaining_nats: plan.stop.remaining_nats.max(0.1),
            max_steps: 200.min(plan.stop.max_steps),
            ..plan.stop
        },
        rule: cautious.rule,
        step_size: cautious.step_size,
        max_kl: cautious.max_kl,
        ..plan.clone()
    };
    let mut run = Run::new(target, Gaussian::<S>::from_state(&gaussian)?, &short)?;
    run.counts = counts;
    run.fit(&mut |_| ControlFlow::Continue(()))?;
    let mut counts = run.counts();
    let fitted = run.best().clone();
    let mut state = fitted.state();
    state.family = family;
    match family.kind {
        Kind::Gaussian => {}
        Kind::StudentT { a } => scale_precision(&mut state, a / (a - 1.0)),
        Kind::Snig { lambda } => scale_precision(&mut state, 1.0 + 1.0 / lambda),
        Kind::Skew | Kind::Emg | Kind::Nig { .. } => {
            let (direction, third) = most_skewed(target, &fitted, plan.seed, &mut counts)?;
            shift(&mut state, &fitted, &direction, third);
        }
        Kind::RankK { rank } => add_factors(&mut state, &fitted, rank, plan.seed),
        Kind::Mog { components } => spread(&mut state, &fitted, components, plan.seed),
        // The mixture grows from one component.
        Kind::MogAuto => state.family.kind = Kind::Mog { components: 1 },
    }
    Ok((AnyApproximation::from_state(&state)?, counts))
}

/// P ← c P.
fn scale_precision(state: &mut State, c: f64) {
    state.blocks[0].precision.iter_mut().for_each(|p| *p *= c);
}

/// K components drawn evenly from the Gaussian, each narrower so that the mixture keeps its covariance.
fn spread<S: ScaleMatrix>(state: &mut State, gaussian: &Gaussian<S>, components: usize, seed: u64) {
    /// Share of the variance that lies between components.
    const BETWEEN: f64 = 0.4;
    let block = gaussian.block();
    let d = block.dim();
    let between = if components == 1 { 0.0 } else { BETWEEN };
    let mut eps = vec![0.0; d * components];
    let mut stream = Stream::open(seed, Purpose::Start, 0, 0);
    SobolNormals::new(d, components).fill_normal(0..d, &mut stream, &mut eps);
    block.scale().unwhiten(&mut eps);
    let precision: Vec<f64> = block.scale().precision().iter().map(|p| p / (1.0 - between)).collect();
    let blocks = eps.chunks_exact(d).map(|offset| {
        let mut b = block.column(0).to_vec();
        axpy(between.sqrt(), offset, &mut b);
        BlockState { b, precision: precision.clone() }
    });
    state.blocks = blocks.collect();
    state.log_weights = vec![-(components as f64).ln(); components];
}

/// Small random columns of A: at A = 0 the expected natural gradient in A vanishes (spec 03 §3.5).
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

/// The unit direction x in which the target is most skewed, in coordinates whitened by the Gaussian, and its third cumulant there.
///
/// To first order in h = log q − log p the third cumulant tensor of the target is T = −E[∇³h], and by integration by parts
/// T(u, u, ·) = E[((uᵀx)² − 1)(−∇h)], so that gradients suffice; u ← T(u, u, ·)/|T(u, u, ·)| climbs to a maximum of T(u, u, u).
fn most_skewed<S: ScaleMatrix>(
    target: &dyn Target,
    gaussian: &Gaussian<S>,
    seed: u64,
    counts: &mut Counts,
) -> Result<(Vec<f64>, f64), Error> {
    const DRAWS: usize = 1024;
    const CLIMBS: usize = 8;
    const ITERATIONS: usize = 30;
    let d = gaussian.dim();
    let draw_plan = DrawPlan { noise: Noise::QuasiMonteCarlo, ..DrawPlan::independent(DRAWS) };
    let (mut work, mut batch): (_, Batch) = (gaussian.work(&draw_plan), gaussian.batch(&draw_plan));
    gaussian.draw(seed, Purpose::Start, 1, &mut work, &mut batch);
    let mut evaluations = Evaluations::new(d, DRAWS);
    target.evaluate(batch.draws.view(), Rows::All, &mut evaluations)?;
    counts.log_density += DRAWS as u64;
    counts.gradient += DRAWS as u64;

    let scale = gaussian.block().scale();
    let (mut x, mut pull) = (vec![0.0; d * DRAWS], evaluations.grads().to_vec());
    let mut offset = batch.draws.view().as_slice().to_vec();
    if let Prior::Gaussian { precision, leading } = target.prior() {
        for (pull, z) in pull.chunks_exact_mut(d).zip(offset.chunks_exact(d)) {
            axpy(-precision, &z[..leading], &mut pull[..leading]);
        }
    }
    offset.chunks_exact_mut(d).for_each(|z| axpy(-1.0, gaussian.block().column(0), z));
    scale.whiten(&offset, &mut x);
    scale.whiten_gradient(&mut pull);
    axpy(1.0, &x, &mut pull);

    let contract = |u: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        for (x, pull) in x.chunks_exact(d).zip(pull.chunks_exact(d)) {
            let along = dot(u, x);
            let weight = (along * along - 1.0) / DRAWS as f64;
            if pull.iter().all(|v| v.is_finite()) {
                axpy(weight, pull, out);
            }
        }
    };
    let mut stream = Stream::open(seed, Purpose::Start, 2, 0);
    let mut best = (vec![0.0; d], 0.0);
    best.0[0] = 1.0;
    let (mut u, mut next) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..CLIMBS {
        stream.fill_normal(&mut u);
        normalise(&mut u);
        for _ in 0..ITERATIONS {
            contract(&u, &mut next);
            if !normalise(&mut next) {
                break;
            }
            u.copy_from_slice(&next);
        }
        contract(&u, &mut next);
        let third = dot(&u, &next);
        if third > best.1 {
            best = (u.clone(), third);
        }
    }
    Ok(best)
}

fn normalise(u: &mut [f64]) -> bool {
    let norm = dot(u, u).sqrt();
    if !(norm > 0.0 && norm.is_finite()) {
        return false;
    }
    u.iter_mut().for_each(|v| *v /= norm);
    true
}

/// Gives the family a shift along `direction` with about this third cumulant, at the mean and covariance of the Gaussian.
fn shift<S: ScaleMatrix>(state: &mut State, gaussian: &Gaussian<S>, direction: &[f64], third: f64) {
    use std::f64::consts::PI;
    /// α = 0 is a stationary point of the expected flow (spec 03 §3.5), so a shift is never smaller than this.
    const SMALLEST: f64 = 0.2;
    /// Largest share of the variance along α that the mixing may explain.
    const LARGEST_SHARE: f64 = 0.6;
    // Mean and variance of u, and the length |α| (whitened) that gives the third cumulant; s̄ = 1 in all three families.
    let (mean_u, var_u, length) = match state.family.kind {
        Kind::Skew => {
            let c = (2.0 / PI).sqrt();
            (c, 1.0 - c * c, (third / (c * (4.0 / PI - 1.0))).cbrt())
        }
        Kind::Nig { lambda } => (1.0, 1.0 / lambda, third * lambda / 3.0),
        _ => (1.0, 1.0, (0.5 * third).cbrt()),
    };
    let length = length.max(SMALLEST).min((LARGEST_SHARE / var_u).sqrt());
    let scale = gaussian.block().scale();
    let d = scale.dim();
    let (mut alpha, mut v) = (direction.iter().map(|u| length * u).collect::<Vec<_>>(), vec![0.0; d]);
    scale.factor_times(&alpha, &mut v);
    // (Σ − Var(u) ααᵀ)⁻¹ = P + Var(u)/(1 − Var(u) κ) Pα(Pα)ᵀ; a diagonal keeps each coordinate's variance instead.
    let block = &mut state.blocks[0];
    match S::COVARIANCE {
        Covariance::Full => S::add_outer(var_u / (1.0 - var_u * length * length), &v, &mut block.precision),
        Covariance::Diagonal => {
            block.precision.iter_mut().zip(&alpha).for_each(|(p, a)| *p /= 1.0 - var_u * a * a);
        }
    }
    scale.unwhiten(&mut alpha);
    axpy(-mean_u, &alpha, &mut block.b);
    block.b.extend_from_slice(&alpha);
}
