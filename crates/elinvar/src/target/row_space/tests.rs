//! The directions that rows can see, against the definition.

use super::*;
use crate::linalg::dot;

fn rows(n: usize, d: usize) -> Vec<f64> {
    (0..n * d).map(|i| (i as f64 * 0.77).sin() + (i as f64 * 0.13).cos()).collect()
}

fn space() -> (RowSpace, Prior, Vec<f64>, Prior) {
    let (n, d) = (3, 7);
    let mean = (0..d).map(|j| 0.3 * j as f64 - 0.5).collect();
    let sd: Vec<f64> = (0..d).map(|j| 0.5 + 0.4 * j as f64).collect();
    let (rows, prior) = (rows(n, d), Prior::normal(mean, &sd));
    let (space, of_directions) = RowSpace::of(&rows, d, &prior).unwrap().unwrap();
    (space, of_directions, rows, prior)
}

/// Means, covariances and what rows see of draws: 20 000 of them, |z| < 4.5 for each of 7 means and 28 covariances
/// (2.4e−4 in all).
#[test]
fn draws_have_the_prior_and_rows_see_the_directions_alone() {
    let (space, of_directions, rows, prior) = space();
    let (d, r) = (space.n_columns(), space.n_directions());
    assert_eq!((d, r), (7, 3));
    let seen = space.seen_by(&rows);
    let n = 20_000;
    let mut stream = Stream::open(5, Purpose::Sample, 0, 0);
    let mut u = vec![0.0; n * r];
    for point in u.chunks_exact_mut(r) {
        stream.fill_normal(point);
        let each = point.iter_mut().enumerate();
        each.for_each(|(k, u)| *u = of_directions.mean(k) + *u / of_directions.precision(k).sqrt());
    }
    let mut beta = vec![0.0; n * d];
    space.draw(&u, &mut beta);
    for (u, beta) in u.chunks_exact(r).zip(beta.chunks_exact(d)).take(50) {
        for (row, seen) in rows.chunks_exact(d).zip(seen.chunks_exact(r)) {
            assert!((dot(row, beta) - dot(seen, u)).abs() < 1e-12);
        }
        let (mut again, mut back) = (vec![0.0; d], vec![0.0; r]);
        space.draw(u, &mut again);
        assert!(again.iter().zip(beta).all(|(a, b)| (a - b).abs() < 1e-13));
        space.project(beta, &mut back);
        assert!(back.iter().zip(u).all(|(a, b)| (a - b).abs() < 1e-13));
    }
    let sd = |j: usize| prior.precision(j).sqrt().recip();
    let deviation = |point: &[f64], j: usize| (point[j] - prior.mean(j)) / sd(j);
    for i in 0..d {
        let mean = beta.chunks_exact(d).map(|b| deviation(b, i)).sum::<f64>() / n as f64;
        assert!(mean.abs() * (n as f64).sqrt() < 4.5, "{i}: {mean}");
        for j in 0..=i {
            let product = beta.chunks_exact(d).map(|b| deviation(b, i) * deviation(b, j)).sum::<f64>() / n as f64;
            let (expected, variance) = if i == j { (1.0, 2.0) } else { (0.0, 1.0) };
            assert!((product - expected).abs() * (n as f64 / variance).sqrt() < 4.5, "{i} {j}: {product}");
        }
    }
}

#[test]
fn combinations_have_the_moments_of_the_law_given_the_directions() {
    let (space, of_directions, _, prior) = space();
    let (d, r) = (space.n_columns(), space.n_directions());
    let u = [0.4, -1.1, 0.7];
    let mut expected = vec![0.0; d];
    space.expect(&u, &mut expected);
    let factors = [(0, 1.0), (2, -0.7), (6, 0.2)];
    let (constant, directions, spare) = space.combination(factors.into_iter());
    let direct: f64 = factors.iter().map(|(j, f)| f * expected[*j]).sum();
    assert!((constant + dot(&directions, &u) - direct).abs() < 1e-13);
    // Under the prior of u the mean and the variance are those of the prior of β.
    let mean: f64 = constant + directions.iter().enumerate().map(|(k, a)| a * of_directions.mean(k)).sum::<f64>();
    let of_prior: f64 = factors.iter().map(|(j, f)| f * prior.mean(*j)).sum();
    assert!((mean - of_prior).abs() < 1e-13);
    let variance: f64 = factors.iter().map(|(j, f)| f * f / prior.precision(*j)).sum();
    assert!((dot(&directions, &directions) + spare - variance).abs() < 1e-12);
    assert!(spare > 0.01 && r == 3);
}

#[test]
fn flat_and_very_wide_priors_have_directions_of_their_own() {
    let (n, d) = (3, 8);
    let mut sd = vec![1.0; d];
    (sd[1], sd[5]) = (f64::INFINITY, 1e9);
    let rows = rows(n, d);
    let (space, prior) = RowSpace::of(&rows, d, &Prior::normal(vec![2.0; d], &sd)).unwrap().unwrap();
    assert_eq!((space.n_directions(), space.own_direction(1), space.own_direction(5)), (5, Some(0), Some(1)));
    assert_eq!((prior.precision(0), prior.precision(1), prior.precision(2)), (0.0, 1e-18, 1.0));
    assert_eq!((prior.mean(0), prior.mean(1)), (2.0, 2.0));
    let u = [1e6, -3.0, 0.1, 0.2, 0.3];
    let mut beta = vec![0.0; d];
    space.draw(&u, &mut beta);
    assert_eq!((beta[1], beta[5]), (1e6, -3.0));
    assert_eq!(space.combination([(1, 1.0)].into_iter()).2, 0.0);
    let written = serde_json::to_string(&space).unwrap();
    assert_eq!(serde_json::from_str::<RowSpace>(&written).unwrap(), space);
    assert!(serde_json::from_str::<RowSpace>(&written.replacen("\"directions\":5", "\"directions\":4", 1)).is_err());
}

#[test]
fn rows_that_are_enough_and_priors_that_are_shared_have_none() {
    let prior = Prior::Gaussian { precision: 1.0, leading: 4 };
    assert!(RowSpace::of(&rows(4, 4), 4, &prior).unwrap().is_none());
    assert!(RowSpace::of(&rows(3, 4), 4, &Prior::normal(vec![0.0; 4], &[f64::INFINITY; 4])).unwrap().is_none());
    assert!(RowSpace::of(&rows(3, 4), 4, &Prior::student_t(1.0, 2.0, 4)).is_err());
    // Rows of zeros see nothing, and one direction stands for them.
    let (space, _) = RowSpace::of(&[0.0; 8], 4, &prior).unwrap().unwrap();
    assert_eq!(space.n_directions(), 1);
}
