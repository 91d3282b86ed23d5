//! `elinvar predict`: what a kept regression says about new rows.

use elinvar_analysis::place::Place;
use elinvar_analysis::predict::{Asked, Of, Predictions};
use elinvar_analysis::{Error, Kept};

use crate::Outcome;
use crate::error::Failure;
use crate::print::print_with;
use crate::run_args::PredictArgs;

/// Predicts and writes.
pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    let place = args.out.as_deref().map(Place::of).transpose()?;
    let of = match (args.link, args.expectation) {
        (true, _) => Of::Link,
        (_, true) => Of::Expectation,
        _ => Of::Response,
    };
    let asked = Asked {
        of,
        quantiles: args.quantiles.iter().map(|percent| percent / 100.0).collect(),
        draws: args.draws,
        seed: args.seed,
    };
    let predictions = Predictions::new(&Kept::open(&args.run)?, &args.file, &asked)?;
    match (place, &args.out) {
        (Some(place), Some(path)) => {
            place.write(|out| predictions.write_csv(out)).map_err(|e| Error::unwritable(path, &e))?;
        }
        _ => print_with(|out| predictions.write_csv(out))?,
    }
    Ok(Outcome::Done)
}
