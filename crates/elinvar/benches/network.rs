//! Time of log p and gradient of a network next to the matrix products it cannot avoid.
//!
//! `cargo xtask bench network` prints a table. Both sides run alternately in one thread and the minimum over repeats
//! counts, so that the ratio is worth reading on a busy machine.

use std::time::Instant;

use elinvar::model::{Activation, Architecture, DesignMatrix, NeuralNetwork};
use elinvar::target::{Answer, Ask, Draws, Target, Want};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

const REPEATS: usize = 200;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(run);
}

fn run() {
    println!("| network | activation | rows | draws | evaluation µs | products µs | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for (n, inputs, hidden) in [(400, 13, vec![50]), (32, 13, vec![50]), (400, 13, vec![50, 50]), (2000, 60, vec![100])]
    {
        for activation in [Activation::Relu, Activation::Tanh] {
            let (evaluation, products) = measure(n, inputs, &hidden, activation, 10);
            let layers: Vec<String> =
                [inputs].iter().chain(&hidden).chain(&[1]).map(|width| width.to_string()).collect();
            println!(
                "| {} | {activation:?} | {n} | 10 | {:.1} | {:.1} | {:.2} |",
                layers.join("→"),
                1e6 * evaluation,
                1e6 * products,
                evaluation / products
            );
        }
    }
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.3 + 0.7 * i as f64 * i as f64).sin()).collect()
}

fn measure(n: usize, inputs: usize, hidden: &[usize], activation: Activation, n_draws: usize) -> (f64, f64) {
    let names = (1..=inputs).map(|j| format!("x{j}")).collect();
    let x = DesignMatrix::new(numbers(n * inputs), inputs, names).expect("a table of numbers");
    let architecture = Architecture { hidden: hidden.to_vec(), activation };
    let model = NeuralNetwork::regression(x, numbers(n), architecture, 1.0).expect("a regression");
    let d = model.dim();
    let z = numbers(n_draws * d);
    let mut out = Answer::new(d, n_draws);
    let mut bare = Bare::new(n, &model.layout());
    let (mut evaluation, mut products) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        let clock = Instant::now();
        model
            .evaluate(&Ask::all(Draws::new(d, &z), Want::Gradients), &mut out)
            .expect("a network evaluates everywhere");
        evaluation = evaluation.min(clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        z.chunks_exact(d).for_each(|z| bare.run(z));
        products = products.min(clock.elapsed().as_secs_f64());
    }
    (evaluation, products)
}

/// The products of one draw: one forward and one gradient per layer, one backward per hidden layer.
struct Bare {
    n: usize,
    layers: Vec<[usize; 2]>,
    /// n × the widest layer, with a column for the bias.
    buffers: [Vec<f64>; 2],
    gradient: Vec<f64>,
}

impl Bare {
    fn new(n: usize, layout: &[[usize; 2]]) -> Self {
        let layers: Vec<[usize; 2]> = layout.iter().copied().filter(|shape| shape[0] > 1).collect();
        let widest = layers.iter().flatten().max().copied().unwrap_or(1);
        let gradient = vec![0.0; layers.iter().map(|[f, o]| f * o).max().unwrap_or(1)];
        Self { n, layers, buffers: [numbers(n * (widest + 1)), numbers(n * (widest + 1))], gradient }
    }

    fn run(&mut self, z: &[f64]) {
        let n = self.n;
        let mut at = 0;
        for [f, o] in &self.layers {
            let [input, output] = &mut self.buffers;
            let a = MatRef::from_column_major_slice(&input[..n * f], n, *f);
            let w = MatRef::from_column_major_slice(&z[at..at + f * o], *f, *o);
            let h = MatMut::from_column_major_slice_mut(&mut output[..n * o], n, *o);
            matmul(h, Accum::Replace, a, w, 1.0, Par::Seq);
            at += f * o;
        }
        for (l, [f, o]) in self.layers.iter().enumerate().rev() {
            let [input, delta] = &mut self.buffers;
            at -= f * o;
            let gradient = MatMut::from_column_major_slice_mut(&mut self.gradient[..f * o], *f, *o);
            let a = MatRef::from_column_major_slice(&input[..n * f], n, *f);
            let d = MatRef::from_column_major_slice(&delta[..n * o], n, *o);
            matmul(gradient, Accum::Replace, a.transpose(), d, 1.0, Par::Seq);
            if l > 0 {
                let w = MatRef::from_column_major_slice(&z[at..at + f * o], *f, *o).subrows(0, f - 1);
                let before = MatMut::from_column_major_slice_mut(&mut input[..n * (f - 1)], n, f - 1);
                matmul(before, Accum::Replace, d, w.transpose(), 1.0, Par::Seq);
            }
        }
    }
}
