//! The points of a batch on several processors.

use crate::target::TargetError;

/// What one point must take for the others to be spread over threads: some times what handing a point over takes. Not
/// tuned.
#[cfg(feature = "parallel")]
const WORTH_A_THREAD: std::time::Duration = std::time::Duration::from_micros(20);

/// Evaluates one point: where it is, its log density and its gradient.
pub(super) type AtPoint<'f> = dyn Fn(&[f64], &mut f64, &mut [f64]) -> Result<(), TargetError> + Sync + 'f;

/// One point: z, log p and ∇log p.
type Point<'a> = ((&'a [f64], &'a mut f64), &'a mut [f64]);

/// Evaluates every point, one after the other, or side by side where that is worth it: the first two tell what one
/// takes. What is computed at a point does not depend on that.
///
/// # Errors
/// The first, in the order of the points, that is not recoverable.
pub(super) fn each<'a>(points: impl Iterator<Item = Point<'a>>, at: &AtPoint<'_>) -> Result<(), TargetError> {
    #[cfg(feature = "parallel")]
    {
        let mut points = points;
        // The faster of two: an interruption by the system says nothing about the model.
        for _ in 0..2 {
            let begun = std::time::Instant::now();
            let Some(((z, log_p), grad)) = points.next() else { return Ok(()) };
            at(z, log_p, grad)?;
            if begun.elapsed() < WORTH_A_THREAD || rayon::current_num_threads() == 1 {
                return in_turn(points, at);
            }
        }
        side_by_side(points.collect(), at)
    }
    #[cfg(not(feature = "parallel"))]
    in_turn(points, at)
}

fn in_turn<'a>(mut points: impl Iterator<Item = Point<'a>>, at: &AtPoint<'_>) -> Result<(), TargetError> {
    points.try_for_each(|((z, log_p), grad)| at(z, log_p, grad))
}

#[cfg(feature = "parallel")]
fn side_by_side(points: Vec<Point<'_>>, at: &AtPoint<'_>) -> Result<(), TargetError> {
    use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};
    let evaluated = points.into_par_iter().with_max_len(1).enumerate();
    let failed = evaluated.filter_map(|(s, ((z, log_p), grad))| at(z, log_p, grad).err().map(|error| (s, error)));
    failed.min_by_key(|(s, _)| *s).map_or(Ok(()), |(_, error)| Err(error))
}
