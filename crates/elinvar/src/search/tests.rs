use super::*;
use crate::block::{Location, LogWeights, Scale};
use crate::evaluate::{Clock, Limits};
use crate::family::Approximation;
use crate::linalg::{axpy, dot};
use crate::model::{
    Banana, BetaBinomial, DesignMatrix, EightSchools, Funnel, GaussianMixture, LinearRegression, LogisticRegression,
    Parametrisation,
};
use crate::plan::{Plan, Stop};
use crate::random::{Purpose, Stream};
use crate::target::{Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, Shape, TargetError, from_fn};

fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    Stream::open(seed, Purpose::Sample, 0, 0).fill_normal(&mut x);
    x
}

fn logistic(n: usize, d: usize, precision: f64, seed: u64) -> LogisticRegression {
    let x = normals(n * d, seed);
    let beta = normals(d, seed + 1);
    let noise = normals(n, seed + 2);
    let label = |i: usize| if dot(&x[i * d..(i + 1) * d], &beta) + noise[i] > 0.0 { 1.0 } else { -1.0 };
    let labels = (0..n).map(label).collect();
    let names = (1..=d).map(|i| format!("x{i}")).collect();
    LogisticRegression::new(DesignMatrix::new(x, d, names).unwrap(), labels, precision).unwrap()
}

/// Another target in the coordinates z with x = A z + b, as a function of one point, its prior included.
struct Rotated<'t> {
    inner: &'t dyn Target,
    a: Vec<f64>,
}

/// Orthonormal columns.
fn rotation(d: usize, seed: u64) -> Vec<f64> {
    let mut q = normals(d * d, seed);
    for j in 0..d {
        for k in 0..j {
            let (before, rest) = q.split_at_mut(j * d);
            let (column, other) = (&mut rest[..d], &before[k * d..(k + 1) * d]);
            axpy(-dot(column, other), other, column);
        }
        let norm = dot(&q[j * d..(j + 1) * d], &q[j * d..(j + 1) * d]).sqrt();
        q[j * d..(j + 1) * d].iter_mut().for_each(|v| *v /= norm);
    }
    q
}

impl<'t> Rotated<'t> {
    /// A = Q diag(s) Qᵀ with s from 1/√c to √c: the Hessian's condition number grows by c².
    fn new(inner: &'t dyn Target, c: f64, seed: u64) -> Self {
        let d = inner.dim();
        let q = rotation(d, seed);
        let mut a = vec![0.0; d * d];
        for k in 0..d {
            let s = c.powf(k as f64 / (d - 1) as f64 - 0.5);
            for j in 0..d {
                axpy(s * q[k * d + j], &q[k * d..(k + 1) * d], &mut a[j * d..(j + 1) * d]);
            }
        }
        Self { inner, a }
    }

    /// A = diag(s) with s from 1/√c to √c.
    fn rescaled(inner: &'t dyn Target, c: f64) -> Self {
        let d = inner.dim();
        let mut a = vec![0.0; d * d];
        (0..d).for_each(|k| a[k * d + k] = c.powf(k as f64 / (d - 1) as f64 - 0.5));
        Self { inner, a }
    }

    fn times(&self, z: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; z.len()];
        self.a.chunks_exact(z.len()).zip(z).for_each(|(column, z)| axpy(*z, column, &mut x));
        x
    }
}

impl PointwiseTarget for Rotated<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let mut probe = Probe::new(Evaluator::new(self.inner, None));
        let Ok(Some(point)) = probe.point(self.times(z)) else { return Ok(f64::NAN) };
        grad.iter_mut().zip(self.a.chunks_exact(z.len())).for_each(|(g, column)| *g = dot(column, &point.gradient));
        Ok(point.log_p)
    }
}

impl PointwiseHessian for Rotated<'_> {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = z.len();
        let mut probe = Probe::new(Evaluator::new(self.inner, None));
        let Ok(Some(point)) = probe.point(self.times(z)) else { return Err(TargetError::recoverable("none")) };
        let Ok(Some(p)) = probe.curvature(&point) else { return Err(TargetError::recoverable("none")) };
        let column = |j: usize| &self.a[j * d..(j + 1) * d];
        for j in 0..d {
            let pa: Vec<f64> = (0..d).map(|i| dot(&p[i * d..(i + 1) * d], column(j))).collect();
            (0..d).for_each(|i| hessian[j * d + i] = -dot(column(i), &pa));
        }
        Ok(())
    }
}

/// y = a + b x + noise with x near 4000 and y near 10⁴: nothing has unit scale.
fn dollars() -> LinearRegression {
    let n = 60;
    let (u, e) = (normals(n, 5), normals(n, 6));
    let x: Vec<f64> = u.iter().map(|u| 4000.0 + 40.0 * u).collect();
    let y = x.iter().zip(&e).map(|(x, e)| -20_000.0 + 8.0 * x + 300.0 * e).collect();
    let rows = x.iter().flat_map(|x| [1.0, *x]).collect();
    let x = DesignMatrix::new(rows, 2, vec!["one".into(), "x".into()]).unwrap();
    LinearRegression::new(x, y, 1e-12).unwrap()
}

fn modes(target: &dyn Target) -> Found {
    search(target, Covariance::Full, 1).unwrap()
}

/// The precision of the region a fit would begin with, its diagonal.
fn widths(found: &Found) -> Vec<f64> {
    found.region.metric.stored_as(Covariance::Diagonal).iter().map(|p| p.sqrt().recip()).collect()
}

#[test]
fn one_mode_costs_little_and_is_found_by_most_climbs() {
    for (d, n, precision) in [(3, 50, 1.0), (11, 200, 1.0), (61, 100, 0.2)] {
        let target = logistic(n, d, precision, 1);
        let found = modes(&target);
        assert_eq!(found.modes.len(), 1);
        // A later climb has fewer steps, and one from far away may use them up.
        let by = found.modes[0].found_by;
        assert!(found.searches >= 4 && by >= 3 && by + 1 >= found.searches, "{by} of {}", found.searches);
        assert!(!found.unbounded);
        assert!(found.counts.gradient <= 150 && found.counts.hessian <= 150, "{:?}", found.counts);
        // The gradient at the mode, in units of its width.
        let mut probe = Probe::new(Evaluator::new(&target, None));
        let point = probe.point(found.modes[0].centre.clone()).unwrap().unwrap();
        let mut step = point.gradient.clone();
        found.modes[0].metric.solve(&mut step);
        assert!(dot(&step, &point.gradient) < 2e-3);
    }
}

/// A change of units does not change the way at all; a rotation changes which way a random start lies, and rounding.
#[test]
fn the_way_does_not_depend_on_the_coordinates() {
    let target = logistic(200, 11, 1.0, 1);
    let plain = modes(&target);
    for condition in [1e2, 1e4, 1e8] {
        let rescaled = modes(&PointwiseSecondOrder(Rotated::rescaled(&target, condition)));
        assert_eq!(rescaled.counts, plain.counts);
        let rotated = modes(&PointwiseSecondOrder(Rotated::new(&target, condition.sqrt(), 3)));
        assert_eq!(rotated.modes.len(), 1);
        assert!(rotated.counts.gradient < 2 * plain.counts.gradient, "{:?}", rotated.counts);
        for found in [rescaled, rotated] {
            // The determinant of A is one.
            assert!((found.modes[0].log_mass - plain.modes[0].log_mass).abs() < 1e-3);
        }
    }
}

/// The least-squares line of data far from every unit: correlation −0.9999, the origin 10⁸ nats below.
#[test]
fn badly_scaled_regressions_are_solved() {
    let target = dollars();
    let found = modes(&target);
    assert_eq!(found.modes.len(), 1);
    assert!(found.counts.gradient < 150, "{:?}", found.counts);
    let mut probe = Probe::new(Evaluator::new(&target, None));
    let at = |probe: &mut Probe<'_>, z: &[f64]| probe.point(z.to_vec()).unwrap().unwrap().log_p;
    let top = found.modes[0].log_p;
    assert!(top > -463.0);
    for j in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut z = found.modes[0].centre.clone();
            z[j] += sign * widths(&found)[j];
            assert!((top - at(&mut probe, &z) - 0.5).abs() < 0.1, "a width is not one of the conditional density");
        }
    }
    let rotated = modes(&PointwiseSecondOrder(Rotated::new(&target, 1e2, 3)));
    assert!((rotated.modes[0].log_mass - found.modes[0].log_mass).abs() < 0.01);
    let without = modes(&Pointwise(Rotated::rescaled(&target, 1.0)));
    assert!((without.modes[0].log_mass - found.modes[0].log_mass).abs() < 0.01);
    assert!(without.counts.gradient < 200, "{:?}", without.counts);
}

#[test]
fn gradients_alone_find_the_mode_and_its_curvature() {
    // Rosenbrock's valley: the mode is (1, 1), the curvature there [[81, −40], [−40, 20]].
    let valley = from_fn(2, |z, grad| {
        let r = z[1] - z[0] * z[0];
        grad[0] = 1.0 - z[0] + 40.0 * r * z[0];
        grad[1] = -20.0 * r;
        -0.5 * (z[0] - 1.0).powi(2) - 10.0 * r * r
    });
    let found = modes(&valley);
    assert_eq!(found.modes.len(), 1);
    let mode = &found.modes[0];
    assert!(mode.centre.iter().all(|z| (z - 1.0).abs() < 0.1), "{:?}", mode.centre);
    assert!((mode.log_mass - (std::f64::consts::TAU.ln() - 0.5 * 20f64.ln())).abs() < 0.05);
    assert!(found.counts.gradient <= 200 && found.counts.hessian == 0, "{:?}", found.counts);

    let target = logistic(200, 11, 1.0, 1);
    let exact = modes(&target);
    for condition in [1.0, 1e2] {
        let found = modes(&Pointwise(Rotated::new(&target, condition, 3)));
        assert!((found.modes[0].log_mass - exact.modes[0].log_mass).abs() < 0.02);
        assert!(found.counts.gradient < 250, "{:?}", found.counts);
    }
}

/// In many dimensions the pairs of L-BFGS stand for the curvature.
#[test]
fn many_dimensions_are_climbed_without_any_matrix() {
    let d = 300;
    let target = from_fn(d, |z, grad| {
        let mut log_p = 0.0;
        for (i, (z, g)) in z.iter().zip(grad).enumerate() {
            let precision = 1.0 + (i % 7) as f64;
            *g = -precision * (z - 2.0);
            log_p -= 0.5 * precision * (z - 2.0).powi(2);
        }
        log_p
    });
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        let found = search(&target, covariance, 1).unwrap();
        assert_eq!(found.modes.len(), 1);
        assert!(found.modes[0].centre.iter().all(|z| (z - 2.0).abs() < 0.1));
        assert!(found.counts.gradient < 200, "{:?}", found.counts);
        assert!(widths(&found).iter().all(|w| (0.2..2.0).contains(w)));
    }
}

#[test]
fn both_modes_are_found_with_their_masses() {
    // Weights 0.3 and 0.7; between the modes the log density is not concave.
    let covariances = [1.0, 0.0, 0.0, 1.0, 0.5, 0.2, 0.2, 0.4];
    let pair = GaussianMixture::new(&[0.3, 0.7], vec![-4.0, 0.0, 4.0, 1.0], &covariances).unwrap();
    let well = from_fn(1, |z, grad| {
        grad[0] = -8.0 * z[0] * (z[0] * z[0] - 1.0);
        -2.0 * (z[0] * z[0] - 1.0).powi(2)
    });
    for seed in 1..=5 {
        let found = search(&pair, Covariance::Full, seed).unwrap();
        assert_eq!(found.modes.len(), 2);
        for (mode, weight) in found.modes.iter().zip([0.7f64, 0.3]) {
            assert!((mode.log_mass - weight.ln()).abs() < 0.01, "seed {seed}: {}", mode.log_mass);
        }
        // The climb begins on the top of the barrier, where the gradient is zero.
        let found = search(&well, Covariance::Full, seed).unwrap();
        let mut at: Vec<f64> = found.modes.iter().map(|mode| mode.centre[0]).collect();
        at.sort_by(f64::total_cmp);
        assert!(at.len() == 2 && (at[0] + 1.0).abs() < 0.02 && (at[1] - 1.0).abs() < 0.02, "{at:?}");
    }
}

#[test]
fn ten_modes_in_twenty_dimensions_are_all_found() {
    for seed in 1..=5 {
        let mut stream = Stream::open(seed, Purpose::Sample, 9, 0);
        let centres: Vec<f64> = (0..200).map(|_| 40.0 * stream.uniform() - 20.0).collect();
        let target = GaussianMixture::isotropic(20, centres.clone()).unwrap();
        let mut found = search(&target, Covariance::Full, seed).unwrap();
        assert_eq!(found.modes.len(), 10, "seed {seed}");
        assert!(found.counts.gradient < 500, "{:?}", found.counts);
        assert!(found.modes.iter().all(|mode| (mode.log_mass + 10f64.ln()).abs() < 2e-3));
        // One that is forgotten is found again where it is looked for.
        let forgotten = found.modes.remove(4);
        let near: Vec<f64> = forgotten.centre.iter().map(|z| z + 0.3).collect();
        let mut probe = Probe::new(Evaluator::new(&target, None));
        let mut look =
            |modes: &[Mode]| climb_to_mode(&mut probe, near.clone(), Known::Modes(modes), Covariance::Full).unwrap();
        let again = look(&found.modes).expect("it is not known");
        assert!(forgotten.metric.square_distance(&again.centre, &forgotten.centre) < 1e-3);
        assert!((again.log_mass - forgotten.log_mass).abs() < 1e-3);
        found.modes.push(again);
        assert!(look(&found.modes).is_none());
    }
}

/// A mixture that covers one of two modes: climbs stop where it covers the density, and find the other.
#[test]
fn what_a_mixture_covers_is_not_climbed() {
    let at = 12.0;
    let target = GaussianMixture::isotropic(2, vec![0.0, 0.0, at, 1.0]).unwrap();
    let one = Location::new(vec![0.0, 0.0], Scale::from_precision(Shape::Full(2), vec![1.0, 0.0, 0.0, 1.0]).unwrap())
        .unwrap();
    let q = Approximation::mixture(LogWeights::uniform(1), vec![one]).unwrap();
    // E_q[log p − log q] is log ½ here.
    let known = Known::Mixture { q: &q, nats: 0.5f64.ln() + 2.0 };
    let targets: [&dyn Target; 2] = [&target, &Pointwise(Rotated::rescaled(&target, 1.0))];
    for target in targets {
        let mut probe = Probe::new(Evaluator::new(target, None));
        assert!(climb_to_mode(&mut probe, vec![1.0, -2.0], known, Covariance::Full).unwrap().is_none());
        assert_eq!(probe.evaluator.take_counts().gradient, 1, "it is known where it begins");
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            let mode = climb_to_mode(&mut probe, vec![at + 3.0, -4.0], known, covariance).unwrap().unwrap();
            assert!((mode.centre[0] - at).abs() < 0.05 && (mode.centre[1] - 1.0).abs() < 0.05, "{:?}", mode.centre);
            assert!((mode.log_mass - 0.5f64.ln()).abs() < 0.01, "{}", mode.log_mass);
        }
    }
}

#[test]
fn densities_without_a_mode_end_with_a_region() {
    let constant = from_fn(3, |_, grad| {
        grad.fill(0.0);
        1.0
    });
    let found = modes(&constant);
    assert!(found.modes.is_empty() && !found.unbounded);
    assert!(found.region.centre == [0.0; 3] && widths(&found) == [1.0; 3], "{:?}", found.region);

    let ramp = from_fn(2, |z, grad| {
        grad.copy_from_slice(&[1.0, -z[1]]);
        z[0] - 0.5 * z[1] * z[1]
    });
    // ½ log r² + r²/2 has a pole at the origin that holds a finite mass.
    let pole = from_fn(2, |z, grad| {
        let r = dot(z, z);
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z - 0.9 * z / r);
        -0.5 * r - 0.45 * r.ln()
    });
    let centred = EightSchools::new(Parametrisation::Centred);
    let targets: [&dyn Target; 4] = [&ramp, &pole, &centred, &Pointwise(centred)];
    for (which, target) in targets.into_iter().enumerate() {
        let found = modes(target);
        assert!(found.unbounded && found.modes.is_empty(), "{which}: {found:?}");
        // The ramp has mass without end; the others hold the less the higher they are, which climbs with curvature see.
        assert!(which == 3 || found.emptying == (which > 0), "{which}");
        assert!(found.counts.gradient < 1_500, "{which}: {:?}", found.counts);
        assert!(found.region.centre.iter().all(|z| z.abs() < 30.0), "{which}: {:?}", found.region.centre);
        assert!(widths(&found).iter().all(|w| (0.05..20.0).contains(w)), "{which}: {:?}", widths(&found));
    }

    // The funnel has a mode, 91 nats above the origin, e⁻²⁰ wide and without mass.
    let funnel = Funnel::new(10).unwrap();
    for target in [&funnel as &dyn Target, &Pointwise(funnel)] {
        let found = modes(target);
        assert!(found.unbounded && found.emptying, "{found:?}");
        assert!(found.region.centre[0].abs() < 10.0, "{:?}", found.region.centre);
    }
}

#[test]
fn edges_and_missing_halves_are_survived() {
    // Nothing below 0.5, the origin included.
    let half = from_fn(2, |z, grad| {
        grad.copy_from_slice(&[1.0 - z[0], -z[1]]);
        if z[0] < 0.5 { f64::NAN } else { -0.5 * (z[0] - 1.0).powi(2) - 0.5 * z[1] * z[1] }
    });
    let found = modes(&half);
    assert!((found.modes[0].centre[0] - 1.0).abs() < 0.05 && found.counts.dropped > 0);

    // The mode lies beyond the edge: most draws of the region must have a density all the same.
    let cliff = from_fn(2, |z, grad| {
        grad.copy_from_slice(&[1.0 - z[0], -z[1]]);
        if z[0] > 0.5 { f64::NEG_INFINITY } else { -0.5 * (z[0] - 1.0).powi(2) - 0.5 * z[1] * z[1] }
    });
    let found = modes(&cliff);
    assert!(found.modes.is_empty() && !found.unbounded, "{found:?}");
    assert!(found.region.centre[0] + 0.67 * widths(&found)[0] < 0.5, "{:?}", found.region);
    assert!(widths(&found).iter().all(|w| *w > 0.2), "{:?}", found.region);

    let cauchy = from_fn(1, |z, grad| {
        let r = z[0] - 50.0;
        grad[0] = -2.0 * r / (1.0 + r * r);
        -(r * r).ln_1p()
    });
    let found = modes(&cauchy);
    assert!(found.modes.len() == 1 && (found.modes[0].centre[0] - 50.0).abs() < 0.05 && !found.unbounded);

    let nothing = from_fn(2, |_, _| f64::NAN);
    let found = modes(&nothing);
    assert!(found.modes.is_empty() && found.searches == 0 && widths(&found) == [1.0; 2]);
}

#[test]
fn targets_with_one_mode_have_one() {
    let targets: [&dyn Target; 3] =
        [&BetaBinomial::cancer_mortality(), &Banana::default(), &EightSchools::new(Parametrisation::NonCentred)];
    for target in targets {
        for seed in 1..=3 {
            let found = search(target, Covariance::Full, seed).unwrap();
            assert!(found.modes.len() == 1 && !found.unbounded, "{:?} {}", found.counts, found.searches);
            assert!(found.counts.gradient < 300, "{:?}", found.counts);
        }
    }
}

/// The centred funnel: its mode is a spike at z₁ = −4.5 (d − 1) that holds none of the mass.
#[test]
fn an_ascent_ends_in_the_spike_of_a_funnel() {
    let funnel = Pointwise(Funnel::new(10).unwrap());
    let start = |probe: &mut Probe<'_>| probe.point(vec![1.0; 10]).unwrap().unwrap();
    let mut probe = Probe::new(Evaluator::new(&funnel, None));
    probe.is_scouting = true;
    let begun = start(&mut probe);
    let ascent = lbfgs::ascend(&mut probe, begun, Known::Modes(&[]), 400).unwrap();
    assert_eq!(ascent.reached, lbfgs::Reached::Spike);
    assert!(ascent.point.z[0] < -10.0, "{:?}", ascent.point.z);
    // A Gaussian has none.
    let smooth = logistic(80, 10, 1.0, 3);
    let mut probe = Probe::new(Evaluator::new(&smooth, None));
    probe.is_scouting = true;
    let begun = start(&mut probe);
    assert_eq!(lbfgs::ascend(&mut probe, begun, Known::Modes(&[]), 400).unwrap().reached, lbfgs::Reached::Top);
}

#[test]
fn scouting_finds_the_mass_of_a_funnel_and_the_mode_of_a_regression() {
    let funnel = Pointwise(Funnel::new(10).unwrap());
    let scouted = scout(Evaluator::new(&funnel, None), 4).unwrap();
    assert!(!scouted.fits);
    // The Gaussian at the mode has a bound of about −55 nats; that of the best Gaussian is about −3.
    assert!(scouted.places[0].elbo > -8.0, "{:?}", scouted.places.iter().map(|p| p.elbo).collect::<Vec<_>>());
    assert!(scouted.approximation.mean()[0] > -8.0, "{:?}", scouted.approximation.mean());
    assert!(scouted.places.windows(2).all(|pair| pair[0].elbo >= pair[1].elbo));

    let regression = logistic(80, 10, 1.0, 3);
    let (scouted, found) =
        (scout(Evaluator::new(&regression, None), 4).unwrap(), search(&regression, Covariance::Full, 4).unwrap());
    assert!(scouted.fits && scouted.places.len() == 1);
    let (mean, mode) = (scouted.approximation.mean(), &found.modes[0]);
    // What is left to climb there is half of this.
    assert!(0.5 * mode.metric.square_distance(&mean, &mode.centre) < 1.1 * crate::tuning::scout::MODE_NATS);
}

#[test]
fn no_climb_begins_once_a_limit_is_reached() {
    let target = logistic(50, 3, 1.0, 7);
    let limited = |stop: Stop| {
        let limits = Limits::of(&Plan { stop, ..Plan::default() });
        search_by(Evaluator::new(&target, None).within(limits, Clock::at(2.0)), Covariance::Full, 3).unwrap()
    };
    let free = limited(Stop { max_evaluations: u64::MAX, ..Stop::default() });
    assert!(free.searches > 1);
    let few = limited(Stop { max_evaluations: 2, ..Stop::default() });
    let late = limited(Stop { max_seconds: Some(1.0), ..Stop::default() });
    for found in [few, late] {
        assert_eq!((found.searches, found.modes.len()), (1, 1));
        assert!(found.counts.gradient < free.counts.gradient);
    }
}
