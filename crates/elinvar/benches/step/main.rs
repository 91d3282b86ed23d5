//! Time of one step next to the matrix products it cannot avoid, per family and problem.
//!
//! `cargo xtask bench step` prints a table. Both sides run alternately in one process and the minimum over repeats
//! counts, so that the ratio is worth reading on a busy machine.
//!
//! `step ROW STEPS` makes that many steps of one row of the table (from 0) and prints nothing but its name. Two such
//! runs under `valgrind --tool=cachegrind --cache-sim=no` differ by the instructions of the steps, which no other work
//! on the machine changes.

mod bare;

use std::time::Instant;

use bare::{Bare, Sizes};
use elinvar::model::{DesignMatrix, Gaussian, LogisticRegression};
use elinvar::rule::StepSize;
use elinvar::run::{Run, Stop};
use elinvar::target::{Covariance, Target};
use elinvar::{Family, Plan};

const REPEATS: usize = 30;
const N_DRAWS: usize = 32;

fn main() {
    // One thread on both sides.
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(run);
}

/// Rows of data and dimension of each problem; no rows: a Gaussian.
const PROBLEMS: [(usize, usize); 6] = [(341, 11), (10_000, 54), (0, 2), (0, 10), (0, 50), (0, 200)];

fn run() {
    // `cargo bench` adds `--bench`.
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    if let [row, steps] = numbers[..] {
        let families = families();
        let ((problem, target, _), family) = (problem(row / families.len()), families[row % families.len()]);
        println!("{problem}, {family}, {steps} steps");
        let mut run = stepping(&*target, family);
        (0..steps).for_each(|_| _ = run.step().expect("a step"));
        return;
    }
    println!("| problem | family | step µs | products µs | ratio |");
    println!("|---|---|---|---|---|");
    for (problem, target, n_rows) in (0..PROBLEMS.len()).map(problem) {
        table(&problem, &*target, n_rows);
    }
}

fn problem(index: usize) -> (String, Box<dyn Target>, usize) {
    match PROBLEMS[index] {
        (0, dim) => (format!("gaussian d = {dim}"), Box::new(gaussian(dim)), 0),
        (n_rows, dim) => (format!("logistic N = {n_rows}, d = {dim}"), Box::new(logistic(n_rows, dim)), n_rows),
    }
}

fn families() -> [Family; 9] {
    [
        Family::gaussian(),
        Family::gaussian().diagonal(),
        Family::student_t(3.0),
        Family::skew(),
        Family::emg(),
        Family::nig(2.0),
        Family::snig(2.0),
        Family::rank_k(3),
        Family::mog(3),
    ]
}

fn table(problem: &str, target: &dyn Target, n_rows: usize) {
    let dim = target.dim();
    for family in families() {
        let full = family.covariance == Covariance::Full;
        let sizes = Sizes { n_rows, dim, n_draws: N_DRAWS, n_components: family.n_components(), full };
        let (step, products) = measure(target, family, sizes);
        let name = if full { "full" } else { "diagonal" };
        println!(
            "| {problem} | {family}, {name} | {:.1} | {:.1} | {:.2} |",
            1e6 * step,
            1e6 * products,
            step / products
        );
    }
}

/// Minimum seconds of one step and of the bare products.
fn measure(target: &dyn Target, family: Family, sizes: Sizes) -> (f64, f64) {
    let mut bare = Bare::new(sizes);
    let mut run = stepping(target, family);
    let mut step = || {
        run.step().expect("a step");
    };
    alternate(&mut step, &mut || bare.run())
}

/// A run near the optimum.
fn stepping(target: &dyn Target, family: Family) -> Run<'_> {
    let plan = Plan {
        n_draws: N_DRAWS,
        step_size: StepSize::Constant(0.05),
        mixing_step_size: StepSize::Constant(0.05),
        max_kl: None,
        stop: Stop { max_steps: u64::MAX, ..Stop::default() },
        ..Plan::default()
    };
    let short = Plan { stop: Stop { max_steps: 20, ..Stop::default() }, ..plan.clone() };
    let start = elinvar::run::start(target, family, &short).expect("a start").approximation;
    Run::new(target, start, &plan).expect("a run")
}

fn alternate(one: &mut dyn FnMut(), two: &mut dyn FnMut()) -> (f64, f64) {
    let time = |f: &mut dyn FnMut(), n: usize| {
        let start = Instant::now();
        (0..n).for_each(|_| f());
        start.elapsed().as_secs_f64() / n as f64
    };
    // Batches of about 5 ms.
    let count = |f: &mut dyn FnMut()| ((5e-3 / time(f, 3)) as usize).clamp(1, 2_000);
    let (n_one, n_two) = (count(one), count(two));
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        best = (best.0.min(time(one, n_one)), best.1.min(time(two, n_two)));
    }
    best
}

fn logistic(n_rows: usize, dim: usize) -> LogisticRegression {
    let x: Vec<f64> = (0..n_rows * dim).map(|i| ((i * i + 3 * i) as f64 * 0.618).sin()).collect();
    let y = (0..n_rows).map(|i| if x[i * dim] + (i as f64 * 0.7).sin() > 0.0 { 1.0 } else { -1.0 }).collect();
    let names = (0..dim).map(|j| format!("x{j}")).collect();
    LogisticRegression::new(DesignMatrix::new(x, dim, names).expect("finite"), y, 1.0).expect("a model")
}

fn gaussian(dim: usize) -> Gaussian {
    let mut precision = vec![0.1; dim * dim];
    (0..dim).for_each(|i| precision[i * dim + i] = 2.0 + i as f64 / dim as f64 + 0.1 * dim as f64);
    Gaussian::new(vec![1.0; dim], precision).expect("positive definite")
}
