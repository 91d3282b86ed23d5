//! Corrections of Gaussian fits by chains, against the truth: errors, gradients, and whether the verdict was right.

use elinvar::chains::{Corrected, Correction};
use elinvar::model::Parametrisation;
use elinvar::target::Target;
use elinvar::{Family, Plan};

use crate::arguments::{number, options};
use crate::gradients_only::GradientsOnly;
use crate::page::{Table, publish};
use crate::problems::hierarchical::eight_schools;
use crate::problems::mixed::{Law, mixed};
use crate::problems::mixtures::two_modes;
use crate::problems::regressions::{
    beta_binomial, breast_cancer, generated_logistic, linear, murphy_toy, small_logistic, small_poisson, sonar,
};
use crate::problems::shapes::{banana, funnel, rosenbrock};
use crate::problems::{Moments, Problem};
use crate::threads;
use crate::truth::{Errors, GOOD_MEAN, GOOD_SD};

/// Gradients of the fit and what the chains gave, or why they did not.
type Outcome = Result<(u64, Corrected), String>;

/// Corrections whose mean stands for the truth where it is not known.
const LONG: usize = 16;
/// The same where one takes long.
const FEWER: usize = 4;
/// First seeds of the runs on which the rules were chosen and of those that nobody had seen by then.
const SEEDS: [u64; 2] = [1, 301];
/// Steps of a fit from which chains start; they find the rest themselves.
const STEPS: u64 = 60;

/// A class of problems, with those in it.
struct Class {
    name: &'static str,
    problems: Vec<Problem>,
}

fn classes(large: usize) -> Vec<Class> {
    let logistic = |d: usize| Problem {
        name: format!("logistic d = {d}"),
        target: Box::new(generated_logistic(5 * d, d, 1.0, 11)),
        log_normaliser: None,
        moments: None,
    };
    let contaminated = |d: usize, condition: f64| {
        let mut laws = vec![Law::Normal; d];
        laws[d / 2] = Law::Contaminated { weight: 0.02, sd: 20.0 };
        mixed(&format!("contaminated d = {d}, condition {condition}"), &laws, condition)
    };
    let product = |name: &str, law: Law, d: usize| mixed(&format!("{name} d = {d}"), &vec![law; d], 1.0);
    let rotated = |name: &str, law: Law, d: usize| mixed(&format!("{name}, rotated, d = {d}"), &vec![law; d], 10.0);
    let sizes = [50, 200, 500, 1000].into_iter().filter(|d| *d <= large);
    vec![
        Class {
            name: "regressions",
            problems: vec![
                breast_cancer(),
                sonar(),
                linear(10, 3),
                linear(40, 6),
                small_logistic(15, 0.5),
                small_poisson(12, 0.0),
                murphy_toy(),
                beta_binomial(),
            ],
        },
        Class { name: "logistic, N = 5 d", problems: sizes.map(logistic).collect() },
        Class {
            name: "products",
            problems: vec![
                product("log-gamma(2)", Law::LogGamma { a: 2.0 }, 10),
                product("log-gamma(2)", Law::LogGamma { a: 2.0 }, 50),
                product("log-gamma(0.5)", Law::LogGamma { a: 0.5 }, 10),
                rotated("log-gamma(1)", Law::LogGamma { a: 1.0 }, 10),
                product("t(5)", Law::StudentT { nu: 5.0 }, 20),
                product("t(10)", Law::StudentT { nu: 10.0 }, 100),
                rotated("t(4)", Law::StudentT { nu: 4.0 }, 10),
                product("quartic", Law::Quartic, 10),
            ],
        },
        Class {
            name: "hierarchies and ridges",
            problems: vec![
                eight_schools(Parametrisation::NonCentred),
                eight_schools(Parametrisation::Centred),
                funnel(10),
                banana(1.0, 0.5),
                banana(2.0, 0.5),
                rosenbrock(2, 2.0, 20.0),
                rosenbrock(3, 2.0, 20.0),
            ],
        },
        Class {
            name: "long tails and far modes",
            problems: vec![
                contaminated(10, 1.0),
                contaminated(30, 10.0),
                contaminated(100, 1.0),
                two_modes(3, 10.0, 0.3),
                two_modes(10, 6.0, 0.5),
            ],
        },
    ]
}

fn fitted(target: &dyn Target, seed: u64) -> Result<elinvar::Posterior, String> {
    let mut plan = Plan { seed, ..Plan::default() };
    plan.stop.max_steps = STEPS;
    elinvar::run::fit(target, Family::gaussian(), &plan).map_err(|e| e.to_string())
}

fn corrected(problem: &Problem, seed: u64) -> Outcome {
    let bare = GradientsOnly(problem.target.as_ref());
    // In many dimensions a fit by gradients alone would take longer than all chains.
    let target: &dyn Target = if bare.dim() > 100 { problem.target.as_ref() } else { &bare };
    let mut posterior = fitted(target, seed)?;
    let settings = Correction { seed, ..Correction::default() };
    posterior.correct(&bare, &settings).map_err(|e| e.to_string())?;
    Ok((posterior.counts().gradient, posterior.corrected().cloned().ok_or("a corrected fit has a correction")?))
}

/// The mean of long corrections with seeds of their own, where nothing else is known.
pub(crate) fn long(problem: &Problem) -> Result<Moments, String> {
    let d = problem.target.dim();
    let n = if d > 200 { FEWER } else { LONG };
    let runs = threads::for_each(n, |i| corrected(problem, 1_000 + i as u64));
    let mut moments = Moments { mean: vec![0.0; d], sd: vec![0.0; d] };
    for run in runs {
        for (i, number) in run?.1.coordinates.iter().enumerate() {
            moments.mean[i] += number.mean.value / n as f64;
            moments.sd[i] += number.sd.value / n as f64;
        }
    }
    Ok(moments)
}

/// Counts of what was right and of what was trusted.
#[derive(Default)]
struct Totals {
    runs: usize,
    right_trusted: usize,
    right_not_trusted: usize,
    wrong_told: usize,
    wrong_trusted: Vec<String>,
    failed: usize,
}

impl Totals {
    fn add(&mut self, name: &str, right: bool, trusted: bool) {
        self.runs += 1;
        match (right, trusted) {
            (true, true) => self.right_trusted += 1,
            (true, false) => self.right_not_trusted += 1,
            (false, false) => self.wrong_told += 1,
            (false, true) => self.wrong_trusted.push(name.into()),
        }
    }

    fn join(&mut self, other: &Totals) {
        self.runs += other.runs;
        self.right_trusted += other.right_trusted;
        self.right_not_trusted += other.right_not_trusted;
        self.wrong_told += other.wrong_told;
        self.wrong_trusted.extend_from_slice(&other.wrong_trusted);
        self.failed += other.failed;
    }

    fn sentence(&self) -> String {
        let names =
            if self.wrong_trusted.is_empty() { String::new() } else { format!(" ({})", self.wrong_trusted.join("; ")) };
        format!(
            "{} corrections: {} right and trusted, {} right and not trusted, {} wrong and told so, {} wrong and \
             trusted{names}, {} ended with an error.\n",
            self.runs,
            self.right_trusted,
            self.right_not_trusted,
            self.wrong_told,
            self.wrong_trusted.len(),
            self.failed,
        )
    }
}

/// Both sets of seeds, apart.
fn sentences([chosen, fresh]: &[Totals; 2]) -> String {
    format!("- Seeds on which the rules were chosen: {}- Fresh seeds: {}", chosen.sentence(), fresh.sentence())
}

pub(crate) fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn introduction() -> String {
    format!(
        "# Corrections by chains, and the truth

A Gaussian is fitted by gradients alone and at most {STEPS} steps, whether it has converged or not (with Hessians where there are
more than 100 coordinates); then `Posterior::correct` runs chains on the target from gradients alone, with its default budget. An
answer is *right* if every mean is within {GOOD_MEAN} true standard deviations and every standard deviation within {:.0} %, on the
unconstrained scale. Errors are the worst over all coordinates, their median over the seeds; `adapt` and `chains` are gradients of
the correction, without the fit's. Where nothing better is known, the truth is the mean of {LONG} corrections with other seeds
(logistic, N = 5 d; {FEWER} of them above 200 coordinates).

The checks against false trusts (tails, skewed errors, two rounds without doubts, tails that were left) were each added after
a false trust on these very problems, with seeds 1 to 5, 101 to 105 and 201 to 205; only the fresh seeds say how often the verdict
is wrong, and only for problems like these. Coordinates do not bend here (`Correction::bends`).

Written by `cargo xtask chains`.

",
        100.0 * GOOD_SD
    )
}

/// `chains [--seeds N] [--only TEXT] [--large D] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [seeds, only, large, write] = options(arguments, ["--seeds", "--only", "--large", "--write"])?;
    let seeds = number("--seeds", seeds.as_ref(), 3)?;
    let large = number("--large", large.as_ref(), 200)?;
    let mut all = [Totals::default(), Totals::default()];
    let mut text = String::new();
    for class in classes(large) {
        let mut table = Table::new([
            "problem",
            "fit",
            "adapt",
            "chains",
            "mean error",
            "sd ratio",
            "right",
            "trusted",
            "false trusts",
            "seconds",
            "first doubt",
        ]);
        let mut totals = [Totals::default(), Totals::default()];
        for problem in &class.problems {
            if only.as_ref().is_some_and(|text| !problem.name.contains(text.as_str())) {
                continue;
            }
            let truth = problem.moments.clone().map_or_else(|| long(problem), Ok)?;
            let both = SEEDS.iter().flat_map(|first| (0..seeds as u64).map(move |i| first + i));
            let both: Vec<u64> = both.collect();
            let runs = threads::for_each(both.len(), |i| corrected(problem, both[i]));
            let runs: Vec<(u64, _)> = both.into_iter().zip(runs).collect();
            table.push(row(problem, &truth, &runs, &mut totals));
        }
        text += &format!("\n## {}\n\n{}\n{}", class.name, table.markdown(), sentences(&totals));
        all.iter_mut().zip(&totals).for_each(|(all, part)| all.join(part));
    }
    publish(&format!("{}{}{text}", introduction(), sentences(&all)), write.as_ref())
}

fn row(problem: &Problem, truth: &Moments, runs: &[(u64, Outcome)], totals: &mut [Totals; 2]) -> [String; 11] {
    let [mut fit, mut adapt, mut chains]: [Vec<u64>; 3] = Default::default();
    let [mut means, mut sds]: [Vec<f64>; 2] = Default::default();
    let (mut right, mut trusted, mut wrong, mut seconds) = (0, 0, 0, 0.0);
    let mut doubt = String::new();
    for (seed, run) in runs {
        let totals = &mut totals[usize::from(*seed >= SEEDS[1])];
        let (of_fit, answer) = match run {
            Ok(run) => run,
            Err(problem_text) => {
                eprintln!("{}, seed {seed}: error: {problem_text}", problem.name);
                totals.failed += 1;
                continue;
            }
        };
        let errors = Errors::of_corrected(answer, truth);
        let doubts: Vec<String> = answer.doubts.iter().map(ToString::to_string).collect();
        eprintln!(
            "{}, seed {seed}: {} + {} gradients, errors {:.3} {:.3}, {:.2} s: {}",
            problem.name,
            of_fit,
            answer.counts.gradient,
            errors.mean,
            errors.sd_ratio,
            answer.seconds,
            if doubts.is_empty() { "trusted".into() } else { doubts.join("; ") }
        );
        if !errors.good() {
            let coordinates = answer.coordinates.iter().zip(&truth.mean).zip(&truth.sd);
            let off = coordinates.map(|((number, mean), sd)| {
                format!("{} {:.2} {:.2}", number.name, (number.mean.value - mean) / sd, number.sd.value / sd)
            });
            eprintln!("    {}", off.collect::<Vec<_>>().join("; "));
        }
        let name = format!("{}, seed {seed}", problem.name);
        totals.add(&name, errors.good(), answer.is_trusted());
        right += usize::from(errors.good());
        trusted += usize::from(answer.is_trusted());
        wrong += usize::from(answer.is_trusted() && !errors.good());
        fit.push(*of_fit);
        adapt.push(answer.adapting_gradients);
        chains.push(answer.counts.gradient);
        means.push(errors.mean);
        sds.push(errors.sd_ratio.ln());
        seconds += answer.seconds;
        if doubt.is_empty() {
            doubt = doubts.first().cloned().unwrap_or_default();
        }
    }
    means.sort_by(f64::total_cmp);
    sds.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let middle = |values: &[f64]| values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
    [
        problem.name.clone(),
        median(&mut fit).to_string(),
        median(&mut adapt).to_string(),
        median(&mut chains).to_string(),
        format!("{:.3}", middle(&means)),
        format!("{:.3}", middle(&sds).exp()),
        format!("{right} of {}", runs.len()),
        format!("{trusted} of {}", runs.len()),
        wrong.to_string(),
        format!("{:.2}", seconds / runs.len().max(1) as f64),
        doubt,
    ]
}
