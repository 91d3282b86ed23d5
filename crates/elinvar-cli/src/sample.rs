//! `elinvar sample`: draws from a kept fit, on the constrained scale.

use std::io::{self, Write};

use crate::error::Failure;
use elinvar::Posterior;
use elinvar::chains::Corrected;
use elinvar::posterior::{GivenBy, log_density_at, resample};
use elinvar::random::{Purpose, Stream};
use elinvar::target::DrawBuffer;
use elinvar_analysis::DrawTable;
use elinvar_analysis::Error;
use elinvar_analysis::Job;
use elinvar_analysis::Kept;
use elinvar_analysis::check_draws;
use elinvar_analysis::place::Place;

use crate::Outcome;
use crate::note::{note, remark, warn_of_weights};
use crate::print::print_with;
use crate::run_args::{Format, Resampling, SampleArgs};

/// Draws of the approximation for each that is kept by its weight.
const POOL: usize = 4;
/// So many at least.
const SMALLEST_POOL: usize = 10_000;

/// Draws and writes.
pub(crate) fn run(args: &SampleArgs) -> Result<Outcome, Failure> {
    let kept = Kept::open(&args.run)?;
    let format = args.format();
    let way = Way::of(&kept.posterior, args);
    let held = if way == Way::Weights { POOL } else { 1 };
    check_draws("--draws", args.draws, held, kept.posterior.dim())?;
    check_format(format, args)?;
    let place = args.out.as_deref().map(Place::of).transpose()?;
    let table = draw(&kept, args, way)?;
    let write = |out: &mut dyn Write| write_as(format, &table, out);
    match (place, &args.out) {
        (Some(place), Some(path)) => place.write(write).map_err(|e| Error::unwritable(path, &e))?,
        _ => print_with(write)?,
    }
    Ok(Outcome::Done)
}

fn check_format(format: Format, args: &SampleArgs) -> Result<(), Failure> {
    if format == Format::Csv {
        return Ok(());
    }
    if !cfg!(feature = "parquet") {
        return Err(Failure::input(
            "this elinvar was built without parquet; write csv, or build it with --features parquet",
        ));
    }
    if args.out.is_none() {
        return Err(Failure::input("parquet is no text for a screen: name a file with --out draws.parquet"));
    }
    Ok(())
}

fn write_as(format: Format, table: &DrawTable<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        #[cfg(feature = "parquet")]
        Format::Parquet => table.write_parquet(out),
        _ => table.write_csv(out),
    }
}

/// What draws are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Approximation,
    Weights,
    States,
}

impl Way {
    /// What was asked for, or what the answer was given by.
    fn of(posterior: &Posterior, args: &SampleArgs) -> Self {
        match (args.resample, posterior.given_by()) {
            _ if args.uncorrected => Way::Approximation,
            (Some(Resampling::None), _) => Way::Approximation,
            (Some(Resampling::Psis), _) => Way::Weights,
            (None, GivenBy::Chains) => Way::States,
            (None, GivenBy::Weights) => Way::Weights,
            (None, _) => Way::Approximation,
        }
    }
}

fn draw<'a>(kept: &'a Kept, args: &SampleArgs, way: Way) -> Result<DrawTable<'a>, Failure> {
    let posterior = &kept.posterior;
    let job = if args.no_model { None } else { Some(kept.job()) };
    match (way, posterior.corrected(), &job) {
        (Way::Weights, _, Some(Ok(job))) => return resampled(kept, job, args),
        (Way::Weights, _, Some(Err(failure))) if args.resample.is_some() => {
            return Err(Failure::input(format!("--resample psis needs the model and its data: {failure}")));
        }
        (Way::States, Some(corrected), _) => return with_log_p(kept, job, states(posterior, corrected, args.draws)),
        _ => {}
    }
    let table = with_log_p(kept, job, posterior.sample_with_log_density(args.draws, args.seed))?;
    if way == Way::Weights {
        remark("these are draws of the approximation: those of the answer, by importance weights, need the model");
    }
    Ok(table)
}

/// Draws with log p at each, where the model is at hand.
fn with_log_p<'a>(
    kept: &'a Kept,
    job: Option<Result<Job, Error>>,
    (draws, log_q): (DrawBuffer, Vec<f64>),
) -> Result<DrawTable<'a>, Failure> {
    let log_p = match job {
        None => None,
        Some(Ok(job)) => Some(log_density_at(job.target(), &draws).map_err(Failure::of_fit)?.0),
        Some(Err(failure)) => {
            note(&format!("log_p__ is nan, since the model is not at hand: {failure}"));
            None
        }
    };
    Ok(DrawTable { posterior: &kept.posterior, draws, log_p, log_q })
}

/// States of the chains of a corrected fit, with log q at each.
fn states(posterior: &Posterior, corrected: &Corrected, n: usize) -> (DrawBuffer, Vec<f64>) {
    let held = corrected.n_states();
    let again = if n > held { format!(", so that some are given again: {held} were kept") } else { String::new() };
    note(&format!(
        "these are states of chains, worth {:.0} independent draws{again}; --uncorrected draws from the approximation",
        corrected.effective_states.min(n as f64)
    ));
    let draws = corrected.draws(n);
    let log_q = draws.view().iter().map(|z| posterior.log_density_z(z)).collect();
    (draws, log_q)
}

fn resampled<'a>(kept: &'a Kept, job: &Job, args: &SampleArgs) -> Result<DrawTable<'a>, Failure> {
    let posterior = &kept.posterior;
    let pool = args.draws.saturating_mul(POOL).max(SMALLEST_POOL);
    let weighted = posterior.importance(job.target(), pool, args.seed).map_err(Failure::of_fit)?;
    if args.resample.is_some() {
        warn_of_weights(&weighted.diagnostics);
    } else {
        // The verdict has weighed what there is to say against them.
        remark(
            "these are draws of the answer, chosen by importance weights; --uncorrected draws from the approximation",
        );
    }
    let mut stream = Stream::open(args.seed, Purpose::Sample, u64::MAX, 0);
    let chosen = resample(&weighted.log_weights, args.draws, &mut stream);
    let mut draws = DrawBuffer::zeros(posterior.dim(), chosen.len());
    for (s, index) in chosen.iter().enumerate() {
        draws.get_mut(s).copy_from_slice(weighted.draws.get(*index));
    }
    let pick = |values: &[f64]| chosen.iter().map(|index| values[*index]).collect::<Vec<f64>>();
    let (log_p, log_q) = (Some(pick(&weighted.log_p)), pick(&weighted.log_q));
    Ok(DrawTable { posterior, draws, log_p, log_q })
}
