//! Checks 1, 2, 3 and 6: the Fisher matrix of the joint, as a Jacobian, as a covariance of scores, and as a metric.

use elinvar::Family;
use elinvar::family::Approximation;
use elinvar::random::{Purpose, Stream};
use elinvar::theory::Mcef;

use crate::members::differences::{H, STENCIL, close, jacobian, partial, smallest_eigenvalue};
use crate::members::{self, Member};

/// The Fisher matrix restricted to the coordinates before `n_z`, or from there on.
pub(crate) fn split(n: usize, matrix: &[f64], range: std::ops::Range<usize>) -> Vec<f64> {
    range.clone().flat_map(|j| matrix[j * n..(j + 1) * n][range.clone()].to_vec()).collect()
}

/// Check 1: F_z = ∂m_z/∂η_z with η_w fixed, F_w = ∂m_w/∂η_w; and m_z = ∇Ā, which makes F_z its Hessian.
fn jacobian_is_fisher(q: &Approximation) {
    let (eta, fisher) = (q.natural(), q.fisher());
    let (n, n_z) = (eta.len(), eta.len() - q.n_mixing());
    let at = |eta: &[f64]| q.with_natural(eta).unwrap();
    let columns = jacobian(&eta, |eta| at(eta).expectation());
    let parts = [0..n_z, n_z..n];
    for range in parts {
        let found: Vec<f64> = range.clone().flat_map(|k| columns[k][range.clone()].to_vec()).collect();
        close(&format!("{}: Jacobian", q.name()), &found, &split(n, &fisher, range), 1e-8);
    }
    let slope: Vec<f64> = (0..n_z).map(|k| partial(&eta, k, |eta| vec![at(eta).log_partition()])[0]).collect();
    close(&format!("{}: ∇Ā", q.name()), &slope, &q.expectation()[..n_z], 1e-8);
}

#[test]
fn the_jacobian_of_the_expectations_is_the_fisher_matrix() {
    for dim in 1..=3 {
        every_member!(jacobian_is_fisher(dim, 10 + dim as u64));
    }
}

/// Sums of products of scores with their squares, from which mean and standard error of each entry follow.
pub(crate) struct Products {
    n: usize,
    count: f64,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Products {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, count: 0.0, sum: vec![0.0; n * n], squares: vec![0.0; n * n] }
    }

    pub(crate) fn add(&mut self, score: &[f64]) {
        self.count += 1.0;
        for j in 0..self.n {
            for i in 0..self.n {
                let product = score[i] * score[j];
                self.sum[j * self.n + i] += product;
                self.squares[j * self.n + i] += product * product;
            }
        }
    }

    /// Mean and standard error of entry k.
    fn entry(&self, k: usize) -> (f64, f64) {
        let mean = self.sum[k] / self.count;
        (mean, ((self.squares[k] / self.count - mean * mean) / self.count).sqrt())
    }

    /// Every entry within 4.5 standard errors (7e−6 per entry) of what is expected, differences being exact to 1e−7.
    #[track_caller]
    pub(crate) fn compare(&self, what: &str, expected: &[f64]) {
        for (k, expected) in expected.iter().enumerate() {
            let (mean, error) = self.entry(k);
            assert!((mean - expected).abs() < 4.5 * error + 1e-7, "{what}[{k}]: {mean} ± {error}, expected {expected}");
        }
    }

    /// Root mean square of the deviations.
    fn deviation(&self, expected: &[f64]) -> f64 {
        let sum: f64 = expected.iter().enumerate().map(|(k, e)| (self.entry(k).0 - e).powi(2)).sum();
        (sum / expected.len() as f64).sqrt()
    }
}

/// The neighbours of a member that the stencil visits: their log densities give the score of the joint without any formula for it.
pub(crate) fn neighbours(q: &Approximation) -> Vec<[(Approximation, f64); 4]> {
    let eta = q.natural();
    let neighbour = |k: usize, offset: f64| {
        let mut at = eta.clone();
        at[k] += offset * H;
        q.with_natural(&at).unwrap()
    };
    (0..eta.len()).map(|k| STENCIL.map(|(offset, weight)| (neighbour(k, offset), weight))).collect()
}

pub(crate) fn joint_score(neighbours: &[[(Approximation, f64); 4]], z: &[f64], w: &[f64]) -> Vec<f64> {
    let derivative =
        |around: &[(Approximation, f64); 4]| around.iter().map(|(q, c)| c * q.log_joint_density(z, w)).sum();
    neighbours.iter().map(derivative).collect()
}

/// Checks 2 and 3: E[∇log q(z, w) ∇log q(z, w)ᵀ] = F, the zeros between η_z and η_w among its entries; the error falls like S^−½.
///
/// About 550 different entries over all families: the false-alarm rate of the whole test is 4e−3 for a new seed.
fn sampled_fisher(q: &Approximation) {
    let (fisher, around) = (q.fisher(), neighbours(q));
    let n = around.len();
    let n_z = n - q.n_mixing();
    for j in n_z..n {
        assert!(fisher[j * n..j * n + n_z].iter().all(|v| *v == 0.0), "{}: cross block", q.name());
    }
    let mut stream = Stream::open(5, Purpose::Sample, 0, 0);
    let mut all = Products::new(n);
    // Sixteen parts of S draws each: their mean square error is 16 times that of all of them together, on average.
    let (parts, size) = (16, 1000);
    let mut of_parts = 0.0;
    for _ in 0..parts {
        let mut part = Products::new(n);
        for _ in 0..size {
            let (z, w) = q.draw_joint(&mut stream);
            let score = joint_score(&around, &z, &w);
            part.add(&score);
            all.add(&score);
        }
        of_parts += part.deviation(&fisher).powi(2) / parts as f64;
    }
    all.compare(&q.name(), &fisher);
    // The deviations of a dozen correlated entries: their ratio varies by a factor, not by 16.
    let ratio = of_parts / all.deviation(&fisher).powi(2);
    assert!(ratio > 3.0, "{}: sixteen times the draws reduce the square error only by {ratio}", q.name());
}

#[test]
fn the_scores_of_the_joint_have_the_fisher_matrix_as_covariance() {
    every_member!(sampled_fisher(2, 21));
}

/// Check 3 for the shape of Student's t: ∂_a log q(z, w) has variance F_a and is uncorrelated with the score in η_z.
#[test]
fn the_shape_of_the_t_is_orthogonal_to_location_and_scale() {
    let a = 2.3;
    let shaped = |a: f64| members::member(Family::student_t(a), 2, 22);
    let q = shaped(a);
    let around = neighbours(&q);
    let in_a = STENCIL.map(|(offset, weight)| (shaped(a + offset * H), weight));
    let n = around.len() + 1;
    let mut expected = vec![0.0; n * n];
    for j in 0..n - 1 {
        expected[j * n..j * n + n - 1].copy_from_slice(&q.fisher()[j * (n - 1)..(j + 1) * (n - 1)]);
    }
    expected[n * n - 1] = q.fisher_a().unwrap();
    let mut stream = Stream::open(6, Purpose::Sample, 0, 0);
    let mut products = Products::new(n);
    for _ in 0..20_000 {
        let (z, w) = q.draw_joint(&mut stream);
        let mut score = joint_score(&around, &z, &w);
        score.push(in_a.iter().map(|(q, weight)| weight * q.log_joint_density(&z, &w)).sum());
        products.add(&score);
    }
    products.compare("student_t with a", &expected);
    let slope = partial(&[a], 0, |a| vec![shaped(a[0]).expectation_a().unwrap()]);
    close("∂m_a/∂a", &slope, &[q.fisher_a().unwrap()], 1e-8);
}

/// Check 6: η → m → η and η → member → η are the identity, E[t] = m, and F is positive definite.
fn injective(q: &Approximation) {
    let (eta, m) = (q.natural(), q.expectation());
    close(&format!("{}: natural", q.name()), &q.with_natural(&eta).unwrap().natural(), &eta, 1e-11);
    let back = q.with_expectation(&m).unwrap();
    close(&format!("{}: round trip", q.name()), &back.natural(), &eta, 1e-9);
    close(&format!("{}: expectation", q.name()), &back.expectation(), &m, 1e-11);
    assert!(smallest_eigenvalue(eta.len(), &q.fisher()) > 1e-5, "{}", q.name());
    let mut short = eta.clone();
    short.pop();
    assert!(q.with_natural(&short).is_err() && q.with_expectation(&short).is_err());
    // The last diagonal entry of m_M, moved so far that Σ cannot be positive definite.
    let mut outside = m.clone();
    outside[(m.len() - 1) - q.n_mixing()] -= 100.0;
    assert!(q.with_expectation(&outside).is_err(), "{}", q.name());
}

#[test]
fn natural_and_expectation_coordinates_are_one_to_one() {
    for seed in 0..20 {
        every_member!(injective(1 + (seed % 4) as usize, 30 + seed));
    }
}

/// E[t(z, w)] = m by sampling, 4.5 standard errors; about 110 entries: 8e−4 for a new seed.
fn statistics_average_to_the_expectations(q: &Approximation) {
    let m = q.expectation();
    let (mut sum, mut squares) = (vec![0.0; m.len()], vec![0.0; m.len()]);
    let mut stream = Stream::open(7, Purpose::Sample, 0, 0);
    let n = 20_000.0;
    for _ in 0..n as usize {
        let (z, w) = q.draw_joint(&mut stream);
        for (k, t) in q.statistics(&z, &w).iter().enumerate() {
            sum[k] += t / n;
            squares[k] += t * t / n;
        }
    }
    for k in 0..m.len() {
        let error = ((squares[k] - sum[k] * sum[k]) / n).sqrt();
        assert!((sum[k] - m[k]).abs() < 4.5 * error, "{}[{k}]: {} ± {error}, expected {}", q.name(), sum[k], m[k]);
    }
}

#[test]
fn the_statistics_average_to_the_expectations() {
    every_member!(statistics_average_to_the_expectations(2, 23));
}
