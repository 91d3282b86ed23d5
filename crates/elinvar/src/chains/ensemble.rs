//! Chains that move together: kicks by the residual gradient, exact rotations between them, accepted or rejected
//! (mathematics §11.1).

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::quadrature::Quadrature;
use super::{Coordinates, Trail};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::dot;
use crate::random::{Purpose, Stream};
use crate::target::Draws;
use crate::tuning::chains as tuning;

/// How often a density was what no density can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// +∞.
    pub(crate) infinite: u64,
    /// NaN, or a gradient that is not finite where there is a density.
    pub(crate) undefined: u64,
}

impl Faults {
    /// Notes a log density that is not finite, or that has no finite gradient.
    pub(crate) fn note(&mut self, log_p: f64) {
        match log_p {
            f64::NEG_INFINITY => {}
            f64::INFINITY => self.infinite += 1,
            _ => self.undefined += 1,
        }
    }
}

impl std::ops::AddAssign for Faults {
    fn add_assign(&mut self, other: Self) {
        self.infinite += other.infinite;
        self.undefined += other.undefined;
    }
}

/// Where chains are: in x and z, with the gradients by each and log p.
#[derive(Clone, Debug)]
pub(crate) struct States {
    pub(crate) x: Vec<f64>,
    pub(crate) by_x: Vec<f64>,
    pub(crate) z: Vec<f64>,
    pub(crate) by_z: Vec<f64>,
    pub(crate) log_p: Vec<f64>,
    /// log |∂z/∂x| but for a constant.
    log_jacobian: Vec<f64>,
    trail: Trail,
}

impl States {
    fn zeros(dim: usize, n: usize) -> Self {
        let zeros = || vec![0.0; dim * n];
        Self {
            x: zeros(),
            by_x: zeros(),
            z: zeros(),
            by_z: zeros(),
            log_p: vec![0.0; n],
            log_jacobian: vec![0.0; n],
            trail: Trail::default(),
        }
    }

    /// z of x.
    fn move_to(&mut self, frame: &Coordinates) {
        frame.to_z(&self.x, &mut self.z, &mut self.trail);
    }

    /// x and what belongs to it, of z.
    fn enter(&mut self, frame: &Coordinates) {
        frame.to_u(&self.z, &mut self.x);
        if frame.are_bent() {
            let mut again = vec![0.0; self.z.len()];
            frame.to_z(&self.x, &mut again, &mut self.trail);
        }
        frame.pull(&self.by_z, &mut self.by_x, &mut self.log_jacobian, &mut self.trail);
    }

    /// Evaluates the target at z, which was moved to from x, and says how often it gave what no density can be.
    fn evaluate(&mut self, evaluator: &mut Evaluator<'_>, frame: &Coordinates) -> Result<Faults, Error> {
        let dim = frame.dim();
        evaluator.evaluate_gradients(Draws::new(dim, &self.z))?;
        let answer = evaluator.answer();
        self.log_p.copy_from_slice(answer.log_p());
        self.by_z.copy_from_slice(answer.grads());
        let mut faults = Faults::default();
        for (log_p, gradient) in self.log_p.iter_mut().zip(self.by_z.chunks_exact_mut(dim)) {
            if log_p.is_finite() && gradient.iter().all(|g| g.is_finite()) {
                continue;
            }
            // −∞ is a place of no density; anything else that is not finite is treated as one, and told.
            faults.note(*log_p);
            *log_p = f64::NEG_INFINITY;
            gradient.fill(0.0);
        }
        frame.pull(&self.by_z, &mut self.by_x, &mut self.log_jacobian, &mut self.trail);
        Ok(faults)
    }

    fn copy_chain(&mut self, to: usize, other: &States, from: usize, dim: usize) {
        let (target, source) = (to * dim..(to + 1) * dim, from * dim..(from + 1) * dim);
        for (own, theirs) in [
            (&mut self.x, &other.x),
            (&mut self.by_x, &other.by_x),
            (&mut self.z, &other.z),
            (&mut self.by_z, &other.by_z),
        ] {
            own[target.clone()].copy_from_slice(&theirs[source.clone()]);
        }
        self.log_p[to] = other.log_p[from];
        self.log_jacobian[to] = other.log_jacobian[from];
    }
}

/// Chains in mirrored pairs: chain j and chain j + n/2 get opposite momenta and the same uniform number.
#[derive(Debug)]
pub(crate) struct Ensemble {
    n: usize,
    seed: u64,
    /// Steps so far: part of the address of the random numbers.
    step: u64,
    /// How far one leap turns at most, about.
    angle: f64,
    now: States,
    next: States,
    velocity: Vec<f64>,
    kinetic: Vec<f64>,
    log_uniform: Vec<f64>,
    /// Probabilities of acceptance in the last step.
    accepted: Vec<f64>,
    /// Sum and number of mean acceptances of the usual steps since the angle was set.
    usual: (f64, u32),
    faults: Faults,
    /// The largest size of an energy error in the last step, where it is finite.
    energy_error: f64,
}

impl Ensemble {
    fn empty(dim: usize, n: usize, seed: u64, step: u64) -> Self {
        Self {
            n,
            seed,
            step,
            angle: FRAC_PI_4,
            now: States::zeros(dim, n),
            next: States::zeros(dim, n),
            velocity: vec![0.0; dim * n],
            kinetic: vec![0.0; n],
            log_uniform: vec![0.0; n],
            accepted: vec![0.0; n],
            usual: (0.0, 0),
            faults: Faults::default(),
            energy_error: 0.0,
        }
    }

    /// `n` chains that start at mirrored draws of a multivariate t law with four degrees of freedom around the
    /// Gaussian: in part wider than it, so that tails which it does not know are entered from outside; in many
    /// dimensions less so.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn around(
        evaluator: &mut Evaluator<'_>,
        frame: &Coordinates,
        n: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        let dim = frame.dim();
        let mut chains = Self::empty(dim, n, seed, 1);
        chains.scatter(evaluator, frame, n / 2, Stream::open(seed, Purpose::Chains, 0, 0))?;
        Ok(chains)
    }

    /// `n` chains that start anew as those of [`Ensemble::around`], with one leap for each step, as in coordinates in
    /// which the law is about N(0, I).
    ///
    /// # Errors
    /// As [`Ensemble::around`].
    pub(crate) fn renewed(&self, evaluator: &mut Evaluator<'_>, frame: &Coordinates, n: usize) -> Result<Self, Error> {
        let mut chains = Self::empty(frame.dim(), n, self.seed, self.step + 1);
        (chains.angle, chains.faults) = (FRAC_PI_2, self.faults);
        chains.scatter(evaluator, frame, n / 2, Stream::open(self.seed, Purpose::Chains, self.step, 3))?;
        Ok(chains)
    }

    fn scatter(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        frame: &Coordinates,
        pairs: usize,
        mut stream: Stream,
    ) -> Result<(), Error> {
        let dim = frame.dim();
        let mut states = States::zeros(dim, 2 * pairs);
        let (first, second) = states.x.split_at_mut(pairs * dim);
        for (x, mirrored) in first.chunks_exact_mut(dim).zip(second.chunks_exact_mut(dim)) {
            stream.fill_normal(x);
            let width = (0.5 * stream.gamma(2.0)).sqrt().max(f64::MIN_POSITIVE);
            // In many dimensions a little wider is as many nats farther out.
            let share = (tuning::FEW_COORDINATES as f64 / dim as f64).min(1.0);
            let times = 1.0 + share * (width.recip() - 1.0);
            x.iter_mut().for_each(|x| *x *= times);
            mirrored.iter_mut().zip(x).for_each(|(to, from)| *to = -*from);
        }
        states.move_to(frame);
        self.faults += states.evaluate(evaluator, frame)?;
        for pair in 0..pairs {
            self.now.copy_chain(pair, &states, pair, dim);
            self.now.copy_chain(self.n / 2 + pair, &states, pairs + pair, dim);
        }
        Ok(())
    }

    /// `n` chains that go on from states of the past, given as (z, gradient, log p) and chosen at random.
    pub(crate) fn spread(&self, frame: &Coordinates, n: usize, z: &[f64], by_z: &[f64], log_p: &[f64]) -> Self {
        let dim = frame.dim();
        let mut chains = Self::empty(dim, n, self.seed, self.step + 1);
        (chains.angle, chains.faults) = (self.angle, self.faults);
        let mut stream = Stream::open(self.seed, Purpose::Chains, self.step, 1);
        let mut indices: Vec<u32> = (0..log_p.len() as u32).collect();
        stream.shuffle(&mut indices);
        for (chain, index) in (0..n).zip(indices.iter().cycle()) {
            let from = *index as usize * dim..(*index as usize + 1) * dim;
            chains.now.z[chain * dim..(chain + 1) * dim].copy_from_slice(&z[from.clone()]);
            chains.now.by_z[chain * dim..(chain + 1) * dim].copy_from_slice(&by_z[from]);
            chains.now.log_p[chain] = log_p[*index as usize];
        }
        chains.enter(frame);
        chains
    }

    /// Puts chains at places of their own and evaluates all.
    ///
    /// # Errors
    /// As [`Ensemble::around`].
    pub(crate) fn place(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        frame: &Coordinates,
        places: &[(usize, Vec<f64>)],
    ) -> Result<(), Error> {
        let dim = frame.dim();
        let mut states = States::zeros(dim, places.len());
        for ((_, place), z) in places.iter().zip(states.z.chunks_exact_mut(dim)) {
            z.copy_from_slice(place);
        }
        frame.to_u(&states.z, &mut states.x);
        states.move_to(frame);
        self.faults += states.evaluate(evaluator, frame)?;
        for (from, (chain, _)) in places.iter().enumerate() {
            self.now.copy_chain(*chain, &states, from, dim);
        }
        Ok(())
    }

    /// Writes the states in the coordinates of a frame, which is to be done whenever it has changed.
    pub(crate) fn enter(&mut self, frame: &Coordinates) {
        self.now.enter(frame);
    }

    /// Number of chains.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Where the chains are.
    pub(crate) fn states(&self) -> &States {
        &self.now
    }

    /// Probabilities of acceptance in the last step.
    pub(crate) fn accepted(&self) -> &[f64] {
        &self.accepted
    }

    /// What no density can be, so far.
    pub(crate) fn faults(&self) -> Faults {
        self.faults
    }

    /// The largest size of a finite energy error in the last step.
    #[cfg(test)]
    pub(crate) fn energy_error(&self) -> f64 {
        self.energy_error
    }

    /// Leaps of one step.
    pub(crate) fn leaps(&self) -> u64 {
        (FRAC_PI_2 / self.angle - 0.2).ceil().max(1.0) as u64
    }

    /// One step of all chains: about a quarter turn, now and then a fifth of it, which frees chains that stand still
    /// where p is narrow.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn step(&mut self, evaluator: &mut Evaluator<'_>, frame: &Coordinates) -> Result<(), Error> {
        let dim = frame.dim();
        let mut stream = Stream::open(self.seed, Purpose::Chains, self.step, 0);
        self.step += 1;
        let short = stream.uniform() < tuning::SHORT_STEPS;
        let jitter = 0.8 + 0.4 * stream.uniform();
        let leaps = self.leaps();
        let turn = FRAC_PI_2 * jitter * if short { tuning::SHORT_STEP } else { 1.0 };
        let rule = Quadrature::of(leaps);
        let (first, second) = self.velocity.split_at_mut(self.n / 2 * dim);
        stream.fill_normal(first);
        first.iter().zip(second).for_each(|(v, mirrored)| *mirrored = -v);
        let (first, second) = self.log_uniform.split_at_mut(self.n / 2);
        first.iter_mut().zip(second).for_each(|(u, mirrored)| {
            *u = stream.uniform().ln();
            *mirrored = *u;
        });
        for (kinetic, v) in self.kinetic.iter_mut().zip(self.velocity.chunks_exact(dim)) {
            *kinetic = 0.5 * dot(v, v);
        }
        self.next.x.copy_from_slice(&self.now.x);
        self.next.by_x.copy_from_slice(&self.now.by_x);
        self.kick(turn * rule.weight(0));
        for leap in 0..leaps as usize {
            let (sine, cosine) = (turn * (rule.node(leap + 1) - rule.node(leap))).sin_cos();
            for (x, v) in self.next.x.iter_mut().zip(&mut self.velocity) {
                (*x, *v) = (cosine * *x + sine * *v, cosine * *v - sine * *x);
            }
            self.next.move_to(frame);
            self.faults += self.next.evaluate(evaluator, frame)?;
            self.kick(turn * rule.weight(leap + 1));
        }
        self.decide(dim);
        // The first come from far out, where no later one is.
        if !short && self.step > FIRST_STEPS {
            self.usual.0 += self.accepted.iter().sum::<f64>() / self.n as f64;
            self.usual.1 += 1;
        }
        Ok(())
    }

    /// v += t (∇log p + x): what the rotation leaves out.
    fn kick(&mut self, time: f64) {
        for ((v, g), x) in self.velocity.iter_mut().zip(&self.next.by_x).zip(&self.next.x) {
            *v += time * (g + x);
        }
    }

    fn decide(&mut self, dim: usize) {
        self.energy_error = 0.0;
        for chain in 0..self.n {
            let v = &self.velocity[chain * dim..(chain + 1) * dim];
            let (before, after) = (self.now.log_p[chain], self.next.log_p[chain]);
            // A chain that began where there is no density leaves for any place that has some.
            let change = match (before.is_finite(), after.is_finite()) {
                (true, true) => {
                    let jacobian = self.next.log_jacobian[chain] - self.now.log_jacobian[chain];
                    after - before + jacobian + self.kinetic[chain] - 0.5 * dot(v, v)
                }
                (false, true) => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            };
            if change.is_finite() {
                self.energy_error = self.energy_error.max(change.abs());
            }
            self.accepted[chain] = if change.is_nan() { 0.0 } else { change.min(0.0).exp() };
            if self.log_uniform[chain] < change {
                self.now.copy_chain(chain, &self.next, chain, dim);
            }
        }
    }

    /// Puts chains that stand still where there is as good as no density, and may stay there for ever, where others
    /// are.
    pub(crate) fn rescue(&mut self, acceptances: &[f64]) {
        let dim = self.now.x.len() / self.n;
        let heights: Vec<f64> = self.now.log_p.iter().zip(&self.now.log_jacobian).map(|(l, j)| l + j).collect();
        let least = least_height(&heights, dim);
        let still = |chain: usize| acceptances.get(chain).is_none_or(|a| *a < tuning::STUCK);
        for chain in (0..self.n).filter(|chain| heights[*chain] < least && still(*chain)) {
            let other = (1..self.n).map(|k| (chain + k) % self.n).find(|other| heights[*other] >= least);
            if let Some(other) = other {
                self.next.copy_chain(chain, &self.now, other, dim);
                self.now.copy_chain(chain, &self.next, chain, dim);
            }
        }
    }

    /// Sets the angle of a leap by how many of the usual steps since the last call were accepted.
    pub(crate) fn tune(&mut self) {
        let (sum, n) = std::mem::take(&mut self.usual);
        if n == 0 {
            return;
        }
        let mean = sum / f64::from(n);
        // What is rejected grows with the third power of the angle, where that is small.
        let ratio = (1.0 - tuning::ACCEPTANCE) / (1.0 - mean).max(f64::MIN_POSITIVE);
        let factor = if mean > tuning::LOST { ratio.cbrt().min(2.0) } else { 0.5 };
        // Of what leaps turned, which is less than the angle that they were to turn at most.
        self.angle = (FRAC_PI_2 / self.leaps() as f64 * factor).clamp(PI / 64.0, FRAC_PI_2);
    }
}

/// The last of the steps whose acceptance says nothing of later ones.
const FIRST_STEPS: u64 = 3;

/// The log density below which a state is lost: far below the median, whatever p is.
pub(super) fn least_height(heights: &[f64], dim: usize) -> f64 {
    let mut sorted: Vec<f64> = heights.iter().copied().filter(|height| height.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let [nats, more] = tuning::LOST_STATE;
    sorted.get(sorted.len() / 2).map_or(f64::INFINITY, |middle| middle - nats - more * (dim as f64).sqrt())
}
