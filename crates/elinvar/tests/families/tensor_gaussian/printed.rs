//! The printed box of the matrix-variate Gaussian, eq. (29) to (31), evaluated here with dense matrices: one step of a
//! run is that box, with its two step sizes.

use std::sync::Mutex;

use elinvar::Plan;
use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, Family, MatrixUpdate};
use elinvar::random::Noise;
use elinvar::rule::{Rule, StepSize};
use elinvar::run::Run;
use elinvar::target::{About, Answer, Ask, Covariance, Draws, Prior, Target, TargetError, Want};

use super::example::{times, transposed};
use crate::subjects::precision;
use crate::subjects::{logistic, numbers};

/// Relative, of the largest entry: algebra in another order.
const ALGEBRA: f64 = 1e-12;
const ROWS: usize = 4;
const COLS: usize = 3;
const SIZE: usize = ROWS * COLS;

/// A target with a prior that keeps the draws it was asked about.
struct Overheard<T> {
    target: T,
    prior: Prior,
    draws: Mutex<Vec<Vec<f64>>>,
}

impl<T: Target> Target for Overheard<T> {
    fn about(&self) -> About {
        About { prior: self.prior.clone(), ..self.target.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.draws.lock().unwrap().extend((0..ask.draws.len()).map(|s| ask.draws.get(s).to_vec()));
        self.target.evaluate(ask, answer)
    }
}

/// Gauss–Jordan, without pivots: the matrices here are positive definite.
fn inverse(a: &[f64]) -> Vec<f64> {
    let n = a.len().isqrt();
    let (mut a, mut out) = (a.to_vec(), vec![0.0; n * n]);
    (0..n).for_each(|i| out[i * n + i] = 1.0);
    for k in 0..n {
        let pivot = a[k * n + k];
        for j in 0..n {
            a[j * n + k] /= pivot;
            out[j * n + k] /= pivot;
        }
        for i in (0..n).filter(|i| *i != k) {
            let share = a[k * n + i];
            for j in 0..n {
                a[j * n + i] -= share * a[j * n + k];
                out[j * n + i] -= share * out[j * n + k];
            }
        }
    }
    out
}

/// W, U⁻¹ and V⁻¹.
#[derive(Clone)]
struct Point {
    w: Vec<f64>,
    u_inv: Vec<f64>,
    v_inv: Vec<f64>,
}

impl Point {
    fn first() -> Self {
        let precision = |n, seed| precision(n, Covariance::Full, seed);
        Self { w: numbers(SIZE, 81), u_inv: precision(ROWS, 4), v_inv: precision(COLS, 9) }
    }

    fn of(q: &Approximation) -> Self {
        let group = &q.tensors()[0];
        let [u_inv, v_inv] = [0, 1].map(|j| group.factors()[j].precision().to_vec());
        Self { w: group.w().to_vec(), u_inv, v_inv }
    }

    fn member(&self) -> Approximation {
        let family = Family::matrix(ROWS, COLS).unwrap().with_update(MatrixUpdate::PaperLiteral);
        let blocks = vec![(self.w.clone(), [&self.u_inv[..], &self.v_inv].concat())];
        Approximation::from_parts(family, SIZE, blocks, vec![0.0]).unwrap()
    }

    /// ∇h(Z) = −∇log p(Z) − U⁻¹(Z − W)V⁻¹.
    fn slope(&self, z: &[f64], grad_log_p: &[f64]) -> Vec<f64> {
        let away: Vec<f64> = z.iter().zip(&self.w).map(|(z, w)| z - w).collect();
        let score = times(&times(&self.u_inv, ROWS, &away), ROWS, &self.v_inv);
        score.iter().zip(grad_log_p).map(|(score, g)| -score - g).collect()
    }

    /// The box at the mean over these slopes, W and the precisions with a step size of their own.
    fn stepped(&self, slopes: &[Vec<f64>], beta_1: f64, beta_2: f64) -> Self {
        let (u, v) = (inverse(&self.u_inv), inverse(&self.v_inv));
        let mut next = self.clone();
        let share = 1.0 / slopes.len() as f64;
        let add = |to: &mut [f64], by: f64, what: &[f64]| to.iter_mut().zip(what).for_each(|(to, x)| *to += by * x);
        for g in slopes {
            let g_transposed = transposed(g, ROWS);
            add(&mut next.w, -share * beta_1, &times(&times(&u, ROWS, g), ROWS, &v));
            add(&mut next.u_inv, share * beta_2, &times(&times(g, ROWS, &v), ROWS, &g_transposed));
            add(&mut next.v_inv, share * beta_2, &times(&times(&g_transposed, COLS, &u), COLS, g));
        }
        next
    }

    fn check(&self, found: &Self, label: &str) {
        let pairs = [(&found.w, &self.w), (&found.u_inv, &self.u_inv), (&found.v_inv, &self.v_inv)];
        for (name, (found, expected)) in ["W", "U⁻¹", "V⁻¹"].into_iter().zip(pairs) {
            let size = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off <= ALGEBRA * size, "{label}, {name}: off by {:e}", off / size);
        }
    }
}

fn plan(n_draws: usize, beta_1: f64, mixing_step_size: StepSize) -> Plan {
    Plan {
        n_draws,
        max_draws: n_draws,
        noise: Noise::Independent,
        curvature: Curvature::GradientOuterProduct,
        rule: Rule::NaturalGradient,
        step_size: StepSize::Constant(beta_1),
        mixing_step_size,
        max_kl: None,
        ..Plan::default()
    }
}

/// A step of a run from the first point, and the slopes of h at its draws.
fn stepped(plan: &Plan, prior_precision: f64) -> (Point, Vec<Vec<f64>>, f64) {
    let prior = Prior::Gaussian { precision: prior_precision, leading: SIZE };
    let target = Overheard { target: logistic(50, SIZE), prior, draws: Mutex::default() };
    let point = Point::first();
    let mut run = Run::new(&target, point.member(), plan).unwrap();
    let taken = run.step().unwrap().taken;
    let found = Point::of(run.q());
    let draws = target.draws.lock().unwrap().clone();
    assert_eq!(draws.len(), plan.n_draws, "the step asks at its draws and nowhere else");
    let mut answer = Answer::new(SIZE, draws.len());
    let all = draws.concat();
    target.target.evaluate(&Ask::all(Draws::new(SIZE, &all), Want::Gradients), &mut answer).unwrap();
    let slope = |(s, z): (usize, &Vec<f64>)| {
        let grad: Vec<f64> = answer.grad(s).iter().zip(z).map(|(g, z)| g - prior_precision * z).collect();
        point.slope(z, &grad)
    };
    (found, draws.iter().enumerate().map(slope).collect(), taken)
}

#[test]
fn one_step_is_the_printed_box_with_two_step_sizes() {
    for (n_draws, beta_1, beta_2) in [(1, 1e-3, 1e-6), (1, 0.1, 0.02), (7, 0.01, 0.3)] {
        let (found, slopes, taken) = stepped(&plan(n_draws, beta_1, StepSize::Constant(beta_2)), 0.4);
        assert_eq!(taken, beta_1, "the whole step");
        let label = format!("{n_draws} draws, β₁ = {beta_1}, β₂ = {beta_2}");
        Point::first().stepped(&slopes, beta_1, beta_2).check(&found, &label);
    }
}

#[test]
fn without_a_second_step_size_the_precisions_take_the_first() {
    let (found, slopes, _) = stepped(&plan(3, 0.05, StepSize::Auto), 1.0);
    Point::first().stepped(&slopes, 0.05, 0.05).check(&found, "one β");
}

/// Where a bound shortens a step, W and the precisions go the same share of their ways.
#[test]
fn a_bound_shortens_both_step_sizes_alike() {
    let bounded = Plan { max_kl: Some(0.01), ..plan(3, 0.5, StepSize::Constant(0.2)) };
    let (found, slopes, taken) = stepped(&bounded, 1.0);
    assert!(taken < 0.25, "the bound is felt: {taken}");
    Point::first().stepped(&slopes, taken, taken * 0.4).check(&found, "bounded");
}
