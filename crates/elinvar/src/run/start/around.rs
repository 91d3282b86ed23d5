//! A start that is not searched for: locations drawn around a place, scale matrices a multiple of I.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::family::{Approximation, Family, Kind, by_factors};
use crate::random::{Purpose, Stream};
use crate::target::Shape;

/// Where and how wide a start is: each entry of each location is drawn from N(mean, sd²), and Σ = variance · I.
///
/// Fig. 2 (left) of the paper has the mean 0, the standard deviation 10 and the variance 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// Mean of the entries of the locations.
    pub mean: f64,
    /// Their standard deviation; 0 puts all of them on the mean.
    pub sd: f64,
    /// Σ = variance · I.
    pub variance: f64,
}

impl Default for Placement {
    /// N(0, I).
    fn default() -> Self {
        Self { mean: 0.0, sd: 0.0, variance: 1.0 }
    }
}

/// Share of the width that a shift α or a factor of A has at the start, for at zero they stay (mathematics §3.5).
const SHIFT: f64 = 0.1;

/// A start for [`fit_from`](crate::run::fit_from) without a search, for families of locations and scale matrices.
///
/// Components of a mixture have equal weights. Entries of α and A are normal with a tenth of the width; in one
/// dimension or in twenty, an α of zero would be stationary.
///
/// ```
/// use elinvar::Family;
/// use elinvar::research::run::{Placement, start_around};
///
/// let start = start_around(Family::mog(20), 20, Placement { mean: 0.0, sd: 10.0, variance: 100.0 }, 1)?;
/// assert_eq!((start.n_components(), start.dim()), (20, 20));
/// # Ok::<(), elinvar::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] for a standard deviation below 0 or a variance that is not positive, [`Error::Unsupported`] for a
/// family that is not made of locations, and for the requests `auto`.
pub fn start_around(family: Family, dim: usize, at: Placement, seed: u64) -> Result<Approximation, Error> {
    family.check()?;
    let refuse = |parameter, value, reason| Err(Error::Domain { parameter, value, reason });
    if !at.mean.is_finite() {
        return refuse("mean of the start", at.mean, "it is a finite number");
    }
    if !(at.sd >= 0.0 && at.sd.is_finite()) {
        return refuse("standard deviation of the start", at.sd, "it is a number, zero or more");
    }
    if !(at.variance > 0.0 && at.variance.is_finite()) {
        return refuse("variance of the start", at.variance, "it is a positive number");
    }
    let location = |stream: &mut Stream| -> Vec<f64> {
        (0..dim).map(|_| if at.sd > 0.0 { at.mean + at.sd * stream.normal() } else { at.mean }).collect()
    };
    if let Kind::Matrix { layout, .. } = family.kind {
        if layout.total() != dim {
            let what = "coordinates of the layout of `matrix`";
            return Err(Error::Shape { what, expected: dim, found: layout.total() });
        }
        let mean = location(&mut Stream::open(seed, Purpose::Start, 0, 0));
        let blocks = by_factors(&mean, &vec![1.0 / at.variance; dim], layout, family.covariance);
        return Approximation::from_parts(family, dim, blocks, vec![0.0]);
    }
    if let Kind::OwnFamily { family: own } = family.kind {
        let mean = location(&mut Stream::open(seed, Purpose::Start, 0, 0));
        let covariance = Shape::Full(dim).with_diagonal(vec![at.variance; dim]);
        return Approximation::from_parts(family, dim, own.near_gaussian(&mean, &covariance), vec![0.0]);
    }
    let by_locations = matches!(family.kind, Kind::Mog { .. }) || family.is_one_location();
    if !by_locations {
        return Err(Error::Unsupported {
            wanted: format!("`{family}` around a place"),
            instead: "start `gaussian`, `student_t`, `skew`, `emg`, `nig`, `snig`, `scale_mixture`, `rank_k`, `skew_k`, `emg_k`, `matrix` or `mog` with so many components, or give a member of the family"
                .into(),
        });
    }
    let block = |c: usize| {
        let mut stream = Stream::open(seed, Purpose::Start, 0, c as u32);
        let mut b = location(&mut stream);
        let n_shifts = (family.n_columns() - 1) * dim;
        b.extend((0..n_shifts).map(|_| SHIFT * at.variance.sqrt() * stream.normal()));
        (b, Shape::new(family.covariance, dim).with_diagonal(vec![1.0 / at.variance; dim]))
    };
    let components = family.n_components();
    let blocks = (0..components).map(block).collect();
    Approximation::from_parts(family, dim, blocks, vec![-(components as f64).ln(); components])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_the_papers_toy_mixture() {
        let at = Placement { mean: 0.0, sd: 10.0, variance: 100.0 };
        let start = start_around(Family::mog(20), 20, at, 1).unwrap();
        let entries: Vec<f64> = start.locations().iter().flat_map(|block| block.column(0).to_vec()).collect();
        let mean_square = entries.iter().map(|v| v * v).sum::<f64>() / 400.0;
        // 400 squares of N(0, 100): a standard error of 7.1; |z| < 4.5, false alarms 7e−6.
        assert!((mean_square - 100.0).abs() < 4.5 * 7.1, "{mean_square}");
        for block in start.locations() {
            assert!(block.scale().precision().iter().step_by(21).all(|p| *p == 0.01));
        }
        assert!(start.weights().log().iter().all(|log| (log + 20f64.ln()).abs() < 1e-15));
        assert_eq!(start, start_around(Family::mog(20), 20, at, 1).unwrap());
    }

    #[test]
    fn a_shift_does_not_start_at_zero_and_what_has_no_place_is_refused() {
        let start = start_around(Family::skew(), 3, Placement::default(), 2).unwrap();
        assert!(start.locations()[0].column(1).iter().all(|a| *a != 0.0));
        assert!(start.locations()[0].column(0).iter().all(|mu| *mu == 0.0));
        let bad = |at: Placement| start_around(Family::gaussian(), 2, at, 1).unwrap_err().to_string();
        assert!(bad(Placement { sd: -1.0, ..Placement::default() }).contains("standard deviation"));
        assert!(bad(Placement { variance: 0.0, ..Placement::default() }).contains("variance"));
        assert!(start_around(Family::auto(), 2, Placement::default(), 1).is_err());
    }
}
