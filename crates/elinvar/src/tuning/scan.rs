//! Looking for modes that no search has met, before an answer is trusted.

use crate::target::About;

/// Places in one, two and three dimensions. Simulated: of modes with a width of 0.05 to 0.2 standard deviations, 8 to
/// 15 of them away, as many are missed: 0.7 % in two dimensions (3 % with 1 024 places), 6 % in three (20 % with half
/// of the places). In one, places are so close that a spike of a thousandth of a standard deviation is met.
const PLACES: [usize; 3] = [4_096, 1_536, 16_384];
/// Places in more dimensions, up to so many: modes about as wide as the answer, or wider, are met. A mode s times as
/// wide is seen from the directions within arcsin s; with these numbers it is met in nine cases of ten from s = 0.66 in
/// ten dimensions, 0.85 in twenty, 0.92 in thirty and 0.98 in a hundred, and with 1 024 from 0.66, 0.81, 0.88, 0.97.
const PLACES_BEYOND: [(usize, usize); 3] = [(10, 1_024), (20, 512), (usize::MAX, 256)];
/// Rows times places, at most: a model with many rows has fewer places, but never fewer than a handful. Not tuned.
const MOST_ROWS: usize = 1 << 23;
const FEWEST_PLACES: usize = 64;

/// Standard deviations up to which places lie evenly, and up to which they lie at all. Not tuned.
pub(crate) const BULK: f64 = 4.0;
pub(crate) const REACH: f64 = 20.0;
/// Distances between places, as if they were on a lattice, within which they are neighbours. Not tuned.
pub(crate) const NEIGHBOUR: f64 = 1.5;
/// Places at about the same distance from the centre that are compared. Not tuned.
pub(crate) const SHELL: usize = 64;
/// Nats by which a place must stand out to be climbed from. Not tuned.
pub(crate) const STANDS_OUT: f64 = 1.0;
/// Climbs from places above all of their neighbours, from places high for their distance, and from places with much
/// room. Not tuned.
pub(crate) const PEAKS: usize = 12;
pub(crate) const HIGH: usize = 8;
pub(crate) const ROOMY: usize = 4;
/// In more than three dimensions: climbs from far out, and the standard deviations of the places in each coordinate,
/// between which they are even in their logarithm. Not tuned: at eight a fifth of the places belong to a mode as wide
/// as the answer and fourteen standard deviations away, in any number of dimensions.
pub(crate) const FAR_CLIMBS: usize = 24;
pub(crate) const FAR_OUT: [f64; 2] = [4.0, 12.0];
/// Length of the first step of a climb, as a share of the distance from the centre, which is taken to be no less than
/// so many standard deviations. Not tuned: within a mode's ball for all widths that are looked for.
pub(crate) const FIRST_STEP: f64 = 0.02;
pub(crate) const LEAST_DISTANCE: f64 = 0.1;
/// Gradients after which no climb begins, and so many more for each coordinate. Not tuned.
pub(crate) const GRADIENTS: [u64; 2] = [400, 40];
/// Share of what a mode should have that the states of an answer must have of it. Not tuned.
pub(crate) const MET: f64 = 0.5;
/// Share of the limits of the verdict by which modes that were not met may move the answer: their masses are
/// approximate. Not tuned.
pub(crate) const MATTERS: f64 = 0.75;

/// Width of a mode, as a share of its distance, ten answers away, from which it is met in nine cases of ten.
pub(crate) fn finest(dim: usize, places: usize) -> Option<f64> {
    let d = dim as f64;
    // On the map the mode is as wide as BULK times that share, and across the line to it by what lies between more.
    let (map, across) = (1.0 + (REACH / BULK).ln(), 1.0 + (10.0 / BULK).ln());
    (dim <= PLACES.len()).then(|| map * (-(0.1f64).ln() / places as f64).powf(1.0 / d) / across.powf((d - 1.0) / d))
}

/// How many places to look at.
pub(crate) fn places(about: &About) -> usize {
    let beyond = PLACES_BEYOND.iter().find(|(most, _)| about.dim <= *most).map_or(0, |(_, places)| *places);
    let wanted = PLACES.get(about.dim - 1).copied().unwrap_or(beyond);
    let affordable = MOST_ROWS / about.n_rows.unwrap_or(1).max(1);
    wanted.min(affordable.max(FEWEST_PLACES))
}
