//! Gradients of any size, and with entries that are not numbers, never take a block out of its domain.

use crate::state::{State, Stated};
use elinvar::block::LogWeights;
use elinvar::component::ComponentKind;
use elinvar::family::{Approximation, Family};
use elinvar::internals::family::BlockGradient;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Gradient, Scratch, StepRequest};
use elinvar::random::{Purpose, Stream};
use elinvar::rule::Rule;

use super::problem;
use crate::subjects::{families, label, standard};

const DIM: usize = 3;

/// A number of either sign whose size is anywhere between 1e-8 and 1e12.
fn wild(stream: &mut Stream) -> f64 {
    let size = 10f64.powf(-8.0 + 20.0 * stream.uniform());
    if stream.uniform() < 0.5 { -size } else { size }
}

/// Something that is not a finite number, if `broken`.
fn damage(stream: &mut Stream, broken: bool, values: &mut [f64]) {
    if broken {
        let at = (stream.uniform() * values.len() as f64) as usize;
        values[at] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][(3.0 * stream.uniform()) as usize];
    }
}

/// A gradient that can be filled with wild numbers.
trait Wild {
    fn fill(&mut self, stream: &mut Stream, broken: bool);
}

impl Wild for BlockGradient {
    fn fill(&mut self, stream: &mut Stream, broken: bool) {
        self.b.iter_mut().for_each(|v| *v = wild(stream));
        if self.g.len() == DIM {
            self.g.iter_mut().for_each(|v| *v = wild(stream));
        } else if stream.uniform() < 0.5 {
            // A symmetric matrix whose entries have nothing to do with each other.
            for i in 0..DIM {
                for j in 0..=i {
                    let value = wild(stream);
                    (self.g[i * DIM + j], self.g[j * DIM + i]) = (value, value);
                }
            }
        } else {
            // c v vᵀ: of rank one, and so on the edge of what is definite.
            let v: Vec<f64> = (0..DIM).map(|_| wild(stream)).collect();
            let c = if stream.uniform() < 0.5 { -1.0 } else { 1.0 };
            self.g.iter_mut().enumerate().for_each(|(at, g)| *g = c * v[at % DIM] * v[at / DIM]);
        }
        let in_b = stream.uniform() < 0.5;
        damage(stream, broken && in_b, &mut self.b);
        damage(stream, broken && !in_b, &mut self.g);
    }
}

impl Wild for Gradient {
    fn fill(&mut self, stream: &mut Stream, broken: bool) {
        if self.blocks[0].g.is_empty() {
            // Natural parameters.
            self.blocks.iter_mut().flat_map(|block| &mut block.b).for_each(|v| *v = wild(stream));
            self.expected_h.iter_mut().for_each(|v| *v = wild(stream));
            let at = (stream.uniform() * self.blocks.len() as f64) as usize;
            return damage(stream, broken, &mut self.blocks[at].b);
        }
        let n = self.blocks.len();
        let parts = n + usize::from(!self.expected_h.is_empty());
        let at = (stream.uniform() * parts as f64) as usize;
        self.blocks.iter_mut().enumerate().for_each(|(c, part)| part.fill(stream, broken && c == at));
        self.expected_h.iter_mut().for_each(|v| *v = wild(stream));
        damage(stream, broken && at == n, &mut self.expected_h);
    }
}

/// Chains of steps with wild gradients, each from where the last one led.
fn chains(mut q: Approximation, rule: Rule, stream: &mut Stream, n_chains: usize) {
    let first = q.clone();
    let mut scratch = Scratch::new(&q);
    let mut gradient = q.zero_gradient();
    for chain in 0..n_chains {
        q.clone_from(&first);
        let max_kl = (chain % 2 == 0).then_some(0.5);
        for step in 0..20 {
            let broken = stream.uniform() < 0.1;
            gradient.fill(stream, broken);
            let beta = [0.01, 0.1, 1.0, 10.0][(4.0 * stream.uniform()) as usize];
            let before = q.state();
            let taken =
                q.advance(&gradient, StepRequest { rule, beta, mixing_beta: beta, max_kl }, &mut scratch).smallest;
            let at = || format!("{}, {rule}, chain {chain}, step {step}, β = {beta}", label(q.family()));
            assert!((0.0..=beta).contains(&taken), "{}: took {taken}", at());
            if broken && before.blocks.len() == 1 {
                assert!(taken == 0.0 && before == q.state(), "{}: moved along something that is no direction", at());
            }
            if let Some(problem) = problem(&q.state()) {
                panic!("{}: {problem}; from {before:?}", at());
            }
            if let (Some(bound), "gaussian") = (max_kl, q.family().name()) {
                let kl = divergence_of_diagonals(&q.state(), &before);
                assert!(kl.is_none_or(|kl| kl <= bound * (1.0 + 1e-6)), "{}: KL {kl:?}", at());
            }
        }
    }
}

/// KL(new ‖ old) of two Gaussians with diagonal precisions, by the textbook.
fn divergence_of_diagonals(new: &State, old: &State) -> Option<f64> {
    let (new, old) = (&new.blocks[0], &old.blocks[0]);
    let part = |i: usize| {
        let (ratio, shift) = (old.precision[i] / new.precision[i], new.b[i] - old.b[i]);
        0.5 * (ratio - 1.0 - ratio.ln() + old.precision[i] * shift * shift)
    };
    (new.precision.len() == DIM).then(|| (0..DIM).map(part).sum())
}

/// 16 families × 2 rules × 60 chains × 20 steps: 38 400 gradients.
#[test]
fn a_step_stays_in_the_domain() {
    let mut stream = Stream::open(77, Purpose::Start, 0, 0);
    for family in families() {
        for rule in [Rule::NaturalGradient, Rule::Retraction] {
            chains(standard(family, DIM), rule, &mut stream, 60);
        }
    }
}

/// The same for every kind of exponential family.
#[test]
fn a_step_of_an_exponential_family_stays_in_its_domain() {
    let mut stream = Stream::open(78, Purpose::Start, 0, 0);
    for (name, k) in ComponentKind::NAMES.iter().flat_map(|name| [(name, 1), (name, 3)]) {
        let member = ComponentKind::new(name, None).unwrap().standard();
        let q = Approximation::ef_mixture(LogWeights::uniform(k), vec![member; k * DIM]).unwrap();
        for rule in [Rule::NaturalGradient, Rule::Retraction] {
            chains(q.clone(), rule, &mut stream, 60);
        }
    }
}

/// A component whose gradient is broken stays where it is, and the others move.
#[test]
fn a_broken_component_holds_nobody_back() {
    let mut q = standard(Family::mog(2).diagonal(), DIM);
    let mut gradient = q.zero_gradient();
    gradient.blocks[0].b[1] = f64::NAN;
    gradient.blocks[1].b[1] = 1.0;
    let before = q.state();
    let request = StepRequest { rule: Rule::Retraction, beta: 0.1, mixing_beta: 0.1, max_kl: None };
    assert_eq!(q.advance(&gradient, request, &mut Scratch::new(&q)).smallest, 0.0);
    assert_eq!(q.state().blocks[0], before.blocks[0]);
    assert_eq!(q.state().blocks[1].b[1], before.blocks[1].b[1] + 0.1);
}
