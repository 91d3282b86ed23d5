//! `elinvar diagnose`: a kept fit judged again, with fresh draws.

use crate::error::Failure;
use elinvar_analysis::Kept;
use elinvar_analysis::SecondOpinion;

use crate::Outcome;
use crate::note::note_changes;
use crate::print::print;
use crate::run_args::DiagnoseArgs;

/// Judges and prints.
pub(crate) fn run(args: &DiagnoseArgs) -> Result<Outcome, Failure> {
    let kept = Kept::open(&args.run)?;
    note_changes(&kept);
    let opinion = SecondOpinion::new(kept, args.draws, args.seed)?;
    print(&if args.json { opinion.json() } else { opinion.page() })?;
    // Chains do not need a fit that has converged.
    let ended = opinion.posterior.converged() || opinion.posterior.corrected().is_some();
    Ok(Outcome::of(ended, opinion.judgement.verdict))
}
