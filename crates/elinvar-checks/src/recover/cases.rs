//! One member of every family.

use elinvar::Family;
use elinvar::component::{Component, ComponentKind};
use elinvar::family::{Approximation, Kind};
use elinvar::law::Law;
use elinvar::random::{Purpose, Stream};

use super::inside::{Inside, random_member, random_precision};
use crate::families::label;

/// A family and a member of it that a fit must find.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) family: Family,
    pub(crate) target: Inside,
    /// The shape that a fit must learn.
    pub(crate) shape: Option<f64>,
}

impl Case {
    fn new(family: Family, member: Approximation) -> Self {
        Self { name: label(family), family, target: Inside::new(member), shape: None }
    }
}

/// A family of location blocks in this many dimensions.
fn located(family: Family, dim: usize) -> Result<Case, String> {
    Ok(Case::new(family, random_member(family, dim, 20 + dim as u64)?))
}

/// A Student-t whose tail is not told to the fit.
fn learned(a: f64, dim: usize) -> Result<Case, String> {
    let case = Case::new(Family::student_t_learned(), random_member(Family::student_t(a), dim, 20 + dim as u64)?);
    Ok(Case { shape: Some(a), ..case })
}

/// A Gaussian with a Kronecker covariance.
fn kronecker(family: Result<Family, elinvar::Error>) -> Result<Case, String> {
    let family = family.map_err(|e| e.to_string())?;
    let Kind::Matrix { layout, .. } = family.kind else { return Err("not a matrix".into()) };
    let stream = &mut Stream::open(31, Purpose::Sample, 7, 0);
    let blocks = layout.groups().map(|lengths| {
        let size = lengths.iter().map(|length| *length as usize).product::<usize>();
        let b = (0..size).map(|_| stream.normal()).collect();
        let factors = lengths.iter().flat_map(|d| random_precision(family.covariance, *d as usize, stream));
        (b, factors.collect())
    });
    let state = Approximation::from_parts(family, layout.total(), blocks.collect(), vec![0.0]);
    Ok(Case::new(family, state.map_err(|e| e.to_string())?))
}

/// Usual parameters of two members of a component family, far enough apart to be told apart.
fn two_members(name: &str) -> [&'static [f64]; 2] {
    match name {
        "exponential" => [&[0.4], &[3.0]],
        "gamma" => [&[3.0, 2.0], &[12.0, 1.5]],
        "gamma_rate" => [&[2.0], &[0.25]],
        "inverse_gamma" => [&[4.0, 3.0], &[9.0, 40.0]],
        "inverse_gamma_scale" => [&[2.0], &[12.0]],
        "inverse_gaussian" => [&[1.0, 4.0], &[5.0, 60.0]],
        "weibull" => [&[1.0], &[0.05]],
        "log_normal" | "normal" => [&[0.0, 0.3], &[1.5, 0.2]],
        "beta" => [&[3.0, 9.0], &[12.0, 4.0]],
        "von_mises" => [&[0.5, 4.0], &[-2.0, 8.0]],
        "birnbaum_saunders" => [&[1.0, 4.0], &[5.0, 60.0]],
        _ => [&[1.0, 4.0, -0.4], &[5.0, 60.0, 0.8]],
    }
}

/// A finite mixture of a component family in this many dimensions.
fn mixture(name: &str, components: usize, dim: usize) -> Result<Case, String> {
    let kind = ComponentKind::new(name, None).map_err(|e| e.to_string())?;
    let members = two_members(name);
    let standard: Component = kind.standard();
    let block = |c: usize| {
        let coordinate = |i: usize| members[(c + i) % 2].iter().copied();
        debug_assert_eq!(members[0].len(), standard.n_free());
        ((0..dim).flat_map(coordinate).collect(), Vec::new())
    };
    let weights = if components == 1 { vec![0.0] } else { vec![0.4f64.ln(), 0.6f64.ln()] };
    let family = Family::ef_mixture(kind, components);
    let state = Approximation::from_parts(family, dim, (0..components).map(block).collect(), weights);
    Ok(Case::new(family, state.map_err(|e| e.to_string())?))
}

/// Every case of the table.
pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let located_cases = [
        (Family::gaussian(), 5),
        (Family::gaussian().diagonal(), 5),
        (Family::mog(3), 2),
        (Family::mog(3).diagonal(), 2),
        (Family::student_t(3.0), 3),
        (Family::student_t(3.0).diagonal(), 3),
        (Family::skew(), 3),
        (Family::skew().diagonal(), 3),
        (Family::emg(), 3),
        (Family::emg().diagonal(), 3),
        (Family::nig(2.0), 3),
        (Family::nig(2.0).diagonal(), 3),
        (Family::snig(2.0), 3),
        (Family::snig(2.0).diagonal(), 3),
        (Family::rank_k(2), 5),
    ];
    let mut cases =
        located_cases.into_iter().map(|(family, dim)| located(family, dim)).collect::<Result<Vec<_>, _>>()?;
    for law in Law::scale_names() {
        let mixture = Family::scale_mixture(Law::of_scale(law, &[]).map_err(|e| e.to_string())?);
        for family in [mixture, mixture.diagonal(), mixture.product()] {
            cases.push(located(family, 3)?);
        }
    }
    cases.push(learned(3.0, 3)?);
    cases.push(kronecker(Family::matrix(3, 4))?);
    cases.push(kronecker(Family::matrix(3, 4).map(Family::diagonal))?);
    cases.push(kronecker(Family::tensor(&[2, 3, 2]))?);
    cases.push(kronecker(Family::layers(&[[3, 2], [2, 2]]))?);
    for name in ComponentKind::NAMES {
        cases.push(mixture(name, 1, 2)?);
        cases.push(mixture(name, 2, 1)?);
    }
    Ok(cases)
}
