//! `elinvar report`: the page of a kept fit, or one of its figures.

use std::path::{Path, PathBuf};

use elinvar_analysis::number::grouped;
use elinvar_analysis::place::Place;
use elinvar_analysis::{Analysis, Error, Kept, RunFolder, folder_of, shell};
use elinvar_report::{Content, FigureName, figure, html};

use crate::args::ReportArgs;
use crate::error::Failure;
use crate::note::note_changes;
use crate::print::print;
use crate::{Outcome, figure_names};

/// What a report command is to make.
enum Asked {
    List,
    /// The page, into this new file or into the run directory.
    Page(Option<PathBuf>),
    Figure {
        name: FigureName,
        is_png: bool,
        out: PathBuf,
    },
}

/// Makes what was asked for.
pub(crate) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let asked = asked(args)?;
    let flag = if matches!(asked, Asked::Figure { .. }) { "--out" } else { "--html" };
    // Before anything is computed: the weights may take a while.
    let new = match &asked {
        Asked::Page(Some(path)) | Asked::Figure { out: path, .. } => Some(Place::named_by(path, Some(flag))?),
        _ => None,
    };
    let kept = Kept::open(&args.run)?;
    if matches!(asked, Asked::Page(None)) {
        kept.report_file()?;
    }
    note_changes(&kept);
    let content = content_of(&kept)?;
    let (path, bytes) = match asked {
        Asked::List => {
            print(&figure_names::list(&content))?;
            return Ok(Outcome::Done);
        }
        Asked::Page(path) => (path.map_or_else(|| kept.report_file(), Ok)?, html(&content).into_bytes()),
        Asked::Figure { name, is_png: true, out } => (out, png(&content, &name)?),
        Asked::Figure { name, is_png: false, out } => (out, svg(&content, &name)?),
    };
    let written = match new {
        Some(place) => place.write(|out| out.write_all(&bytes)),
        None => elinvar::file::replace(&path, &bytes),
    };
    written.map_err(|e| Error::Unwritable { path: path.clone(), kind: e.kind(), flag })?;
    print(&format!("{}, {} kB\n", path.display(), grouped(bytes.len().div_ceil(1000) as u64)))?;
    Ok(Outcome::Done)
}

fn asked(args: &ReportArgs) -> Result<Asked, Failure> {
    if args.list {
        return Ok(Asked::List);
    }
    let (flag, text, is_png) = match (&args.svg, &args.png) {
        (Some(text), _) => ("--svg", text, false),
        (_, Some(text)) => ("--png", text, true),
        (None, None) if args.out.is_some() => {
            return Err(Failure::input(
                "--out names the file of a figure: add --svg FIGURE or --png FIGURE, or use --html",
            ));
        }
        (None, None) => return Ok(Asked::Page(args.html.clone())),
    };
    let name = figure_names::parse(flag, text)?;
    let ending = if is_png { "png" } else { "svg" };
    let out = args.out.clone().unwrap_or_else(|| figure_names::file_name(&name, ending));
    Ok(Asked::Figure { name, is_png, out })
}

fn content_of(kept: &Kept) -> Result<Content, Failure> {
    let job = kept.job()?;
    let analysis = Analysis::of_kept(&job, kept.posterior.clone())?.in_folder(&kept.path);
    Ok(analysis.content(&job, by_config(&kept.path))?)
}

/// The command that makes a kept fit again.
pub(crate) fn by_config(run: &Path) -> String {
    format!("elinvar fit --config {}", shell::word(&folder_of(run).join(RunFolder::SETTINGS)))
}

fn svg(content: &Content, name: &FigureName) -> Result<Vec<u8>, Failure> {
    figure(content, name).map(String::into_bytes).ok_or_else(|| figure_names::nothing(content, name))
}

#[cfg(feature = "png")]
fn png(content: &Content, name: &FigureName) -> Result<Vec<u8>, Failure> {
    /// Pixels for each of the figure's natural size.
    const SCALE: f32 = 3.0;
    match elinvar_report::png(content, name, SCALE) {
        Err(elinvar_report::PngError::Nothing(_)) => Err(figure_names::nothing(content, name)),
        image => image.map_err(|e| Failure::input(e.to_string())),
    }
}

#[cfg(not(feature = "png"))]
fn png(_: &Content, _: &FigureName) -> Result<Vec<u8>, Failure> {
    Err(Failure::input("this program was built without PNG; use --svg, which papers take as well"))
}
