//! Bent coordinates in which the law is about N(0, I), where there are any (mathematics §11.7).

use super::bending::{Cloud, PARAMETERS, bends};
use super::matching::matched_at;
use super::{Coordinates, Ensemble, Part};
use crate::tuning::bends as tuning;

/// Whether gradients at states are far from those of N(0, I).
pub(super) fn is_curved(now: &Coordinates, part: Part<'_>) -> bool {
    let (z, by_z) = part.worth_matching(now);
    let (x, g, _) = now.seen_from(&z, &by_z);
    Cloud { d: now.dim(), x, g }.worst_residual(0..now.dim()) > tuning::CURVED
}

/// Coordinates with bends in which the gradients at states that they were not fitted to are those of N(0, I).
pub(super) fn unbent(now: &Coordinates, part: Part<'_>) -> Option<Coordinates> {
    let d = now.dim();
    let (z, by_z) = part.worth_matching(now);
    let (x, g, _) = Coordinates::straight(now.frame().clone()).seen_from(&z, &by_z);
    let (frame, _) = matched_at(now.frame(), x, g)?;
    let (x, g, _) = Coordinates::straight(frame.clone()).seen_from(&z, &by_z);
    let n = z.len() / d;
    let kept = n.min(2 * tuning::STATES);
    let (mut fitted, mut others) = (Cloud::empty(d), Cloud::empty(d));
    for k in 0..kept {
        let s = k * n / kept;
        let cloud = if k % 2 == 0 { &mut fitted } else { &mut others };
        cloud.push(&x[s * d..(s + 1) * d], &g[s * d..(s + 1) * d]);
    }
    if fitted.len() < tuning::STATES_EACH * PARAMETERS {
        return None;
    }
    let (layers, _) = bends(fitted, &frame);
    let left = layers.iter().fold(others, |cloud, layer| cloud.within(layer)).worst_residual(0..d);
    (!layers.is_empty() && left < tuning::EXACT).then(|| Coordinates::bent(frame, layers))
}

/// Whether gradients are about those of N(0, I) where chains have just started, in part far out.
pub(super) fn comes_true(coordinates: &Coordinates, chains: &Ensemble) -> bool {
    let states = chains.states();
    coordinates.roughness(&states.z, &states.by_z) < tuning::EXACT_FAR_OUT
}
