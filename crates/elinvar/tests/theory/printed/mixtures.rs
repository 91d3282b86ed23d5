//! The boxes of §4.1: eq. (16) for mixtures of Gaussians, App. B.5 for other components, App. C.

use elinvar::Family;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::component::{Component, ComponentKind};
use elinvar::family::Approximation;
use elinvar::internals::Batches as _;
use elinvar::internals::family::{EfMixtureEstimator, Estimator, NoiseKey};
use elinvar::internals::special::gamma::{ln_gamma, trigamma};
use elinvar::internals::special::implicit::gamma_shape_derivative;
use elinvar::random::Stream;
use elinvar::run::Placement;
use elinvar::target::{Pointwise, PointwiseTarget, Shape, Support, TargetError};

use super::*;

/// The component of this kind with these usual parameters.
pub(super) fn member(kind: &str, parameters: [f64; 3]) -> Component {
    ComponentKind::new(kind, None).unwrap().standard().with_parameters(parameters).unwrap()
}

/// The block of a stream from which labels are drawn.
const LABELS: u32 = 1 << 20;

/// A mixture by its numbers.
pub(super) struct Mixture {
    pub(super) weights: Vec<f64>,
    pub(super) means: Vec<Vec<f64>>,
    pub(super) precisions: Vec<Matrix>,
}

/// h, ∇h, ∇²h and δ_c at a point.
pub(super) type AtPoint = (f64, Vec<f64>, Matrix, Vec<f64>);

impl Mixture {
    /// Three components.
    fn of_three() -> Self {
        let (means, precisions) = ((0..3).map(location).collect(), (0..3).map(precision).collect());
        Self { weights: vec![0.5, 0.2, 0.3], means, precisions }
    }

    fn of(q: &Approximation) -> Self {
        let k = q.locations().len();
        let precision = |c: usize| Matrix::from_columns(DIM, q.locations()[c].scale().precision());
        let means = (0..k).map(|c| q.locations()[c].column(0).to_vec()).collect();
        Self {
            weights: q.weights().log().iter().map(|w| w.exp()).collect(),
            means,
            precisions: (0..k).map(precision).collect(),
        }
    }

    fn member(&self) -> Approximation {
        let block = |c: usize| {
            let scale = Scale::from_precision(Shape::Full(DIM), self.precisions[c].entries.clone()).unwrap();
            Location::new(self.means[c].clone(), scale).unwrap()
        };
        let weights = LogWeights::new(self.weights.iter().map(|w| w.ln()).collect()).unwrap();
        Approximation::mixture(weights, (0..self.weights.len()).map(block).collect()).unwrap()
    }

    /// S draws of the mixture as a whole.
    pub(super) fn draws(&self, n: usize, step: u64) -> Vec<Vec<f64>> {
        let mut source = NoiseSource::new(Noise::Independent, DIM, n);
        source.begin(SEED, Purpose::Draws, step, 0);
        let mut eps = vec![0.0; DIM * n];
        source.fill_eps(&mut eps);
        let mut stream = Stream::open(SEED, Purpose::Draws, step, LABELS);
        let mut label = || {
            let u = stream.uniform();
            let below = |c: usize| self.weights[..=c].iter().sum::<f64>() > u;
            (0..self.weights.len()).find(|c| below(*c)).unwrap()
        };
        let place = |eps: &[f64]| {
            let c = label();
            plus(&self.means[c], 1.0, &unwhitened(&self.precisions[c], eps))
        };
        eps.chunks_exact(DIM).map(place).collect()
    }

    pub(super) fn at(&self, items: &Items, z: &[f64]) -> AtPoint {
        let k = self.weights.len();
        let density = |c: usize| {
            let (p, off) = (&self.precisions[c], difference(z, &self.means[c]));
            (0.5 * (p.log_det() - quadratic(&off, p, &off))).exp() / std::f64::consts::TAU.powf(0.5 * DIM as f64)
        };
        let parts: Vec<f64> = (0..k).map(density).collect();
        let q: f64 = parts.iter().zip(&self.weights).map(|(part, weight)| weight * part).sum();
        let delta: Vec<f64> = parts.iter().map(|part| part / q).collect();
        let (mut score, mut hessian) = (vec![0.0; DIM], Matrix::zeros(DIM, DIM));
        for (c, delta) in delta.iter().enumerate() {
            let (r, p) = (self.weights[c] * delta, &self.precisions[c]);
            let a = p.times_vector(&difference(&self.means[c], z));
            score = plus(&score, r, &a);
            hessian = hessian.plus(r, &outer(&a, &a)).plus(-r, p);
        }
        hessian = hessian.plus(-1.0, &outer(&score, &score));
        let (f, g, h) = items.all(z);
        let log_prior = 0.5 * DIM as f64 * (DELTA / std::f64::consts::TAU).ln() - 0.5 * DELTA * dot(z, z);
        let identity = Matrix::diagonal(&[1.0; DIM]);
        let gradient = plus(&plus(&g, DELTA, z), 1.0, &score);
        (q.ln() - log_prior + f, gradient, h.plus(DELTA, &identity).plus(1.0, &hessian), delta)
    }

    /// Eq. (16) from S draws of the whole against a step of the library.
    fn check_step(&self, items: &Items, n: usize, beta: f64) {
        let plan = Plan { seed: SEED, ..Plan::printed(n, beta, 1) };
        let after = one_step(&items.target(gaussian_prior()), &self.member(), &plan);
        let points: Vec<_> = self.draws(n, 0).iter().map(|z| self.at(items, z)).collect();
        let mean = |value: &dyn Fn(&AtPoint) -> f64| points.iter().map(value).sum::<f64>() / n as f64;
        let k = self.weights.len();
        for c in 0..k {
            let (mut g, mut gradient) = (Matrix::zeros(DIM, DIM), vec![0.0; DIM]);
            for (_, first, second, delta) in &points {
                g = g.plus(delta[c] / n as f64, second);
                gradient = plus(&gradient, delta[c] / n as f64, first);
            }
            let p_new = self.precisions[c].plus(beta, &g);
            let moved = plus(&self.means[c], -beta, &p_new.inverse().times_vector(&gradient));
            let block = &after.locations()[c];
            let label = format!("K = {k}, S = {n}, component {c}");
            same(&format!("{label}, P"), block.scale().precision(), &p_new.entries);
            same(&format!("{label}, μ"), block.column(0), &moved);
            let ratio = (self.weights[c] / self.weights[k - 1]).ln() - beta * mean(&|p| (p.3[c] - p.3[k - 1]) * p.0);
            let found = after.weights().log()[c] - after.weights().log()[k - 1];
            assert!((found - ratio).abs() < 1e-12 * (1.0 + ratio.abs()), "{label}, log ratio: {found} {ratio}");
        }
    }
}

/// S = 7 with K = 3, fewer draws than components, and the single draw that eq. (16) is printed with.
#[test]
fn a_mixture_moves_by_equation_16_from_draws_of_the_whole() {
    let items = Items::new();
    for n in [7, 2, 1] {
        Mixture::of_three().check_step(&items, n, BETA);
    }
}

/// The paper's S = 10 draws for K = 20 components, from its start: the numbers of one step, and a run of several.
#[test]
fn fewer_draws_than_components() {
    let items = Items::new();
    let at = Placement { mean: 0.0, sd: 10.0, variance: 100.0 };
    let start = elinvar::run::start_around(Family::mog(20), DIM, at, 3).unwrap();
    Mixture::of(&start).check_step(&items, 10, 1e-3);
    let plan = Plan { seed: SEED, ..Plan::printed(10, 1e-3, 5) };
    let target = items.target(gaussian_prior());
    let last = elinvar::run::fit_from(&target, start, &plan, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(last.trace().last().map(|step| (step.index, step.counts.gradient)), Some((4, 50)));
}

/// A Gamma(3, 2) law: h′ of a mixture q of members is (log q)′ − (log p)′.
pub(super) struct Gamma;

impl PointwiseTarget for Gamma {
    fn dim(&self) -> usize {
        1
    }
    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        grad[0] = 2.0 / z[0] - 2.0;
        Ok(3.0 * 2f64.ln() - 2f64.ln() + 2.0 * z[0].ln() - 2.0 * z[0])
    }
    fn support(&self) -> Support {
        Support::Positive
    }
}

pub(super) fn gamma_target() -> Pointwise<Gamma> {
    Pointwise(Gamma)
}

/// The draws of the first step from a mixture of exponential families.
pub(super) fn drawn(start: &Approximation, n: usize) -> Vec<Vec<f64>> {
    let mut drawn = EfMixtureEstimator::new(start, &Plan::printed(n, BETA, 1).draw_plan(n));
    let mut batch = drawn.batch(start);
    drawn.draw(start, NoiseKey { seed: SEED, purpose: Purpose::Draws, step: 0 }, &mut batch);
    (0..n).map(|s| batch.draws.get(s).to_vec()).collect()
}

/// The same of one coordinate.
pub(super) fn given_draws(start: &Approximation, n: usize) -> Vec<f64> {
    drawn(start, n).concat()
}

/// Two exponential components with their rates and weights, and a number of draws.
pub(super) fn exponentials() -> (Approximation, [f64; 2], [f64; 2], usize) {
    let (rates, pi) = ([0.8, 1.9], [0.6, 0.4]);
    let members: Vec<Component> = rates.iter().map(|r| member("exponential", [*r, 0.0, 0.0])).collect();
    let weights = LogWeights::new(pi.iter().map(|p: &f64| p.ln()).collect()).unwrap();
    (Approximation::ef_mixture(weights, members).unwrap(), rates, pi, 6)
}

/// δ_c, h′ and h at z.
pub(super) fn at_exponentials(rates: &[f64; 2], pi: &[f64; 2], z: f64) -> ([f64; 2], f64, f64) {
    let parts = rates.map(|r| r * (-r * z).exp());
    let q = pi[0] * parts[0] + pi[1] * parts[1];
    let score = -(0..2).map(|c| pi[c] * parts[c] / q * rates[c]).sum::<f64>();
    let log_p = 3.0 * 2f64.ln() - 2f64.ln() + 2.0 * z.ln() - 2.0 * z;
    (parts.map(|part| part / q), score - (2.0 / z - 2.0), q.ln() - log_p)
}

/// App. B.5 with exponential components: ∇_m by F = 1/ρ² and ∂z/∂η = z/ρ, in η = −ρ.
#[test]
fn a_mixture_of_exponential_families_moves_by_its_natural_parameters() {
    let (start, rates, pi, n) = exponentials();
    let points = given_draws(&start, n);
    let plan = Plan { seed: SEED, ..Plan::printed(n, BETA, 1) };
    let after = one_step(&gamma_target(), &start, &plan);
    let mut expected_h = [0.0; 2];
    for (c, rate) in rates.iter().enumerate() {
        let mut gradient = 0.0;
        for z in &points {
            let (delta, slope, h) = at_exponentials(&rates, &pi, *z);
            gradient -= delta[c] * slope * (z / rate) / n as f64;
            expected_h[c] += delta[c] * h / n as f64;
        }
        let moved = -rate + BETA * (rate * rate) * gradient;
        same(&format!("η of {c}"), &after.naturals()[c].coordinates()[0].natural()[..1], &[moved]);
    }
    let ratio = (pi[0] / pi[1]).ln() - BETA * (expected_h[0] - expected_h[1]);
    same("log ratio", &[after.weights().log()[0] - after.weights().log()[1]], &[ratio]);
}

/// App. B.5 with two gamma components, shape a and rate ρ learned: η = (a, −ρ), and z = x/ρ with x ~ Gamma(a, 1) moves
/// with a by the implicit derivative of x.
#[test]
fn a_mixture_of_gamma_laws_moves_by_implicit_gradients() {
    let (laws, pi, n) = ([(2.3, 0.9), (6.1, 1.4)], [0.35f64, 0.65], 6);
    let members = laws.iter().map(|(a, rate)| member("gamma", [*a, *rate, 0.0])).collect();
    let weights = LogWeights::new(pi.iter().map(|p| p.ln()).collect()).unwrap();
    let start = Approximation::ef_mixture(weights, members).unwrap();
    let points = given_draws(&start, n);
    let after = one_step(&gamma_target(), &start, &Plan { seed: SEED, ..Plan::printed(n, BETA, 1) });
    let density = |(a, rate): (f64, f64), z: f64| (a * rate.ln() + (a - 1.0) * z.ln() - rate * z - ln_gamma(a)).exp();
    let mut expected_h = [0.0; 2];
    for (c, (a, rate)) in laws.into_iter().enumerate() {
        let mut gradient = [0.0; 2];
        for z in &points {
            let parts = laws.map(|law| density(law, *z));
            let q = pi[0] * parts[0] + pi[1] * parts[1];
            let score: f64 = (0..2).map(|k| pi[k] * parts[k] / q * ((laws[k].0 - 1.0) / z - laws[k].1)).sum();
            let log_p = 3.0 * 2f64.ln() - 2f64.ln() + 2.0 * z.ln() - 2.0 * z;
            let share = parts[c] / q / n as f64;
            let slope = score - (2.0 / z - 2.0);
            gradient[0] -= share * slope * gamma_shape_derivative(a, rate * z) / rate;
            gradient[1] -= share * slope * z / rate;
            expected_h[c] += share * (q.ln() - log_p);
        }
        // F = (ψ′(a), 1/ρ; 1/ρ, a/ρ²).
        let det = (a * trigamma(a) - 1.0) / (rate * rate);
        let natural = [
            (a / (rate * rate) * gradient[0] - gradient[1] / rate) / det,
            (trigamma(a) * gradient[1] - gradient[0] / rate) / det,
        ];
        let moved = [a + BETA * natural[0], -rate + BETA * natural[1]];
        same(&format!("η of {c}"), &after.naturals()[c].coordinates()[0].natural()[..2], &moved);
    }
    let ratio = (pi[0] / pi[1]).ln() - BETA * (expected_h[0] - expected_h[1]);
    same("log ratio", &[after.weights().log()[0] - after.weights().log()[1]], &[ratio]);
}

/// App. C: one Birnbaum–Saunders law with p = ½, by its explicit derivatives.
#[test]
fn birnbaum_saunders_moves_by_its_natural_parameters() {
    let (mu, v, n) = (1.4, 2.2, 6);
    let member = member("birnbaum_saunders", [mu, v, 0.0]);
    let start = Approximation::ef_mixture(LogWeights::uniform(1), vec![member]).unwrap();
    let points = given_draws(&start, n);
    let after = one_step(&gamma_target(), &start, &Plan { seed: SEED, ..Plan::printed(n, BETA, 1) });
    let mut gradient = [0.0; 2];
    for z in points {
        let score = 1.0 / (mu + z) - 1.5 / z - v / (2.0 * mu * mu) + v / (2.0 * z * z);
        let slope = score - (2.0 / z - 2.0);
        let root = (z / mu).sqrt();
        let (g, k) = (root - 1.0 / root, (root + 1.0 / root) / (2.0 * z));
        gradient[0] -= slope * (z / mu + g / (2.0 * mu * k)) / n as f64;
        gradient[1] += slope * (g / (2.0 * v * k)) / n as f64;
    }
    // ∇_m = (∂m/∂(μ, v))⁻ᵀ ∇_(μ,v) with m = (μ + μ²/(2v), 1/μ + 1/(2v)).
    let jacobian = [[1.0 + mu / v, -0.5 * mu * mu / (v * v)], [-1.0 / (mu * mu), -0.5 / (v * v)]];
    let det = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
    let natural = [
        (jacobian[1][1] * gradient[0] - jacobian[1][0] * gradient[1]) / det,
        (jacobian[0][0] * gradient[1] - jacobian[0][1] * gradient[0]) / det,
    ];
    let moved = [-v / (2.0 * mu * mu) + BETA * natural[0], -0.5 * v + BETA * natural[1]];
    same("η", &after.naturals()[0].coordinates()[0].natural()[..2], &moved);
}
