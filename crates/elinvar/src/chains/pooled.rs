//! One answer from the answers of several places, each with its share of the mass (mathematics §11.8).

use super::{Answered, Corrected, CorrectedMode, CorrectedNumber, Doubt, Limits};
use crate::record::{Counts, Estimate};
use crate::special::logistic::log_sum_exp;
use crate::special::normal::normal_cdf;
use crate::target::Transforms;
use crate::tuning::chains as tuning;

/// States of the answer, at most.
const MOST_STATES: usize = 4096;

/// What chains found in one place, and the logarithm of its mass.
pub(crate) struct Place {
    pub(crate) answered: Answered,
    pub(crate) log_mass: Estimate,
}

impl Place {
    fn effective(&self) -> f64 {
        self.answered.corrected.effective_states.max(1.0)
    }
}

/// The shares of places in the whole, and the logarithm of that.
fn shares(places: &[Place]) -> (Vec<f64>, Estimate) {
    let logs: Vec<f64> = places.iter().map(|place| place.log_mass.value).collect();
    let total = log_sum_exp(&logs);
    let shares: Vec<f64> = logs.iter().map(|log| (log - total).exp()).collect();
    let variance: f64 = shares.iter().zip(places).map(|(w, place)| (w * place.log_mass.mcse).powi(2)).sum();
    (shares, Estimate::new(total, variance.sqrt()))
}

/// The answer over all places and its log evidence.
///
/// Doubts about the size of an error are those of the whole; all others of a place that matters are kept.
pub(crate) fn pool(places: &[Place], transforms: &Transforms, limits: Limits) -> (Answered, Estimate) {
    let (shares, log_evidence) = shares(places);
    let all = || places.iter().map(|place| &place.answered.corrected);
    let (dim, width) = all().next().map_or((0, 0), |first| (first.coordinates.len(), first.parameters.len()));
    let on_scale: Vec<Vec<f64>> = all().map(|corrected| constrained(corrected, transforms)).collect();
    let column = |numbers: &[f64], k: usize, width: usize| -> Vec<f64> {
        numbers.iter().skip(k).step_by(width).copied().collect()
    };
    let coordinates: Vec<CorrectedNumber> = (0..dim)
        .map(|i| {
            let values: Vec<Vec<f64>> = all().map(|corrected| column(&corrected.states, i, dim)).collect();
            Pool::new(places, &shares, |corrected| &corrected.coordinates[i]).number(&values)
        })
        .collect();
    let parameters: Vec<CorrectedNumber> = (0..width)
        .map(|k| {
            let values: Vec<Vec<f64>> = on_scale.iter().map(|numbers| column(numbers, k, width)).collect();
            Pool::new(places, &shares, |corrected| &corrected.parameters[k]).number(&values)
        })
        .collect();
    let mut doubts = unsharp(&coordinates, &parameters, limits);
    for (corrected, _) in all().zip(&shares).filter(|(_, share)| **share > tuning::OTHER_MASS) {
        let others = corrected.doubts.iter().filter(|doubt| !doubt.is_of_size());
        for doubt in others {
            if !doubts.contains(doubt) {
                doubts.push(doubt.clone());
            }
        }
    }
    let (mut states, mut log_p) = (Vec::new(), Vec::new());
    for (place, share) in places.iter().zip(&shares) {
        let corrected = &place.answered.corrected;
        for s in corrected.chosen((share * MOST_STATES as f64).round() as usize) {
            states.extend_from_slice(&corrected.states[s * dim..(s + 1) * dim]);
            log_p.push(place.answered.log_p[s]);
        }
    }
    let mut counts = Counts::default();
    all().for_each(|corrected| counts += corrected.counts);
    let modes = places.iter().zip(&shares).map(|(place, share)| CorrectedMode {
        share: Estimate::new(*share, share * (1.0 - share) * place.log_mass.mcse.hypot(log_evidence.mcse)),
        mean: place.answered.corrected.coordinates.iter().map(|number| number.mean.value).collect(),
    });
    let corrected = Corrected {
        doubts,
        modes: modes.collect(),
        chains: all().map(|corrected| corrected.chains).sum(),
        steps: all().map(|corrected| corrected.steps).max().unwrap_or(0),
        effective_states: places.iter().zip(&shares).map(|(place, w)| w * w / place.effective()).sum::<f64>().recip(),
        acceptance: all().zip(&shares).map(|(corrected, share)| share * corrected.acceptance).sum(),
        adapting_gradients: all().map(|corrected| corrected.adapting_gradients).sum(),
        counts,
        seconds: all().map(|corrected| corrected.seconds).sum(),
        centre: coordinates.iter().map(|number| number.mean.value).collect(),
        states,
        coordinates,
        parameters,
    };
    let frame = places[heaviest(&shares)].answered.frame.clone();
    (Answered { corrected, log_p, frame }, log_evidence)
}

fn heaviest(shares: &[f64]) -> usize {
    (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(0)
}

/// The states on the scale that is printed, one after the other.
fn constrained(corrected: &Corrected, transforms: &Transforms) -> Vec<f64> {
    let (dim, width) = (corrected.coordinates.len(), transforms.n_constrained());
    let mut x = vec![0.0; corrected.n_states() * width];
    for (z, x) in corrected.states.chunks_exact(dim).zip(x.chunks_exact_mut(width)) {
        transforms.constrain(z, x);
    }
    x
}

/// Means and standard deviations whose errors are too large for all of them to be right: the worst of each.
fn unsharp(coordinates: &[CorrectedNumber], parameters: &[CorrectedNumber], limits: Limits) -> Vec<Doubt> {
    let judged: Vec<&CorrectedNumber> = coordinates.iter().chain(parameters).filter(|number| number.judged).collect();
    let worst = |error: fn(&CorrectedNumber) -> f64, limit: f64| {
        let wrong: f64 = judged.iter().map(|number| 2.0 * normal_cdf(-limit / error(number))).sum();
        if wrong <= tuning::WRONG {
            return None;
        }
        let of = judged.iter().max_by(|a, b| error(a).total_cmp(&error(b)))?;
        Some((of.name.clone(), (tuning::SURE * error(of)).max(limit)))
    };
    let mean = worst(|number| number.mean.mcse / number.sd.value, limits.mean);
    let sd = worst(|number| number.sd.mcse / number.sd.value, limits.log_sd);
    let mean = mean.map(|(name, within)| Doubt::Mean { name, within });
    mean.into_iter().chain(sd.map(|(name, within)| Doubt::StandardDeviation { name, within })).collect()
}

/// One number, as every place has it.
struct Pool<'p> {
    places: &'p [Place],
    shares: &'p [f64],
    numbers: Vec<&'p CorrectedNumber>,
    mean: f64,
    variance: f64,
}

impl<'p> Pool<'p> {
    fn new(places: &'p [Place], shares: &'p [f64], of: impl Fn(&'p Corrected) -> &'p CorrectedNumber) -> Self {
        let numbers: Vec<&CorrectedNumber> = places.iter().map(|place| of(&place.answered.corrected)).collect();
        let mean = shares.iter().zip(&numbers).map(|(w, number)| w * number.mean.value).sum::<f64>();
        let variance = |number: &CorrectedNumber| number.sd.value.powi(2) + (number.mean.value - mean).powi(2);
        let variance = shares.iter().zip(&numbers).map(|(w, number)| w * variance(number)).sum();
        Self { places, shares, numbers, mean, variance }
    }

    /// Share, error of the logarithm of the mass, and number of each place.
    fn each(&self) -> impl Iterator<Item = (f64, f64, &CorrectedNumber)> {
        let masses = self.places.iter().map(|place| place.log_mass.mcse);
        self.shares.iter().zip(masses).zip(&self.numbers).map(|((w, error), number)| (*w, error, *number))
    }

    /// Errors by the delta method: those of the places, and those of their masses.
    fn number(&self, values: &[Vec<f64>]) -> CorrectedNumber {
        let sd = self.variance.sqrt();
        let (mut of_mean, mut of_variance) = (0.0, 0.0);
        for (w, error, number) in self.each() {
            let (away, own) = (number.mean.value - self.mean, number.sd.value);
            of_mean += (w * number.mean.mcse).powi(2) + (w * away * error).powi(2);
            of_variance += (2.0 * w * away * number.mean.mcse).powi(2)
                + (2.0 * w * own * number.sd.mcse).powi(2)
                + (w * (own * own + away * away - self.variance) * error).powi(2);
        }
        let quantiles = Quantiles::new(self, values);
        CorrectedNumber {
            name: self.numbers[0].name.clone(),
            mean: Estimate::new(self.mean, of_mean.sqrt()),
            sd: Estimate::new(sd, of_variance.sqrt() / (2.0 * sd)),
            q5: quantiles.at(0.05),
            q50: quantiles.at(0.5),
            q95: quantiles.at(0.95),
            judged: self.numbers.iter().all(|number| number.judged),
        }
    }
}

/// The states of all places in one order.
struct Quantiles<'p> {
    pool: &'p Pool<'p>,
    values: &'p [Vec<f64>],
    /// Value and weight.
    sorted: Vec<(f64, f64)>,
}

impl<'p> Quantiles<'p> {
    fn new(pool: &'p Pool<'p>, values: &'p [Vec<f64>]) -> Self {
        let weighted = values.iter().zip(pool.shares).flat_map(|(values, share)| {
            let weight = share / values.len().max(1) as f64;
            values.iter().map(move |value| (*value, weight))
        });
        let mut sorted: Vec<(f64, f64)> = weighted.collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { pool, values, sorted }
    }

    fn value(&self, p: f64) -> f64 {
        let mut below = 0.0;
        let reached = self.sorted.iter().find(|(_, weight)| {
            below += weight;
            below >= p
        });
        reached.or(self.sorted.last()).map_or(0.0, |(value, _)| *value)
    }

    /// A quantile, with half of the range over which it moves by one standard error of the share of states below it.
    fn at(&self, p: f64) -> Estimate {
        let value = self.value(p);
        let mut variance = 0.0;
        for ((w, error, _), (place, values)) in self.pool.each().zip(self.pool.places.iter().zip(self.values)) {
            let below = values.iter().filter(|v| **v <= value).count() as f64 / values.len().max(1) as f64;
            variance += w * w * below * (1.0 - below) / place.effective() + (w * (below - p) * error).powi(2);
        }
        let error = variance.sqrt();
        Estimate::new(value, 0.5 * (self.value((p + error).min(1.0)) - self.value((p - error).max(0.0))))
    }
}
