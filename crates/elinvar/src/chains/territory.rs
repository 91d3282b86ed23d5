//! Several places of high density that chains do not move between, and what belongs to each (mathematics §11.8).

use crate::block::LogWeights;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, Blocks};
use crate::linalg::axpy;
use crate::random::{Purpose, Stream};
use crate::target::{About, Answer, Ask, Concavity, Offers, Parts, Target, TargetError};
use crate::tuning::chains as tuning;

/// The components of a mixture of Gaussians, put together where no valley is between them. A point belongs to the place
/// whose component, with its weight, has the highest density there; so space is divided, and nothing counts twice.
#[derive(Clone, Debug)]
pub(crate) struct Territories<'q> {
    q: &'q Approximation,
    /// The place of each component.
    place_of: Vec<usize>,
}

impl<'q> Territories<'q> {
    /// The places of a mixture; nothing where there are fewer than two, or more than chains are run on.
    pub(crate) fn of(q: &'q Approximation) -> Option<Self> {
        if !matches!(q.blocks(), Blocks::Location(_)) || q.n_components() < 2 {
            return None;
        }
        let mut places = Self { q, place_of: (0..q.n_components()).collect() };
        for (a, b) in pairs(q.n_components()) {
            let is_one = || places.fall_between(a, b) < tuning::VALLEY && !places.keep_apart(a, b);
            if places.place_of[a] != places.place_of[b] && is_one() {
                places.join(places.place_of[a], places.place_of[b]);
            }
        }
        (2..=tuning::MOST_PLACES).contains(&places.len()).then_some(places)
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        self.place_of.iter().max().map_or(0, |last| last + 1)
    }

    /// Makes one place of two.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (kept, gone) = (a.min(b), a.max(b));
        for place in &mut self.place_of {
            match *place {
                p if p == gone => *place = kept,
                p if p > gone => *place -= 1,
                _ => {}
            }
        }
    }

    /// How far log q falls on the straight line between two components, below the lower one of them.
    fn fall_between(&self, a: usize, b: usize) -> f64 {
        let (from, to) = (self.q.locations()[a].column(0), self.q.locations()[b].column(0));
        let at = |t: f64| {
            let mut z: Vec<f64> = from.iter().map(|z| (1.0 - t) * z).collect();
            axpy(t, to, &mut z);
            self.q.log_density(&z)
        };
        let lowest = (1..LOOKS).map(|k| at(k as f64 / LOOKS as f64)).fold(f64::INFINITY, f64::min);
        at(0.0).min(at(1.0)) - lowest
    }

    /// Whether as good as no draw of either of two components is where the other one is as high: there is no valley
    /// around a spike on the slope of a wide mode, and no need of one.
    fn keep_apart(&self, a: usize, b: usize) -> bool {
        let d = self.q.dim();
        if d > tuning::FEW_COORDINATES {
            return false;
        }
        let (mut z, mut memory) = (vec![0.0; d], vec![0.0; 2 * d]);
        let mut logs = vec![0.0; self.place_of.len()];
        [(a, b), (b, a)].into_iter().all(|(own, other)| {
            let block = &self.q.locations()[own];
            let mut stream = Stream::open(0, Purpose::Chains, own as u64, BLOCK);
            let mut at_border = 0;
            for _ in 0..tuning::BORDER_DRAWS {
                stream.fill_normal(&mut z);
                block.scale().unwhiten(&mut z);
                axpy(1.0, block.column(0), &mut z);
                self.q.log_joint_into(&z, &mut memory, &mut logs);
                at_border += usize::from(logs[own] - logs[other] < tuning::BORDER);
            }
            at_border as f64 <= tuning::AT_THE_BORDER * tuning::BORDER_DRAWS as f64
        })
    }

    /// The place that a point belongs to, the one that it would belong to next, and by how many nats it does not.
    pub(crate) fn place(&self, z: &[f64], scratch: &mut [f64]) -> (usize, usize, f64) {
        let (logs, memory) = scratch.split_at_mut(self.place_of.len());
        self.q.log_joint_into(z, memory, logs);
        let (mut best, mut next) = ((0, f64::NEG_INFINITY), (0, f64::NEG_INFINITY));
        for (place, log) in self.place_of.iter().zip(logs) {
            if *log > best.1 {
                if *place != best.0 {
                    next = best;
                }
                best = (*place, *log);
            } else if *log > next.1 && *place != best.0 {
                next = (*place, *log);
            }
        }
        (best.0, next.0, best.1 - next.1)
    }

    /// Numbers that [`Territories::place`] needs as memory.
    pub(crate) fn room(&self) -> usize {
        self.place_of.len() + 2 * self.q.dim()
    }

    /// The components of a place as a mixture of their own, and their share of all.
    pub(crate) fn part(&self, place: usize) -> Option<(Approximation, f64)> {
        let own: Vec<usize> = (0..self.place_of.len()).filter(|c| self.place_of[*c] == place).collect();
        let log: Vec<f64> = own.iter().map(|c| self.q.weights().log()[*c]).collect();
        let share = log.iter().map(|l| l.exp()).sum();
        let blocks = own.iter().map(|c| self.q.locations()[*c].clone()).collect();
        let part = Approximation::mixture(LogWeights::new(log).ok()?, blocks).ok()?;
        Some((part, share))
    }

    /// The places that run into another, by where states are: pairs of places.
    pub(crate) fn adjoining(&self, place: usize, states: &[f64]) -> Option<(usize, usize)> {
        let (d, mut scratch) = (self.q.dim(), vec![0.0; self.room()]);
        let mut near = vec![0usize; self.len()];
        for z in states.chunks_exact(d) {
            let (own, next, margin) = self.place(z, &mut scratch);
            if own != place {
                near[own] += 1;
            } else if margin < tuning::BORDER {
                near[next] += 1;
            }
        }
        let most = (0..near.len()).filter(|other| *other != place).max_by_key(|other| near[*other])?;
        let share = near[most] as f64 / (states.len() / d).max(1) as f64;
        (share > tuning::AT_THE_BORDER).then_some((place, most))
    }
}

/// Block of [`Purpose::Chains`] for draws of components.
const BLOCK: u32 = 1 << 20;

/// Points between two components at which a valley is looked for, and one.
const LOOKS: usize = 16;

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |b| (0..b).map(move |a| (a, b)))
}

/// A target that has no density but in one place.
pub(crate) struct Within<'t> {
    pub(crate) target: &'t dyn Target,
    pub(crate) territories: &'t Territories<'t>,
    pub(crate) place: usize,
}

impl Within<'_> {
    /// Has `work` ask the density of this place, and counts that as asked by `evaluator`.
    pub(crate) fn ask<T>(&self, evaluator: &mut Evaluator<'_>, work: impl FnOnce(&mut Evaluator<'_>) -> T) -> T {
        let mut inside = Evaluator::new(self, evaluator.interrupt());
        let done = work(&mut inside);
        let mut counts = evaluator.counts();
        counts += inside.counts();
        evaluator.set_counts(counts);
        done
    }
}

impl Target for Within<'_> {
    fn about(&self) -> About {
        let about = self.target.about();
        let offers = Offers { values: about.offers.values, ..Offers::GRADIENT };
        About { offers, concavity: Concavity::default(), ..about }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.target.evaluate(ask, answer)?;
        let Parts { log_p, scratch, .. } = answer.parts_mut();
        let scratch = scratch.take(self.territories.room());
        for (log_p, z) in log_p.iter_mut().zip(ask.draws.iter()) {
            if log_p.is_finite() && self.territories.place(z, scratch).0 != self.place {
                *log_p = f64::NEG_INFINITY;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Location, Scale};
    use crate::target::Shape;

    /// Unit normals at these places on a line, with equal weights.
    fn mixture(places: &[f64]) -> Approximation {
        let block = |m: &f64| {
            let scale = Scale::from_precision(Shape::Diagonal(1), vec![1.0]).unwrap();
            Location::new(vec![*m], scale).unwrap()
        };
        Approximation::mixture(LogWeights::uniform(places.len()), places.iter().map(block).collect()).unwrap()
    }

    /// Between unit normals δ apart log q falls by δ²/8 − log 2 in the middle: 4.5 nats at 6.4. Less is enough where as
    /// good as no draw of one is near the border: 0.2 % are at 6, and 1.1 % at 5.
    #[test]
    fn a_valley_divides_places_and_a_link_joins_them() {
        assert!(Territories::of(&mixture(&[0.0])).is_none());
        assert!(Territories::of(&mixture(&[0.0, 5.0])).is_none());
        assert_eq!(Territories::of(&mixture(&[0.0, 6.0])).map(|places| places.len()), Some(2));
        assert_eq!(Territories::of(&mixture(&[0.0, 7.0])).map(|places| places.len()), Some(2));
        assert!(Territories::of(&mixture(&[0.0, 7.0, 3.5])).is_none());
        let q = mixture(&[0.0, 20.0, 3.0, 40.0]);
        let mut places = Territories::of(&q).unwrap();
        assert_eq!(places.place_of, [0, 1, 0, 2]);
        let (part, share) = places.part(0).unwrap();
        assert!((part.mean()[0] - 1.5).abs() < 1e-12 && (share - 0.5).abs() < 1e-12);
        let mut scratch = vec![0.0; places.room()];
        let (own, next, margin) = places.place(&[11.0], &mut scratch);
        assert_eq!((own, next), (0, 1));
        // ½(81 − 64) against the component at 3: it is nearer to it by that.
        assert!((margin - 0.5 * (81.0 - 64.0)).abs() < 1e-9, "{margin}");
        places.join(2, 0);
        assert_eq!(places.place_of, [0, 1, 0, 0]);
    }

    /// A spike on the slope of a unit normal: log q falls by 2 nats between them and no more, but of its draws one in
    /// thousands is where the other is as high. A component half as wide is no place of its own.
    #[test]
    fn a_spike_on_a_slope_is_a_place() {
        let beside = |sd: f64| {
            let block = |m: f64, sd: f64| {
                let scale = Scale::from_precision(Shape::Diagonal(1), vec![sd.powi(-2)]).unwrap();
                Location::new(vec![m], scale).unwrap()
            };
            let weights = LogWeights::new(vec![0.8f64.ln(), 0.2f64.ln()]).unwrap();
            Approximation::mixture(weights, vec![block(0.0, 1.0), block(2.0, sd)]).unwrap()
        };
        assert_eq!(Territories::of(&beside(1e-3)).map(|places| places.len()), Some(2));
        assert!(Territories::of(&beside(0.5)).is_none());
    }

    /// States in the middle between two places join these, and states of one alone do not.
    #[test]
    fn places_whose_states_meet_adjoin() {
        let q = mixture(&[0.0, 8.0, 40.0]);
        let places = Territories::of(&q).unwrap();
        let mut states = vec![0.5; 1_000];
        assert_eq!(places.adjoining(0, &states), None);
        states[..10].fill(3.95);
        assert_eq!(places.adjoining(0, &states), Some((0, 1)));
        states[..10].fill(7.0);
        assert_eq!(places.adjoining(0, &states), Some((0, 1)));
    }
}
