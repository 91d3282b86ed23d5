//! `elinvar compare`: kept fits beside each other.

use crate::error::Failure;
use elinvar_analysis::{ElpdRanking, Error, Kept, Ranking};

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
    let text = match Ranking::new(&kept, args.draws, args.seed) {
        // Bounds of different models have no common zero; predictions of the same rows have.
        Err(Error::DifferentModels { .. }) => {
            let ranking = ElpdRanking::new(&kept, args.seed)?;
            if args.json { ranking.json(args.seed) } else { ranking.page() }
        }
        ranking => {
            let ranking = ranking?;
            if args.json { ranking.json() } else { ranking.page() }
        }
    };
    print(&text)?;
    Ok(Outcome::Done)
}
