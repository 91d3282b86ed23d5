//! Gaussians along the way of an ascent: the inverse curvature that its steps have shown.

use super::metric::Metric;
use crate::evaluate::Point;
use crate::linalg::{axpy, dot, eigen};
use crate::tuning::scout::{EIGENVALUE_FLOOR, PAIRS_OF_A_WAY};

/// (−∇²log p)⁻¹ at point k of a way, d² numbers: BFGS over its last steps from a diagonal that has seen all of them
/// (mathematics §12.4).
pub(super) fn inverse_curvature(way: &[Point], k: usize) -> Vec<f64> {
    let d = way[0].z.len();
    let mut diagonal = vec![1.0; d];
    let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for points in way[..=k].windows(2) {
        let (mut s, mut y) = (points[1].z.clone(), points[0].gradient.clone());
        axpy(-1.0, &points[0].z, &mut s);
        axpy(-1.0, &points[1].gradient, &mut y);
        let product = dot(&s, &y);
        if !(product > 1e-10 * (dot(&s, &s) * dot(&y, &y)).sqrt() && product.is_finite()) {
            continue;
        }
        let a: f64 = y.iter().zip(&diagonal).map(|(y, v)| y * y * v).sum();
        let c: f64 = s.iter().zip(&diagonal).map(|(s, v)| s * s / v).sum();
        for ((v, s), y) in diagonal.iter_mut().zip(&s).zip(&y) {
            let inverse = a / (product * *v) + y * y / product - a * s * s / (product * c * *v * *v);
            *v = 1.0 / inverse.max(1e-300);
        }
        pairs.push((s, y));
    }
    let mut matrix = vec![0.0; d * d];
    matrix.iter_mut().step_by(d + 1).zip(&diagonal).for_each(|(entry, v)| *entry = *v);
    for (s, y) in &pairs[pairs.len().saturating_sub(PAIRS_OF_A_WAY)..] {
        // (I − syᵀ/p) C (I − ysᵀ/p) + ssᵀ/p = C − (s(Cy)ᵀ + (Cy)sᵀ)/p + (1 + yᵀCy/p) ssᵀ/p.
        let product = dot(s, y);
        let turned: Vec<f64> = matrix.chunks_exact(d).map(|column| dot(column, y)).collect();
        let weight = (1.0 + dot(&turned, y) / product) / product;
        for (j, column) in matrix.chunks_exact_mut(d).enumerate() {
            axpy(weight * s[j] - turned[j] / product, s, column);
            axpy(-s[j] / product, &turned, column);
        }
    }
    matrix
}

/// The metric of a covariance, its eigenvalues floored in units of each coordinate's own standard deviation, for
/// coordinates differ by many orders of magnitude.
pub(super) fn metric_of_covariance(d: usize, covariance: &[f64]) -> Option<Metric> {
    let sds: Vec<f64> = (0..d).map(|i| covariance[i * d + i].sqrt()).collect();
    if !sds.iter().all(|sd| *sd > 0.0 && sd.is_finite()) {
        return None;
    }
    let entry = |at: usize| {
        let (i, j) = (at % d, at / d);
        0.5 * (covariance[j * d + i] + covariance[i * d + j]) / (sds[i] * sds[j])
    };
    let (values, vectors) = eigen::symmetric(d, &(0..d * d).map(entry).collect::<Vec<f64>>())?;
    let floor = EIGENVALUE_FLOOR * values[d - 1];
    let mut precision = vec![0.0; d * d];
    for (value, vector) in values.iter().zip(vectors.chunks_exact(d)) {
        let scaled: Vec<f64> = vector.iter().zip(&sds).map(|(v, sd)| v / sd).collect();
        for (j, column) in precision.chunks_exact_mut(d).enumerate() {
            axpy(scaled[j] / value.max(floor), &scaled, column);
        }
    }
    Metric::new(d, precision)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a quadratic with these second derivatives.
    fn quadratic(curvature: &[f64], z: Vec<f64>) -> Point {
        let gradient: Vec<f64> = z.iter().zip(curvature).map(|(z, c)| -c * z).collect();
        Point { log_p: 0.5 * dot(&z, &gradient), z, gradient }
    }

    #[test]
    fn steps_along_every_axis_of_a_quadratic_give_its_covariance() {
        let curvature = [4.0, 0.01, 1e6];
        let zs = [[1.0, 1.0, 1.0], [0.5, 1.0, 1.0], [0.5, -3.0, 1.0], [0.5, -3.0, 0.2]];
        let way: Vec<Point> = zs.iter().map(|z| quadratic(&curvature, z.to_vec())).collect();
        let matrix = inverse_curvature(&way, 3);
        for j in 0..3 {
            for i in 0..3 {
                let expected = if i == j { 1.0 / curvature[i] } else { 0.0 };
                assert!((matrix[j * 3 + i] - expected).abs() < 1e-9 / (curvature[i] * curvature[j]).sqrt());
            }
        }
        // Eigenvalues that differ by eight orders of magnitude are no reason to floor any.
        let metric = metric_of_covariance(3, &matrix).unwrap();
        assert!((metric.log_det() - (4.0f64 * 0.01 * 1e6).ln()).abs() < 1e-9);
    }

    #[test]
    fn the_secant_of_the_last_step_holds() {
        let curvature = [2.0, 3.0, 0.5, 7.0];
        let zs = [[1.0, 2.0, -1.0, 0.3], [0.2, 1.5, -2.0, 0.1], [0.0, 0.3, -0.5, 0.2]];
        let way: Vec<Point> = zs.iter().map(|z| quadratic(&curvature, z.to_vec())).collect();
        let matrix = inverse_curvature(&way, 2);
        for i in 0..4 {
            let step = zs[2][i] - zs[1][i];
            let found: f64 = (0..4).map(|j| matrix[j * 4 + i] * (way[1].gradient[j] - way[2].gradient[j])).sum();
            assert!((found - step).abs() < 1e-12);
        }
    }
}
