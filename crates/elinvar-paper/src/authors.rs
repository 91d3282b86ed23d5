//! The iteration of the paper and of its authors' program for mixtures of Gaussians (mathematics §1.4), on our own
//! families and targets.

use elinvar::Error;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::estimate::{Curvature, MixingWeights, Sampling, ShapeEstimator};
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{
    Batch, DrawPlan, Estimator as _, GaussianMixtureEstimator, Scratch, Seen, StepRequest,
};
use elinvar::random::{Noise, Purpose, Stream};
use elinvar::rule::Rule;
use elinvar::target::{Answer, Ask, Shape, Target, Want};

/// Settings of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Program {
    /// S, the draws of an iteration from the mixture as a whole.
    pub(crate) draws: usize,
    /// β of the components.
    pub(crate) beta: f64,
    /// The step of the weights is this times β.
    pub(crate) weight_factor: f64,
    /// c of the entropy bonus ρ_t ≈ c/t of the weights.
    pub(crate) entropy_bonus: Option<f64>,
    /// Whether h less its mean in the iteration before moves the weights, rather than h.
    pub(crate) subtracts_mean: bool,
    /// Number of iterations.
    pub(crate) steps: u64,
}

impl Program {
    /// ρ_t of iteration t = 1, 2, …: c (1 − γ)/(1 − γᵗ) with γ = 1 − 10⁻⁸, that is about c/t.
    fn bonus(&self, t: u64) -> f64 {
        const ONE_MINUS_GAMMA: f64 = 1e-8;
        let decay = -f64::exp_m1(t as f64 * (-ONE_MINUS_GAMMA).ln_1p());
        self.entropy_bonus.map_or(0.0, |c| c * ONE_MINUS_GAMMA / decay)
    }

    /// Runs from `start`. One β for all components, halved until every precision stays positive definite; the weights
    /// keep the share 1 − ρ_t β_π, clamped to [0, 1], of their natural parameters (the program itself lets it be
    /// negative at first).
    pub(crate) fn run(&self, target: &dyn Target, start: Approximation, seed: u64) -> Result<Approximation, Error> {
        let about = target.about();
        if !about.offers.hessian {
            return Err(Error::Unsupported {
                wanted: "the authors' program on a target without second derivatives".into(),
                instead: "use a default fit".into(),
            });
        }
        let mut q = start;
        let (d, k) = (q.dim(), q.locations().len());
        let plan = DrawPlan {
            n_draws: 1,
            noise: Noise::Independent,
            sampling: Sampling::Mixture,
            curvature: Curvature::Hessian,
            weights: MixingWeights::Conditional,
            shape: ShapeEstimator::Exact,
            printed: None,
            pathwise: false,
        };
        let mut estimator = GaussianMixtureEstimator::new(&q, &plan);
        let (mut scratch, mut batch) = (Scratch::new(&q), Batch::new(d, self.draws, 0, 0));
        let mut evaluations = Answer::new(d, self.draws);
        let mut gradient = q.zero_gradient();
        let (mut labels, mut eps) = (vec![0u32; self.draws], vec![0.0; d * self.draws]);
        let prior = &about.prior;
        let (mut next, mut baseline) = (q.clone(), None);
        for t in 1..=self.steps {
            let mut stream = Stream::open(seed, Purpose::Draws, t, 0);
            labels.iter_mut().for_each(|label| *label = component(q.weights(), stream.uniform()));
            // Draws of one component lie together, which costs one triangular solve.
            labels.sort_unstable();
            stream.fill_normal(&mut eps);
            estimator.set_noise(&labels, &eps);
            estimator.place(&q, &mut batch);
            estimator.weigh(&q, &batch);
            evaluations.set_curvature(q.family().covariance, k);
            let want = Want::Hessian(estimator.contraction());
            target.evaluate(&Ask::all(batch.draws.view(), want), &mut evaluations)?;
            // The mean of the iteration before: unbiased, and without it the noise of the weights is that of h itself.
            let (elbo, _) = estimator.elbo(&q, evaluations.log_p(), prior, &batch);
            let subtracted = if self.subtracts_mean { *baseline.get_or_insert(-elbo) } else { 0.0 };
            baseline = Some(-elbo);
            let seen = Seen { evaluations: &evaluations, curvature: evaluations.curvature(), prior, batch: &batch };
            if !estimator.gradient(&q, &seen, subtracted, &mut gradient) {
                continue;
            }
            let mut beta = self.beta;
            loop {
                next.clone_from(&q);
                let mixing_beta = self.weight_factor * beta;
                let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta, max_kl: None };
                let taken = next.advance(&gradient, request, &mut scratch);
                if taken.smallest >= beta || beta < 1e-12 {
                    break;
                }
                beta = taken.smallest.max(0.5 * beta * f64::from(u8::from(taken.smallest == 0.0)));
            }
            let forgotten = (self.bonus(t) * self.weight_factor * beta).min(1.0);
            if forgotten > 0.0 && k > 1 {
                let log = next.weights().log().iter().zip(q.weights().log()).map(|(new, old)| new - forgotten * old);
                next = Approximation::mixture(LogWeights::new(log.collect())?, next.locations().to_vec())?;
            }
            std::mem::swap(&mut q, &mut next);
        }
        Ok(q)
    }
}

/// The component in whose share of (0, 1) the number lies.
fn component(weights: &LogWeights, mut u: f64) -> u32 {
    for c in 0..weights.len() {
        u -= weights.weight(c);
        if u < 0.0 {
            return c as u32;
        }
    }
    weights.len() as u32 - 1
}

/// K equally likely components with μ_c ~ N(0, s²I) and Σ_c = v I.
pub(crate) fn scattered_start(
    dim: usize,
    components: usize,
    sd_of_means: f64,
    variance: f64,
    seed: u64,
) -> Result<Approximation, Error> {
    let mut stream = Stream::open(seed, Purpose::Start, 0, 0);
    let blocks = (0..components).map(|_| {
        let mean = (0..dim).map(|_| sd_of_means * stream.normal()).collect();
        let precision = (0..dim * dim).map(|e| if e % (dim + 1) == 0 { 1.0 / variance } else { 0.0 }).collect();
        Location::new(mean, Scale::from_precision(Shape::Full(dim), precision)?)
    });
    Approximation::mixture(LogWeights::uniform(components), blocks.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::model::GaussianMixture;

    const PROGRAM: Program = Program {
        draws: 6,
        beta: 0.05,
        weight_factor: 0.01,
        entropy_bonus: Some(5e5),
        subtracts_mean: true,
        steps: 400,
    };

    #[test]
    fn the_bonus_falls_like_one_over_t() {
        for t in [1u64, 10, 1_000, 50_000] {
            let expected = 5e5 / t as f64;
            assert!((PROGRAM.bonus(t) / expected - 1.0).abs() < 1e-3, "{t}: {}", PROGRAM.bonus(t));
        }
        assert_eq!(Program { entropy_bonus: None, ..PROGRAM }.bonus(3), 0.0);
    }

    #[test]
    fn two_components_find_two_modes() {
        let target = GaussianMixture::isotropic(2, vec![-4.0, 0.0, 4.0, 1.0]).unwrap();
        let start = scattered_start(2, 2, 3.0, 4.0, 5).unwrap();
        let q = PROGRAM.run(&target, start.clone(), 1).unwrap();
        let mut firsts: Vec<f64> = q.locations().iter().map(|block| block.column(0)[0]).collect();
        firsts.sort_by(f64::total_cmp);
        assert!((firsts[0] + 4.0).abs() < 0.5 && (firsts[1] - 4.0).abs() < 0.5, "{firsts:?}");
        assert_eq!(PROGRAM.run(&target, start, 1).unwrap(), q, "the same seed gives the same bits");
    }
}
