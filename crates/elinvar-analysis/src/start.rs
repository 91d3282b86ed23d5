//! Where a fit begins that is not to search: at a place that was named, at a guess, or at a member of a file.

use std::path::Path;

use elinvar::family::Approximation;
use elinvar::run::{Placement, start_around, start_at_guess};
use elinvar::target::Target;
use elinvar::{Family, Posterior};

use crate::error::Error;
use crate::own::FIT;
use crate::rows::find;
use crate::settings::value::StartAt;
use crate::settings::{Settings, StartSettings};

/// The start that the settings name, if they do.
///
/// # Errors
/// A sentence about a file, a family or a place that will not do.
pub(crate) fn named(settings: &Settings, target: &dyn Target, family: Family) -> Result<Option<Approximation>, Error> {
    let StartSettings { at, covariance, search } = &settings.start;
    if at.is_none() && covariance.is_none() && search.unwrap_or(true) {
        return Ok(None);
    }
    if settings.plan.restarts > 1 {
        return Err(Error::Refused(elinvar::Error::Unsupported {
            wanted: "--restarts from a start that is given".into(),
            instead: "leave out --restarts, or let the starts be searched for".into(),
        }));
    }
    let about = target.about();
    let (dim, seed) = (about.dim, settings.plan.seed);
    let placed = |at: Placement| start_around(family, dim, at, seed).map(Some).map_err(Error::Refused);
    let variance = covariance.unwrap_or(1.0);
    match at {
        Some(StartAt::File(name)) => {
            let path = find(settings, name);
            let start = read(&path)?;
            let named = settings.family.name.filter(|name| *name != start.family().name());
            if let Some(name) = named {
                let problem =
                    format!("it holds `{}`, not `{name}`: leave out --family, or name another file", start.family());
                return Err(Error::Refused(elinvar::Error::File { path, problem }));
            }
            Ok(Some(start))
        }
        Some(StartAt::Normal { mean, sd }) => placed(Placement { mean: *mean, sd: *sd, variance }),
        None if about.guess.is_some() && covariance.is_none() => {
            start_at_guess(target, family, seed).map(Some).map_err(Error::Refused)
        }
        // Components at one place would stay together.
        None => placed(Placement { mean: 0.0, sd: if family.n_components() > 1 { 1.0 } else { 0.0 }, variance }),
    }
}

/// The member in a run folder, a fit file, or a file with a member alone.
fn read(path: &Path) -> Result<Approximation, Error> {
    let file = if path.is_dir() { path.join(FIT) } else { path.to_path_buf() };
    let text = std::fs::read_to_string(&file)
        .map_err(|source| Error::Refused(elinvar::Error::Io { path: file.clone(), source }))?;
    if let Ok(member) = serde_json::from_str(&text) {
        return Ok(member);
    }
    let fit = Posterior::load(&file).map_err(Error::Refused)?;
    Ok(fit.approximation().clone())
}
