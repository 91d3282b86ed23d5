//! Extreme but legal parameters: everything stays finite.

use elinvar::component::Component;
use elinvar::random::{Purpose, Stream};
use elinvar::target::Support;

use super::members::{extreme_members, ordinary_members};

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}

fn check_at(c: &Component, z: f64) {
    let inside = match c.support() {
        Support::Positive => z > 0.0 && z.is_finite(),
        Support::Unit => z > 0.0 && z < 1.0,
        Support::Circle => z.abs() <= std::f64::consts::PI,
        _ => z.is_finite(),
    };
    assert!(inside, "{c:?}: the draw {z:e} is outside the support");
    assert!(c.log_density(z).is_finite(), "{c:?}: log q({z:e}) = {}", c.log_density(z));
    // 1/z² itself overflows for smaller z.
    if z.abs() > 1e-150 {
        assert!(c.score(z).is_finite() && c.second_derivative(z).is_finite(), "{c:?} at {z:e}");
    }
    if z.abs() < 1e150 {
        let path = c.path_derivative(z);
        assert!(all_finite(&path), "{c:?}: ∂z/∂η at {z:e} is {path:?}");
        assert!(path[c.n_free()..].iter().all(|&x| x == 0.0));
    }
}

#[test]
fn everything_is_finite() {
    for c in ordinary_members().into_iter().chain(extreme_members()) {
        let fisher = c.fisher();
        assert!(all_finite(fisher.as_flattened()), "{c:?}: F = {fisher:?}");
        assert!((0..c.n_free()).all(|i| fisher[i][i] > 0.0), "{c:?}: F = {fisher:?}");
        assert!(all_finite(&c.natural()) && all_finite(&c.expectation()) && all_finite(&c.chart()), "{c:?}");
        assert!(c.log_partition().is_finite() && c.entropy().is_none_or(f64::is_finite), "{c:?}");
        let gradient = c.natural_gradient([fisher[0][0].sqrt(), fisher[1][1].sqrt(), fisher[2][2].sqrt()]);
        assert!(all_finite(&gradient), "{c:?}: F⁻¹g = {gradient:?}");
        let mut noise = Stream::open(11, Purpose::Diagnostics, 0, 0);
        for _ in 0..500 {
            check_at(&c, c.sample(&mut noise));
        }
    }
}
