//! Checks 8 and 9: the conjugate model is solved in one step, and affine maps commute with the iteration.

use elinvar::block::ScaleMatrix;
use elinvar::estimate::Curvature;
use elinvar::family::State;
use elinvar::random::Noise;
use elinvar::rule::{Rule, StepSize};
use elinvar::run::Run;
use elinvar::special::logistic::{log1p_exp, logistic_variance, sigmoid};
use elinvar::target::{
    Contraction, CurvatureMut, Draws, Evaluations, Prior, Rows, Scratch, SecondOrder, Target, TargetError, from_fns,
};
use elinvar::{Plan, model};

use crate::differences::close;
use crate::members::{self, Full, Member, full_precision};

/// A likelihood with a declared prior N(0, I/δ).
struct WithPrior<T> {
    likelihood: T,
    precision: f64,
}

impl<T: SecondOrder> Target for WithPrior<T> {
    fn dim(&self) -> usize {
        self.likelihood.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        self.likelihood.evaluate(draws, rows, out)
    }

    fn prior(&self) -> Prior {
        Prior::Gaussian { precision: self.precision, leading: self.dim() }
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        Some(self)
    }
}

impl<T: SecondOrder> SecondOrder for WithPrior<T> {
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.likelihood.contract(draws, rows, contraction, scratch, out)
    }
}

fn plan(rule: Rule, beta: f64) -> Plan {
    Plan {
        n_draws: 2,
        noise: Noise::Antithetic,
        rule,
        step_size: StepSize::Constant(beta),
        mixing_step_size: StepSize::Constant(beta),
        max_kl: None,
        ..Plan::default()
    }
}

/// Check 8: likelihood N(m, Λ⁻¹), prior N(0, I/δ), any start whose precision is at most 20 times the posterior's (the margin of the
/// plain rule): one step of size 1 lands on precision Λ + δI and mean (Λ + δI)⁻¹Λm, whatever the two draws were.
#[test]
fn one_step_solves_the_conjugate_model() {
    for seed in 0..20 {
        let d = 1 + (seed % 5) as usize;
        let stream = &mut members::stream(100 + seed);
        let (lambda, mean, delta) = (members::positive_definite(stream, d), members::normals(stream, d), 0.8);
        let mut posterior = lambda.clone();
        (0..d).for_each(|i| posterior[i * d + i] += delta);
        let mut expected: Vec<f64> = (0..d).map(|i| (0..d).map(|j| lambda[j * d + i] * mean[j]).sum()).collect();
        Full::from_precision(d, posterior.clone()).unwrap().solve(&mut expected);
        let target = WithPrior { likelihood: model::Gaussian::new(mean, lambda).unwrap(), precision: delta };
        let start = members::mixture::<_, Full>(members::PointMass, d, 200 + seed);
        let mut run = Run::new(&target, start, &plan(Rule::NaturalGradient, 1.0)).unwrap();
        assert_eq!(run.step().unwrap().taken, 1.0);
        close("precision", run.q().block().scale().precision(), &posterior, 1e-10);
        close("mean", run.q().block().b(), &expected, 1e-10);
    }
}

/// A smooth target in the plane that is not Gaussian: value, gradient, Hessian.
fn bent(z: [f64; 2]) -> (f64, [f64; 2], [f64; 4]) {
    let directions = [([1.2, -0.7], 0.3), ([-0.4, 1.5], -0.6), ([-0.9, -1.1], 0.2)];
    let mut out = (-0.05 * (z[0] * z[0] + z[1] * z[1]), [-0.1 * z[0], -0.1 * z[1]], [-0.1, 0.0, 0.0, -0.1]);
    for (x, offset) in directions {
        let t = x[0] * z[0] + x[1] * z[1] + offset;
        out.0 -= 2.0 * log1p_exp(t);
        for i in 0..2 {
            out.1[i] -= 2.0 * sigmoid(t) * x[i];
            for j in 0..2 {
                out.2[2 * j + i] -= 2.0 * logistic_variance(t) * x[i] * x[j];
            }
        }
    }
    out
}

/// z ↦ Az + b with an upper triangular A of positive diagonal: then A⁻ᵀL is again a lower triangular factor, so that the same
/// noise makes the transformed draws.
struct Affine {
    a: [f64; 4],
    b: [f64; 2],
}

const MAP: Affine = Affine { a: [2.5, 0.0, 1.7, 0.3], b: [40.0, -3.0] };

impl Affine {
    fn apply(&self, z: &[f64], offset: f64) -> [f64; 2] {
        let a = &self.a;
        [a[0] * z[0] + a[2] * z[1] + offset * self.b[0], a[3] * z[1] + offset * self.b[1]]
    }

    /// A⁻¹(z − b).
    fn undo(&self, z: &[f64]) -> [f64; 2] {
        let second = (z[1] - self.b[1]) / self.a[3];
        [(z[0] - self.b[0] - self.a[2] * second) / self.a[0], second]
    }

    /// A⁻ᵀ g.
    fn gradient(&self, g: &[f64]) -> [f64; 2] {
        let first = g[0] / self.a[0];
        [first, (g[1] - self.a[2] * first) / self.a[3]]
    }

    /// A⁻ᵀ H A⁻¹.
    fn form(&self, h: &[f64]) -> [f64; 4] {
        let columns = [self.gradient(&h[..2]), self.gradient(&h[2..])];
        let first = self.gradient(&[columns[0][0], columns[1][0]]);
        let second = self.gradient(&[columns[0][1], columns[1][1]]);
        [first[0], second[0], first[1], second[1]]
    }

    fn state(&self, state: &mut State) {
        for block in &mut state.blocks {
            for (j, column) in block.b.chunks_exact_mut(2).enumerate() {
                let moved = self.apply(column, if j == 0 { 1.0 } else { 0.0 });
                column.copy_from_slice(&moved);
            }
            block.precision = self.form(&block.precision).to_vec();
        }
    }
}

/// Check 9: the run on the transformed model is the transformed run.
fn equivariant<Q: Member>(q: &Q, rule: Rule, curvature: Curvature, max_kl: Option<f64>) {
    let write = |(value, grad, _): (f64, [f64; 2], [f64; 4]), out: &mut [f64]| {
        out.copy_from_slice(&grad);
        value
    };
    let plain = from_fns(
        2,
        |z: &[f64], grad: &mut [f64]| write(bent([z[0], z[1]]), grad),
        |z: &[f64], out: &mut [f64]| out.copy_from_slice(&bent([z[0], z[1]]).2),
    );
    let moved = from_fns(
        2,
        |z: &[f64], grad: &mut [f64]| {
            let (value, gradient, _) = bent(MAP.undo(z));
            grad.copy_from_slice(&MAP.gradient(&gradient));
            value
        },
        |z: &[f64], out: &mut [f64]| out.copy_from_slice(&MAP.form(&bent(MAP.undo(z)).2)),
    );
    let plan = Plan { n_draws: 8, noise: Noise::Independent, curvature, max_kl, ..plan(rule, 0.2) };
    let mut one = Run::new(&plain, q.clone(), &plan).unwrap();
    let mut two = Run::new(&moved, q.with(|state| MAP.state(state)), &plan).unwrap();
    for step in 0..15 {
        let (first, second) = (one.step().unwrap(), two.step().unwrap());
        assert!(first.taken > 0.0 && (first.taken / second.taken - 1.0).abs() < 1e-6, "{}: step {step}", q.name());
        let shift = first.elbo.unwrap() - second.elbo.unwrap() + (MAP.a[0] * MAP.a[3]).ln();
        assert!(shift.abs() < 1e-7, "{}: the bound differs by {shift}", q.name());
        let expected = one.q().with(|state| MAP.state(state)).state();
        let found = two.q().state();
        for (c, (found_block, expected_block)) in found.blocks.iter().zip(&expected.blocks).enumerate() {
            close(&format!("{} step {step}: B", q.name()), &found_block.b, &expected_block.b, 1e-8);
            close(
                &format!("{} step {step}: P", q.name()),
                &full_precision(&found, c),
                &full_precision(&expected, c),
                1e-8,
            );
        }
        for (found, expected) in found.log_weights.iter().zip(&expected.log_weights) {
            assert!((found - expected).abs() < 1e-8, "{} step {step}: log π", q.name());
        }
    }
}

#[test]
fn affine_maps_commute_with_every_rule_and_estimator() {
    for rule in [Rule::NaturalGradient, Rule::Retraction] {
        every_member!(full equivariant(2, 90, rule, Curvature::Hessian, None));
        every_member!(full equivariant(2, 91, rule, Curvature::Stein { control_variate: true }, None));
        every_member!(full equivariant(2, 92, rule, Curvature::Hessian, Some(0.05)));
    }
}
