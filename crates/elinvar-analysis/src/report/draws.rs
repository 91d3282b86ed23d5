//! Draws on the constrained scale, of q and corrected by chains or importance weights.

use elinvar::Posterior;
use elinvar::posterior::WeightedDraws;
use elinvar::target::DrawBuffer;
use elinvar_report::Draws;

/// Draws that figures are made from.
const MOST_DRAWS: usize = 10_000;
/// Numbers that they may take.
const MOST_NUMBERS: usize = 1 << 23;
/// A weight so much smaller than the largest is not seen.
const NEGLIGIBLE: f64 = 1e-9;

/// Draws of q, and those that stand for the model: states of chains, or weighted as the verdict weighs them. There are
/// none of the second where no weight can be trusted at all, because a single draw has nearly all of it.
pub(super) fn both(posterior: &Posterior, weighted: &WeightedDraws) -> (Draws, Option<Draws>) {
    let most = (MOST_NUMBERS / posterior.transforms().n_constrained().max(1)).clamp(1_000, MOST_DRAWS);
    let n = weighted.draws.len();
    let stride = n.div_ceil(most).max(1);
    let of_q: Vec<(usize, f64)> = (0..n).step_by(stride).map(|s| (s, 1.0)).collect();
    let q = Draws { weights: Vec::new(), ..columns(posterior, &weighted.draws, &of_q) };
    if let Some(corrected) = posterior.corrected() {
        let states = corrected.draws(corrected.n_states().min(most));
        let all: Vec<(usize, f64)> = (0..states.len()).map(|s| (s, 1.0)).collect();
        return (q, Some(Draws { weights: Vec::new(), ..columns(posterior, &states, &all) }));
    }
    let corrected = match &weighted.widened {
        Some(all) => columns(posterior, &all.draws, &chosen(&all.weights, 2 * most)),
        None => {
            let weights: Vec<f64> = weighted.log_weights.iter().map(|w| w.exp()).collect();
            columns(posterior, &weighted.draws, &chosen(&weights, 2 * most))
        }
    };
    let several = corrected.weights.iter().map(|w| w * w).sum::<f64>() < 0.25;
    (q, several.then_some(corrected))
}

/// The draws of a weight that can be seen or, if they are more than `most`, those at equal steps of the cumulated
/// weight.
fn chosen(weights: &[f64], most: usize) -> Vec<(usize, f64)> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let kept: Vec<(usize, f64)> =
        weights.iter().copied().enumerate().filter(|(_, w)| *w > NEGLIGIBLE * largest).collect();
    let total: f64 = kept.iter().map(|(_, w)| w).sum();
    if kept.len() <= most {
        return kept.into_iter().map(|(s, w)| (s, w / total)).collect();
    }
    let step = total / most as f64;
    let (mut sum, mut next) = (0.0, 0.5 * step);
    let mut few = Vec::with_capacity(most);
    for (s, w) in kept {
        sum += w;
        let times = if sum > next { ((sum - next) / step).ceil() } else { 0.0 };
        if times > 0.0 {
            next += times * step;
            few.push((s, times / most as f64));
        }
    }
    few
}

/// The columns of chosen draws with their weights.
fn columns(posterior: &Posterior, draws: &DrawBuffer, chosen: &[(usize, f64)]) -> Draws {
    let transforms = posterior.transforms();
    let mut x = vec![0.0; transforms.n_constrained()];
    let mut columns = vec![Vec::with_capacity(chosen.len()); x.len()];
    for (s, _) in chosen {
        transforms.constrain(draws.get(*s), &mut x);
        columns.iter_mut().zip(&x).for_each(|(column, value)| column.push(*value));
    }
    Draws { columns, weights: chosen.iter().map(|(_, weight)| *weight).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_kept_and_many_stand_for_equal_shares() {
        assert_eq!(chosen(&[0.5, 0.0, 0.25, 0.25], 10), [(0, 0.5), (2, 0.25), (3, 0.25)]);
        let weights: Vec<f64> = (1..=1000).map(|i| f64::from(i) / 500_500.0).collect();
        let few = chosen(&weights, 100);
        let total: f64 = few.iter().map(|(_, w)| w).sum();
        assert!(few.len() == 100 && (total - 1.0).abs() < 1e-12, "{} {total}", few.len());
        let mean = |pairs: &[(usize, f64)]| pairs.iter().map(|(s, w)| w * *s as f64).sum::<f64>();
        let all: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
        assert!((mean(&few) - mean(&all)).abs() < 1.0, "{} {}", mean(&few), mean(&all));
        let one = chosen(&[1e-3, 1.0, 1e-3, 1e-3], 2);
        assert_eq!(one, [(1, 1.0)]);
    }
}
