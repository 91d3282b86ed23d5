//! Bayesian networks: diagonal skew-Gaussian by the Adam-like rule against black-box gradients.

mod figure;
mod method;
pub(crate) mod printed;
mod published;
mod race;
mod tables;
mod tune;

use std::time::Instant;

use crate::bnn_data::TableOfSplits;
use crate::findings::mean_and_sd;
use crate::threads;
use crate::{Error, Experiment, Findings, Settings};

use method::{Course, METHODS, Method, Mover};
use race::{Loss, Ran};
use tune::Try;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-bnn",
    title: "Bayesian networks: diagonal skew-Gaussian by the Adam-like rule",
    about: "50 rectified units, batches of 32, ten draws; test RMSE and log-likelihood over the usual splits of five tables.",
    has_paper_settings: false,
    needs: Some("boston.csv"),
    run,
    expected: include_str!("../../expected/figure-bnn.toml"),
};

/// Steps of the run whose steps are timed.
const TIMED_STEPS: u64 = 150;

/// How large the experiment is.
struct Size {
    tables: Vec<TableOfSplits>,
    splits: usize,
    course: Course,
    tunes: bool,
}

impl Size {
    fn of(settings: &Settings) -> Result<Self, Error> {
        if settings.quick {
            return Ok(Self {
                tables: vec![TableOfSplits::yacht()?, TableOfSplits::energy()?],
                splits: 2,
                course: Course { steps: 1_000, growth: 1.5 },
                tunes: false,
            });
        }
        let tables = vec![
            TableOfSplits::boston(settings.data.as_deref())?,
            TableOfSplits::concrete()?,
            TableOfSplits::energy()?,
            TableOfSplits::wine()?,
            TableOfSplits::yacht()?,
        ];
        Ok(Self { tables, splits: 20, course: Course { steps: 3_000, growth: 1.35 }, tunes: true })
    }
}

/// For runs that do not tune: what did best on the validation rows of the first split of Yacht.
fn known(method: Method) -> f64 {
    if method.mover == Mover::BlackBox { 0.02 } else { 0.1 }
}

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let size = Size::of(settings)?;
    let (mut runs, mut tries): (Vec<Ran>, Vec<Try>) = (Vec::new(), Vec::new());
    for table in &size.tables {
        let clock = Instant::now();
        let of_table = if size.tunes { tune::tries(table, size.course, settings.seed) } else { Vec::new() };
        if size.tunes {
            progress(&format!("{}: step sizes tried ({:.0} s)", table.name, clock.elapsed().as_secs_f64()));
        }
        for method in METHODS {
            let beta = if size.tunes { tune::best(&of_table, method) } else { known(method) };
            let ran = race(table, method, beta, &size, settings.seed)?;
            let [rmse, likelihood] = [ran.last(|look| look.rmse), ran.last(|look| look.log_likelihood)];
            let (rmse, likelihood) = (mean_and_sd(&rmse).0, mean_and_sd(&likelihood).0);
            let seconds = clock.elapsed().as_secs_f64();
            progress(&format!(
                "{}, {}, β = {beta}: RMSE {rmse:.3}, log-likelihood {likelihood:.3} ({seconds:.0} s)",
                table.name, method.name
            ));
            runs.push(ran);
        }
        tries.extend(of_table);
    }
    let mut findings = Findings::default();
    findings.put("splits", size.splits as f64);
    findings.put("steps", size.course.steps as f64);
    for of_table in runs.chunks_exact(METHODS.len()) {
        put_ends(&mut findings, of_table);
        [Loss::LogRmse, Loss::Likelihood].into_iter().for_each(|loss| put_speeds(&mut findings, of_table, loss));
    }
    findings.tables = vec![tables::ends(&runs), tables::speeds(&runs), tables::leads(&runs), tables::curves(&runs)];
    if size.tunes {
        findings.tables.push(tables::tries(&tries));
    }
    findings.figures = vec![figure::rmse(&runs), figure::log_likelihood(&runs)];
    findings.page = page(&findings, &size);
    Ok(findings)
}

/// All splits of one method on one table.
fn race(table: &TableOfSplits, method: Method, beta: f64, size: &Size, seed: u64) -> Result<Ran, Error> {
    // Alone, for splits that share the processors would be timed with one another.
    let course = Course { steps: TIMED_STEPS, growth: TIMED_STEPS as f64 };
    let seconds_per_step = method::fit(&table.split(0)?, method, beta, course, seed)?.seconds_per_step;
    let of_split = |k: usize| -> Result<_, Error> {
        Ok(method::fit(&table.split(k)?, method, beta, size.course, seed + k as u64)?.looks)
    };
    let splits = threads::for_each(size.splits, of_split).into_iter().collect::<Result<_, Error>>()?;
    Ok(Ran { table: table.name, method, beta, splits, seconds_per_step })
}

fn put_ends(findings: &mut Findings, of_table: &[Ran]) {
    for ran in of_table {
        let place = format!("on {}, {}", ran.table, ran.method.name);
        findings.put(format!("step size {place}"), ran.beta);
        findings.put_mean(format!("rmse {place}"), &ran.last(|look| look.rmse));
        findings.put_mean(format!("log-likelihood {place}"), &ran.last(|look| look.log_likelihood));
        findings.put(format!("seconds of a step {place}"), ran.seconds_per_step);
    }
}

/// How soon each is where the best of them ends, and how far ours is ahead of each on the way.
fn put_speeds(findings: &mut Findings, of_table: &[Ran], loss: Loss) {
    let what = tables::word(loss);
    let reached = race::steps_to_goal(of_table, loss);
    for (ran, steps) in of_table.iter().zip(&reached) {
        // What is never there is not a number of steps; it is left out.
        if let Some(steps) = steps {
            findings.put(format!("steps to the goal in {what} on {}, {}", ran.table, ran.method.name), *steps);
        }
    }
    for ran in &of_table[1..] {
        for from in race::FROM {
            let lead = ran.lead_of(&of_table[0], loss, from);
            let (mean, error) = race::mean_and_error(&lead);
            let place = format!("in {what} from step {from} on {}, over {}", ran.table, ran.method.name);
            findings.put_mean(format!("lead {place}"), &lead);
            findings.put(format!("lead in standard errors {place}"), mean / error);
        }
    }
}

fn page(findings: &Findings, size: &Size) -> String {
    let (delay, exponent) = method::SCHEDULE;
    let sizes = tune::STEP_SIZES.map(|beta| beta.to_string()).join(", ");
    let tuning = if size.tunes {
        format!(
            "Every method tries the step sizes {sizes} on every table. A try fits nine tenths of the training rows of each of the first \
             {} splits, and its score is the log RMSE of the other tenth, averaged over the logarithm of the steps from the hundredth \
             on; no test row of these splits is fitted or predicted (other splits test on some of those rows: a choice among {}, the \
             same for all), and seeds are others than those of the runs that are shown. The lowest score wins ([tries](tries.csv)).",
            tune::N_SPLITS,
            tune::STEP_SIZES.len()
        )
    } else {
        "The step sizes are those that did best on validation rows of the first split of Yacht; a full run tunes them."
            .into()
    };
    format!(
        "One hidden layer of 50 rectified units, N(0, I) on all weights, the noise learned (half-Cauchy prior on σ), columns \
         standardised by the rows that are fitted; batches of {}, {} draws a step, {} steps, the first {} of the twenty usual splits. \
         The Adam-like rule moves a diagonal skew-Gaussian, with its curvature from the squared gradients of single rows or, as a \
         second entry, from the square of a batch's mean gradient, the usual shortcut, which underestimates it up to {}-fold and so \
         ends with wider weights; BBVI is Adam on reparameterisation gradients of a diagonal Gaussian or skew-Gaussian. All have the \
         same start, the decays {:?} of gradients and squares, and steps of β(1 + t/{delay})^−{exponent}. {tuning} Predictions \
         average {} draws.\n\n**Where they end**, mean ± standard error over the splits. Published: {}.\n\n{}\n\
         **How soon**: steps, evaluations of the gradient and seconds (steps times the median of a step, with nothing else running) \
         until the mean RMSE stays within {} of the lowest last one of all, and the mean log-likelihood within {} nats of the highest. \
         The gradients of single rows count as one evaluation more per draw.\n\n{}\n**How far ahead** the Adam-like rule is of each \
         other method on average over the logarithm of the steps, from the tenth and from the hundredth on: log ratio of RMSE and \
         difference of log-likelihood, mean ± standard error of the differences by split. Positive is ahead.\n\n{}",
        method::BATCH,
        method::N_DRAWS,
        size.course.steps,
        size.splits,
        method::BATCH,
        method::DECAYS,
        method::N_PREDICTIONS,
        published::SOURCE,
        findings.tables[0].markdown(),
        race::RMSE_GOAL,
        race::LIKELIHOOD_GOAL,
        findings.tables[1].markdown(),
        findings.tables[2].markdown(),
    )
}
