//! `elinvar report`: the page of a kept fit, or one of its figures.

use std::path::{Path, PathBuf};

use elinvar_analysis::analysis::Report;
use elinvar_analysis::error::Failure;
use elinvar_analysis::kept::Kept;
use elinvar_analysis::number::grouped;
use elinvar_analysis::report::{REPORT, content};
use elinvar_analysis::run_folder::CONFIG;
use elinvar_analysis::shell;
use elinvar_report::{Content, FigureName, figure, html};

use crate::args::ReportArgs;
use crate::print::print;
use crate::{Outcome, figure_names, new_file};

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
    if let Asked::Page(Some(path)) | Asked::Figure { out: path, .. } = &asked {
        new_file::check_new(path, flag)?;
    }
    let kept = Kept::open(&args.run)?;
    let content = content_of(&kept)?;
    match asked {
        Asked::List => print(&figure_names::list(&content))?,
        Asked::Page(asked) => {
            let page = html(&content);
            let path = match asked {
                Some(path) => new_file::write_new(&path, page.as_bytes(), flag).map(|()| path)?,
                None => {
                    let path = folder(&args.run).join(REPORT);
                    new_file::replace(&path, page.as_bytes(), flag).map(|()| path)?
                }
            };
            print(&format!("{}, {} kB\n", path.display(), grouped(page.len().div_ceil(1000) as u64)))?;
        }
        Asked::Figure { name, is_png, out } => {
            let bytes = if is_png { png(&content, &name)? } else { svg(&content, &name)? };
            new_file::write_new(&out, &bytes, flag)?;
            print(&format!("{}, {} kB\n", out.display(), grouped(bytes.len().div_ceil(1000) as u64)))?;
        }
    }
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

/// The content of a kept fit, from the draws that its verdict rests on: the same seed makes them again.
fn content_of(kept: &Kept) -> Result<Content, Failure> {
    let job = kept.job()?;
    let mut posterior = kept.posterior.clone();
    let (n, seed) = (job.diagnostic_draws, job.plan.seed);
    let n_judged = posterior.judgement().and(posterior.diagnostics()).map(|diagnostics| diagnostics.n_draws);
    let weighted = match n_judged {
        Some(n) => posterior.importance_widened(&*job.model, n, seed),
        None => posterior.judge_with_draws(&*job.model, n, seed).map(|(_, weighted)| weighted),
    };
    let weighted = weighted.map_err(Failure::of_fit)?;
    let mut report = Report::of_kept(&job, posterior)?;
    report.run_folder = Some(kept.path.clone());
    content(&job, &report, &weighted, by_config(&kept.path))
}

/// The command that makes a kept fit again.
pub(crate) fn by_config(run: &Path) -> String {
    let config = folder(run).join(CONFIG);
    format!("elinvar fit --config {}", shell::word(&config))
}

/// The run directory of a path to it or to the fit file in it.
fn folder(run: &Path) -> PathBuf {
    match run.parent() {
        Some(parent) if !run.is_dir() => parent.into(),
        _ => run.into(),
    }
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
