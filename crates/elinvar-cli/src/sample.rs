//! `elinvar sample`: draws from a kept fit, on the constrained scale.

use std::io::{self, Write};

use crate::error::Failure;
use elinvar::Posterior;
use elinvar::chains::Corrected;
use elinvar::posterior::{log_density_at, resample};
use elinvar::random::{Purpose, Stream};
use elinvar::target::DrawBuffer;
use elinvar_analysis::DrawTable;
use elinvar_analysis::Error;
use elinvar_analysis::Kept;
use elinvar_analysis::check_memory;
use elinvar_analysis::place::Place;

use crate::Outcome;
use crate::note::{note, warn_of_weights};
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
    let held = if args.resample == Resampling::Psis { POOL } else { 1 };
    check_memory("--draws", args.draws, held * kept.posterior.dim())?;
    check_format(format, args)?;
    let place = args.out.as_deref().map(Place::of).transpose()?;
    let table = draw(&kept, args)?;
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

fn draw<'a>(kept: &'a Kept, args: &SampleArgs) -> Result<DrawTable<'a>, Failure> {
    let posterior = &kept.posterior;
    if args.resample == Resampling::Psis {
        return resampled(kept, args);
    }
    let (draws, log_q) = match posterior.corrected().filter(|_| !args.uncorrected) {
        Some(corrected) => states(posterior, corrected, args.draws),
        None => posterior.sample_with_log_density(args.draws, args.seed),
    };
    let log_p = match if args.no_model { None } else { Some(kept.job()) } {
        None => None,
        Some(Ok(job)) => Some(log_density_at(job.target(), &draws).map_err(Failure::of_fit)?.0),
        Some(Err(failure)) => {
            note(&format!("log_p__ is nan, since the model is not at hand: {failure}"));
            None
        }
    };
    Ok(DrawTable { posterior, draws, log_p, log_q })
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
    let log_q = draws.view().iter().map(|z| posterior.log_density(z)).collect();
    (draws, log_q)
}

fn resampled<'a>(kept: &'a Kept, args: &SampleArgs) -> Result<DrawTable<'a>, Failure> {
    let posterior = &kept.posterior;
    let job = kept.job().map_err(|e| Failure::input(format!("--resample psis needs the model and its data: {e}")))?;
    let pool = args.draws.saturating_mul(POOL).max(SMALLEST_POOL);
    let weighted = posterior.importance(job.target(), pool, args.seed).map_err(Failure::of_fit)?;
    warn_of_weights(&weighted.diagnostics);
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
