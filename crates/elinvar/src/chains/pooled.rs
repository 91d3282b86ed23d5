//! One answer from the answers of several places, each with its share of the mass (mathematics §11.8).

use super::{Answered, Corrected, CorrectedMode, CorrectedNumber, Doubt, Limits};
use crate::record::{Counts, Estimate};
use crate::special::logistic::log_sum_exp;
use crate::special::normal::normal_cdf;
use crate::special::order;
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
    let held = all().zip(&shares).map(|(corrected, share)| corrected.n_states() as f64 / share);
    // As many as leave none of them twice.
    let kept = held.fold(MOST_STATES as f64, f64::min);
    for (place, share) in places.iter().zip(&shares) {
        let corrected = &place.answered.corrected;
        for s in corrected.chosen((share * kept).round() as usize) {
            states.extend_from_slice(&corrected.states[s * dim..(s + 1) * dim]);
            log_p.push(place.answered.log_p[s]);
        }
    }
    let mut counts = Counts::default();
    all().for_each(|corrected| counts += corrected.counts);
    let modes = places.iter().zip(&shares).map(|(place, share)| CorrectedMode {
        share: Estimate::new(*share, error_of_share(places, &shares, *share, place)),
        mean: place.answered.corrected.coordinates.iter().map(|number| number.mean.value).collect(),
        parameters: place.answered.corrected.parameters.clone(),
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
    (Answered { corrected, log_p, frame, falls_off: false, modes: Vec::new() }, log_evidence)
}

/// By the delta method: ∂w/∂log Z is w(1 − w) for a place's own mass and −w wⱼ for those of others.
fn error_of_share(places: &[Place], shares: &[f64], share: f64, own: &Place) -> f64 {
    let all: f64 = places.iter().zip(shares).map(|(place, w)| (w * place.log_mass.mcse).powi(2)).sum();
    let others = all - (share * own.log_mass.mcse).powi(2);
    share * (others + ((1.0 - share) * own.log_mass.mcse).powi(2)).sqrt()
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
        order::ascending(&mut sorted, |item| item.0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chains::Frame;

    /// A place whose states are the quantiles of N(mean, sd²) at the middles of `n` cells.
    fn place(mean: f64, sd: f64, n: usize, mass: f64, error: f64) -> Place {
        let at = |k: usize| crate::special::normal_quantile::normal_quantile((k as f64 + 0.5) / n as f64);
        let states: Vec<f64> = (0..n).map(|k| mean + sd * at(k)).collect();
        let quantile =
            |p: f64| Estimate::new(mean + sd * crate::special::normal_quantile::normal_quantile(p), 0.05 * sd);
        let number = CorrectedNumber {
            name: "z1".into(),
            mean: Estimate::new(mean, 0.02 * sd),
            sd: Estimate::new(sd, 0.03 * sd),
            q5: quantile(0.05),
            q50: quantile(0.5),
            q95: quantile(0.95),
            judged: true,
        };
        let corrected = Corrected {
            coordinates: vec![number.clone()],
            parameters: vec![number],
            doubts: Vec::new(),
            chains: 32,
            steps: n / 32,
            effective_states: n as f64 / 2.0,
            acceptance: 0.9,
            adapting_gradients: 1,
            counts: Counts::default(),
            seconds: 0.0,
            centre: vec![mean],
            modes: Vec::new(),
            states,
        };
        let frame = Frame::new(vec![mean], &[sd * sd]).unwrap();
        let log_p = vec![0.0; n];
        Place {
            answered: Answered { corrected, log_p, frame, falls_off: false, modes: Vec::new() },
            log_mass: Estimate::new(mass.ln(), error),
        }
    }

    const LIMITS: Limits = Limits { mean: 0.1, log_sd: 0.14, quantile: 0.35, largest: 0.1 };

    fn pooled(places: &[Place]) -> (Corrected, Estimate) {
        let (answered, log_evidence) = pool(places, &Transforms::identity(1), LIMITS);
        (answered.corrected, log_evidence)
    }

    /// 0.75 N(0, 1) + 0.25 N(8, 2²), with masses 6 and 2: the moments of the mixture, and errors by differences.
    #[test]
    fn moments_errors_and_quantiles_are_those_of_the_mixture() {
        let places = |mass: f64, mean: f64, sd: f64| {
            let mut places = [place(0.0, 1.0, 1_024, mass, 0.03), place(8.0, 2.0, 512, 2.0, 0.04)];
            let number = &mut places[0].answered.corrected.coordinates[0];
            (number.mean.value, number.sd.value) = (mean, sd);
            places
        };
        let (found, log_evidence) = pooled(&places(6.0, 0.0, 1.0));
        let number = &found.coordinates[0];
        assert!((number.mean.value - 2.0).abs() < 1e-12);
        let variance: f64 = 0.75 * (1.0 + 4.0) + 0.25 * (4.0 + 36.0);
        assert!((number.sd.value - variance.sqrt()).abs() < 1e-12);
        assert!((log_evidence.value - 8.0_f64.ln()).abs() < 1e-12);
        assert!((log_evidence.mcse - (0.75 * 0.03_f64).hypot(0.25 * 0.04)).abs() < 1e-12);
        let share = found.modes[1].share;
        assert!((share.value - 0.25).abs() < 1e-12);
        assert!((share.mcse - 0.25 * 0.75 * 0.03_f64.hypot(0.04)).abs() < 1e-12, "{share:?}");
        // The part of the first place in the errors, by differences of what the errors are of.
        let with = |mass: f64, mean: f64, sd: f64| {
            let found = pooled(&places(mass, mean, sd)).0;
            let number = &found.coordinates[0];
            [number.mean.value, number.sd.value]
        };
        let h = 1e-5;
        for (k, error) in [number.mean.mcse, number.sd.mcse].into_iter().enumerate() {
            let by = |up: [f64; 2], down: [f64; 2], size: f64| (up[k] - down[k]) / (2.0 * h) * size;
            let by_mass = by(with(6.0 * h.exp(), 0.0, 1.0), with(6.0 * (-h).exp(), 0.0, 1.0), 0.03);
            let by_mean = by(with(6.0, h, 1.0), with(6.0, -h, 1.0), 0.02);
            let by_sd = by(with(6.0, 0.0, 1.0 + h), with(6.0, 0.0, 1.0 - h), 0.03);
            // The other place: by its mass, which has the opposite slope, and by its own errors.
            let other_mass = by_mass / 0.03 * 0.04;
            let (w, away, own) = (0.25, 6.0, 2.0);
            let other: f64 = match k {
                0 => w * 0.04,
                _ => (w * away * 0.04 / number.sd.value).hypot(w * own * 0.06 / number.sd.value),
            };
            let expected = [by_mass, by_mean, by_sd, other_mass, other].iter().map(|e| e * e).sum::<f64>().sqrt();
            assert!((error / expected - 1.0).abs() < 1e-6, "{k}: {error} and {expected}");
        }
        // P(z < q) = 0.5 lies at Φ(q) = 2/3 of the first; the second has nothing there.
        assert!((number.q50.value - 0.4307).abs() < 0.01, "{:?}", number.q50);
        assert!((number.q95.value - (8.0 + 2.0 * 0.8416)).abs() < 0.02, "{:?}", number.q95);
        assert!(number.q50.mcse > 0.01 && number.q50.mcse < 0.2, "{:?}", number.q50);
        let first = found.states.iter().filter(|z| **z < 4.0).count() as f64 / found.states.len() as f64;
        assert!((first - 0.75).abs() < 0.02 && found.states.len() == 1_365, "{first} of {}", found.states.len());
        assert!(found.doubts.is_empty());
    }

    #[test]
    fn masses_that_are_not_known_are_a_doubt_and_so_is_that_of_a_place() {
        let unsure = [place(0.0, 1.0, 512, 1.0, 0.2), place(8.0, 1.0, 512, 1.0, 0.2)];
        assert!(matches!(pooled(&unsure).0.doubts[..], [Doubt::Mean { .. }, ..]));
        let mut doubted = [place(0.0, 1.0, 512, 1.0, 0.02), place(8.0, 1.0, 512, 1.0, 0.02)];
        let doubts = &mut doubted[1].answered.corrected.doubts;
        doubts.extend([Doubt::NotSettled, Doubt::Mean { name: "z1".into(), within: 0.2 }]);
        assert_eq!(pooled(&doubted).0.doubts, [Doubt::NotSettled]);
        // Nobody asks about a place with next to no mass.
        let mut light = doubted;
        light[1].log_mass = Estimate::new(-6.0, 0.02);
        assert!(pooled(&light).0.doubts.is_empty());
    }
}
