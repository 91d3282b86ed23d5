//! A mixture over several modes.

use super::bend::spread;
use super::draft::Draft;
use crate::Error;
use crate::family::{Approximation, Kind};
use crate::search::Mode;
use crate::target::Covariance;
use crate::tuning;

/// The modes, of those sorted by their masses, that a mixture should cover.
pub(super) fn heavy(modes: &[Mode]) -> &[Mode] {
    let n =
        modes.iter().take_while(|mode| mode.log_mass > modes[0].log_mass - tuning::start::LIGHTER_MODE_NATS).count();
    &modes[..n]
}

/// A mixture that covers each mode (the heaviest if there are more modes than components) by one component or more.
pub(super) fn over_modes(
    modes: &[Mode],
    components: usize,
    covariance: Covariance,
    seed: u64,
) -> Result<Approximation, Error> {
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
    let mut draft = Draft::gaussian(&modes[0].region(), covariance);
    draft.family.kind = Kind::Mog { components };
    (draft.blocks, draft.log_weights) = (Vec::new(), Vec::new());
    for (m, (mode, (count, share))) in modes.iter().zip(counts.into_iter().zip(shares)).enumerate() {
        let gaussian = Draft::gaussian(&mode.region(), covariance).finish()?;
        draft.blocks.extend(spread(&gaussian, count, seed, m as u32));
        draft.log_weights.extend(std::iter::repeat_n((share / count as f64).ln(), count));
    }
    draft.finish()
}
