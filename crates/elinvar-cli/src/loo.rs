//! `elinvar loo`: how well a kept regression predicts rows that it has not seen.

use elinvar_analysis::place::Place;
use elinvar_analysis::{Error, Kept, Loo};

use crate::Outcome;
use crate::error::Failure;
use crate::print::print;
use crate::run_args::LooArgs;

/// Leaves out each row, and prints.
pub(crate) fn run(args: &LooArgs) -> Result<Outcome, Failure> {
    // Before anything is computed: rows may be many.
    let place = args.rows.as_deref().map(|path| Place::named_by(path, Some("--rows"))).transpose()?;
    let loo = Loo::new(&Kept::open(&args.run)?, args.draws, args.seed)?;
    if let (Some(place), Some(path)) = (place, &args.rows) {
        let written = place.write(|out| loo.write_csv(out));
        written.map_err(|e| Error::Unwritable { path: path.clone(), kind: e.kind(), flag: "--rows" })?;
    }
    print(&if args.json { loo.json() } else { loo.page() })?;
    Ok(Outcome::Done)
}
