//! The natural gradient of a mixture from its pool, and the step along it (mathematics §12.7).

use serde::{Deserialize, Serialize};

use super::mixture::Mixture;
use super::sight::{Own, Sight};
use crate::linalg::{axpy, cholesky, dot, products};
use crate::run::residual::Room;
use crate::special::logistic::log_sum_exp;
use crate::tuning::pooled as tuned;

/// What a pool says about one component, in the coordinates in which it is N(0, I).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Slope {
    /// g = E_c[∇h], A = E_c[∇²h] and E_c\[h\].
    pub(super) gradient: Vec<f64>,
    pub(super) curvature: Vec<f64>,
    pub(super) height: f64,
}

/// Memory for steps.
pub(super) struct Stepping {
    d: usize,
    pub(super) slopes: Vec<Slope>,
    square: Vec<f64>,
    spread: Vec<f64>,
    cross: Vec<f64>,
    factor: Vec<f64>,
    solved: Vec<f64>,
    mean: Vec<f64>,
    negative: Vec<f64>,
    scratch: Vec<f64>,
    workspace: cholesky::Workspace,
    room: Room,
}

impl Stepping {
    pub(super) fn new(d: usize, components: usize) -> Self {
        let slope = Slope { gradient: vec![0.0; d], curvature: vec![0.0; d * d], height: 0.0 };
        let matrix = || vec![0.0; d * d];
        Self {
            d,
            slopes: vec![slope; components],
            square: matrix(),
            spread: matrix(),
            cross: matrix(),
            factor: matrix(),
            solved: matrix(),
            mean: vec![0.0; d],
            negative: matrix(),
            scratch: vec![0.0; d * products::GRAM_BLOCK],
            workspace: cholesky::Workspace::new(d),
            room: Room::new(d),
        }
    }

    /// Estimates the natural gradient at `q`, which `sight` has just looked at; the nats left to gain to second order.
    pub(super) fn estimate(&mut self, q: &Mixture, sight: &Sight) -> f64 {
        for (c, own) in sight.own.iter().enumerate() {
            self.of_component(c, own, &sight.heights);
        }
        let mean: f64 = self.slopes.iter().enumerate().map(|(c, slope)| q.weight(c) * slope.height).sum();
        let part = |(c, slope): (usize, &Slope)| {
            let height = slope.height - mean;
            let (gradient, curvature) = (&slope.gradient, &slope.curvature);
            q.weight(c) * (0.5 * dot(gradient, gradient) + 0.25 * dot(curvature, curvature) + 0.5 * height * height)
        };
        self.slopes.iter().enumerate().map(part).sum()
    }

    /// A by ridge regression of v on x, g = v̄ − A x̄, and E\[h\] with x and xxᵀ as control variates.
    fn of_component(&mut self, c: usize, own: &Own, heights: &[f64]) {
        let d = self.d;
        let Slope { gradient, curvature, height } = &mut self.slopes[c];
        let mean = &mut self.mean;
        mean.fill(0.0);
        gradient.fill(0.0);
        let mut expected = 0.0;
        let points = own.x.chunks_exact(d).zip(own.v.chunks_exact(d));
        for ((weight, s), (x, v)) in own.weight.iter().zip(&own.index).zip(points) {
            axpy(*weight, x, mean);
            axpy(*weight, v, gradient);
            expected += weight * heights[*s];
        }
        for matrix in [&mut self.square, &mut self.cross] {
            matrix.fill(0.0);
        }
        products::add_weighted_gram(&own.x, d, &own.weight, &mut self.scratch, &mut self.square);
        products::mirror_lower(d, &mut self.square);
        products::add_weighted_cross(&own.x, &own.v, d, &own.weight, &mut self.scratch, &mut self.cross);
        self.spread.copy_from_slice(&self.square);
        for (j, (spread, cross)) in self.spread.chunks_exact_mut(d).zip(self.cross.chunks_exact_mut(d)).enumerate() {
            axpy(-mean[j], mean, spread);
            axpy(-gradient[j], mean, cross);
        }
        let size: f64 = own.v.chunks_exact(d).zip(&own.weight).map(|(v, w)| w * dot(v, v)).sum();
        let size = size - dot(gradient, gradient);
        let mut ridge = tuned::SMALLEST_RIDGE;
        // Once without a ridge, to see how much of v is not linear in x; then with one for that.
        for round in 0..2 {
            self.factor.copy_from_slice(&self.spread);
            self.factor.iter_mut().step_by(d + 1).for_each(|entry| *entry += ridge);
            self.solved.copy_from_slice(&self.factor);
            if cholesky::factor(d, &self.solved, &mut self.factor, &mut self.workspace).is_err() {
                ridge = 1.0 / own.effective.max(1.0);
                self.solved.fill(0.0);
                continue;
            }
            self.solved.copy_from_slice(&self.cross);
            cholesky::solve_factor(d, &self.factor, &mut self.solved);
            cholesky::solve_factor_transposed(d, &self.factor, &mut self.solved);
            if round == 0 {
                let left = (size - dot(&self.cross, &self.solved)).max(0.0);
                let freedom = (1.0 - (d + 1) as f64 / own.effective).max(0.1);
                let share = if size > 0.0 { (left / (freedom * size)).min(1.0) } else { 0.0 };
                ridge = tuned::SMALLEST_RIDGE + share / own.effective;
            }
        }
        for j in 0..d {
            for i in 0..d {
                curvature[j * d + i] = 0.5 * (self.solved[j * d + i] + self.solved[i * d + j]);
            }
        }
        for (j, column) in curvature.chunks_exact(d).enumerate() {
            axpy(-mean[j], column, gradient);
        }
        let trace = dot(curvature, &self.square) - curvature.iter().step_by(d + 1).sum::<f64>();
        *height = expected - dot(gradient, mean) - 0.5 * trace;
    }

    /// Moves `q` by β along the gradient that was estimated; false if rounding leaves no factor.
    pub(super) fn advance(&mut self, q: &mut Mixture, beta: f64) -> bool {
        let mean: f64 = self.slopes.iter().enumerate().map(|(c, slope)| q.weight(c) * slope.height).sum();
        let mut moved = true;
        for (block, slope) in q.blocks.iter_mut().zip(&self.slopes) {
            self.negative.iter_mut().zip(&slope.curvature).for_each(|(b, a)| *b = -a);
            let is_finite = slope.gradient.iter().chain(&slope.curvature).all(|v| v.is_finite());
            moved &= is_finite && block.advance(&slope.gradient, beta, &self.negative, beta, &mut self.room);
        }
        for (log, slope) in q.log_weights.iter_mut().zip(&self.slopes) {
            let step = beta * (slope.height - mean);
            *log += if step.is_finite() {
                step.clamp(-tuned::LONGEST_WEIGHT_STEP, tuned::LONGEST_WEIGHT_STEP)
            } else {
                0.0
            };
        }
        let total = log_sum_exp(&q.log_weights);
        q.log_weights.iter_mut().for_each(|log| *log -= total);
        moved
    }
}
