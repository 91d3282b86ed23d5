//! The parameters: what q says, and what importance weights make of it.

use elinvar::Posterior;
use elinvar::posterior::{ParameterSummary, Shift};
use elinvar::target::Transform;
use elinvar_report::{Draws, Parameter, Summary};

use crate::analysis::Analysis;

pub(super) fn list(analysis: &Analysis, corrected: Option<&Draws>) -> Vec<Parameter> {
    let bounds = bounds(&analysis.posterior);
    let n = analysis.diagnostics.n_draws.max(1) as f64;
    let parameter = |(i, summary): (usize, &ParameterSummary)| {
        let ParameterSummary { name, mean, sd, q5, q95 } = summary;
        let q = Summary { mean: *mean, sd: *sd, q5: *q5, q95: *q95 };
        let (is_transformed, lower, upper) = bounds[i];
        // The shifts of all parameters come first, in their order.
        let shift = analysis.diagnostics.shifts.get(i).filter(|shift| shift.name == *name);
        Parameter {
            name: name.clone(),
            summary: q,
            mcse: is_transformed.then_some(sd / n.sqrt()),
            corrected: shift.zip(corrected).and_then(|(shift, draws)| moved(q, shift, i, draws)),
            lower,
            upper,
        }
    };
    analysis.parameters.iter().enumerate().map(parameter).collect()
}

/// What the verdict says of mean and standard deviation, and the quantiles of the weighted draws; `None` where one draw
/// has so much weight that there may be no moments.
fn moved(q: Summary, shift: &Shift, i: usize, draws: &Draws) -> Option<Summary> {
    let (mean, sd) = (q.mean + shift.mean.value * q.sd, q.sd * shift.log_sd.value.exp());
    let usable = shift.instead.is_none() && mean.is_finite() && sd.is_finite();
    let mut ordered: Vec<(f64, f64)> =
        draws.columns.get(i)?.iter().copied().zip(draws.weights.iter().copied()).collect();
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
    usable.then(|| Summary { mean, sd, q5: quantile(&ordered, 0.05), q95: quantile(&ordered, 0.95) })
}

/// Where the cumulated weight, of half of each draw's own, reaches p: between two draws on the line between them.
fn quantile(ordered: &[(f64, f64)], p: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    let mut sum = 0.0;
    for (value, weight) in ordered {
        let at = sum + 0.5 * weight;
        sum += weight;
        if at >= p {
            return before.map_or(*value, |(low, from)| low + (value - low) * (p - from) / (at - from));
        }
        before = Some((*value, at));
    }
    before.map_or(f64::NAN, |(value, _)| value)
}

/// For every parameter whether it is not a coordinate of z, and what it does not cross.
fn bounds(posterior: &Posterior) -> Vec<(bool, Option<f64>, Option<f64>)> {
    let of = |transform: &Transform| {
        let (lower, upper) = match transform {
            Transform::Log => (Some(0.0), None),
            Transform::Logit | Transform::Simplex { .. } => (Some(0.0), Some(1.0)),
            Transform::Interval { low, high } => (Some(*low), Some(*high)),
            _ => (None, None),
        };
        vec![(*transform != Transform::Identity, lower, upper); transform.n_constrained()]
    };
    posterior.transforms().as_slice().iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_follow_the_weights() {
        let equal: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), 1e-3)).collect();
        assert!((quantile(&equal, 0.05) - 49.5).abs() < 1e-9, "{}", quantile(&equal, 0.05));
        let two = [(0.0, 0.5), (1.0, 0.5)];
        assert_eq!([quantile(&two, 0.1), quantile(&two, 0.5), quantile(&two, 0.9)], [0.0, 0.5, 1.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
