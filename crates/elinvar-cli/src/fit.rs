//! `elinvar fit`.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use elinvar::posterior::Verdict;

use crate::Outcome;
use crate::args::FitArgs;
use crate::error::Failure;
use crate::job::Job;
use crate::progress::Progress;
use crate::report::{Report, without_stand_ins};
use crate::run_dir::Reservation;
use crate::settings::Settings;
use crate::{json, page};

/// Fits, keeps the fit if asked to, and prints it.
pub(crate) fn run(args: &FitArgs) -> Result<Outcome, Failure> {
    let settings = Settings::of_flags(args)?;
    let output = &settings.output;
    let job = Job::new(&settings)?;
    let out = output.out.as_ref().map(PathBuf::from);
    let reservation = out.as_deref().map(Reservation::new).transpose()?;
    let mut report = fit(&job, output.quiet || output.json)?;
    let written = match &reservation {
        Some(reservation) => reservation.write(&job, &report).map(|()| report.run_dir = out),
        None => Ok(()),
    };
    // A fit that could not be kept is still shown: it may have taken hours.
    let text = if output.json { json::text(&report) } else { page::text(&job, &report) };
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            return Err(Failure::input(format!("the result could not be printed ({error})")));
        }
        _ => {}
    }
    written?;
    Ok(match (report.posterior.converged(), report.judgement.verdict) {
        (false, _) => Outcome::NotConverged,
        (true, Verdict::Trust) => Outcome::Done,
        (true, _) => Outcome::NotTrusted,
    })
}

fn fit(job: &Job, is_quiet: bool) -> Result<Report, Failure> {
    let started = Instant::now();
    let mut progress = Progress::new(is_quiet);
    let mut observe = |step: &_| {
        progress.show(step);
        ControlFlow::Continue(())
    };
    let fitted = match &job.start {
        Some(start) => elinvar::fit_from(&*job.model, start.clone(), &job.plan, &mut observe),
        None => elinvar::fit_observed(&*job.model, job.family, &job.plan, &mut observe),
    };
    let seconds = started.elapsed().as_secs_f64();
    progress.clear();
    let mut posterior = fitted.map_err(Failure::of_fit)?;
    let (n, seed) = (job.diagnostic_draws, job.plan.seed);
    let judgement = posterior.judge(&*job.model, n, seed).map_err(Failure::of_fit)?;
    let diagnostics = posterior.diagnostics().expect("a verdict comes with diagnostics").clone();
    let (diagnostics, few_draws_dominate) = without_stand_ins(diagnostics);
    let parameters = posterior.summary(n, seed);
    let test = job.held_out.as_ref().map(|rows| rows.test(&posterior, seed)).transpose()?;
    Ok(Report { posterior, judgement, diagnostics, few_draws_dominate, parameters, test, seconds, run_dir: None })
}
