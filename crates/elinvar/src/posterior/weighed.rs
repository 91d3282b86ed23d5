//! Means, standard deviations and quantiles of weighted draws, with errors.

use super::answer::{Weighed, unsharp_quantile};
use super::{Diagnostics, Posterior, WeightedDraws, limits};
use crate::chains::CorrectedNumber;
use crate::record::Estimate;
use crate::special::order;

impl Posterior {
    /// What weighted draws say about every parameter and coordinate.
    ///
    /// A parameter that is linear in z takes its moments under q, which are exact, and the shifts of the verdict: most
    /// of the noise of the draws cancels in them. The others are self-normalised averages, with the errors of the
    /// delta method; the error of a quantile is that of the share below it, by way of the quantiles on both sides.
    pub(super) fn weigh(&self, weighted: &WeightedDraws) -> Weighed {
        let diagnostics = &weighted.diagnostics;
        let smoothed: Vec<f64>;
        let (draws, weights) = match &weighted.widened {
            Some(all) => (&all.draws, &all.weights),
            None => {
                smoothed = weighted.log_weights.iter().map(|w| w.exp()).collect();
                (&weighted.draws, &smoothed)
            }
        };
        let transforms = self.transforms();
        let width = transforms.n_constrained();
        // Far out, where nothing has weight, a parameter may not be finite.
        let n_kept = weights.iter().filter(|weight| **weight > 0.0).count();
        let mut columns = vec![Vec::with_capacity(n_kept); width + self.dim()];
        self.each_natural(draws.view(), |s, x| {
            if weights[s] > 0.0 {
                let row = x.iter().chain(draws.get(s));
                columns.iter_mut().zip(row).for_each(|(column, value)| column.push((*value, weights[s])));
            }
        });
        let names = self.names().iter().chain(self.names_z());
        let exact = self.exact_moments();
        let numbers = names.zip(&mut columns).zip(exact).enumerate().map(|(k, ((name, column), exact))| {
            let shift = diagnostics.shifts.get(k).filter(|shift| k < width && shift.name == *name);
            let mut number = number(name, column);
            if let Some(((mean, sd), shift)) = exact.zip(shift) {
                number.mean = Estimate::new(mean + sd * shift.mean.value, sd * shift.mean.mcse);
                let sd = sd * shift.log_sd.value.exp();
                number.sd = Estimate::new(sd, sd * shift.log_sd.mcse);
            }
            number.judged &= shift.is_none_or(|shift| shift.instead.is_none());
            number
        });
        let mut parameters: Vec<CorrectedNumber> = numbers.collect();
        let mut coordinates = parameters.split_off(width);
        // A parameter that is a coordinate in other units knows its moments best.
        for (parameter, row) in parameters.iter().zip(transforms.linear()) {
            let Some(row) = row.filter(|row| row.spare == 0.0 && row.constant == 0.0) else { continue };
            if let [(i, factor)] = row.terms[..] {
                let of = |e: Estimate, factor: f64| Estimate::new(e.value / factor, e.mcse / factor.abs());
                coordinates[i].mean = of(parameter.mean, factor);
                coordinates[i].sd = of(parameter.sd, factor.abs());
            }
        }
        let (effective_draws, _) = diagnostics.effective_draws();
        Weighed { parameters, coordinates, effective_draws, log_evidence: diagnostics.log_normaliser }
    }
}

/// Whether what weights give is sharp by itself, however far it is from the approximation: the weights are tame, not
/// few of them count, and no error is above what the verdict claims.
pub(super) fn is_sharp(diagnostics: &Diagnostics, weighed: &Weighed) -> bool {
    let (effective, share) = diagnostics.effective_draws();
    let within = |error: f64, limit: f64| limits::ERRORS * error <= limit;
    let mut judged = weighed.coordinates.iter().chain(&weighed.parameters).filter(|number| number.judged);
    diagnostics.pareto_k.is_some_and(|k| k <= diagnostics.pareto_k_threshold)
        && effective >= limits::EFFECTIVE_DRAWS
        && share >= limits::EFFECTIVE_SHARE
        && judged.all(|number| {
            within(number.mean.mcse, limits::MEAN * number.sd.value)
                && within(number.sd.mcse, limits::LOG_SD * number.sd.value)
        })
        && unsharp_quantile(weighed.coordinates.iter().chain(&weighed.parameters)).is_none()
}

/// The numbers of one column of values with weights that sum to one.
fn number(name: &str, column: &mut [(f64, f64)]) -> CorrectedNumber {
    order::ascending(column, |item| item.0);
    let mean = column.iter().map(|(x, w)| w * x).sum::<f64>();
    let variance = column.iter().map(|(x, w)| w * (x - mean).powi(2)).sum::<f64>();
    let sd = variance.sqrt();
    let error =
        |influence: &dyn Fn(f64) -> f64| column.iter().map(|(x, w)| (w * influence(*x)).powi(2)).sum::<f64>().sqrt();
    let largest = column.iter().map(|(x, w)| w * (x - mean).powi(2)).fold(0.0, f64::max);
    let quantile = |p: f64| {
        let value = quantile(column, p);
        let share = error(&|x| if x <= value { 1.0 - p } else { -p });
        let (low, high) = (quantile_within(column, p - share), quantile_within(column, p + share));
        Estimate::new(value, 0.5 * (high - low))
    };
    CorrectedNumber {
        name: name.into(),
        mean: Estimate::new(mean, error(&|x| x - mean)),
        sd: Estimate::new(sd, 0.5 / sd * error(&|x| (x - mean).powi(2) - variance)),
        q5: quantile(0.05),
        q50: quantile(0.5),
        q95: quantile(0.95),
        judged: largest <= limits::LARGEST_DRAW * variance,
    }
}

fn quantile_within(sorted: &[(f64, f64)], p: f64) -> f64 {
    quantile(sorted, p.clamp(0.0, 1.0))
}

/// Where the cumulated weight, of half of each draw's own, reaches p: between two draws on the line between them.
fn quantile(sorted: &[(f64, f64)], p: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    let mut sum = 0.0;
    for (value, weight) in sorted {
        let at = sum + 0.5 * weight;
        sum += weight;
        if at >= p {
            return before.map_or(*value, |(low, from)| low + (value - low) * (p - from) / (at - from));
        }
        before = Some((*value, at));
    }
    before.map_or(f64::NAN, |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// Draws of N(0, 1) with weights towards N(½, 0.8²): moments and quantiles come within their errors, and errors of
    /// 200 repetitions are of the size that is stated.
    #[test]
    fn errors_are_of_the_size_that_is_stated() {
        const REPEATS: usize = 200;
        const N: usize = 2_000;
        let truths = [0.5, 0.8, 0.5 - 1.644_853_627 * 0.8, 0.5, 0.5 + 1.644_853_627 * 0.8];
        let mut stream = Stream::open(3, Purpose::Sample, 0, 0);
        let (mut squares, mut stated) = ([0.0; 5], [0.0; 5]);
        for _ in 0..REPEATS {
            let mut column: Vec<(f64, f64)> = (0..N)
                .map(|_| {
                    let x = stream.normal();
                    (x, (0.5 * x * x - 0.5 * ((x - 0.5) / 0.8).powi(2)).exp())
                })
                .collect();
            let total: f64 = column.iter().map(|(_, w)| w).sum();
            column.iter_mut().for_each(|(_, w)| *w /= total);
            let found = number("x", &mut column);
            for (k, estimate) in [found.mean, found.sd, found.q5, found.q50, found.q95].into_iter().enumerate() {
                squares[k] += (estimate.value - truths[k]).powi(2) / REPEATS as f64;
                stated[k] += estimate.mcse / REPEATS as f64;
            }
        }
        for k in 0..5 {
            // The relative error of a root mean square of 200 is 5 %: 4.5 of them, and 5 % of bias.
            let ratio = squares[k].sqrt() / stated[k];
            assert!((ratio - 1.0).abs() < 0.28, "{k}: {ratio}");
        }
    }

    #[test]
    fn quantiles_follow_the_weights() {
        let equal: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), 1e-3)).collect();
        assert!((quantile(&equal, 0.05) - 49.5).abs() < 1e-9, "{}", quantile(&equal, 0.05));
        let two = [(0.0, 0.5), (1.0, 0.5)];
        assert_eq!([quantile(&two, 0.1), quantile(&two, 0.5), quantile(&two, 0.9)], [0.0, 0.5, 1.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
