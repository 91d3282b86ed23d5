//! log p and its gradient for all draws.

use super::super::join::join;
use super::NeuralNetwork;
use crate::linalg::layer;
use crate::target::{
    About, Answer, Ask, Covariance, Derivatives, Draws, Offers, Parts, Prior, Room, Rows, Scratch, Target, TargetError,
    Transform, Transforms, Want,
};

/// Largest number of groups of draws that are evaluated at the same time.
const N_GROUPS: usize = 8;
/// Number of multiplications N·d·S from which the draws are cut into groups: about ten times the cost of waking a
/// thread.
const LARGE: usize = 1 << 19;

impl NeuralNetwork {
    fn n_groups(&self, n_draws: usize, n_rows: usize) -> usize {
        let cost = n_rows.saturating_mul(self.dim).saturating_mul(n_draws);
        if cost >= LARGE { n_draws.clamp(1, N_GROUPS) } else { 1 }
    }

    /// Evaluates the draws in `groups` groups; `grad` is empty where no gradient is wanted. No sum crosses draws, so
    /// the result depends on neither the groups nor the threads.
    fn run(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        groups: usize,
        memory: &mut [f64],
        log_p: &mut [f64],
        grad: &mut [f64],
    ) {
        if groups <= 1 {
            return self.run_group(draws, rows, memory, log_p, grad);
        }
        let (left, n) = (groups / 2, draws.len());
        let middle = n * left / groups;
        let (memory_left, memory_right) = memory.split_at_mut(memory.len() / groups * left);
        let (log_p_left, log_p_right) = log_p.split_at_mut(middle);
        let (grad_left, grad_right) = grad.split_at_mut(if grad.is_empty() { 0 } else { middle * self.dim });
        join(
            || self.run(draws.range(0..middle), rows, left, memory_left, log_p_left, grad_left),
            || self.run(draws.range(middle..n), rows, groups - left, memory_right, log_p_right, grad_right),
        );
    }

    fn run_group(&self, draws: Draws<'_>, rows: Rows<'_>, memory: &mut [f64], log_p: &mut [f64], grad: &mut [f64]) {
        let (n_rows, size) = (rows.len(self.x.n_rows()), self.block_rows());
        let last = self.dim - 1;
        log_p.fill(0.0);
        grad.fill(0.0);
        for start in (0..n_rows).step_by(size) {
            let n = size.min(n_rows - start);
            let mut block = self.carve(n, memory);
            self.gather(rows, start..start + n, &mut block);
            for (s, z) in draws.iter().enumerate() {
                self.forward(z, &mut block);
                log_p[s] += self.likelihood.values(z, block.responses, block.output, &mut block.likelihood);
                if grad.is_empty() {
                    continue;
                }
                let grad = &mut grad[s * self.dim..(s + 1) * self.dim];
                let slope = self.likelihood.slopes(z, block.responses, block.output, &block.likelihood);
                if self.likelihood.learned_noise().is_some() {
                    grad[last] += slope;
                }
                let [one, two] = &mut block.delta;
                one[..block.output.len()].copy_from_slice(block.output);
                self.backward(z, n, block.inputs, block.activations, [one, two], |shape, a, delta| {
                    let out = &mut grad[shape.range()];
                    layer::add_gradient(1.0, a, delta, n, shape.n_inputs(), shape.fan_out, out);
                });
            }
        }
        let Some(prior) = self.likelihood.learned_noise() else { return };
        let share = n_rows as f64 / self.x.n_rows() as f64;
        for (s, z) in draws.iter().enumerate() {
            let [value, slope, _] = prior.log_density(z[last]);
            log_p[s] += share * value;
            if !grad.is_empty() {
                grad[s * self.dim + last] += share * slope;
            }
        }
    }

    fn run_all(&self, draws: Draws<'_>, rows: Rows<'_>, scratch: &mut Scratch, log_p: &mut [f64], grad: &mut [f64]) {
        assert_eq!(draws.dim(), self.dim, "draws have the dimension of the model");
        let groups = self.n_groups(draws.len(), rows.len(self.x.n_rows()));
        let memory = scratch.take(groups * self.block_len(self.block_rows()));
        self.run(draws, rows, groups, memory, log_p, grad);
    }
}

impl Target for NeuralNetwork {
    fn about(&self) -> About {
        let learned = self.likelihood.learned_noise().is_some();
        let mut blocks = vec![Transform::Identity; self.dim];
        let mut names = Vec::with_capacity(self.dim);
        for (l, layer) in self.layers.iter().enumerate() {
            for j in 1..=layer.fan_out {
                names.extend((1..=layer.fan_in).map(|i| format!("w{}[{i},{j}]", l + 1)));
                names.push(format!("b{}[{j}]", l + 1));
            }
        }
        let mut parameters = names.clone();
        if learned {
            blocks[self.dim - 1] = Transform::Log;
            names.push("log_sigma".into());
            parameters.push("sigma".into());
        }
        About {
            names,
            parameters,
            transforms: Transforms::new(blocks).expect("identity and log need no constants"),
            prior: Prior::Gaussian { precision: self.prior_precision, leading: self.n_weights() },
            n_rows: Some(self.x.n_rows()),
            offers: Offers { values: true, gauss_newton: true, item_gradients: true, ..Offers::GRADIENT },
            guess: Some(self.guess()),
            derivatives: Derivatives::Known,
            room: Room {
                once: N_GROUPS * self.block_len(self.block_rows()),
                of_sums: self.contraction_len(Covariance::Full).max(self.contraction_len(Covariance::Diagonal)),
                ..Room::default()
            },
            ..About::new(self.dim)
        }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let Ask { draws, rows, want } = *ask;
        let n = draws.len();
        let Parts { log_p, grad, curvature, items, scratch, .. } = answer.parts_mut();
        match want {
            Want::Values => self.run_all(draws, rows, scratch, &mut log_p[..n], &mut []),
            Want::Gradients => self.run_all(draws, rows, scratch, &mut log_p[..n], &mut grad[..n * self.dim]),
            Want::GaussNewton(contraction) => {
                self.run_all(draws, rows, scratch, &mut log_p[..n], &mut grad[..n * self.dim]);
                self.contract_gauss_newton(draws, rows, contraction, scratch, curvature);
            }
            Want::ItemGradients { draw } => self.write_item_gradients(draws.get(draw), rows, scratch, items),
            Want::Hessian(_) | Want::HessianAlone(_) | Want::GaussianExpectation { .. } => {
                return Err(TargetError::not_offered());
            }
        }
        Ok(())
    }
}
