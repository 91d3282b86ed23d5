use super::*;
use crate::chains::bending::Cloud;
use crate::chains::pinching::pinched;
use crate::chains::scale::{falls_off, stretched};
use crate::chains::{Coordinates, Frame, Layer, Part, Trail};
use crate::evaluate::Evaluator;
use crate::random::{Purpose, Stream};
use crate::target::from_fn;

/// Three components; the second drives, by three terms of which the middle one is not definite.
fn pinch() -> Pinch {
    let term = |kappa: f64, precision: [f64; 4], pull: [f64; 2]| Term {
        exponents: vec![kappa],
        precision: precision.to_vec(),
        pull: pull.to_vec(),
    };
    let terms = vec![
        term(0.0, [2.0, 0.5, 0.5, 1.0], [0.3, -0.2]),
        term(0.7, [0.0, 0.4, 0.4, 0.1], [0.0, 0.5]),
        term(1.4, [0.1, 0.2, 0.2, 0.9], [0.2, 0.0]),
    ];
    Pinch::new(3, vec![1], terms, vec![[-2.0, 3.0]])
}

const POINTS: [[f64; 3]; 4] = [[0.3, -1.2, 0.8], [2.0, 2.5, 2.5], [-3.0, -4.0, 1.5], [0.5, 5.0, -1.0]];

#[test]
fn points_go_there_and_back_inside_and_beyond_the_ends() {
    let (pinch, mut bench) = (pinch(), Bench::default());
    for start in POINTS {
        let mut point = start;
        pinch.forward(&mut point, &mut bench);
        assert!((point[0] - start[0]).abs() > 0.01 && point[1] == start[1]);
        pinch.backward(&mut point, &mut bench);
        assert!(point.iter().zip(start).all(|(a, b)| (a - b).abs() < 1e-12), "{point:?}");
    }
}

#[test]
fn gradients_and_jacobians_are_those_of_differences() {
    // log p(x) = −|x|⁴/4, any smooth function. Differences of step 1e−5: 1e−8 in relative size.
    let (pinch, mut bench) = (pinch(), Bench::default());
    let mut log_p = |u: [f64; 3]| {
        let mut x = u;
        pinch.forward(&mut x, &mut bench);
        let square = dot(&x, &x);
        let mut gradient = x.map(|x| -square * x);
        let log_jacobian = pinch.pull(&u, &mut gradient, &mut bench);
        (-0.25 * square * square + log_jacobian, gradient, x, log_jacobian)
    };
    for u in POINTS {
        let (_, gradient, _, log_jacobian) = log_p(u);
        // The determinant of ∂x/∂u, by differences; the driver is a block by itself.
        let mut columns = [[0.0; 3]; 3];
        for i in 0..3 {
            let (mut above, mut below) = (u, u);
            above[i] += 1e-5;
            below[i] -= 1e-5;
            let (above, below) = (log_p(above), log_p(below));
            let slope = (above.0 - below.0) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-5 * slope.abs().max(1.0), "{i}: {slope} {}", gradient[i]);
            (0..3).for_each(|k| columns[i][k] = (above.2[k] - below.2[k]) / 2e-5);
        }
        let determinant = columns[0][0] * columns[2][2] - columns[0][2] * columns[2][0];
        assert!((determinant.abs().ln() - log_jacobian).abs() < 1e-7, "{determinant} {log_jacobian}");
    }
}

#[test]
fn a_precision_that_is_none_still_gives_a_map() {
    let terms = vec![Term { exponents: vec![1.0], precision: vec![1.0, 1.0, 1.0, 1.0], pull: vec![0.0, 0.0] }];
    let (pinch, mut bench) = (Pinch::new(3, vec![0], terms, vec![[-1.0, 1.0]]), Bench::default());
    let mut point = [0.5, 0.3, -0.2];
    pinch.backward(&mut point, &mut bench);
    pinch.forward(&mut point, &mut bench);
    assert!(point.iter().zip([0.5, 0.3, -0.2]).all(|(a, b)| (a - b).abs() < 1e-6), "{point:?}");
}

/// What is left in the coordinates that are found from some states of a law, at these and at points far out.
fn left(d: usize, n: usize, gradient: impl Fn(&[f64]) -> Vec<f64>, sample: impl Fn(&mut [f64])) -> (Coordinates, f64) {
    let mut z = vec![0.0; d * n];
    Stream::open(8, Purpose::Sample, 0, 0).fill_normal(&mut z);
    z.chunks_exact_mut(d).for_each(sample);
    let by_z: Vec<f64> = z.chunks_exact(d).flat_map(&gradient).collect();
    let (log_p, accepted) = (vec![0.0; n], vec![1.0; n]);
    let part = Part { n: 8, z: &z, by_z: &by_z, log_p: &log_p, accepted: &accepted };
    let found = pinched(&Coordinates::straight(Frame::unit(d)), part).expect("a scale");
    // Independent points of N(0, I) in the new coordinates, twice as wide.
    let (mut u, mut far) = (vec![0.0; d * 100], vec![0.0; d * 100]);
    Stream::open(9, Purpose::Sample, 0, 0).fill_normal(&mut u);
    u.iter_mut().for_each(|u| *u *= 2.0);
    found.to_z(&u, &mut far, &mut Trail::default());
    let by_far: Vec<f64> = far.chunks_exact(d).flat_map(&gradient).collect();
    let left = found.roughness(&far, &by_far);
    (found, left)
}

#[test]
fn a_funnel_is_a_gaussian_given_its_scale() {
    // z₁ ~ N(0, 9), z_i | z₁ ~ N(0, e^{z₁}), at states that chains might have: narrower than the funnel.
    let gradient = |z: &[f64]| {
        let narrow = (-z[0]).exp();
        let mut g: Vec<f64> = z.iter().map(|z| -narrow * z).collect();
        g[0] = -z[0] / 9.0 - 4.5 + 0.5 * narrow * z[1..].iter().map(|z| z * z).sum::<f64>();
        g
    };
    let (found, left) = left(10, 200, gradient, |z| (1..10).for_each(|i| z[i] *= (0.5 * z[0]).exp()));
    assert!(left < 1e-8, "{left}");
    // The whole law is N(0, I), the scale as well as a Gaussian matched to 200 states says: one more is put to them.
    let (mut z, mut u) = (vec![0.0; 10], vec![0.5; 10]);
    u[0] = -0.7;
    found.to_z(&u, &mut z, &mut Trail::default());
    let (_, by_u, _) = found.seen_from(&z, &gradient(&z));
    assert!(u.iter().zip(&by_u).all(|(u, g)| (u + g).abs() < 0.03), "{u:?} {by_u:?}");
}

#[test]
fn both_forms_of_a_hierarchy_are_gaussian_given_their_scale() {
    let (y, s) = ([28.0, 8.0, -3.0, 7.0, -1.0], [15.0, 10.0, 16.0, 11.0, 9.0]);
    let centred = |z: &[f64]| {
        let tau = z[1].exp();
        let mut g = vec![-z[0] / 25.0, 1.0 - 2.0 * tau * tau / (25.0 + tau * tau)];
        for j in 0..5 {
            let deviation = (z[2 + j] - z[0]) / tau;
            g.push((y[j] - z[2 + j]) / (s[j] * s[j]) - deviation / tau);
            g[0] += deviation / tau;
            g[1] += deviation * deviation - 1.0;
        }
        g
    };
    let (_, rest) = left(7, 200, centred, |z| {
        z[1] += 1.5;
        (2..7).for_each(|i| z[i] = 5.0 + 3.0 * z[i]);
    });
    assert!(rest < 1e-8, "{rest}");
    let not_centred = |z: &[f64]| {
        let tau = z[1].exp();
        let mut g = vec![-z[0] / 25.0, 1.0 - 2.0 * tau * tau / (25.0 + tau * tau)];
        for j in 0..5 {
            let residual = (y[j] - z[0] - tau * z[2 + j]) / (s[j] * s[j]);
            g.push(tau * residual - z[2 + j]);
            g[0] += residual;
            g[1] += residual * tau * z[2 + j];
        }
        g
    };
    let (found, rest) = left(7, 200, not_centred, |z| z[1] += 1.0);
    assert!(rest < 1e-8, "{rest}");
    assert!(matches!(found.layers(), [Layer::Pinch(pinch), Layer::Straight(_)] if pinch.drivers() == [1]));
}

#[test]
fn a_law_without_a_scale_has_none() {
    // A product of log-gamma laws: every curvature changes with its own component.
    let mut x = vec![0.0; 4 * 200];
    Stream::open(8, Purpose::Sample, 0, 0).fill_normal(&mut x);
    let g: Vec<f64> = x.iter().map(|x| 1.0 - x.exp()).collect();
    let cloud = Cloud { d: 4, x, g };
    assert!(cloud.worst_residual(0..4) > 0.2);
    let nothing = vec![0.0; 200];
    let part = Part { n: 8, z: &cloud.x, by_z: &cloud.g, log_p: &nothing, accepted: &nothing };
    assert!(pinched(&Coordinates::straight(Frame::unit(4)), part).is_none());
}

/// Whether a funnel with a Gaussian scale, or with a flat one, is seen to fall off, from states over most of it.
fn is_seen_to_fall(has_law: bool) -> bool {
    let gradient = move |z: &[f64], g: &mut [f64]| {
        let (narrow, law) = ((-z[0]).exp(), if has_law { z[0] / 9.0 } else { 0.0 });
        let square: f64 = z[1..].iter().map(|z| z * z).sum();
        g.iter_mut().zip(z).for_each(|(g, z)| *g = -narrow * z);
        g[0] = 0.5 * narrow * square - 1.0 - law;
        -0.5 * narrow * square - z[0] - 0.5 * law * z[0]
    };
    let target = from_fn(3, gradient);
    let mut u = vec![0.0; 3 * 400];
    Stream::open(8, Purpose::Sample, 0, 0).fill_normal(&mut u);
    let mut by_z = Vec::new();
    for z in u.chunks_exact_mut(3) {
        z[0] *= 3.0;
        (1..3).for_each(|i| z[i] *= (0.5 * z[0]).exp());
        let mut g = vec![0.0; 3];
        gradient(z, &mut g);
        by_z.extend(g);
    }
    let (log_p, accepted) = (vec![0.0; 400], vec![1.0; 400]);
    let part = Part { n: 8, z: &u, by_z: &by_z, log_p: &log_p, accepted: &accepted };
    let found = pinched(&Coordinates::straight(Frame::unit(3)), part).expect("a scale");
    let mut evaluator = Evaluator::new(&target, None);
    let stretched = stretched(&mut evaluator, &found).unwrap();
    if has_law {
        // The scale's own law is the normal one, exactly.
        let stretched = stretched.expect("a law that can be followed");
        let (u, mut z) = (vec![1.7, 0.3, -0.8], vec![0.0; 3]);
        stretched.to_z(&u, &mut z, &mut Trail::default());
        let mut g = vec![0.0; 3];
        gradient(&z, &mut g);
        let (_, by_u, _) = stretched.seen_from(&z, &g);
        assert!(u.iter().zip(&by_u).all(|(u, g)| (u + g).abs() < 1e-3), "{u:?} {by_u:?}");
    }
    falls_off(&mut evaluator, &found, part).unwrap()
}

#[test]
fn a_spike_without_mass_is_told_from_one_that_may_have_some() {
    assert!(is_seen_to_fall(true));
    assert!(!is_seen_to_fall(false));
}
