//! What several starts said about the same target.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// A maximum of log p that a search ended at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeRecord {
    /// Where it is, a point of z.
    pub centre: Vec<f64>,
    /// log p there, the declared prior included.
    pub log_p: f64,
    /// Logarithm of its mass by Laplace's method, log p + (d/2) log 2π − ½ log|P| with P = −∇²log p; `None` where P is not
    /// positive definite or not known.
    pub log_mass: Option<f64>,
    /// How many searches ended there.
    pub found_by: usize,
}

/// What the starts of a fit found; nothing is known by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agreement {
    /// The ELBO of each restart; empty if there was only one.
    pub restarts: Vec<Estimate>,
    /// Number of searches for modes.
    pub searches: usize,
    /// The different modes that the searches ended at.
    pub modes: Vec<ModeRecord>,
    /// Whether a search went up without end.
    pub unbounded: bool,
}

impl Agreement {
    /// Adds what the searches of another start found; a mode within a thousandth of a nat and of its size is the same one.
    pub(crate) fn join(&mut self, other: &Agreement) {
        self.searches += other.searches;
        self.unbounded |= other.unbounded;
        for mode in &other.modes {
            let same = |known: &&mut ModeRecord| {
                (known.log_p - mode.log_p).abs() < 1e-3
                    && known.centre.iter().zip(&mode.centre).all(|(a, b)| (a - b).abs() <= 1e-2 * (1.0 + a.abs()))
            };
            match self.modes.iter_mut().find(same) {
                Some(known) => known.found_by += mode.found_by,
                None => self.modes.push(mode.clone()),
            }
        }
    }
}
