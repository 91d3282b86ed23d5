//! What importance weights say about means and standard deviations.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::target::{DrawBuffer, Transform, Transforms};

/// How the mean and the standard deviation of one parameter change when the draws of q are weighted towards p.
///
/// Both estimates compare the weighted and the plain moments of the same draws, so that most of their noise cancels. They are
/// reliable where k̂ is below its threshold; above it they are too small, because draws are missing where p has mass and q
/// has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// The parameter, on the constrained scale, or a coordinate of z that is transformed.
    pub name: String,
    /// (mean under p − mean under q) / sd under q.
    pub mean: Estimate,
    /// log (sd under p / sd under q).
    pub log_sd: Estimate,
}

/// The shifts of every parameter on the constrained scale, then of every coordinate of z that is not one of them.
pub(super) fn shifts(
    (transforms, names, constrained_names): (&Transforms, &[String], &[String]),
    draws: &DrawBuffer,
    log_weights: &[f64],
) -> Vec<Shift> {
    let transformed = transformed(transforms);
    let (n, width) = (draws.len(), transforms.n_constrained() + transformed.len());
    let weights: Vec<f64> = log_weights.iter().map(|w| w.exp()).collect();
    let equal = 1.0 / n as f64;
    let mut row = vec![0.0; width];
    let mut pass = |accumulate: &mut dyn FnMut(f64, &[f64])| {
        for (z, weight) in draws.view().iter().zip(&weights) {
            let (x, rest) = row.split_at_mut(transforms.n_constrained());
            transforms.constrain(z, x);
            rest.iter_mut().zip(&transformed).for_each(|(value, i)| *value = z[*i]);
            accumulate(*weight, &row);
        }
    };

    let mut centres = vec![0.0; width];
    pass(&mut |_, row| centres.iter_mut().zip(row).for_each(|(centre, x)| *centre += equal * x));
    let mut moments = vec![Moments::default(); width];
    pass(&mut |weight, row| {
        for ((m, x), centre) in moments.iter_mut().zip(row).zip(&centres) {
            let deviation = x - centre;
            m.q_variance += equal * deviation * deviation;
            m.p_mean += weight * deviation;
            m.p_square += weight * deviation * deviation;
        }
    });
    let mut errors = vec![(0.0, 0.0); width];
    pass(&mut |weight, row| {
        for (((error, m), x), centre) in errors.iter_mut().zip(&moments).zip(row).zip(&centres) {
            let u = (x - centre) / m.q_sd();
            let v = u - m.mean();
            let (mean, log_variance) =
                (weight * v - equal * u, weight * (v * v / m.ratio() - 1.0) - equal * (u * u - 1.0));
            error.0 += mean * mean;
            error.1 += 0.25 * log_variance * log_variance;
        }
    });

    let names = constrained_names.iter().chain(transformed.iter().map(|i| &names[*i]));
    let found = names.zip(&moments).zip(&errors).map(|((name, m), error)| {
        let (mean, log_sd) = if m.q_variance == 0.0 {
            // A parameter that rounding has made constant does not move.
            (Estimate { value: 0.0, mcse: 0.0 }, Estimate { value: 0.0, mcse: 0.0 })
        } else {
            (Estimate::new(m.mean(), error.0.sqrt()), Estimate::new(0.5 * m.ratio().ln(), error.1.sqrt()))
        };
        Shift { name: name.clone(), mean, log_sd }
    });
    found.collect()
}

/// Sums over draws, of deviations from the mean under q.
#[derive(Clone, Default)]
struct Moments {
    q_variance: f64,
    p_mean: f64,
    p_square: f64,
}

impl Moments {
    fn q_sd(&self) -> f64 {
        self.q_variance.sqrt()
    }

    /// The mean under p in standard deviations of q.
    fn mean(&self) -> f64 {
        self.p_mean / self.q_sd()
    }

    /// Variance under p over variance under q.
    fn ratio(&self) -> f64 {
        (self.p_square / self.q_variance - self.mean() * self.mean()).max(f64::MIN_POSITIVE)
    }
}

/// The coordinates of z that are not parameters themselves.
fn transformed(transforms: &Transforms) -> Vec<usize> {
    let mut next = 0;
    let mut found = Vec::new();
    for block in transforms.as_slice() {
        let coordinates = next..next + block.dim();
        next = coordinates.end;
        if *block != Transform::Identity {
            found.extend(coordinates);
        }
    }
    found
}
