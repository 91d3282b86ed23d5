//! The boxes of §4.3 and App. E (skew), App. F (EMG) and of the rank-1 Gaussian.

use elinvar::Family;
use elinvar::block::{Location, Scale};
use elinvar::estimate::MixingWeights;
use elinvar::family::Approximation;
use elinvar::internals::law::{Exponential, HalfNormal};
use elinvar::law::Law;
use elinvar::target::Shape;

use super::*;

/// ∇_αH and ∇_ΣH as App. E prints them, by quadrature.
fn skew_entropy(p: &Matrix, alpha: &[f64]) -> (Vec<f64>, Matrix) {
    let v = p.times_vector(alpha);
    let kappa = dot(alpha, &v);
    let wide = p.inverse().plus(1.0, &outer(alpha, alpha)).inverse();
    let sd = (kappa / (1.0 + kappa)).sqrt();
    let root = (std::f64::consts::TAU * (1.0 + kappa)).sqrt();
    let mean = normal_mean(|x| log_phi(sd * x) / root * (sd * x) / kappa);
    let slope = plus(&wide.times_vector(alpha), -2.0 * mean, &v);
    (slope, wide.scaled(0.5).plus(mean, &outer(&v, &v)))
}

/// The same of App. F, with log Φ for log φ and Σ⁻¹ (correction 16).
fn emg_entropy(p: &Matrix, alpha: &[f64]) -> (Vec<f64>, Matrix) {
    let v = p.times_vector(alpha);
    let kappa = dot(alpha, &v);
    let root = kappa.sqrt();
    let inner = |w: f64| normal_mean(|x| mills(x + w * root - 1.0 / root) * (w + 1.0 / kappa));
    // E over w ~ Exp(1) in w = exp(x − e^{−x}), whose integrand falls doubly exponentially.
    let h = 1.0 / 32.0;
    let term = |x: f64| {
        let w = (x - (-x).exp()).exp();
        h * w * (1.0 + (-x).exp()) * (-w).exp() * inner(w)
    };
    let mean: f64 = (-130..=130).map(|k| term(f64::from(k) * h)).sum();
    let e = 1.0 / kappa + 1.0 / (kappa * kappa) - mean / root;
    (v.iter().map(|v| e * v).collect(), p.scaled(0.5).plus(-0.5 * e, &outer(&v, &v)))
}

pub(super) fn start(family: Family) -> Approximation {
    let scale = Scale::from_precision(Shape::Full(DIM), precision(0).entries).unwrap();
    Approximation::single(family, Location::new([location(0), shift()].concat(), scale).unwrap()).unwrap()
}

/// A family with its law and its u(w).
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) family: Family,
    pub(super) law: Law,
    u: fn(f64) -> f64,
}

impl Case {
    pub(super) fn is_skew(&self) -> bool {
        self.family == Family::skew()
    }

    pub(super) fn u(&self, w: f64) -> f64 {
        (self.u)(w)
    }

    /// u(z) and v of option II, from (z − μ)ᵀPα and κ.
    pub(super) fn option_two(&self, along: f64, kappa: f64) -> (f64, f64) {
        if self.is_skew() {
            (along / (1.0 + kappa), (2.0 / std::f64::consts::PI).sqrt() / (1.0 + kappa))
        } else {
            ((along - 1.0) / kappa, 1.0 / kappa)
        }
    }

    /// ∇_αH and ∇_ΣH.
    pub(super) fn entropy(&self, p: &Matrix, alpha: &[f64]) -> (Vec<f64>, Matrix) {
        if self.is_skew() { skew_entropy(p, alpha) } else { emg_entropy(p, alpha) }
    }

    /// x for μ and y for α become (x − cy)/(1 − c²) and (y − cx)/(1 − c²) in the boxes of the skew-Gaussian, 2x − y and
    /// y − x in those of the EMG.
    pub(super) fn combined(&self, x: &[f64], y: &[f64]) -> [Vec<f64>; 2] {
        let scaled = |by: f64, x: &[f64]| x.iter().map(|x| by * x).collect::<Vec<_>>();
        if self.is_skew() {
            let c = (2.0 / std::f64::consts::PI).sqrt();
            let bar = 1.0 / (1.0 - c * c);
            [plus(&scaled(bar, x), -bar * c, y), plus(&scaled(bar, y), -bar * c, x)]
        } else {
            [plus(&scaled(2.0, x), -1.0, y), plus(y, -1.0, x)]
        }
    }
}

pub(super) fn cases() -> [Case; 2] {
    [
        Case { family: Family::skew(), law: HalfNormal.into(), u: f64::abs },
        Case { family: Family::emg(), law: Exponential.into(), u: |w| w },
    ]
}

/// Where a step begins, and its number.
pub(super) struct At {
    pub(super) p: Matrix,
    pub(super) mu: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    pub(super) step: u64,
}

impl At {
    pub(super) fn first() -> Self {
        Self { p: precision(0), mu: location(0), alpha: shift(), step: 0 }
    }

    /// g_μ, g_α without its entropy and g₃, averaged over the draws, of these items.
    pub(super) fn terms(
        &self,
        items: &Items,
        rows: &[usize],
        case: &Case,
        weights: MixingWeights,
    ) -> (Vec<f64>, Vec<f64>, Matrix) {
        let (w, eps) = noise_of_step(case.law, DRAWS, self.step);
        let v = self.p.times_vector(&self.alpha);
        let kappa = dot(&self.alpha, &v);
        let (mut g1, mut g2, mut g3) = (vec![0.0; DIM], vec![0.0; DIM], Matrix::zeros(DIM, DIM));
        let share = 1.0 / DRAWS as f64;
        for s in 0..DRAWS {
            let hat = plus(&self.mu, 1.0, &unwhitened(&self.p, &eps[s]));
            let z = plus(&hat, case.u(w[s]), &self.alpha);
            let (_, gradient, hessian) = items.sum(rows, &z);
            g1 = plus(&g1, share, &gradient);
            g3 = g3.plus(share, &hessian);
            g2 = match weights {
                MixingWeights::Sampled => plus(&g2, share * case.u(w[s]), &gradient),
                _ => {
                    let (u_z, v_0) = case.option_two(dot(&difference(&z, &self.mu), &v), kappa);
                    plus(&plus(&g2, share * u_z, &gradient), share * v_0, &items.sum(rows, &hat).1)
                }
            };
        }
        (g1, g2, g3)
    }

    /// The boxes at the end of App. E and of App. F, from g_μ, g_α and g_S.
    pub(super) fn box_of(&self, case: &Case, g_mu: &[f64], g_alpha: &[f64], g_s: &Matrix) -> (Matrix, [Column; 2]) {
        let identity = Matrix::diagonal(&[1.0; DIM]);
        let p_new = self.p.scaled(1.0 - BETA).plus(BETA, &identity.scaled(DELTA).plus(1.0, g_s));
        let [of_mu, of_alpha] = case.combined(g_mu, g_alpha);
        let down = |of: &[f64], at: &[f64]| plus(of, DELTA, at).iter().map(|v| -v).collect::<Vec<f64>>();
        let columns = [(self.mu.clone(), down(&of_mu, &self.mu)), (self.alpha.clone(), down(&of_alpha, &self.alpha))];
        (p_new, columns)
    }

    /// The member that the box gives from these items.
    pub(super) fn by_hand(
        &self,
        items: &Items,
        rows: &[usize],
        case: &Case,
        weights: MixingWeights,
    ) -> (Matrix, [Column; 2]) {
        let (g_mu, g2, g3) = self.terms(items, rows, case, weights);
        let (slope, in_sigma) = case.entropy(&self.p, &self.alpha);
        // N g_S and N g_α of the paper: the entropy is shared out over the items.
        let g_s = g3.plus(-2.0, &in_sigma).plus(1.0, &self.p);
        self.box_of(case, &g_mu, &plus(&g2, -1.0, &slope), &g_s)
    }
}

#[test]
fn skew_and_emg_move_by_their_boxes_under_both_options() {
    let items = Items::new();
    let all: Vec<usize> = (0..ROWS).collect();
    for case in cases() {
        for weights in [MixingWeights::Sampled, MixingWeights::Marginal] {
            let what = format!("{} {weights}", case.family);
            let plan = Plan { weights, ..plan() };
            let after = one_step(&items.target(gaussian_prior()), &start(case.family), &plan);
            let (p_new, columns) = At::first().by_hand(&items, &all, &case, weights);
            check_location(&what, &after, &p_new, &columns);
        }
    }
}

/// One item at random: the step is the box of exactly one of them.
#[test]
fn a_single_item_is_scaled_by_their_number() {
    let items = Items::new();
    for case in cases() {
        let plan = Plan { minibatch: Some(1), ..plan() };
        let after = one_step(&items.target(gaussian_prior()), &start(case.family), &plan);
        let found = after.locations()[0].scale().precision();
        let is_item = |n: &usize| {
            let expected = At::first().by_hand(&items, &[*n], &case, MixingWeights::Sampled).0.entries;
            difference(found, &expected).iter().all(|off| off.abs() < 1e-11)
        };
        assert_eq!((0..ROWS).filter(is_item).count(), 1, "{}", case.family);
    }
}

/// The rank-1 Gaussian of §4.3, u(w) = w and w ~ N(0, 1), by Theorem 3 with the w of each draw (option I): E[w] = 0 and
/// E[w²] = 1 leave μ and α apart, and the entropy is that of N(μ, Σ + ααᵀ).
#[test]
fn the_rank_one_gaussian_moves_by_theorem_three() {
    let items = Items::new();
    let (p, mu, alpha) = (precision(0), location(0), shift());
    let scale = Scale::from_precision(Shape::Full(DIM), p.entries.clone()).unwrap();
    let block = Location::new([mu.clone(), alpha.clone()].concat(), scale).unwrap();
    let start = Approximation::single(Family::rank_k(1), block).unwrap();
    // Of each draw first w, then ε.
    let mut source = NoiseSource::new(Noise::Independent, 1 + DIM, DRAWS);
    source.begin(SEED, Purpose::Draws, 0, 0);
    let mut normals = vec![0.0; (1 + DIM) * DRAWS];
    source.fill_eps(&mut normals);
    let (mut g1, mut g2, mut g3) = (vec![0.0; DIM], vec![0.0; DIM], Matrix::zeros(DIM, DIM));
    for normals in normals.chunks_exact(1 + DIM) {
        let (w, share) = (normals[0], 1.0 / DRAWS as f64);
        let z = plus(&plus(&mu, w, &alpha), 1.0, &unwhitened(&p, &normals[1..]));
        let (_, gradient, hessian) = items.all(&z);
        (g1, g2, g3) = (plus(&g1, share, &gradient), plus(&g2, share * w, &gradient), g3.plus(share, &hessian));
    }
    // ∇_αH = (Σ + ααᵀ)⁻¹α and 2∇_ΣH = (Σ + ααᵀ)⁻¹.
    let wide = p.inverse().plus(1.0, &outer(&alpha, &alpha)).inverse();
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let p_new = p.plus(BETA, &g3.plus(DELTA, &identity).plus(-1.0, &wide));
    let of_mu: Vec<f64> = plus(&g1, DELTA, &mu).iter().map(|v| -v).collect();
    let of_alpha = plus(&wide.times_vector(&alpha), -1.0, &plus(&g2, DELTA, &alpha));
    let after = one_step(&items.target(gaussian_prior()), &start, &plan());
    check_location("rank_k", &after, &p_new, &[(mu, of_mu), (alpha, of_alpha)]);
}

/// Cov[w | z] for two half-normal numbers by a plain sum over w₁, w₂ > 0, in w = exp(x − e^{−x}).
fn covariance_of_w(gram: [[f64; 2]; 2], t: [f64; 2]) -> [[f64; 2]; 2] {
    let h = 1.0 / 16.0;
    let line: Vec<(f64, f64)> = (-70..=70)
        .map(|k| f64::from(k) * h)
        .map(|x| ((x - (-x).exp()).exp(), (-x).exp()))
        .map(|(w, shrink)| (w, h * w * (1.0 + shrink)))
        .collect();
    let mut sums = [0.0; 6];
    for (a, of_a) in &line {
        for (b, of_b) in &line {
            let square = (1.0 + gram[0][0]) * a * a + 2.0 * gram[0][1] * a * b + (1.0 + gram[1][1]) * b * b;
            let density = of_a * of_b * (t[0] * a + t[1] * b - 0.5 * square).exp();
            for (sum, term) in sums.iter_mut().zip([1.0, *a, *b, a * a, a * b, b * b]) {
                *sum += density * term;
            }
        }
    }
    let [mass, a, b, aa, ab, bb] = sums;
    let (a, b) = (a / mass, b / mass);
    [[aa / mass - a * a, ab / mass - a * b], [ab / mass - a * b, bb / mass - b * b]]
}

/// §4.3 with two directions, u(w) = |w|, by Theorem 3 with the w of each draw: Ω has 2/π off its diagonal, and the
/// slopes of the entropy are PAC and −P + PACAᵀP with C the mean of Cov[w | z] over the draws.
#[test]
fn the_skew_gaussian_in_two_directions_moves_by_theorem_three() {
    let items = Items::new();
    let (p, mu) = (precision(0), location(0));
    let columns = [shift(), shift().iter().rev().map(|v| -0.5 * v).collect::<Vec<f64>>()];
    let scale = Scale::from_precision(Shape::Full(DIM), p.entries.clone()).unwrap();
    let block = Location::new([&mu[..], &columns[0], &columns[1]].concat(), scale).unwrap();
    let start = Approximation::single(Family::skew_k(2), block).unwrap();
    let mut source = NoiseSource::new(Noise::Independent, 2 + DIM, DRAWS);
    source.begin(SEED, Purpose::Draws, 0, 0);
    let mut normals = vec![0.0; (2 + DIM) * DRAWS];
    source.fill_eps(&mut normals);
    let v: Vec<Vec<f64>> = columns.iter().map(|a| p.times_vector(a)).collect();
    let gram = [0, 1].map(|i| [0, 1].map(|j| dot(&columns[i], &v[j])));
    let mut slopes = vec![vec![0.0; DIM]; 3];
    let (mut g3, mut c) = (Matrix::zeros(DIM, DIM), [[0.0; 2]; 2]);
    let share = 1.0 / DRAWS as f64;
    for normals in normals.chunks_exact(2 + DIM) {
        let w = [normals[0].abs(), normals[1].abs()];
        let off = plus(&plus(&unwhitened(&p, &normals[2..]), w[0], &columns[0]), w[1], &columns[1]);
        let (_, gradient, hessian) = items.all(&plus(&mu, 1.0, &off));
        for (slope, loading) in slopes.iter_mut().zip([1.0, w[0], w[1]]) {
            *slope = plus(slope, -share * loading, &gradient);
        }
        g3 = g3.plus(share, &hessian);
        let own = covariance_of_w(gram, [dot(&v[0], &off), dot(&v[1], &off)]);
        (0..4).for_each(|k| c[k % 2][k / 2] += share * own[k % 2][k / 2]);
    }
    let spread = [0, 1].map(|j: usize| plus(&v[0].iter().map(|v| c[j][0] * v).collect::<Vec<_>>(), c[j][1], &v[1]));
    let identity = Matrix::diagonal(&[1.0; DIM]);
    let entropy = outer(&v[0], &spread[0]).plus(1.0, &outer(&v[1], &spread[1]));
    let p_new = p.plus(BETA, &g3.plus(DELTA, &identity).plus(-1.0, &p).plus(1.0, &entropy));
    for (slope, spread) in slopes[1..].iter_mut().zip(&spread) {
        *slope = plus(slope, 1.0, spread);
    }
    // Ω⁻¹ = [[1 + 2c²/v, −c/v, −c/v], [−c/v, 1/v, 0], [−c/v, 0, 1/v]] with c = E[w] and v = Var[w]; −δB is left of the
    // prior.
    let mean = (2.0 / std::f64::consts::PI).sqrt();
    let variance = 1.0 - mean * mean;
    let along = |j: usize, column: &[f64]| {
        let direction = if j == 0 {
            let both = plus(&slopes[1], 1.0, &slopes[2]);
            let own: Vec<f64> = slopes[0].iter().map(|s| s * (1.0 + 2.0 * mean * mean / variance)).collect();
            plus(&own, -mean / variance, &both)
        } else {
            plus(&slopes[j], -mean, &slopes[0]).iter().map(|s| s / variance).collect()
        };
        (column.to_vec(), plus(&direction, -DELTA, column))
    };
    let after = one_step(&items.target(gaussian_prior()), &start, &plan());
    let moved = [along(0, &mu), along(1, &columns[0]), along(2, &columns[1])];
    check_location("skew_k", &after, &p_new, &moved);
}
