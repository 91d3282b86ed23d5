//! `elinvar compare`: kept fits of one model beside each other.

use crate::error::Failure;
use elinvar_analysis::Kept;
use elinvar_analysis::Ranking;

use crate::Outcome;
use crate::print::print;
use crate::run_args::CompareArgs;

/// Compares and prints, the best first.
pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    if args.runs.len() < 2 {
        return Err(Failure::input(format!(
            "a comparison needs two fits at least: elinvar compare {} DIR",
            args.runs.first().map_or(String::new(), |run| run.display().to_string())
        )));
    }
    let kept = args.runs.iter().map(|run| Kept::open(run)).collect::<Result<Vec<_>, _>>()?;
    let ranking = Ranking::new(&kept, args.draws, args.seed)?;
    print(&if args.json { ranking.json() } else { ranking.page() })?;
    Ok(Outcome::Done)
}
