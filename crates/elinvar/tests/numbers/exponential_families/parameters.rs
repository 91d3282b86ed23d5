//! Natural and expectation parameters, the Fisher matrix, and the maps between them.

use elinvar::component::{Component, ComponentKind};

use super::measure::{Measure, close, slope};
use super::members::{extreme_members, fisher_pairs, is_exponential_family, ordinary_members};

fn everyone() -> Vec<Component> {
    ordinary_members().into_iter().chain(extreme_members()).collect()
}

/// Steps in η_j are this part of 1/√F_jj.
const STEP: f64 = 3e-3;

fn moved(c: &Component, j: usize, by: f64) -> Component {
    let mut eta = c.natural();
    eta[j] += by;
    c.with_natural(eta).unwrap_or_else(|| panic!("{c:?} with η_{j} + {by:e}"))
}

/// √F_jj, and the largest step that STEP and the closeness of the domain's end allow.
fn scale_and_step(c: &Component, j: usize) -> (f64, f64) {
    let scale = c.fisher()[j][j].sqrt();
    let eta = c.natural()[j].abs();
    let step = STEP / scale;
    (scale, if eta > 0.0 { step.min(1e-3 * eta) } else { step })
}

#[test]
fn expectation_parameters_are_expectations() {
    for c in ordinary_members() {
        let measure = Measure::of(&c);
        for i in 0..c.n_free() {
            let expected = measure.expectation(|z| c.statistics(z)[i]);
            let size = expected.abs() + c.fisher()[i][i].sqrt();
            close(&format!("{c:?} m_{i}"), c.expectation()[i], expected, 1e-11 * size);
        }
    }
}

#[test]
fn fisher_matrix_is_the_derivative_of_the_expectation() {
    for c in everyone() {
        let fisher = c.fisher();
        for (i, j) in fisher_pairs(&c) {
            let (scale, step) = scale_and_step(&c, j);
            let expected = slope(step, |d| moved(&c, j, d).expectation()[i]);
            let size = scale * fisher[i][i].sqrt();
            // Rounding of m_i over the step.
            let rounding = 1e-15 * c.expectation()[i].abs() / step;
            close(&format!("{c:?} F[{i}][{j}]"), fisher[i][j], expected, 1e-8 * size + rounding);
        }
        let zero = (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).filter(|pair| !fisher_pairs(&c).contains(pair));
        assert!(zero.into_iter().all(|(i, j)| fisher[i][j] == 0.0), "{c:?}: {fisher:?}");
    }
}

#[test]
fn fisher_matrix_is_the_covariance_of_the_statistics() {
    for c in ordinary_members().iter().filter(|c| is_exponential_family(c)) {
        let (measure, m, fisher) = (Measure::of(c), c.expectation(), c.fisher());
        for (i, j) in fisher_pairs(c) {
            let expected = measure.expectation(|z| {
                let t = c.statistics(z);
                (t[i] - m[i]) * (t[j] - m[j])
            });
            // The difference t − m keeps as many digits as m has in units of the standard deviation.
            let size = (fisher[i][i] * fisher[j][j]).sqrt();
            let lost = m[i].abs() / fisher[i][i].sqrt() + m[j].abs() / fisher[j][j].sqrt();
            close(&format!("{c:?} Cov[{i}][{j}]"), fisher[i][j], expected, (1e-11 + 1e-15 * lost) * size);
        }
    }
}

#[test]
fn gradient_of_the_log_partition_is_the_expectation() {
    for c in everyone() {
        for (i, j) in fisher_pairs(&c) {
            if i != j || (j == 2 && !is_exponential_family(&c)) {
                continue;
            }
            let (scale, step) = scale_and_step(&c, j);
            let found = slope(step, |d| moved(&c, j, d).log_partition());
            let rounding = 4e-15 * c.log_partition().abs() / step;
            let tolerance = 1e-9 * (scale + c.expectation()[j].abs()) + rounding;
            close(&format!("{c:?} ∂A/∂η_{j}"), found, c.expectation()[j], tolerance);
        }
    }
}

#[test]
fn natural_gradient_solves_the_fisher_equations() {
    for c in everyone() {
        let (n, fisher) = (c.n_free(), c.fisher());
        let scale: Vec<f64> = (0..n).map(|j| fisher[j][j].sqrt()).collect();
        for direction in 0..n {
            // g = F x for x along one axis.
            let mut x = [0.0; 3];
            x[direction] = 1.0 / scale[direction];
            let mut g = [0.0; 3];
            for i in 0..n {
                g[i] = fisher[i][direction] * x[direction];
            }
            let found = c.natural_gradient(g);
            // Rounding of g is amplified by 1/(1 − r²), r the largest correlation of two statistics; ψ′(b) − ψ′(a+b)
            // and the like have 13 digits where a/b is 1e−9.
            let mut condition = 1.0f64;
            for i in 0..n {
                for j in 0..i {
                    let r = fisher[i][j] / (scale[i] * scale[j]);
                    condition = condition.max(1.0 / ((1.0 - r.abs()).max(1e-16)));
                }
            }
            for i in 0..n {
                let error = (found[i] - x[i]) * scale[i];
                close(&format!("{c:?} F⁻¹F e_{direction}"), error, 0.0, 2e-13 * condition);
            }
            assert!(found[n..].iter().all(|&x| x == 0.0));
        }
    }
}

#[test]
fn maps_are_inverse_to_each_other() {
    for c in everyone() {
        let n = c.n_free();
        let same = |what: &str, other: Option<Component>, tolerance: f64| {
            let other = other.unwrap_or_else(|| panic!("{c:?} is lost by {what}"));
            assert_eq!(other.kind(), c.kind());
            for i in 0..n {
                let (found, expected) = (other.parameters()[i], c.parameters()[i]);
                close(&format!("{c:?} by {what}"), found, expected, tolerance * expected.abs() + 1e-300);
            }
        };
        same("parameters", c.with_parameters(c.parameters()), 0.0);
        same("natural", c.with_natural(c.natural()), 1e-14);
        let size = c.chart().iter().fold(1.0, |a: f64, b| a.max(b.abs()));
        same("chart", c.with_chart(c.chart()), 1e-15 * (1.0 + size));
        // Conditioning: a relative change ε of m moves η by up to F⁻¹ m ε.
        let (m, fisher) = (c.expectation(), c.fisher());
        let mut condition = 1.0f64;
        for i in 0..n {
            let mut e = [0.0; 3];
            e[i] = m[i].abs().max(1e-300);
            let shift = c.natural_gradient(e);
            for j in 0..n {
                condition = condition.max((shift[j] / c.natural()[j].abs().max(1.0 / fisher[j][j].sqrt())).abs());
            }
        }
        if condition < 1e12 {
            same("expectation", c.with_expectation(m), 2e-13 * condition);
        }
    }
}

#[test]
fn chart_jacobian_is_the_derivative_of_the_natural_parameters() {
    for c in everyone() {
        let (n, jacobian) = (c.n_free(), c.chart_jacobian());
        for j in 0..n {
            for (i, row) in jacobian.iter().enumerate().take(n) {
                let h = 1e-3 * if c.kind().name() == "normal" && j == 0 { c.parameters()[1] } else { 1.0 };
                let expected = slope(h, |d| {
                    let mut coordinates = c.chart();
                    coordinates[j] += d;
                    c.with_chart(coordinates).unwrap().natural()[i]
                });
                let largest = row.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                let rounding = 1e-14 * (c.natural()[i].abs() + (h + c.chart()[j].abs()) * largest) / h;
                close(&format!("{c:?} ∂η_{i}/∂chart_{j}"), row[j], expected, 1e-9 * expected.abs() + rounding);
            }
        }
    }
}

#[test]
fn moments_choose_the_member() {
    for c in ordinary_members() {
        let (mean, variance) = c.mean_and_variance();
        if !mean.is_finite() || !variance.is_finite() {
            continue;
        }
        let found = c.with_moments(mean, variance).unwrap_or_else(|| panic!("{c:?} has moments"));
        for i in 0..c.n_free() {
            if c.kind().name() == "birnbaum_saunders_learned" && i == 2 {
                continue;
            }
            close(
                &format!("{c:?} by moments"),
                found.parameters()[i],
                c.parameters()[i],
                1e-8 * c.parameters()[i].abs(),
            );
        }
        // Whatever is asked for, there is an answer.
        for (mean, variance) in [(0.4, 1e-6), (0.4, 0.02), (0.4, 3.0)] {
            assert!(c.with_moments(mean, variance).is_some(), "{c:?}: mean {mean}, variance {variance}");
        }
    }
}

#[test]
fn nothing_outside_the_domain() {
    for name in ComponentKind::NAMES {
        let c = ComponentKind::new(name, None).unwrap().standard();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for i in 0..c.n_free() {
                let with = |mut values: [f64; 3]| {
                    values[i] = bad;
                    values
                };
                assert!(c.with_parameters(with(c.parameters())).is_none(), "{name}: parameter {i} = {bad}");
                assert!(c.with_natural(with(c.natural())).is_none(), "{name}: η_{i} = {bad}");
            }
            assert!(c.with_moments(bad.abs(), 1.0).is_none(), "{name}: mean {bad}");
        }
        if c.kind().constant_name().is_some() {
            assert!(ComponentKind::new(name, Some(-1.0)).is_err() && ComponentKind::new(name, Some(f64::NAN)).is_err());
        } else {
            assert!(ComponentKind::new(name, Some(1.0)).is_err());
        }
        let written = serde_json::to_string(&c.kind()).unwrap();
        assert_eq!(serde_json::from_str::<ComponentKind>(&written).unwrap(), c.kind());
    }
    let gamma = ComponentKind::new("gamma", None).unwrap().standard();
    assert!(gamma.with_natural([-0.1, -1.0, 0.0]).is_none() && gamma.with_natural([1.0, 0.0, 0.0]).is_none());
    let normal = ComponentKind::new("normal", None).unwrap().standard();
    assert!(normal.with_natural([0.0, 0.1, 0.0]).is_none());
    let inverse = ComponentKind::new("inverse_gaussian", None).unwrap().standard();
    assert!(inverse.with_natural([0.1, -1.0, 0.0]).is_none() && inverse.with_natural([0.1, 0.1, 0.0]).is_none());
    assert!(ComponentKind::new("no_such_component", None).is_err());
}
