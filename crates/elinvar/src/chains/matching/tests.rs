use super::*;
use crate::chains::History;
use crate::random::{Purpose, Stream};

/// A covariance AAᵀ + I with A from a stream, and its inverse times a vector by elimination.
fn covariance(d: usize) -> Vec<f64> {
    let mut stream = Stream::open(3, Purpose::Sample, d as u64, 0);
    let mut a = vec![0.0; d * 3];
    stream.fill_normal(&mut a);
    let mut c = vec![0.0; d * d];
    for j in 0..d {
        for i in 0..d {
            c[j * d + i] = (0..3).map(|k| a[k * d + i] * a[k * d + j]).sum::<f64>() + f64::from(u8::from(i == j));
        }
    }
    c
}

/// `n` points and the gradients of N(mean, C) there, as C⁻¹ times differences.
fn seen(d: usize, n: usize, mean: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let c = covariance(d);
    let mut factor = vec![0.0; d * d];
    cholesky::factor(d, &c, &mut factor, &mut Workspace::new(d)).unwrap();
    let mut stream = Stream::open(4, Purpose::Sample, n as u64, 0);
    let mut z = vec![0.0; d * n];
    stream.fill_normal(&mut z);
    let mut by_z: Vec<f64> = z.iter().map(|z| mean - z).collect();
    cholesky::solve_factor(d, &factor, &mut by_z);
    cholesky::solve_factor_transposed(d, &factor, &mut by_z);
    (c, z, by_z)
}

fn identity(d: usize) -> Coordinates {
    Coordinates::straight(Frame::unit(d))
}

#[test]
fn rounds_of_matching_find_a_gaussian_from_states_that_are_not_its_own() {
    for (d, n) in [(3, 12), (30, 90)] {
        let (c, z, by_z) = seen(d, n, 0.7);
        let log_p = vec![0.0; n];
        let mut frame = identity(d);
        for _ in 0..60 {
            frame = matched(&frame, Part::of(n, &z, &by_z, &log_p)).unwrap().coordinates;
        }
        let found = frame.frame().covariance();
        let worst = found.iter().zip(&c).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "d = {d}: {worst}");
        assert!(frame.frame().centre().iter().all(|m| (m - 0.7).abs() < 1e-6), "{:?}", frame.frame().centre());
        assert!(matched(&frame, Part::of(n, &z, &by_z, &log_p)).unwrap().settled);
    }
}

#[test]
fn the_span_of_few_states_gives_the_same_as_the_whole_space() {
    let (d, n) = (40, 6);
    let (_, z, by_z) = seen(d, n, 0.2);
    let log_p = vec![0.0; n];
    let part = Part::of(n, &z, &by_z, &log_p);
    let few = matched(&identity(d), part).unwrap();
    // With as many copies of no state at all, the same equation is solved in the whole space.
    let (mut x, mut g) = (z.clone(), by_z.clone());
    let weight = n as f64 / (n as f64 + 1.0);
    let (x_mean, g_mean) = (centre(d, &mut x, weight), centre(d, &mut g, weight));
    let (half, values) = solve(d, &x, &g, n + 1).unwrap();
    let mut whole = vec![0.0; d * d];
    add_gram(&half, d, &values, &mut whole);
    mirror_lower(d, &mut whole);
    let found = few.coordinates.frame().covariance();
    let worst = found.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{worst}");
    for i in 0..d {
        let shift = weight * (x_mean[i] + dot(&whole[i * d..(i + 1) * d], &g_mean));
        assert!((few.coordinates.frame().centre()[i] - shift).abs() < 1e-9);
    }
}

#[test]
fn states_without_a_density_do_not_count() {
    let (d, n) = (3, 12);
    let (_, mut z, mut by_z) = seen(d, n, 0.7);
    let mut log_p = vec![0.0; n];
    let before = matched(&identity(d), Part::of(n, &z, &by_z, &log_p)).unwrap();
    z.extend([1e9; 3]);
    by_z.extend([0.0; 3]);
    log_p.push(f64::NEG_INFINITY);
    let after = matched(&identity(d), Part::of(n + 1, &z, &by_z, &log_p)).unwrap();
    assert_eq!(before.coordinates.frame().factor(), after.coordinates.frame().factor());
    // Nor do states far below all others, which are lost rather than rare.
    log_p[n] = -1e3;
    let after = matched(&identity(d), Part::of(n + 1, &z, &by_z, &log_p)).unwrap();
    assert_eq!(before.coordinates.frame().factor(), after.coordinates.frame().factor());
    assert!(History::new(d, n).steps() == 0 && matched(&identity(d), Part::of(1, &[], &[], &[])).is_none());
}

/// States of 8 chains of N(0, I) in d dimensions over 3 steps, with gradients that are those of variances v and a noise
/// that is a function of nothing: what residual gradients look like in many dimensions.
fn noisy(d: usize, variance: f64) -> (Vec<f64>, Vec<f64>) {
    let mut stream = Stream::open(7, Purpose::Sample, d as u64, 0);
    let (mut z, mut noise) = (vec![0.0; 24 * d], vec![0.0; 24 * d]);
    stream.fill_normal(&mut z);
    stream.fill_normal(&mut noise);
    let by_z = z.iter().zip(&noise).map(|(z, e)| -z / variance + 0.5 * e).collect();
    (z, by_z)
}

#[test]
fn few_states_in_many_dimensions_move_a_frame_only_if_it_is_wrong() {
    let d = 200;
    let log_p = vec![0.0; 24];
    let (z, by_z) = noisy(d, 1.0);
    let part = Part::of(8, &z, &by_z, &log_p);
    let kept = adapted(&identity(d), part).unwrap();
    assert!(kept.settled && kept.coordinates.frame().factor() == Frame::unit(d).factor());
    // Noise would be matched otherwise.
    let variances = matched(&identity(d), part).unwrap().coordinates.frame().variances();
    assert!(variances.iter().any(|v| (v - 1.0).abs() > 0.1));
    // One variance a hundredth: few states say enough of that.
    let (z, mut by_z) = noisy(d, 1.0);
    by_z.chunks_exact_mut(d).zip(z.chunks_exact(d)).for_each(|(g, z)| g[5] = -100.0 * z[5]);
    let moved = adapted(&identity(d), Part::of(8, &z, &by_z, &log_p)).unwrap();
    assert!(!moved.settled && moved.coordinates.frame().variances()[5] < 0.1);
}
