use super::*;
use crate::chains::bending::{Cloud, bends};
use crate::chains::{Frame, Layer};
use crate::random::{Purpose, Stream};

fn bent() -> Bend {
    let mut bend = Bend::along(&[0.48, 0.6, 0.64], [4.0, 3.0]);
    bend.set(0, &[0.3, -0.2, 0.5, 0.1], &[0.1, 0.4, -0.2, 0.05]);
    bend.set(1, &[0.0, 0.7, -0.1, 0.0], &[-0.3, 0.2, 0.1, 0.0]);
    bend
}

#[test]
fn points_go_there_and_back_inside_and_beyond_the_ends() {
    for start in [[0.3, -1.2, 0.8], [2.0, 3.0, 2.5], [-3.0, -1.0, -2.5]] {
        let mut point = start;
        bent().forward(&mut point);
        bent().backward(&mut point);
        assert!(point.iter().zip(start).all(|(a, b)| (a - b).abs() < 1e-10), "{point:?}");
    }
}

#[test]
fn gradients_and_jacobians_are_those_of_differences() {
    // log p(x) = −|x|⁴/4, any smooth function. Differences of step 1e−5: 1e−8 in relative size.
    let log_p = |u: &[f64; 3]| {
        let mut x = *u;
        bent().forward(&mut x);
        let log_jacobian = bent().pull(&mut u.clone(), &mut [0.0; 3]);
        let square = dot(&x, &x);
        -0.25 * square * square + log_jacobian
    };
    for u in [[0.3, -1.2, 0.8], [2.0, 3.0, 2.5]] {
        let mut x = u;
        bent().forward(&mut x);
        let square = dot(&x, &x);
        let mut gradient = x.map(|x| -square * x);
        bent().pull(&mut u.clone(), &mut gradient);
        // The determinant of ∂x/∂u, by differences.
        let mut columns = [[0.0; 3]; 3];
        for i in 0..3 {
            let (mut above, mut below) = (u, u);
            above[i] += 1e-5;
            below[i] -= 1e-5;
            let slope = (log_p(&above) - log_p(&below)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-5 * slope.abs().max(1.0), "{i}: {slope} {}", gradient[i]);
            bent().forward(&mut above);
            bent().forward(&mut below);
            (0..3).for_each(|k| columns[i][k] = (above[k] - below[k]) / 2e-5);
        }
        let [a, b, c] = columns;
        let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        let log_jacobian = bent().pull(&mut u.clone(), &mut [0.0; 3]);
        assert!((determinant.abs().ln() - log_jacobian).abs() < 1e-7, "{determinant} {log_jacobian}");
    }
}

#[test]
fn a_bent_gaussian_is_found_from_states_and_gradients() {
    // x₁ ~ N(0, 1), x₂ | x₁ ~ N(x₁² − 1, 1/4), x₃ | x₁ ~ N(0, e^{x₁}), at points of a law that is not its own.
    let d = 3;
    let mut stream = Stream::open(8, Purpose::Sample, 0, 0);
    let mut x = vec![0.0; d * 400];
    stream.fill_normal(&mut x);
    let mut g = Vec::new();
    for x in x.chunks_exact_mut(d) {
        x[1] += x[0] * x[0] - 1.0;
        let (r, narrow) = (x[1] - x[0] * x[0] + 1.0, (-x[0]).exp());
        g.extend([-x[0] + 8.0 * x[0] * r - 0.5 + 0.5 * x[2] * x[2] * narrow, -4.0 * r, -x[2] * narrow]);
    }
    let cloud = Cloud { d, x, g };
    let before = cloud.residual();
    let (layers, inside) = bends(cloud, &Frame::unit(d));
    assert!(matches!(layers.first(), Some(Layer::Bend(_))));
    // The ridge of the fit is all that is left.
    assert!(before > 0.5 && inside.residual() < 1e-3 * before, "{before} {}", inside.residual());
}

#[test]
fn a_driver_that_is_no_axis_is_found() {
    // t = wᵀx ~ N(0, 1), vᵀx | t ~ N(t² − 1, 1/4), all else standard normal, in the coordinates of a matched Gaussian:
    // no candidate is w.
    let d = 5;
    let (w, v) = ([0.5, -0.5, 0.1, 0.7, 0.0], [0.7, 0.1, 0.5, -0.5, 0.0]);
    let mut x = vec![0.0; d * 300];
    Stream::open(9, Purpose::Sample, 0, 0).fill_normal(&mut x);
    let mut g = Vec::new();
    for x in x.chunks_exact_mut(d) {
        let (t, e) = (dot(x, &w), dot(x, &v));
        let r = 0.5 * e;
        axpy(t * t - 1.0 + r - e, &v, x);
        let mut slope: Vec<f64> = x.iter().map(|x| -x).collect();
        axpy(8.0 * t * r, &w, &mut slope);
        axpy(dot(x, &v) - 4.0 * r, &v, &mut slope);
        g.extend(slope);
    }
    let (cloud, _) = Cloud { d, x, g }.straightened().unwrap();
    let before = cloud.residual();
    let (layers, inside) = bends(cloud, &Frame::unit(d));
    assert!(before > 0.3 && inside.residual() < 0.02, "{before} {}", inside.residual());
    assert_eq!(layers.len(), 2, "one bend and what is straight inside it");
}
