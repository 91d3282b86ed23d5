//! Orthogonal polynomials over the values of a column, as R's `poly()` has them.

use serde::{Deserialize, Serialize};

/// Polynomials p₀ = 1, p₁, … with Σ p_i p_j = 0 over the values they were made for, by the recurrence
/// p_{k+1}(x) = (x − a_k) p_k(x) − (n_k/n_{k−1}) p_{k−1}(x) with n_k = Σ p_k²; they are given out divided by √n_k.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Orthogonal {
    /// a₀, a₁, …, one for each degree.
    centres: Vec<f64>,
    /// n₀, n₁, …, one more.
    norms: Vec<f64>,
}

impl Orthogonal {
    /// Those up to a degree for these values, of which more are different than the degree.
    pub(super) fn of(values: &[f64], degree: usize) -> Self {
        let mut before = vec![0.0; values.len()];
        let mut last = vec![1.0; values.len()];
        let mut norms = vec![values.len() as f64];
        let mut centres = Vec::with_capacity(degree);
        for k in 0..degree {
            let norm = norms[k];
            let centre = values.iter().zip(&last).map(|(x, p)| x * p * p).sum::<f64>() / norm;
            let ratio = if k == 0 { 0.0 } else { norm / norms[k - 1] };
            let next = values.iter().zip(last.iter().zip(&before)).map(|(x, (p, q))| (x - centre) * p - ratio * q);
            let next: Vec<f64> = next.collect();
            centres.push(centre);
            norms.push(next.iter().map(|p| p * p).sum());
            before = std::mem::replace(&mut last, next);
        }
        Self { centres, norms }
    }

    /// The normalised polynomial of this degree, from 1, at each value.
    pub(super) fn values(&self, of: &[f64], degree: usize) -> Vec<f64> {
        let scale = self.norms[degree].sqrt();
        of.iter().map(|x| self.at(*x, degree) / scale).collect()
    }

    fn at(&self, x: f64, degree: usize) -> f64 {
        let (mut before, mut last) = (0.0, 1.0);
        for k in 0..degree {
            let ratio = if k == 0 { 0.0 } else { self.norms[k] / self.norms[k - 1] };
            (before, last) = (last, (x - self.centres[k]) * last - ratio * before);
        }
        last
    }

    /// Whether it has polynomials up to this degree.
    pub(super) fn has(&self, degree: usize) -> bool {
        let is_number = |x: &f64| x.is_finite();
        let is_norm = |x: &f64| x.is_finite() && *x > 0.0;
        degree >= 1
            && self.centres.len() >= degree
            && self.norms.len() == self.centres.len() + 1
            && self.centres.iter().all(is_number)
            && self.norms.iter().all(is_norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_orthogonal_and_the_second_of_1_to_10_is_known() {
        let x: Vec<f64> = (1..=10).map(f64::from).collect();
        let poly = Orthogonal::of(&x, 4);
        let columns: Vec<Vec<f64>> = (1..=4).map(|k| poly.values(&x, k)).collect();
        for (i, a) in columns.iter().enumerate() {
            assert!(a.iter().sum::<f64>().abs() < 1e-12);
            for (j, b) in columns.iter().enumerate() {
                let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}: {product}");
            }
        }
        // x − 5.5 and (x − 5.5)² − 8.25, whose squares add up to 82.5 and 528.
        assert!((columns[0][0] + 4.5 / 82.5f64.sqrt()).abs() < 1e-14, "{}", columns[0][0]);
        assert!((columns[1][0] - 12.0 / 528f64.sqrt()).abs() < 1e-14, "{}", columns[1][0]);
    }

    #[test]
    fn years_lose_no_digits() {
        let x: Vec<f64> = (0..50).map(|i| 1_970.0 + f64::from(i)).collect();
        let near: Vec<f64> = x.iter().map(|x| x - 1_970.0).collect();
        let (far, near) = (Orthogonal::of(&x, 3).values(&x, 3), Orthogonal::of(&near, 3).values(&near, 3));
        assert!(far.iter().zip(near).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}
