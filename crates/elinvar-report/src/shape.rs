//! How far draws are from a Gaussian, and which parameters are worth a look first.

use crate::content::{Content, Draws, Parameter};

/// Skewness² / 12 + (excess kurtosis)² / 48: the first terms of the divergence from a Gaussian, in nats.
pub(crate) fn non_gaussianity(values: &[f64], weights: &[f64]) -> f64 {
    let weight = |i: usize| if weights.len() == values.len() { weights[i] } else { 1.0 };
    let finite = || values.iter().enumerate().filter(|(_, v)| v.is_finite()).map(|(i, v)| (*v, weight(i)));
    let total: f64 = finite().map(|(_, w)| w).sum();
    let mean = finite().map(|(v, w)| w * v).sum::<f64>() / total;
    let moment = |p: i32| finite().map(|(v, w)| w * (v - mean).powi(p)).sum::<f64>() / total;
    let sd = moment(2).sqrt();
    let (skewness, excess) = (moment(3) / sd.powi(3), moment(4) / sd.powi(4) - 3.0);
    let score = skewness * skewness / 12.0 + excess * excess / 48.0;
    if score.is_finite() { score } else { 0.0 }
}

/// About the divergence, in nats, between Gaussians with the means and sds before and after importance weights.
fn moved(parameter: &Parameter) -> f64 {
    let shift = parameter.shift().unwrap_or(0.0);
    let log_sd = parameter.corrected.map_or(0.0, |p| (p.sd / parameter.summary.sd).ln());
    let log_sd = if log_sd.is_finite() { log_sd } else { 0.0 };
    0.5 * shift * shift + log_sd * log_sd
}

/// The parameters that have draws, those first whose marginal is least Gaussian or moves most under importance weights.
pub(crate) fn by_interest(content: &Content) -> Vec<usize> {
    let score = |draws: &Draws, i: usize| draws.columns.get(i).map_or(0.0, |c| non_gaussianity(c, &draws.weights));
    let n = content.parameters.len().min(content.draws.columns.len());
    let mut scored: Vec<(usize, f64)> = (0..n)
        .map(|i| {
            let shape = content.corrected_draws.as_ref().map_or(0.0, |p| score(p, i)).max(score(&content.draws, i));
            (i, shape + moved(&content.parameters[i]))
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.into_iter().map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Summary;

    #[test]
    fn what_moves_comes_first() {
        let parameter = |mean: f64, sd: f64| Parameter {
            summary: Summary { mean: 0.0, sd: 1.0, ..Summary::default() },
            corrected: Some(Summary { mean, sd, ..Summary::default() }),
            ..Parameter::default()
        };
        let content = Content {
            parameters: vec![parameter(0.0, 1.0), parameter(0.1, 1.0), parameter(0.0, 2.0)],
            draws: Draws { columns: vec![vec![0.0, 1.0]; 3], weights: Vec::new() },
            ..Content::default()
        };
        assert_eq!(by_interest(&content), [2, 1, 0]);
    }

    #[test]
    fn known_shapes() {
        // Of an exponential law: skewness 2, excess 6; of a uniform one: 0 and −1.2.
        let n = 200_000;
        let midpoints = || (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n));
        let exponential: Vec<f64> = midpoints().map(|u| -u.ln()).collect();
        let uniform: Vec<f64> = midpoints().collect();
        assert!((non_gaussianity(&exponential, &[]) - (4.0 / 12.0 + 36.0 / 48.0)).abs() < 0.01);
        assert!((non_gaussianity(&uniform, &[]) - 1.44 / 48.0).abs() < 1e-4);
        assert_eq!(non_gaussianity(&[1.0, 1.0], &[]), 0.0);
    }
}
