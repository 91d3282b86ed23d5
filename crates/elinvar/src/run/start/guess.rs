//! The start at a guess of the target, in the family that is asked for.

use crate::Error;
use crate::family::{Approximation, Family, Kind, by_factors};
use crate::random::{Purpose, Stream};
use crate::target::{Covariance, Shape, Target};

/// A start for [`fit_from`](crate::run::fit_from) where the target has a `Guess`, which `fit` takes as its start, too.
///
/// Columns besides the means (α, A) are normal and as small as the widths; components of a mixture have means of their
/// own; `matrix` has a matrix-variate Gaussian for each part of its layout.
///
/// # Errors
/// For a target without a guess, a family that is not made of locations and scales of its own, and the requests `auto`.
pub fn start_at_guess(target: &dyn Target, family: Family, seed: u64) -> Result<Approximation, Error> {
    let Some(guess) = target.about().guess else {
        return Err(Error::Unsupported {
            wanted: "a start at a guess of the target, which has none".into(),
            instead: "let the search find a start: call `fit`".into(),
        });
    };
    family.check()?;
    let dim = guess.means.len();
    if let Kind::Matrix { layout, .. } = family.kind {
        if layout.total() != dim {
            let what = "coordinates of the layout of `matrix`";
            return Err(Error::Shape { what, expected: dim, found: layout.total() });
        }
        let b = guess.start(seed);
        let precision = precisions(&guess.widths, Covariance::Diagonal);
        let blocks = by_factors(&b, &precision, layout, family.covariance);
        return Approximation::from_parts(family, dim, blocks, vec![0.0]);
    }
    if let Kind::OwnFamily { family: own } = family.kind {
        let covariance = Shape::Full(dim).with_diagonal(guess.widths.iter().map(|width| width * width));
        return Approximation::from_parts(family, dim, own.near_gaussian(&guess.start(seed), &covariance), vec![0.0]);
    }
    let by_locations = matches!(family.kind, Kind::Mog { .. }) || family.is_one_location();
    if !by_locations {
        return Err(Error::Unsupported {
            wanted: format!("`{family}` at the guess of the target"),
            instead: "start `gaussian`, `student_t`, `skew`, `emg`, `nig`, `snig`, `scale_mixture`, `rank_k`, `skew_k`, `emg_k`, `matrix` or `mog` with so many components"
                .into(),
        });
    }
    let components = family.n_components();
    let block = |c: usize| {
        let mut stream = Stream::open(seed, Purpose::Start, 0, c as u32);
        let mut b = guess.drawn(&mut stream);
        for _ in 1..family.n_columns() {
            b.extend(guess.widths.iter().map(|width| 0.1 * width * stream.normal()));
        }
        (b, precisions(&guess.widths, family.covariance))
    };
    let blocks = (0..components).map(block).collect();
    let log_weights = vec![-(components as f64).ln(); components];
    Approximation::from_parts(family, dim, blocks, log_weights)
}

fn precisions(widths: &[f64], covariance: Covariance) -> Vec<f64> {
    Shape::new(covariance, widths.len()).with_diagonal(widths.iter().map(|width| 1.0 / (width * width)))
}
