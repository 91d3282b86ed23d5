//! A mixture over several modes.

use super::bend::spread;
use crate::Error;
use crate::block::ScaleMatrix;
use crate::family::{Approximation, BlockState, Family, Gaussian, Kind, State};
use crate::run::search::{Mode, Region};
use crate::tuning;

/// The Gaussian of a region.
pub(super) fn gaussian_state<S: ScaleMatrix>(region: &Region) -> State {
    State {
        family: Family { kind: Kind::Gaussian, covariance: S::COVARIANCE },
        dim: region.centre.len(),
        blocks: vec![BlockState { b: region.centre.clone(), precision: region.metric.stored_as(S::COVARIANCE) }],
        log_weights: vec![0.0],
    }
}

/// The modes, of those sorted by their masses, that a mixture should cover.
pub(super) fn heavy(modes: &[Mode]) -> &[Mode] {
    let n =
        modes.iter().take_while(|mode| mode.log_mass > modes[0].log_mass - tuning::start::LIGHTER_MODE_NATS).count();
    &modes[..n]
}

/// A mixture that covers each mode (the heaviest if there are more modes than components) by one component or more.
pub(super) fn over_modes<S: ScaleMatrix>(modes: &[Mode], components: usize, seed: u64) -> Result<State, Error> {
    let modes = &modes[..modes.len().min(components)];
    let total: f64 = modes.iter().map(|mode| (mode.log_mass - modes[0].log_mass).exp()).sum();
    let shares: Vec<f64> = modes.iter().map(|mode| (mode.log_mass - modes[0].log_mass).exp() / total).collect();
    let mut counts = vec![1; modes.len()];
    for _ in modes.len()..components {
        // To the mode whose components are the heaviest.
        let heaviest = (0..modes.len()).max_by(|a, b| {
            let weight = |m: usize| shares[m] / counts[m] as f64;
            weight(*a).total_cmp(&weight(*b))
        });
        counts[heaviest.unwrap_or(0)] += 1;
    }
    let mut state = gaussian_state::<S>(&modes[0].region());
    state.family.kind = Kind::Mog { components };
    (state.blocks, state.log_weights) = (Vec::new(), Vec::new());
    for (m, (mode, (count, share))) in modes.iter().zip(counts.into_iter().zip(shares)).enumerate() {
        let gaussian = Gaussian::<S>::from_state(&gaussian_state::<S>(&mode.region()))?;
        state.blocks.extend(spread(&gaussian, count, seed, m as u32));
        state.log_weights.extend(std::iter::repeat_n((share / count as f64).ln(), count));
    }
    Ok(state)
}
