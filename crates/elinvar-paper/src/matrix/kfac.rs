//! A peer of the matrix-variate Gaussian: layers with the Kronecker factors of K-FAC as their precisions, and Newton
//! steps of the means by them (Zhang et al. 2018, noisy K-FAC), on a network of one hidden layer of rectified units.

use elinvar::Family;
use elinvar::family::Approximation;
use elinvar::model::NeuralNetwork;
use elinvar::random::{Purpose, Stream};
use elinvar::rule::StepSize;

use super::regression::{factor, solve};
use crate::Error;
use crate::bnn_data::Split;
use crate::draws::draws;

/// A matrix by columns.
type Matrix = Vec<f64>;

/// One layer: its mean and the running means of E\[aaᵀ\] and E\[ggᵀ\], for inputs a and gradients g of its outputs.
struct Layer {
    n_in: usize,
    n_out: usize,
    mean: Matrix,
    inputs: Matrix,
    outputs: Matrix,
}

/// What one pass over the rows adds up to.
struct Sums {
    gradient: Matrix,
    inputs: Matrix,
    outputs: Matrix,
}

impl Layer {
    fn sums(&self) -> Sums {
        let zeros = |n: usize| vec![0.0; n * n];
        Sums { gradient: vec![0.0; self.n_in * self.n_out], inputs: zeros(self.n_in), outputs: zeros(self.n_out) }
    }

    /// The factors with the prior's precision δ shared by both, as K-FAC is damped: (A + π√(δ/N) I) ⊗ (G + √(δ/N)/π I).
    fn damped(&self, n_rows: f64, prior_precision: f64) -> [Matrix; 2] {
        let trace = |of: &Matrix, n: usize| of.iter().step_by(n + 1).sum::<f64>() / n as f64;
        let share = (trace(&self.inputs, self.n_in) / trace(&self.outputs, self.n_out)).sqrt();
        let damping = (prior_precision / n_rows).sqrt();
        let add = |of: &Matrix, n: usize, what: f64| {
            let mut damped = of.clone();
            damped.iter_mut().step_by(n + 1).for_each(|entry| *entry += what);
            damped
        };
        [add(&self.inputs, self.n_in, share * damping), add(&self.outputs, self.n_out, damping / share)]
    }
}

/// The run: hidden layer, output layer, log σ.
pub(super) struct Kfac<'a> {
    split: &'a Split,
    family: Family,
    prior_precision: f64,
    layers: [Layer; 2],
    log_sigma: f64,
    seed: u64,
}

/// a += w·x xᵀ.
fn add_outer(a: &mut [f64], x: &[f64], w: f64) {
    for (column, xj) in a.chunks_exact_mut(x.len()).zip(x) {
        column.iter_mut().zip(x).for_each(|(a, xi)| *a += w * xi * xj);
    }
}

/// The running mean moves by `share`.
fn move_to(mean: &mut [f64], to: &[f64], share: f64) {
    mean.iter_mut().zip(to).for_each(|(mean, to)| *mean += share * (to - *mean));
}

fn transposed(rows: usize, of: &[f64]) -> Matrix {
    let columns = of.len() / rows;
    (0..of.len()).map(|k| of[k % columns * rows + k / columns]).collect()
}

impl<'a> Kfac<'a> {
    /// From the means of `start`, a member of the matrix-variate family over the layers of `model`.
    pub(super) fn new(
        split: &'a Split,
        model: &NeuralNetwork,
        start: &Approximation,
        prior_precision: f64,
        seed: u64,
    ) -> Self {
        let means = start.mean();
        let mut at = 0;
        let mut layer = |[n_in, n_out]: [usize; 2]| {
            let mean = means[at..at + n_in * n_out].to_vec();
            at += n_in * n_out;
            Layer { n_in, n_out, mean, inputs: vec![0.0; n_in * n_in], outputs: vec![0.0; n_out * n_out] }
        };
        let layout = model.layout();
        let layers = [layer(layout[0]), layer(layout[1])];
        let log_sigma = means[means.len() - 1];
        let mut kfac = Self { split, family: start.family(), prior_precision, layers, log_sigma, seed };
        let first = kfac.pass(start, 0);
        for (layer, sums) in kfac.layers.iter_mut().zip(&first.0) {
            layer.inputs.clone_from(&sums.inputs);
            layer.outputs.clone_from(&sums.outputs);
        }
        kfac
    }

    fn n_rows(&self) -> f64 {
        self.split.train_y.len() as f64
    }

    /// The approximation: precision N·(A ⊗ G) of each layer, and 2N, its Fisher information, of log σ.
    pub(super) fn state(&self) -> Result<Approximation, Error> {
        let n = self.n_rows();
        let mut blocks = Vec::new();
        for layer in &self.layers {
            let [inputs, outputs] = layer.damped(n, self.prior_precision);
            let precision = inputs.iter().map(|entry| n * entry).chain(outputs).collect();
            blocks.push((layer.mean.clone(), precision));
        }
        blocks.push((vec![self.log_sigma], vec![2.0 * n, 1.0]));
        let dim = blocks.iter().map(|(mean, _): &(Matrix, Matrix)| mean.len()).sum();
        Ok(Approximation::from_parts(self.family, dim, blocks, vec![0.0])?)
    }

    /// Means over draws and rows of gradients and second moments, and the slope in log σ per row. The second moments of
    /// g are those under the model's own responses, which is the Fisher matrix.
    fn pass(&self, q: &Approximation, step: u64) -> ([Sums; 2], f64) {
        const DRAWS: usize = 10;
        let batch = draws(q, DRAWS, self.seed.wrapping_mul(1_000_003).wrapping_add(step));
        let mut noise = Stream::open(self.seed, Purpose::Sample, step, 0);
        let [first, second] = &self.layers;
        let mut sums = [first.sums(), second.sums()];
        let mut slope = 0.0;
        let weight = 1.0 / (DRAWS as f64 * self.n_rows());
        let (mut hidden, mut back) = (vec![0.0; second.n_in], vec![0.0; first.n_out]);
        let mut input = vec![1.0; first.n_in];
        for s in 0..DRAWS {
            let z = batch.get(s);
            let (w1, rest) = z.split_at(first.n_in * first.n_out);
            let (w2, log_sigma) = (&rest[..second.n_in], rest[rest.len() - 1]);
            let precision = (-2.0 * log_sigma).exp();
            for (i, y) in self.split.train_y.iter().enumerate() {
                input[..first.n_in - 1].copy_from_slice(self.split.train_x.row(i));
                for (h, w) in hidden.iter_mut().zip(w1.chunks_exact(first.n_in)) {
                    *h = w.iter().zip(&input).map(|(w, x)| w * x).sum::<f64>().max(0.0);
                }
                hidden[first.n_out] = 1.0;
                let output: f64 = w2.iter().zip(&hidden).map(|(w, h)| w * h).sum();
                let residual = y - output;
                slope += weight * (precision * residual * residual - 1.0);
                for (b, (w, h)) in back.iter_mut().zip(w2.iter().zip(&hidden)) {
                    *b = if *h > 0.0 { *w } else { 0.0 };
                }
                let g = precision * residual;
                sums[1].gradient.iter_mut().zip(&hidden).for_each(|(sum, h)| *sum += weight * g * h);
                for (column, b) in sums[0].gradient.chunks_exact_mut(first.n_in).zip(&back) {
                    column.iter_mut().zip(&input).for_each(|(sum, x)| *sum += weight * g * b * x);
                }
                let fisher = precision.sqrt() * noise.normal();
                add_outer(&mut sums[0].inputs, &input, weight);
                add_outer(&mut sums[1].inputs, &hidden, weight);
                add_outer(&mut sums[0].outputs, &back, weight * fisher * fisher);
                sums[1].outputs[0] += weight * fisher * fisher;
            }
        }
        (sums, slope)
    }

    /// One step of length β, of the factors and of the means.
    pub(super) fn step(&mut self, step: u64, size: StepSize) -> Result<(), Error> {
        let beta = match size {
            StepSize::Power { initial, delay, exponent } => initial * (1.0 + step as f64 / delay).powf(-exponent),
            StepSize::Constant(beta) => beta,
            _ => 0.1,
        };
        let q = self.state()?;
        let (sums, slope) = self.pass(&q, step + 1);
        let (n, prior_precision) = (self.n_rows(), self.prior_precision);
        for (layer, sums) in self.layers.iter_mut().zip(&sums) {
            move_to(&mut layer.inputs, &sums.inputs, beta);
            move_to(&mut layer.outputs, &sums.outputs, beta);
            let [inputs, outputs] = layer.damped(n, prior_precision);
            // A⁻¹ (∇ − δM/N) G⁻¹.
            let mut move_by: Matrix =
                sums.gradient.iter().zip(&layer.mean).map(|(g, m)| g - prior_precision * m / n).collect();
            solve(layer.n_in, &factor(layer.n_in, &inputs), &mut move_by);
            let mut across = transposed(layer.n_in, &move_by);
            solve(layer.n_out, &factor(layer.n_out, &outputs), &mut across);
            let move_by = transposed(layer.n_out, &across);
            layer.mean.iter_mut().zip(&move_by).for_each(|(mean, by)| *mean += beta * by);
        }
        self.log_sigma += beta * 0.5 * slope;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_matrix_has_rows_for_columns() {
        // 2 × 3 by columns.
        assert_eq!(transposed(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        assert_eq!(transposed(3, &transposed(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    /// The gradient of the pass is that of the model at the same draws.
    #[test]
    fn the_pass_has_the_gradient_of_the_model() {
        use crate::bnn_data::TableOfSplits;
        use elinvar::model::Architecture;
        use elinvar::run::start_at_guess;
        use elinvar::target::{Answer, Ask, Target, Want};

        let split = TableOfSplits::yacht().unwrap().split(0).unwrap();
        let architecture = Architecture { hidden: vec![4], ..Architecture::default() };
        let (x, y) = (split.train_x.clone(), split.train_y.clone());
        let model = NeuralNetwork::regression(x, y, architecture, 1.0).unwrap();
        let start = start_at_guess(&model, Family::layers(&model.layout()).unwrap(), 3).unwrap();
        let kfac = Kfac::new(&split, &model, &start, 1.0, 5);
        let ([first, second], slope) = kfac.pass(&start, 7);
        let batch = draws(&start, 10, 5u64.wrapping_mul(1_000_003).wrapping_add(7));
        let mut answer = Answer::new(model.dim(), 10);
        model.evaluate(&Ask::all(batch.view(), Want::Gradients), &mut answer).unwrap();
        let (d, n) = (model.dim(), split.train_y.len() as f64);
        let own: Vec<f64> = first.gradient.into_iter().chain(second.gradient).chain([slope]).collect();
        for (j, own) in own.iter().enumerate().take(d - 1) {
            let mean: f64 = (0..10).map(|s| answer.grads()[s * d + j]).sum::<f64>() / 10.0;
            assert!((mean / n - own).abs() < 1e-9 * (1.0 + own.abs()), "{j}: {} {own}", mean / n);
        }
    }
}
