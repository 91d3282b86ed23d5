//! Natural and expectation coordinates, averaged log-partition and Fisher matrix of every family.

use elinvar::Family;
use elinvar::block::{Location, LogWeights, Scale};
use elinvar::family::Approximation;
use elinvar::target::Shape;
use elinvar::theory::Mcef;
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let folder = std::env::var("ELINVAR_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors").to_string());
    let text = std::fs::read_to_string(format!("{folder}/{file}.json")).expect("the vectors are readable");
    let value: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    value["cases"].as_array().expect("the file has cases").clone()
}

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(vector).collect()
}

fn columns(rows: &[Vec<f64>]) -> Vec<f64> {
    (0..rows[0].len()).flat_map(|j| rows.iter().map(move |row| row[j])).collect()
}

/// The lower triangle column by column, off-diagonal entries times `off_diagonal`.
fn lower(rows: &[Vec<f64>], off_diagonal: f64) -> Vec<f64> {
    let d = rows.len();
    let entries = (0..d).flat_map(|j| (j..d).map(move |i| (i, j)));
    entries.map(|(i, j)| if i == j { rows[i][j] } else { off_diagonal * rows[i][j] }).collect()
}

/// Relative to the largest entry of the expected vector.
#[track_caller]
fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0f64, |scale, e| scale.max(e.abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance * scale, "{what}[{k}]: found {f:e}, expected {e:e}");
    }
}

fn precision_of(sigma: &[Vec<f64>]) -> Scale {
    let inverse = Scale::from_precision(Shape::Full(sigma.len()), columns(sigma)).unwrap();
    let mut precision = vec![0.0; sigma.len() * sigma.len()];
    inverse.covariance_into(&mut precision);
    Scale::from_precision(Shape::Full(sigma.len()), precision).unwrap()
}

/// Everything a family file says about coordinates; off-diagonal entries of M count twice in dual coordinates.
fn check_case(name: &str, case: &Value, q: &Approximation) {
    // The last case of each file has covariances of size 1e−4.
    let small = matrix(&case["Sigma"]).iter().enumerate().any(|(i, row)| row[i] < 1e-2);
    let tolerance = if small { 1e-9 } else { 1e-12 };
    let coordinates =
        |b: &str, s: &str, factor: f64| [columns(&matrix(&case[b])), lower(&matrix(&case[s]), factor)].concat();
    let natural = coordinates("natural_B", "natural_S", 1.0);
    let expectation = coordinates("expectation_B", "expectation_M", 2.0);
    close(&format!("{name} natural"), &q.natural(), &natural, tolerance);
    close(&format!("{name} expectation"), &q.expectation(), &expectation, tolerance);
    let there = q.with_natural(&natural).unwrap();
    close(&format!("{name} from natural"), &there.expectation(), &expectation, tolerance);
    let there = q.with_expectation(&expectation).unwrap();
    // M − BΩBᵀ loses the digits by which M exceeds Σ.
    let lost = expectation.iter().fold(0.0f64, |m, e| m.max(e.abs())) * there.natural().last().unwrap().abs();
    close(&format!("{name} from expectation"), &there.natural(), &natural, tolerance * lost.max(1.0));
    let partition = case["log_partition_mean"].as_f64().unwrap();
    close(&format!("{name} log-partition"), &[q.log_partition()], &[partition], tolerance);
    if let Some(rows) = case["fim_natural"].as_array() {
        let fisher: Vec<f64> = rows.iter().flat_map(vector).collect();
        close(&format!("{name} Fisher matrix"), &q.fisher(), &fisher, tolerance);
    }
}

fn block(case: &Value) -> Location {
    Location::new(columns(&matrix(&case["B"])), precision_of(&matrix(&case["Sigma"]))).unwrap()
}

fn check_family(family_of: impl Fn(f64) -> Family) {
    let name = family_of(2.0).name();
    let all = cases(&format!("family_{name}"));
    assert!(all.iter().any(|case| case["fim_natural"].is_array()));
    for (number, case) in all.iter().enumerate() {
        let family = family_of(case["par"].as_f64().unwrap_or(f64::NAN));
        let q = Approximation::single(family, block(case)).unwrap();
        check_case(&format!("{name} case {number}"), case, &q);
    }
}

#[test]
fn gaussian() {
    check_family(|_| Family::gaussian());
}

#[test]
fn student_t() {
    check_family(Family::student_t);
    for case in cases("family_student_t") {
        let a = case["par"].as_f64().unwrap();
        let q = Approximation::single(Family::student_t(a), block(&case)).unwrap();
        let (m_a, fisher_a) = (q.expectation_a().unwrap(), q.fisher_a().unwrap());
        close("m_a", &[m_a], &[case["m_a"].as_f64().unwrap()], 1e-12);
        close("F_a", &[fisher_a], &[case["fisher_a"].as_f64().unwrap()], 1e-12);
        // m_a + 1 has the absolute rounding of 1, which F_a turns into one of a.
        let back = q.with_expectation_a(m_a).unwrap().law().parameter().unwrap();
        assert!((back - a).abs() < 4.0 * f64::EPSILON / fisher_a + 1e-13 * a, "{back} {a}");
    }
}

#[test]
fn skew() {
    check_family(|_| Family::skew());
}

#[test]
fn emg() {
    check_family(|_| Family::emg());
}

#[test]
fn nig() {
    check_family(Family::nig);
}

#[test]
fn snig() {
    check_family(Family::snig);
}

fn factors(case: &Value) -> Approximation {
    let block = block(case);
    Approximation::single(Family::rank_k(block.n_columns() - 1), block).unwrap()
}

#[test]
fn rank_k() {
    for (number, case) in cases("family_rank_k").iter().enumerate() {
        check_case(&format!("rank_k case {number}"), case, &factors(case));
    }
}

#[test]
fn mog() {
    for (number, case) in cases("mog").iter().enumerate() {
        let name = format!("mog case {number}");
        let rows = |key: &str| case[key].as_array().unwrap().clone();
        let components: Vec<_> = rows("means")
            .iter()
            .zip(rows("covariances"))
            .map(|(mean, covariance)| Location::new(vector(mean), precision_of(&matrix(&covariance))).unwrap())
            .collect();
        let k = components.len();
        let q = Approximation::mixture(LogWeights::new(vector(&case["log_weights"])).unwrap(), components).unwrap();
        let (natural, expectation, fisher) = (q.natural(), q.expectation(), q.fisher());
        let (n, n_z) = (natural.len(), natural.len() - (k - 1));
        close(&format!("{name} η_w"), &natural[n_z..], &vector(&case["natural_w"]), 1e-12);
        let (first, second) = (rows("expectation_m"), rows("expectation_M"));
        let expected: Vec<f64> =
            (0..k).flat_map(|c| [vector(&first[c]), lower(&matrix(&second[c]), 2.0)].concat()).collect();
        close(&format!("{name} m"), &expectation[..n_z], &expected, 1e-12);
        let there = q.with_expectation(&expectation).unwrap();
        close(&format!("{name} round trip"), &there.natural(), &natural, 1e-10);
        let fim_w: Vec<f64> = rows("fim_w").iter().flat_map(vector).collect();
        let found: Vec<f64> = (n_z..n).flat_map(|j| fisher[j * n + n_z..(j + 1) * n].to_vec()).collect();
        close(&format!("{name} F_w"), &found, &fim_w, 1e-12);
    }
}
