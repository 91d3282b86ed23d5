//! The largest importance ratios and the distribution fitted to them.

use elinvar::posterior::{WeightedDraws, pareto_smooth};
use elinvar_report::{ParetoFit, Tail};

/// Ratios that are kept, as a multiple of those above the cutoff.
const AROUND: usize = 4;

/// `None` where ratios cannot be compared.
pub(super) fn of(weighted: &WeightedDraws) -> Option<Tail> {
    let ratio = |(p, q): (&f64, &f64)| if p.is_finite() { p - q } else { f64::NEG_INFINITY };
    let ratios: Vec<f64> = weighted.log_p.iter().zip(&weighted.log_q).map(ratio).collect();
    let tail = pareto_smooth(&ratios).ok()?.tail;
    let mut ordered: Vec<f64> = ratios.iter().copied().filter(|r| r.is_finite()).collect();
    ordered.sort_by(|a, b| b.total_cmp(a));
    let largest = *ordered.first()?;
    let kept = tail.map_or(ordered.len(), |tail| AROUND * tail.len);
    let fit = tail.map(|tail| ParetoFit {
        shape: tail.shape,
        scale: tail.scale,
        log_cutoff: tail.log_cutoff,
        len: tail.len as u64,
    });
    let log_ratios = ordered.into_iter().take(kept).map(|r| r - largest).collect();
    Some(Tail { log_ratios, n_draws: ratios.len() as u64, fit })
}
