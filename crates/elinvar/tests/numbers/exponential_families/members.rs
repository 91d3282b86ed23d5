//! The members on which a component is tested.

use elinvar::component::{Component, ComponentKind};

/// The constant (if there is one) and the usual parameters of members that quadrature in z can resolve.
fn ordinary(name: &str) -> Vec<(Option<f64>, [f64; 3])> {
    let free = |rows: &[[f64; 2]]| rows.iter().map(|&[a, b]| (None, [a, b, 0.0])).collect::<Vec<_>>();
    let fixed = |rows: &[[f64; 2]]| rows.iter().map(|&[c, a]| (Some(c), [a, 0.0, 0.0])).collect::<Vec<_>>();
    match name {
        "exponential" => free(&[[1.0, 0.0], [2e-3, 0.0], [450.0, 0.0]]),
        "gamma" => free(&[[0.1, 1.0], [1.0, 3.0], [5.2, 0.7], [250.0, 20.0], [1e6, 1e3]]),
        "gamma_rate" => fixed(&[[2.0, 1.3], [0.3, 40.0], [150.0, 2.0]]),
        "inverse_gamma" => free(&[[2.5, 1.0], [0.4, 2.0], [12.0, 700.0], [3e4, 1.0]]),
        "inverse_gamma_scale" => fixed(&[[3.0, 1.7], [0.6, 0.02], [80.0, 90.0]]),
        "weibull" => fixed(&[[2.0, 1.0], [0.7, 3.0], [15.0, 0.2], [1.0, 5.0]]),
        "normal" => free(&[[0.0, 1.0], [-3.0, 0.2], [1e3, 2.0], [5.0, 800.0]]),
        "log_normal" => free(&[[0.0, 1.0], [-2.0, 0.3], [3.0, 2.5], [9.0, 0.01]]),
        "inverse_gaussian" => free(&[[1.0, 1.0], [0.4, 0.05], [3.0, 200.0], [20.0, 1e6]]),
        "birnbaum_saunders" => vec![
            (None, [1.0, 1.0, 0.0]),
            (Some(0.2), [0.4, 0.05, 0.0]),
            (Some(0.9), [3.0, 200.0, 0.0]),
            (Some(1.0), [1.0, 2.0, 0.0]),
            (Some(0.0), [2.0, 0.7, 0.0]),
        ],
        "birnbaum_saunders_learned" => {
            [[1.0, 1.0, 0.0], [0.4, 0.1, 1.7], [3.0, 60.0, -2.6]].map(|row| (None, row)).to_vec()
        }
        "beta" => free(&[[2.0, 3.0], [0.1, 1.5], [0.6, 1.4], [40.0, 7.0], [3.0, 2000.0], [1e5, 1e5]]),
        "von_mises" => free(&[[0.4, 1.0], [-2.1, 0.02], [3.0, 0.3], [1.2, 8.0], [-0.7, 150.0], [2.5, 1e5]]),
        other => panic!("no members to test `{other}` on: add a line here"),
    }
}

/// Legal parameters at the ends of their ranges, where quadrature in z may not resolve the law.
fn extreme(name: &str) -> Vec<(Option<f64>, [f64; 3])> {
    let free = |rows: &[[f64; 2]]| rows.iter().map(|&[a, b]| (None, [a, b, 0.0])).collect::<Vec<_>>();
    let fixed = |rows: &[[f64; 2]]| rows.iter().map(|&[c, a]| (Some(c), [a, 0.0, 0.0])).collect::<Vec<_>>();
    match name {
        "exponential" => free(&[[1e-6, 0.0], [1e6, 0.0]]),
        "gamma" | "inverse_gamma" => free(&[[1e-3, 1.0], [1e-3, 1e6], [1e6, 1e6], [1e6, 1e-3], [30.0, 1e-6]]),
        "gamma_rate" | "inverse_gamma_scale" => fixed(&[[1e-3, 1.0], [1e6, 1e6], [1e6, 1e-6]]),
        "weibull" => fixed(&[[0.02, 1.0], [1e3, 1.0], [2.0, 1e6], [2.0, 1e-6]]),
        "normal" => free(&[[0.0, 1e-6], [0.0, 1e6], [1e6, 1.0], [-1e6, 1e-3]]),
        "log_normal" => free(&[[0.0, 1e-6], [0.0, 30.0], [100.0, 1.0]]),
        "inverse_gaussian" => free(&[[1.0, 1e-3], [1.0, 1e8], [1e6, 1e-3], [1e-3, 1e6]]),
        "birnbaum_saunders" => [[0.5, 1.0, 1e-3], [0.5, 1.0, 1e8], [1e-6, 1e6, 1e-3], [0.999_999, 1e-3, 1e6]]
            .map(|[p, mu, v]| (Some(p), [mu, v, 0.0]))
            .to_vec(),
        "birnbaum_saunders_learned" => {
            [[1.0, 1e-3, 0.0], [1.0, 1e8, -13.8], [1e6, 1e-3, 13.8]].map(|row| (None, row)).to_vec()
        }
        "beta" => free(&[[1e-3, 1e-3], [1e-3, 1e6], [1e6, 1e-3], [1e6, 1e6], [0.3, 0.2], [1e-3, 2.0]]),
        "von_mises" => free(&[[0.4, 1e-6], [2.0, 1e6], [-3.0, 29.99], [1.0, 30.01]]),
        other => panic!("no extreme members to test `{other}` on: add a line here"),
    }
}

fn all(table: impl Fn(&str) -> Vec<(Option<f64>, [f64; 3])>) -> Vec<Component> {
    let mut members = Vec::new();
    for name in ComponentKind::NAMES {
        for (constant, parameters) in table(name) {
            let standard = ComponentKind::new(name, constant).unwrap().standard();
            members.push(standard.with_parameters(parameters).unwrap_or_else(|| panic!("{name} {parameters:?}")));
        }
    }
    assert!(members.len() > ComponentKind::NAMES.len());
    members
}

/// Members that quadrature resolves, at least two of every family.
pub(crate) fn ordinary_members() -> Vec<Component> {
    all(ordinary)
}

/// Members at the ends of the parameter ranges.
pub(crate) fn extreme_members() -> Vec<Component> {
    all(extreme)
}

/// Whether the law of z is itself an exponential family; otherwise it is the margin of one in (z, w).
pub(crate) fn is_exponential_family(c: &Component) -> bool {
    !c.kind().name().starts_with("birnbaum_saunders")
}

/// The pairs (i, j) of parameters whose Fisher information is ∂m_i/∂η_j.
///
/// In a conditional exponential family m_z also depends on the parameter of w, and F has a zero there (mathematics
/// §0.4).
pub(crate) fn fisher_pairs(c: &Component) -> Vec<(usize, usize)> {
    let n = c.n_free();
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let joint = c.kind().name() == "birnbaum_saunders_learned";
    pairs.filter(|&(i, j)| !joint || (i == 2) == (j == 2)).collect()
}
