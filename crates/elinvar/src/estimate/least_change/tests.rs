use super::*;
use crate::linalg::dot;
use crate::random::{Purpose, Stream};

/// Algebra in 20 dimensions: 1e−12 times a few hundred operations.
const TOLERANCE: f64 = 1e-9;

fn normals(n: usize, lane: u64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    Stream::open(11, Purpose::Sample, lane, 0).fill_normal(&mut x);
    x
}

fn square(x: &[f64]) -> f64 {
    dot(x, x)
}

/// The minimiser by a dense solve of its normal equations: one unknown for each entry on and below the diagonal.
fn by_normal_equations(d: usize, e: &[f64], s: &[f64], ridge: f64) -> Vec<f64> {
    let places: Vec<(usize, usize)> = (0..d).flat_map(|j| (j..d).map(move |i| (i, j))).collect();
    let n = places.len();
    // Column of the design: what the unit matrix of a place does to a draw.
    let effect = |&(i, j): &(usize, usize), e: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        out[i] += e[j];
        if i != j {
            out[j] += e[i];
        }
    };
    let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
    let (mut a, mut b) = (vec![0.0; d], vec![0.0; d]);
    for (p, place) in places.iter().enumerate() {
        for (e, s) in e.chunks_exact(d).zip(s.chunks_exact(d)) {
            effect(place, e, &mut a);
            right[p] -= dot(&a, s);
            for (q, other) in places.iter().enumerate() {
                effect(other, e, &mut b);
                matrix[q * n + p] += dot(&a, &b);
            }
        }
        matrix[p * n + p] += ridge * if place.0 == place.1 { 1.0 } else { 2.0 };
    }
    let mut factor = vec![0.0; n * n];
    cholesky::factor(n, &matrix, &mut factor, &mut cholesky::Workspace::new(n)).unwrap();
    cholesky::solve_factor(n, &factor, &mut right);
    cholesky::solve_factor_transposed(n, &factor, &mut right);
    let mut full = vec![0.0; d * d];
    for ((i, j), value) in places.into_iter().zip(right) {
        (full[j * d + i], full[i * d + j]) = (value, value);
    }
    full
}

#[test]
fn it_solves_the_normal_equations_for_few_and_for_many_draws() {
    for (d, n) in [(1, 1), (3, 2), (5, 5), (6, 20), (20, 7), (18, 40)] {
        for ridge in [0.3, 10.0] {
            let (e, s) = (normals(d * n, 1), normals(d * n, 2));
            let mut b = vec![f64::NAN; d * d];
            assert!(LeastChange::new(d, n).solve(&e, &s, ridge, &mut b));
            for (found, expected) in b.iter().zip(by_normal_equations(d, &e, &s, ridge)) {
                assert!((found - expected).abs() < TOLERANCE, "d {d}, n {n}, ridge {ridge}: {found} {expected}");
            }
        }
    }
}

#[test]
fn matched_draws_need_no_decomposition() {
    let (d, n) = (7, 19);
    let (mut e, s) = (normals(d * n, 3), normals(d * n, 4));
    let (mut gram, mut factor) = (vec![0.0; d * d], vec![0.0; d * d]);
    let (mut weights, mut scratch) = (vec![0.0; n], vec![0.0; d * n]);
    let mut workspace = cholesky::Workspace::new(d);
    assert!(match_covariance(d, &mut e, &mut weights, &mut scratch, [&mut gram, &mut factor], &mut workspace));
    for i in 0..d {
        for j in 0..d {
            let moment: f64 = e.chunks_exact(d).map(|e| e[i] * e[j]).sum::<f64>() / n as f64;
            assert!((moment - f64::from(u8::from(i == j))).abs() < 1e-12);
        }
    }
    let (mut quick, mut general) = (vec![0.0; d * d], vec![0.0; d * d]);
    let mut least = LeastChange::new(d, n);
    least.solve_matched(&e, &s, 2.0, &mut quick);
    assert!(least.solve(&e, &s, 2.0, &mut general));
    quick.iter().zip(&general).for_each(|(a, b)| assert!((a - b).abs() < TOLERANCE));
}

#[test]
fn a_symmetric_matrix_is_found_from_as_many_draws_as_it_has_rows_and_shrunk_from_fewer() {
    let d = 9;
    let root = normals(d * d, 5);
    let mut truth = vec![0.0; d * d];
    products::add_transposed_product(&root, &root, d, &mut truth);
    for n in [3, 9, 12] {
        let e = normals(d * n, 6);
        let mut s = vec![0.0; d * n];
        products::add_product(&truth, &e, d, d, n, &mut s);
        s.iter_mut().for_each(|v| *v = -*v);
        let mut b = vec![0.0; d * d];
        assert!(LeastChange::new(d, n).solve(&e, &s, 0.0, &mut b));
        // The draws are explained, by a matrix that is no larger than the true one.
        let mut explained = s.clone();
        products::add_product(&b, &e, d, d, n, &mut explained);
        assert!(square(&explained) < 1e-18 * square(&s));
        assert!(square(&b) <= square(&truth) * (1.0 + 1e-12));
        if n >= d {
            b.iter().zip(&truth).for_each(|(a, b)| assert!((a - b).abs() < 1e-7, "{a} {b}"));
        }
    }
}

#[test]
fn the_estimate_by_pairs_is_unbiased() {
    // False alarm 7e−6: |z| < 4.5 over 400 batches of 6 draws in 15 dimensions.
    let (d, n, batches) = (15, 6, 400);
    let truth: Vec<f64> = (0..d).map(|i| 0.3 * (i as f64 - 4.0)).collect();
    let expected: f64 = truth.iter().map(|v| v * v).sum();
    let values: Vec<f64> = (0..batches)
        .map(|batch| {
            let (e, noise) = (normals(d * n, 100 + batch), normals(d * n, 10_000 + batch));
            let s: Vec<f64> = (0..d * n).map(|at| -truth[at % d] * e[at] + 0.7 * noise[at]).collect();
            let [mut a, mut b, mut c] = std::array::from_fn(|_| vec![0.0; n * n]);
            square_norm_by_pairs(d, &e, &s, [&mut a, &mut b, &mut c])
        })
        .collect();
    let mean = values.iter().sum::<f64>() / batches as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (batches - 1) as f64;
    let z = (mean - expected) / (variance / batches as f64).sqrt();
    assert!(z.abs() < 4.5, "{mean} instead of {expected}: z = {z}");
}
