//! The modes that chains climb to from where they are: chains that move slowly may be on several (mathematics §11.8).

use super::Frame;
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::products::mirror_lower;
use crate::search::{Known, Mode, Probe, climb_to_mode, metric_of_covariance};
use crate::target::Covariance;
use crate::tuning::chains as tuning;

/// The modes above some of the states z, each once; `frame` says how wide they are at most.
///
/// # Errors
/// A fatal error of the target; [`Error::Interrupted`].
pub(super) fn modes_above(evaluator: &mut Evaluator<'_>, frame: &Frame, z: &[f64]) -> Result<Vec<Mode>, Error> {
    let d = frame.dim();
    let mut covariance = frame.lower_covariance();
    mirror_lower(d, &mut covariance);
    let Some(metric) = metric_of_covariance(d, &covariance) else { return Ok(Vec::new()) };
    let mut probe = Probe::new(Evaluator::new(evaluator.target(), evaluator.interrupt()));
    let mut modes: Vec<Mode> = Vec::new();
    let (n, most) = (z.len() / d, tuning::CLIMBING_GRADIENTS[0] + tuning::CLIMBING_GRADIENTS[1] * d as u64);
    for k in 0..n.min(tuning::CLIMBS) {
        if probe.evaluator.counts().gradient > most {
            break;
        }
        let from = z[k * n / n.min(tuning::CLIMBS) * d..][..d].to_vec();
        let known = Known::Beside { modes: &modes, metric: &metric };
        if let Some(mode) = climb_to_mode(&mut probe, from, known, Covariance::Full)?
            && !modes.iter().any(|other| other.is_at(&mode.centre))
        {
            modes.push(mode);
        }
    }
    let mut counts = evaluator.counts();
    counts += probe.evaluator.counts();
    evaluator.set_counts(counts);
    Ok(modes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GaussianMixture;

    /// Two unit normals seven standard deviations apart, and states on both sides: both modes, with their masses, for
    /// few gradients; with states on one side that alone.
    #[test]
    fn states_on_two_modes_climb_to_both() {
        let covariances = [1.0, 0.0, 0.0, 1.0].repeat(2);
        let target = GaussianMixture::new(&[0.6, 0.4], vec![0.0, 0.0, 7.0, 0.0], &covariances).unwrap();
        let frame = Frame::new(vec![3.0, 0.0], &[12.0, 0.0, 0.0, 1.0]).unwrap();
        let mut evaluator = Evaluator::new(&target, None);
        let states = [0.4, -1.0, -0.8, 0.3, 6.0, 0.5, 7.9, -0.2, 1.2, 0.9, 8.1, 1.0];
        let mut modes = modes_above(&mut evaluator, &frame, &states).unwrap();
        modes.sort_by(|a, b| a.centre[0].total_cmp(&b.centre[0]));
        let masses: Vec<f64> = modes.iter().map(|mode| mode.log_mass.exp()).collect();
        assert_eq!(masses.len(), 2);
        assert!((masses[0] - 0.6).abs() < 1e-4 && (masses[1] - 0.4).abs() < 1e-4, "{masses:?}");
        assert!(evaluator.counts().gradient < 150, "{:?}", evaluator.counts());
        assert_eq!(modes_above(&mut evaluator, &frame, &states[..4]).unwrap().len(), 1);
    }
}
