//! Expectations under a Gaussian, of every target that offers them.

use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Rows, Target, Want};

use crate::conformance::assert_close;
use crate::registered::{Case, cases};
use crate::subjects::numbers;
use crate::tolerance::FD1;

/// Quadrature on both sides.
const QUADRATURE: f64 = 1e-10;
/// Rows summed in another order.
const ROUNDING: f64 = 1e-11;

/// The cases with expectations, each with a mean and a lower root C of a covariance CCᵀ.
fn offered() -> Vec<(Case, Vec<f64>, Vec<f64>)> {
    let found: Vec<_> = cases().into_iter().filter(|case| case.target.about().offers.gaussian_expectation).collect();
    assert!(found.len() > 5, "logistic, Poisson and linear regressions offer expectations");
    let with_gaussian = |case: Case| {
        let d = case.centre.len();
        let mean = numbers(d, 31).iter().zip(&case.centre).map(|(v, c)| c + 0.5 * case.scale * v).collect();
        let entries = numbers(d * d, 32);
        let entry = |at: usize| match (at % d, at / d) {
            (i, j) if i == j => 0.3 + 0.1 * entries[at],
            (i, j) if i > j => 0.3 * entries[at] / d as f64,
            _ => 0.0,
        };
        (case, mean, (0..d * d).map(entry).collect())
    };
    found.into_iter().map(with_gaussian).collect()
}

fn covariance_of(d: usize, root: &[f64]) -> Vec<f64> {
    (0..d * d).map(|at| (0..d).map(|k| root[k * d + at % d] * root[k * d + at / d]).sum()).collect()
}

fn expect(target: &dyn Target, mean: &[f64], rows: Rows<'_>, shape: Covariance, covariance: &[f64]) -> Answer {
    let d = mean.len();
    let mut out = Answer::new(d, 1).with_curvature(shape, 1);
    let want = Want::GaussianExpectation { shape, covariance };
    target.evaluate(&Ask { draws: Draws::new(d, mean), rows, want }, &mut out).unwrap();
    assert!(out.work() >= 1);
    out
}

/// The sums of a trapezoidal rule over a grid in all dimensions.
fn by_grid(target: &dyn Target, mean: &[f64], root: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
    const LAST: i32 = 12;
    const SPACING: f64 = 0.58;
    let d = mean.len();
    let side = 2 * LAST as usize + 1;
    let (mut total, mut value, mut slope, mut bend) = (0.0, 0.0, vec![0.0; d], vec![0.0; d * d]);
    let line = side * side;
    for outer in 0..side.pow(d as u32) / line {
        let (mut z, mut weights) = (Vec::with_capacity(d * line), Vec::with_capacity(line));
        for inner in 0..line {
            let mut rest = outer * line + inner;
            let mut point = mean.to_vec();
            let mut square = 0.0;
            for j in 0..d {
                let u = SPACING * f64::from(rest as i32 % side as i32 - LAST);
                rest /= side;
                square += u * u;
                (0..d).for_each(|i| point[i] += root[j * d + i] * u);
            }
            z.extend(point);
            weights.push((-0.5 * square).exp());
        }
        let mut out = Answer::new(d, line).with_curvature(Covariance::Full, 1);
        let want = Want::Hessian(Contraction::shared(&weights, line));
        target.evaluate(&Ask::all(Draws::new(d, &z), want), &mut out).unwrap();
        for (s, weight) in weights.iter().enumerate() {
            total += weight;
            value += weight * out.log_p()[s];
            slope.iter_mut().zip(out.grad(s)).for_each(|(sum, g)| *sum += weight * g);
        }
        bend.iter_mut().zip(out.curvature()).for_each(|(sum, h)| *sum += h);
    }
    let scaled = |sums: Vec<f64>| sums.into_iter().map(|v| v / total).collect();
    (value / total, scaled(slope), scaled(bend))
}

#[test]
fn expectations_are_those_of_a_grid() {
    for (case, mean, root) in offered().into_iter().filter(|(case, ..)| case.centre.len() <= 4) {
        let covariance = covariance_of(mean.len(), &root);
        let found = expect(&*case.target, &mean, Rows::All, Covariance::Full, &covariance);
        let (value, slope, bend) = by_grid(&*case.target, &mean, &root);
        assert_close(case.name, "E log p", found.log_p(), &[value], QUADRATURE);
        assert_close(case.name, "E∇log p", found.grad(0), &slope, QUADRATURE);
        assert_close(case.name, "E∇²log p", found.curvature(), &bend, QUADRATURE);
    }
}

#[test]
fn expectations_change_by_their_derivatives() {
    // ∂E/∂m = E∇ and ∂E/∂V = ½E∇², the mean and the covariance moving along random directions.
    for (case, mean, root) in offered() {
        let d = mean.len();
        let covariance = covariance_of(d, &root);
        let at = |mean: &[f64], covariance: &[f64]| {
            expect(&*case.target, mean, Rows::All, Covariance::Full, covariance).log_p()[0]
        };
        let found = expect(&*case.target, &mean, Rows::All, Covariance::Full, &covariance);
        let shift = numbers(d, 33);
        let scaling = covariance_of(d, &numbers(d * d, 34));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let moved = |x: &[f64], along: &[f64], h: f64| x.iter().zip(along).map(|(x, v)| x + h * v).collect::<Vec<_>>();
        let (h, k) = (1e-4, 1e-4 / d as f64);
        let along_mean =
            (at(&moved(&mean, &shift, h), &covariance) - at(&moved(&mean, &shift, -h), &covariance)) / (2.0 * h);
        let up = at(&mean, &moved(&covariance, &scaling, k));
        let along_covariance = (up - at(&mean, &moved(&covariance, &scaling, -k))) / (2.0 * k);
        let size = found.log_p()[0].abs();
        let expected = [dot(found.grad(0), &shift), 0.5 * dot(found.curvature(), &scaling)];
        for (found, expected) in [along_mean, along_covariance].iter().zip(expected) {
            assert!((found - expected).abs() < FD1 * (size + expected.abs()), "{}: {found} {expected}", case.name);
        }
    }
}

#[test]
fn a_diagonal_covariance_is_a_full_one_and_subsets_add_up() {
    for (case, mean, root) in offered() {
        let d = mean.len();
        let diagonal: Vec<f64> = (0..d).map(|i| root[i * d + i].powi(2)).collect();
        let full: Vec<f64> = (0..d * d).map(|at| if at % d == at / d { diagonal[at / d] } else { 0.0 }).collect();
        let narrow = expect(&*case.target, &mean, Rows::All, Covariance::Diagonal, &diagonal);
        let wide = expect(&*case.target, &mean, Rows::All, Covariance::Full, &full);
        let bend: Vec<f64> = wide.curvature().iter().step_by(d + 1).copied().collect();
        assert_close(case.name, "diagonal E log p", narrow.log_p(), wide.log_p(), ROUNDING);
        assert_close(case.name, "diagonal E∇log p", narrow.grad(0), wide.grad(0), ROUNDING);
        assert_close(case.name, "diagonal E∇²log p", narrow.curvature(), &bend, ROUNDING);

        let covariance = covariance_of(d, &root);
        let all = expect(&*case.target, &mean, Rows::All, Covariance::Full, &covariance);
        let n = case.target.about().n_rows.unwrap() as u32;
        let (odd, even): (Vec<u32>, Vec<u32>) = (0..n).partition(|row| row % 2 == 1);
        let parts =
            [odd, even].map(|rows| expect(&*case.target, &mean, Rows::Subset(&rows), Covariance::Full, &covariance));
        let sum = |of: &dyn Fn(&Answer) -> Vec<f64>| -> Vec<f64> {
            of(&parts[0]).iter().zip(of(&parts[1])).map(|(a, b)| a + b).collect()
        };
        assert_close(case.name, "E log p of rows", &sum(&|part| part.log_p().to_vec()), all.log_p(), QUADRATURE);
        assert_close(case.name, "E∇log p of rows", &sum(&|part| part.grad(0).to_vec()), all.grad(0), QUADRATURE);
        assert_close(
            case.name,
            "E∇²log p of rows",
            &sum(&|part| part.curvature().to_vec()),
            all.curvature(),
            QUADRATURE,
        );
    }
}
