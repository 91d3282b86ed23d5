use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Rows, Target, Want};

use crate::registered::{Case, cases};
use crate::subjects::numbers;
use crate::tolerance::{EXACT, FD1, FD2};

const N_DRAWS: usize = 6;

fn points(case: &Case, seed: u64) -> Vec<f64> {
    let d = case.centre.len();
    numbers(d * N_DRAWS, seed).iter().enumerate().map(|(i, v)| case.centre[i % d] + case.scale * v).collect()
}

fn evaluate(target: &dyn Target, z: &[f64], rows: Rows<'_>) -> Answer {
    let (draws, want) = (Draws::new(target.dim(), z), Want::Gradients);
    let mut out = Answer::new(target.dim(), draws.len());
    target.evaluate(&Ask { draws, rows, want }, &mut out).unwrap();
    out
}

/// log p without gradients, for targets that have it.
fn values(target: &dyn Target, z: &[f64], rows: Rows<'_>) -> Option<Vec<f64>> {
    let about = target.about();
    let draws = Draws::new(about.dim, z);
    let mut out = Answer::new(about.dim, draws.len());
    target.evaluate(&Ask { draws, rows, want: Want::Values }, &mut out).ok().filter(|()| about.offers.values)?;
    Some(out.log_p().to_vec())
}

/// What a target answers when it is asked for second derivatives.
fn curved(target: &dyn Target, z: &[f64], rows: Rows<'_>, want: Want<'_>, covariance: Covariance) -> Answer {
    let ask = Ask { draws: Draws::new(target.dim(), z), rows, want };
    let n_sums = ask.contraction().expect("second derivatives are contracted").len();
    let mut out = Answer::new(target.dim(), ask.draws.len()).with_curvature(covariance, n_sums);
    target.evaluate(&ask, &mut out).unwrap();
    out
}

/// The contraction of Hessians.
fn contract(target: &dyn Target, z: &[f64], rows: Rows<'_>, by: Contraction<'_>, covariance: Covariance) -> Vec<f64> {
    curved(target, z, rows, Want::Hessian(by), covariance).curvature().to_vec()
}

fn hessian(target: &dyn Target, z: &[f64]) -> Vec<f64> {
    contract(target, z, Rows::All, Contraction::shared(&[1.0], 1), Covariance::Full)
}

/// The contraction of Gauss–Newton matrices of a target that has them.
fn gauss_newton(target: &dyn Target, z: &[f64], rows: Rows<'_>, by: Contraction<'_>, shape: Covariance) -> Vec<f64> {
    curved(target, z, rows, Want::GaussNewton(by), shape).curvature().to_vec()
}

/// The target, if it has second derivatives.
fn second_order(case: &Case) -> Option<&dyn Target> {
    case.target.about().offers.hessian.then_some(&*case.target)
}

pub(crate) fn assert_close(name: &str, what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{name}: {what}");
    let size = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{name}: {what} {i}: {a} and {b} (size {size})");
    }
}

/// Five-point first differences of a function with several values.
pub(crate) fn differences(z: &[f64], i: usize, h: f64, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let at = |steps: f64| {
        let mut moved = z.to_vec();
        moved[i] += steps * h;
        f(&moved)
    };
    let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
    (0..a.len()).map(|k| (a[k] - 8.0 * b[k] + 8.0 * c[k] - d[k]) / (12.0 * h)).collect()
}

#[test]
fn names_and_transforms_fit_the_dimension() {
    for case in cases() {
        let about = case.target.about();
        assert_eq!(about.names.len(), about.dim, "{}", case.name);
        assert_eq!(about.transforms.dim(), about.dim, "{}", case.name);
        assert_eq!(about.parameters.len(), about.transforms.n_constrained(), "{}", case.name);
    }
}

#[test]
fn the_gradient_agrees_with_differences_of_the_value() {
    for case in cases() {
        let z = &points(&case, 1)[..case.target.dim()];
        let grad = evaluate(&*case.target, z, Rows::All).grads().to_vec();
        let by_differences: Vec<f64> = (0..z.len())
            .map(|i| differences(z, i, 1e-3, |z| evaluate(&*case.target, z, Rows::All).log_p().to_vec())[0])
            .collect();
        assert_close(case.name, "gradient", &grad, &by_differences, FD1);
    }
}

#[test]
fn the_hessian_agrees_with_differences_of_the_gradient() {
    for case in cases() {
        let Some(second_order) = second_order(&case) else { continue };
        let z = &points(&case, 2)[..case.target.dim()];
        let by_differences: Vec<f64> = (0..z.len())
            .flat_map(|i| differences(z, i, 1e-3, |z| evaluate(&*case.target, z, Rows::All).grads().to_vec()))
            .collect();
        assert_close(case.name, "Hessian", &hessian(second_order, z), &by_differences, FD2);
    }
}

#[test]
fn a_batch_agrees_with_its_draws_one_by_one() {
    for case in cases() {
        let (d, z) = (case.target.dim(), points(&case, 3));
        let batch = evaluate(&*case.target, &z, Rows::All);
        for (s, z) in z.chunks_exact(d).enumerate() {
            let one = evaluate(&*case.target, z, Rows::All);
            assert_close(case.name, "log p", &batch.log_p()[s..=s], one.log_p(), EXACT);
            assert_close(case.name, "gradient", batch.grad(s), one.grads(), EXACT);
        }
    }
}

#[test]
fn values_alone_agree_with_those_that_come_with_gradients() {
    let closures = ["closure", "two closures", "constrained"];
    for case in cases() {
        let z = points(&case, 12);
        let some: Vec<u32> = (0..case.target.about().n_rows.unwrap_or(1) as u32).step_by(2).collect();
        for rows in [Rows::All, Rows::Subset(&some)] {
            let Some(found) = values(&*case.target, &z, rows) else {
                assert!(closures.contains(&case.name), "{}: no values", case.name);
                continue;
            };
            assert!(!closures.contains(&case.name), "{}: a closure gives its gradient, too", case.name);
            for (found, expected) in found.iter().zip(evaluate(&*case.target, &z, rows).log_p()) {
                assert!((found - expected).abs() <= EXACT * expected.abs(), "{}: {found} and {expected}", case.name);
            }
        }
    }
}

#[test]
fn a_contraction_is_the_weighted_sum_of_hessians() {
    for case in cases() {
        let Some(second_order) = second_order(&case) else { continue };
        let (d, z) = (case.target.dim(), points(&case, 4));
        let hessians: Vec<Vec<f64>> = z.chunks_exact(d).map(|z| hessian(second_order, z)).collect();
        let mut weights = numbers(3 * N_DRAWS, 5);
        weights[1] = 0.0;
        let shared = contract(second_order, &z, Rows::All, Contraction::shared(&weights, N_DRAWS), Covariance::Full);
        let mut own = contract(second_order, &z, Rows::All, Contraction::own(&weights[..N_DRAWS], 2), Covariance::Full);
        for k in 0..3 {
            let sum = |draws: std::ops::Range<usize>, weights: &[f64]| {
                let mut sum = vec![0.0; d * d];
                for (s, weight) in draws.zip(weights) {
                    sum.iter_mut().zip(&hessians[s]).for_each(|(sum, h)| *sum += weight * h);
                }
                sum
            };
            let all = sum(0..N_DRAWS, &weights[k * N_DRAWS..(k + 1) * N_DRAWS]);
            assert_close(case.name, "shared draws", &shared[k * d * d..(k + 1) * d * d], &all, EXACT);
            let pair = sum(2 * k..2 * k + 2, &weights[2 * k..2 * k + 2]);
            assert_close(case.name, "own draws", &own[k * d * d..(k + 1) * d * d], &pair, EXACT);
        }
        let few = contract(second_order, &z, Rows::All, Contraction::shared(&weights[..2], 2), Covariance::Full);
        own.truncate(d * d);
        assert_close(case.name, "the first draws only", &few, &own, EXACT);
        for matrix in shared.chunks_exact(d * d) {
            assert!((0..d * d).all(|at| matrix[at] == matrix[at % d * d + at / d]), "{}: not symmetric", case.name);
        }
    }
}

#[test]
fn a_diagonal_contraction_is_the_diagonal_of_the_full_one() {
    for case in cases() {
        let Some(second_order) = second_order(&case) else { continue };
        let (d, z, weights) = (case.target.dim(), points(&case, 6), numbers(2 * N_DRAWS, 7));
        let contraction = Contraction::shared(&weights, N_DRAWS);
        let full = contract(second_order, &z, Rows::All, contraction, Covariance::Full);
        let diagonal = contract(second_order, &z, Rows::All, contraction, Covariance::Diagonal);
        let expected: Vec<f64> = (0..2 * d).map(|i| full[i / d * d * d + i % d * (d + 1)]).collect();
        assert_close(case.name, "diagonal", &diagonal, &expected, EXACT);
    }
}

#[test]
fn sums_over_subsets_add_up_and_the_order_of_rows_does_not_matter() {
    for case in cases() {
        let Some(n) = case.target.about().n_rows else { continue };
        let (z, weights) = (points(&case, 8), numbers(2 * N_DRAWS, 9));
        let all_of = |rows: Rows<'_>| {
            let out = evaluate(&*case.target, &z, rows);
            let contraction = Contraction::shared(&weights, N_DRAWS);
            let curvature = match second_order(&case) {
                Some(second_order) => contract(second_order, &z, rows, contraction, Covariance::Full),
                None => gauss_newton(&*case.target, &z, rows, contraction, Covariance::Full),
            };
            [out.log_p().to_vec(), out.grads().to_vec(), curvature]
        };
        let full = all_of(Rows::All);
        let backwards: Vec<u32> = (0..n as u32).rev().collect();
        for (a, b) in all_of(Rows::Subset(&backwards)).iter().zip(&full) {
            assert_close(case.name, "rows backwards", a, b, EXACT);
        }
        let mut sums = full.clone().map(|part| vec![0.0; part.len()]);
        for remainder in 0..3 {
            let rows: Vec<u32> = (0..n as u32).filter(|i| i % 3 == remainder).collect();
            for (sum, part) in sums.iter_mut().zip(all_of(Rows::Subset(&rows))) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
        for (a, b) in sums.iter().zip(&full) {
            assert_close(case.name, "sum of subsets", a, b, EXACT);
        }
    }
}

#[test]
fn second_derivatives_do_not_change_the_bits_of_the_first() {
    for case in cases() {
        let Some(second_order) = second_order(&case) else { continue };
        let (z, weights) = (points(&case, 10), numbers(3 * N_DRAWS, 11));
        let n = case.target.about().n_rows.unwrap_or(1);
        let some: Vec<u32> = (0..n as u32).step_by(2).collect();
        for rows in [Rows::All, Rows::Subset(&some)] {
            for covariance in [Covariance::Full, Covariance::Diagonal] {
                for contraction in [Contraction::shared(&weights, N_DRAWS), Contraction::own(&weights[..N_DRAWS], 2)] {
                    let separate = evaluate(&*case.target, &z, rows);
                    let out = curved(second_order, &z, rows, Want::Hessian(contraction), covariance);
                    assert_eq!(out.log_p(), separate.log_p(), "{}", case.name);
                    assert_eq!(out.grads(), separate.grads(), "{}", case.name);
                }
            }
        }
    }
}

#[test]
fn gauss_newton_matrices_are_contracted_as_hessians_are() {
    let mut seen = 0;
    for case in cases().iter().filter(|case| case.target.about().offers.gauss_newton) {
        seen += 1;
        let (d, z, target) = (case.target.dim(), points(case, 13), &*case.target);
        let one = |z: &[f64]| gauss_newton(target, z, Rows::All, Contraction::shared(&[1.0], 1), Covariance::Full);
        let matrices: Vec<Vec<f64>> = z.chunks_exact(d).map(one).collect();
        let mut weights = numbers(2 * N_DRAWS, 14);
        weights[1] = 0.0;
        let contraction = Contraction::shared(&weights, N_DRAWS);
        let full = gauss_newton(target, &z, Rows::All, contraction, Covariance::Full);
        let diagonal = gauss_newton(target, &z, Rows::All, contraction, Covariance::Diagonal);
        for (k, weights) in weights.chunks_exact(N_DRAWS).enumerate() {
            let mut sum = vec![0.0; d * d];
            for (matrix, weight) in matrices.iter().zip(weights) {
                sum.iter_mut().zip(matrix).for_each(|(sum, entry)| *sum += weight * entry);
            }
            let matrix = &full[k * d * d..(k + 1) * d * d];
            assert_close(case.name, "Gauss–Newton", matrix, &sum, EXACT);
            let expected: Vec<f64> = matrix.iter().step_by(d + 1).copied().collect();
            assert_close(case.name, "its diagonal", &diagonal[k * d..(k + 1) * d], &expected, EXACT);
            assert!((0..d * d).all(|at| matrix[at] == matrix[at % d * d + at / d]), "{}: not symmetric", case.name);
        }
    }
    assert!(seen > 7);
}

#[test]
fn gradients_of_items_add_up_to_the_gradient() {
    let mut seen = 0;
    for case in cases() {
        if !case.target.about().offers.item_gradients {
            continue;
        }
        seen += 1;
        let (d, n) = (case.target.dim(), case.target.about().n_rows.unwrap());
        let z = &points(&case, 15)[..d];
        let some: Vec<u32> = (0..n as u32).filter(|i| i % 3 != 1).rev().collect();
        for rows in [Rows::All, Rows::Subset(&some)] {
            let mut answer = Answer::new(d, 1);
            answer.set_items(rows.len(n));
            let ask = Ask { draws: Draws::new(d, z), rows, want: Want::ItemGradients { draw: 0 } };
            case.target.evaluate(&ask, &mut answer).unwrap();
            let out = answer.items();
            let mut sum = vec![0.0; d];
            out.chunks_exact(d).for_each(|item| sum.iter_mut().zip(item).for_each(|(sum, g)| *sum += g));
            assert_close(case.name, "sum of items", &sum, evaluate(&*case.target, z, rows).grads(), EXACT);
            let third = rows.index(2) as u32;
            let alone = evaluate(&*case.target, z, Rows::Subset(&[third])).grads().to_vec();
            assert_close(case.name, "one item", &out[2 * d..3 * d], &alone, EXACT);
        }
    }
    assert!(seen > 7);
}
