//! The checks of mathematics §0.8 for mixtures of exponential families, whose coordinates are not those of a scale
//! matrix.

use elinvar::block::LogWeights;
use elinvar::component::{Component, ComponentKind};
use elinvar::family::Approximation;
use elinvar::internals::family::Gradient;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Scratch, StepRequest};
use elinvar::random::Stream;
use elinvar::rule::Rule;
use elinvar::theory::Mcef;

use crate::fisher::{Products, joint_score, neighbours, split};
use crate::members::differences::{close, gradient, jacobian, partial, smallest_eigenvalue, solve};
use crate::members::stream;
use crate::natural_gradient::{columns, literal_and_exact};

/// A random member near the standard one.
fn near_standard(component: ComponentKind, stream: &mut Stream) -> Component {
    let standard = component.standard();
    let free = standard.chart().map(|x| x + 0.3 * (2.0 * stream.uniform() - 1.0));
    let mut coordinates = [0.0; 3];
    coordinates[..standard.n_free()].copy_from_slice(&free[..standard.n_free()]);
    standard.with_chart(coordinates).unwrap()
}

fn mixtures(dim: usize, seed: u64) -> Vec<Approximation> {
    let of_kind = |name: &&str| {
        let (component, stream) = (ComponentKind::new(name, None).unwrap(), &mut stream(seed));
        let weights = LogWeights::new((0..3).map(|_| 0.7 * stream.normal()).collect()).unwrap();
        Approximation::ef_mixture(weights, (0..3 * dim).map(|_| near_standard(component, stream)).collect()).unwrap()
    };
    // One family with two parameters and one with one, in turn.
    let two = || {
        let stream = &mut stream(seed);
        let weights = LogWeights::new((0..3).map(|_| 0.7 * stream.normal()).collect()).unwrap();
        let kind = |c: usize| ComponentKind::new(["gamma", "exponential"][c % 2], None).unwrap();
        let members = (0..3 * dim).map(|at| near_standard(kind(at / dim), stream)).collect();
        Approximation::ef_mixture(weights, members).unwrap()
    };
    let dirichlet = || {
        let stream = &mut stream(seed);
        let weights = LogWeights::new((0..3).map(|_| 0.7 * stream.normal()).collect()).unwrap();
        let near =
            |stream: &mut Stream| (0..dim + 1).map(|i| (0.7 + i as f64) * (0.3 * stream.normal()).exp()).collect();
        Approximation::dirichlet(weights, (0..3).map(|_| near(stream)).collect()).unwrap()
    };
    ComponentKind::NAMES.iter().map(of_kind).chain([two(), dirichlet()]).collect()
}

#[test]
fn two_families_come_in_turn_and_on_one_support() {
    let standard = |name: &str| ComponentKind::new(name, None).unwrap().standard();
    let of = |names: &[&str]| {
        let weights = LogWeights::new(vec![0.0; names.len()]).unwrap();
        Approximation::ef_mixture(weights, names.iter().map(|name| standard(name)).collect())
    };
    let q = of(&["gamma", "log_normal", "gamma"]).unwrap();
    assert_eq!([0, 1, 2].map(|c| q.family().component(c).unwrap().name()), ["gamma", "log_normal", "gamma"]);
    for (names, sentence) in [
        (&["gamma", "normal"][..], "the same support"),
        (&["gamma", "gamma", "log_normal"], "two in turn"),
        (&["gamma", "log_normal", "weibull"], "two in turn"),
    ] {
        let error = of(names).unwrap_err().to_string();
        assert!(error.contains(sentence), "{names:?}: {error}");
    }
    let alone = ComponentKind::new("gamma", None).unwrap();
    let other = ComponentKind::new("weibull", None).unwrap();
    assert!(elinvar::Family::ef_mixture_of_two(alone, other, 1).check().is_err());
    assert_eq!(elinvar::Family::ef_mixture_of_two(alone, alone, 1), elinvar::Family::ef_mixture(alone, 1));
}

fn name(q: &Approximation) -> String {
    let kind = q.naturals()[0].coordinates().first().map_or("dirichlet", |member| member.kind().name());
    format!("mixture of {kind}, d = {}", q.dim())
}

/// Checks 1 and 6: F = ∂m/∂η of each block, m_z = ∇Ā, round trips, and a positive definite F.
#[test]
fn the_fisher_matrix_is_the_jacobian_and_the_maps_are_one_to_one() {
    for q in mixtures(2, 31) {
        let (eta, m, fisher) = (q.natural(), q.expectation(), q.fisher());
        let (n, n_z) = (eta.len(), eta.len() - q.n_mixing());
        let at = |eta: &[f64]| q.with_natural(eta).unwrap();
        let columns = jacobian(&eta, |eta| at(eta).expectation());
        // A third parameter is the log-odds of a label inside the component: a block of its own, too.
        let hides = q.naturals()[0].coordinates().first().is_some_and(|member| member.n_free() == 3);
        let is_odds = |k: usize| hides && k < n_z && k % 3 == 2;
        for range in [0..n_z, n_z..n] {
            let positions = range.clone().flat_map(|column| range.clone().map(move |row| (column, row)));
            let same_block: Vec<bool> = positions.map(|(column, row)| is_odds(column) == is_odds(row)).collect();
            let of_block = |entries: Vec<f64>| -> Vec<f64> {
                entries.into_iter().zip(&same_block).map(|(entry, same)| if *same { entry } else { 0.0 }).collect()
            };
            let found = of_block(range.clone().flat_map(|k| columns[k][range.clone()].to_vec()).collect());
            close(&format!("{}: Jacobian", name(&q)), &found, &split(n, &fisher, range), 1e-7);
        }
        let of_components: Vec<usize> = (0..n_z).filter(|k| !is_odds(*k)).collect();
        let slope = |k: &usize| partial(&eta, *k, |eta| vec![at(eta).log_partition()])[0];
        let (slopes, means): (Vec<f64>, Vec<f64>) = of_components.iter().map(|k| (slope(k), m[*k])).unzip();
        close(&format!("{}: ∇Ā", name(&q)), &slopes, &means, 1e-8);
        assert!(smallest_eigenvalue(n, &fisher) > 0.0, "{}", name(&q));
        close(&format!("{}: η → η", name(&q)), &at(&eta).natural(), &eta, 1e-12);
        close(&format!("{}: m → η", name(&q)), &q.with_expectation(&m).unwrap().natural(), &eta, 1e-9);
    }
}

/// Checks 2 and 3: the scores of the joint have F as covariance, E[t] = m.
///
/// 21 or fewer entries per component kind at 4.5 standard errors, 7e−6 each: about 2e−3 in all for a new seed.
#[test]
fn the_scores_of_the_joint_have_the_fisher_matrix_as_covariance() {
    for q in mixtures(1, 32) {
        let (fisher, around, m) = (q.fisher(), neighbours(&q), q.expectation());
        let mut all = Products::new(around.len());
        let mut stream = stream(33);
        let (mut sum, mut squares) = (vec![0.0; m.len()], vec![0.0; m.len()]);
        let n = 16_000;
        for _ in 0..n {
            let (z, w) = q.draw_joint(&mut stream);
            all.add(&joint_score(&around, &z, &w));
            for (k, t) in q.statistics(&z, &w).into_iter().enumerate() {
                sum[k] += t / f64::from(n);
                squares[k] += t * t / f64::from(n);
            }
        }
        // A Birnbaum–Saunders law hides a label of its own: the score of what is seen has less information.
        if !name(&q).contains("birnbaum_saunders") {
            all.compare(&name(&q), &fisher);
        }
        for (k, expected) in m.iter().enumerate() {
            let error = ((squares[k] - sum[k] * sum[k]) / f64::from(n)).sqrt();
            assert!((sum[k] - expected).abs() < 4.5 * error, "{}: m[{k}] {} ± {error}, {expected}", name(&q), sum[k]);
        }
    }
}

/// A smooth function of all parameters with its gradient: Σ sin(a_k η_k) + Σ_c π_c² (c + ½ + η_c0).
fn smooth(q: &Approximation) -> (f64, Gradient) {
    let (eta, k) = (q.natural(), q.n_components());
    let mut out = q.zero_gradient();
    let (mut value, mut begin) = (0.0, 0);
    for c in 0..k {
        let weight = q.weights().weight(c);
        let own = out.blocks[c].b.len();
        for j in 0..own {
            let (rate, x) = (0.4 + 0.1 * j as f64 + 0.2 * c as f64, eta[begin + j]);
            value += (rate * x).sin();
            out.blocks[c].b[j] = rate * (rate * x).cos() / weight;
        }
        let factor = c as f64 + 0.5 + eta[begin];
        begin += own;
        value += weight * weight * factor;
        out.blocks[c].b[0] += weight;
        out.expected_h[c] = -2.0 * weight * factor;
    }
    (value, out)
}

/// Checks 4 and 5, and the inner product: F⁻¹∇_η L by differences is the library's direction, and its step goes there.
#[test]
fn the_natural_gradient_is_the_expectation_gradient_and_the_step_follows_it() {
    for q in mixtures(2, 34) {
        let (eta, (_, slopes)) = (q.natural(), smooth(&q));
        let n = eta.len();
        let slope = gradient(&eta, |eta| smooth(&q.with_natural(eta).unwrap()).0);
        let expected = solve(&columns(n, &q.fisher()), &slope);
        let direction = q.natural_gradient(&slopes);
        close(&format!("{}: ∇_m L", name(&q)), &direction, &expected, 1e-7);

        let length: f64 = slope.iter().zip(&expected).map(|(g, d)| g * d).sum();
        let found = q.inner(&slopes, &slopes, &mut Scratch::new(&q));
        assert!((found / length - 1.0).abs() < 1e-7, "{}: {found} {length}", name(&q));

        let beta = 1e-3;
        let mut moved = q.clone();
        let request = StepRequest { rule: Rule::NaturalGradient, beta, mixing_beta: beta, max_kl: None };
        assert_eq!(moved.advance(&slopes, request, &mut Scratch::new(&moved)).smallest, beta, "{}", name(&q));
        let aim: Vec<f64> = eta.iter().zip(&direction).map(|(eta, step)| eta + beta * step).collect();
        close(&format!("{}: η⁺", name(&q)), &moved.natural(), &aim, 1e-12);

        // Momentum: the displacement enters the direction as it is.
        let mut with_momentum = slopes.clone();
        q.add_momentum(&moved, 0.3, &mut Scratch::new(&q), &mut with_momentum);
        let aim: Vec<f64> = direction
            .iter()
            .zip(eta.iter().zip(moved.natural()))
            .map(|(d, (now, then))| d + 0.3 * (now - then))
            .collect();
        close(&format!("{}: momentum", name(&q)), &q.natural_gradient(&with_momentum), &aim, 1e-9);
    }
}

/// The chart: there and back, and its gradient by differences.
#[test]
fn the_chart_is_free_and_its_gradient_is_the_ordinary_one() {
    for q in mixtures(2, 35) {
        let mut chart = vec![0.0; q.chart_len()];
        q.chart(&mut chart);
        let at = |chart: &[f64]| {
            let mut moved = q.clone();
            assert!(moved.set_chart(chart, &mut Scratch::new(&moved)));
            moved
        };
        close(&format!("{}: chart", name(&q)), &at(&chart).natural(), &q.natural(), 1e-12);
        let expected = gradient(&chart, |chart| smooth(&at(chart)).0);
        let mut found = vec![0.0; chart.len()];
        q.chart_gradient(&smooth(&q).1, &mut Scratch::new(&q), &mut found);
        close(&format!("{}: gradient", name(&q)), &found, &expected, 1e-7);
        let mut broken = q.clone();
        chart[0] = f64::NAN;
        assert!(!broken.set_chart(&chart, &mut Scratch::new(&broken)) && broken == q, "{}", name(&q));
    }
}

/// The pitfall of mathematics §0.4: the partial derivative in m_w at fixed m_z is another direction.
#[test]
fn the_literal_partial_derivative_in_joint_expectations_is_wrong() {
    for q in mixtures(1, 36) {
        let eta = q.natural();
        let n_z = eta.len() - q.n_mixing();
        let slope = gradient(&eta, |eta| smooth(&q.with_natural(eta).unwrap()).0);
        let error = literal_and_exact(&q, &slope)[n_z..].iter().map(|[l, e]| (l - e).abs()).fold(0.0, f64::max);
        assert!(error > 0.05, "{}: the literal form is off by {error} only", name(&q));
    }
}
