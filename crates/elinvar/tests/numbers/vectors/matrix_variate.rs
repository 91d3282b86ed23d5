//! `matrix_variate.json` and the tensors of `beyond.json`: density, entropy, expectation parameters and steps.

use elinvar::block::{Scale, Tensor};
use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, MatrixUpdate};
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, NoiseKey, Scratch, Seen, StepRequest};
use elinvar::rule::Rule;
use elinvar::target::{Answer, Prior, Shape};
use elinvar::theory::Multilinear;
use serde_json::Value;

use super::compare::{CLOSED_FORM, STEP, close};
use super::dense::Matrix;
use super::json::{given, list, matrices, matrix, number, read, vector};

/// N(W, V_K ⊗ … ⊗ V_1).
fn gaussian(w: &[f64], v: &[Matrix], update: MatrixUpdate) -> Approximation {
    let factor =
        |v: &Matrix| Scale::from_precision(Shape::Full(v.rows), v.inverse().entries).expect("positive definite");
    let group = Tensor::new(w.to_vec(), v.iter().map(factor).collect()).expect("a group");
    Approximation::tensors_of(vec![group], update).expect("a layout")
}

/// The step from W with the gradient G = ∇ℓ of one item: every way to say the same curvature.
struct Step<'a> {
    w: &'a [f64],
    v: &'a [Matrix],
    g: &'a [f64],
    beta: f64,
    prior: Prior,
}

/// The lower triangle of a matrix column by column, off-diagonal entries doubled.
fn dual(m: &Matrix) -> Vec<f64> {
    let entry = |i: usize, j: usize| if i == j { m.at(i, j) } else { 2.0 * m.at(i, j) };
    (0..m.cols).flat_map(|j| (j..m.rows).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect()
}

impl Step<'_> {
    /// The state after a step with this source of curvature.
    fn taken(&self, update: MatrixUpdate, curvature: Curvature, rule: Rule) -> Approximation {
        let mut q = gaussian(self.w, self.v, update);
        let d = q.dim();
        let plan = DrawPlan { curvature, ..DrawPlan::independent(1) };
        let mut work = q.estimator(&plan);
        let mut batch = work.batch(&q);
        work.draw(&q, NoiseKey { seed: 3, purpose: elinvar::random::Purpose::Draws, step: 0 }, &mut batch);
        assert!(work.weigh(&q, &batch));
        let mut evaluations = Answer::new(d, batch.draws.len());
        let grad: Vec<f64> = if update == MatrixUpdate::PaperLiteral {
            // There G is ∇h = ∇log q − ∇log p at the draw.
            let mut score = vec![0.0; d];
            q.score(batch.draws.get(0), &mut score);
            score.iter().zip(self.g).map(|(score, g)| score - g).collect()
        } else {
            self.g.iter().map(|g| -g).collect()
        };
        evaluations.grad_mut(0).copy_from_slice(&grad);
        let mut contracted = vec![0.0; q.curvature_len(curvature)];
        match curvature {
            Curvature::ItemGradients => work.add_item_gradients(&q, 0, &grad, &mut contracted),
            Curvature::Hessian => {
                contracted.iter_mut().enumerate().for_each(|(k, h)| *h = -self.g[k % d] * self.g[k / d]);
            }
            _ => {}
        }
        let mut gradient = q.zero_gradient();
        assert!(work.gradient(
            &q,
            &Seen { evaluations: &evaluations, curvature: &contracted, prior: &self.prior, batch: &batch },
            0.0,
            &mut gradient
        ));
        let request = StepRequest { rule, beta: self.beta, mixing_beta: self.beta, max_kl: None };
        assert_eq!(q.advance(&gradient, request, &mut Scratch::new(&q)).smallest, self.beta);
        q
    }

    fn check(&self, label: &str, q: &Approximation, w: &[f64], factors: &[Matrix]) {
        let group = &q.tensors()[0];
        close(&format!("{label}: W"), group.w(), w, 0.0, STEP);
        for (j, (found, expected)) in group.factors().iter().zip(factors).enumerate() {
            close(&format!("{label}: P{}", j + 1), found.precision(), &expected.entries, 0.0, STEP);
        }
    }
}

const SOURCES: [Curvature; 3] = [Curvature::ItemGradients, Curvature::Hessian, Curvature::GradientOuterProduct];

fn check_density(label: &str, q: &Approximation, z: &[f64], case: &Value) {
    close(&format!("{label}: log q"), &[q.log_density(z)], &[number(case, "log_density")], 1.0, CLOSED_FORM);
    let entropy = q.entropy().expect("it has one");
    close(&format!("{label}: entropy"), &[entropy], &[number(case, "entropy")], 1.0, CLOSED_FORM);
}

fn prior(case: &Value, leading: usize) -> Prior {
    Prior::Gaussian { precision: number(case, "prior_precision"), leading }
}

#[test]
fn matrices_by_rows_and_columns() {
    for (i, case) in list(&read("matrix_variate.json"), "cases").iter().enumerate() {
        let label = format!("case {i}");
        let (w, v) = (matrix(case, "W"), [matrix(case, "U"), matrix(case, "V")]);
        let q = gaussian(&w.entries, &v, MatrixUpdate::Blockwise);
        check_density(&label, &q, &matrix(case, "Z").entries, case);
        close(&format!("{label}: M1"), &q.expectation_block(0), &matrix(case, "M1").entries, 0.0, CLOSED_FORM);
        close(&format!("{label}: M2"), &q.expectation_block(1), &dual(&matrix(case, "M2")), 0.0, CLOSED_FORM);
        close(&format!("{label}: M3"), &q.expectation_block(2), &dual(&matrix(case, "M3")), 0.0, CLOSED_FORM);

        let (g, beta) = (matrix(case, "G"), number(case, "beta"));
        let step = Step { w: &w.entries, v: &v, g: &g.entries, beta, prior: prior(case, w.entries.len()) };
        let of = |name: &str| {
            let listed = given(case, name).unwrap_or_else(|| panic!("there is no step `{name}`"));
            (matrix(listed, "W").entries, [matrix(listed, "U_inv"), matrix(listed, "V_inv")])
        };
        for source in SOURCES {
            for (rule, name) in [(Rule::NaturalGradient, "corrected_step"), (Rule::Retraction, "improved_step")] {
                let (w_new, p_new) = of(name);
                let found = step.taken(MatrixUpdate::Blockwise, source, rule);
                step.check(&format!("{label}, {name} by {source}"), &found, &w_new, &p_new);
            }
        }
        let (w_new, p_new) = of("paper_step");
        let literal = Step { prior: Prior::None, ..step };
        for rule in [Rule::NaturalGradient, Rule::Retraction] {
            let found = literal.taken(MatrixUpdate::PaperLiteral, Curvature::GradientOuterProduct, rule);
            literal.check(&format!("{label}, paper_step"), &found, &w_new, &p_new);
        }
    }
}

#[test]
fn tensors() {
    for (i, case) in list(&read("beyond.json"), "tensor").iter().enumerate() {
        let label = format!("tensor {i}");
        let (w, v, g) = (vector(case, "W"), matrices(case, "V"), vector(case, "G"));
        let q = gaussian(&w, &v, MatrixUpdate::Blockwise);
        check_density(&label, &q, &vector(case, "Z"), case);
        let step = Step { w: &w, v: &v, g: &g, beta: number(case, "beta"), prior: prior(case, w.len()) };
        for source in SOURCES {
            let found = step.taken(MatrixUpdate::Blockwise, source, Rule::NaturalGradient);
            let label = format!("{label} by {source}");
            step.check(&label, &found, &vector(case, "W_new"), &matrices(case, "V_inv_new"));
        }
    }
}
