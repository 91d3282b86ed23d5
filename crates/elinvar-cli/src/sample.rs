//! `elinvar sample`: draws from a kept fit, as CSV on the constrained scale.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use elinvar::Posterior;

use crate::Outcome;
use crate::args::SampleArgs;
use crate::error::Failure;
use crate::job::check_memory;
use crate::run_dir::FIT;

/// Draws and writes.
pub(crate) fn run(args: &SampleArgs) -> Result<Outcome, Failure> {
    let posterior = Posterior::load(fit_file(&args.run)?).map_err(|e| Failure::input(e.to_string()))?;
    check_memory("--draws", args.draws, posterior.dim())?;
    match &args.out {
        None => match write_draws(&posterior, args, &mut io::stdout().lock()) {
            // Whoever reads has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            result => result.map_err(|e| Failure::input(format!("the draws could not be printed ({e})")))?,
        },
        Some(path) => write_file(&posterior, args, path).map_err(|e| Failure::unwritable(path, &e))?,
    }
    Ok(Outcome::Done)
}

fn fit_file(run: &Path) -> Result<PathBuf, Failure> {
    let shown = run.display();
    let remedy = "name a folder written by elinvar fit --out";
    if run.is_dir() {
        let file = run.join(FIT);
        if !file.is_file() {
            return Err(Failure::input(format!("{shown}: there is no {FIT} in this folder; {remedy}")));
        }
        return Ok(file);
    }
    if !run.exists() {
        return Err(Failure::input(format!("{shown}: there is no such folder or file; {remedy}")));
    }
    Ok(run.into())
}

/// Writes beside the file and renames; what is not a regular file, such as a pipe, is written to directly.
fn write_file(posterior: &Posterior, args: &SampleArgs, path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return write_draws(posterior, args, &mut File::create(path)?);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".elinvar-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(parent)?;
    write_draws(posterior, args, file.as_file_mut())?;
    file.persist(path)?;
    Ok(())
}

fn write_draws(posterior: &Posterior, args: &SampleArgs, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write!(out, "lp__,log_p__,log_g__")?;
    for name in posterior.constrained_names() {
        write!(out, ",{}", csv_cell(name))?;
    }
    writeln!(out)?;
    let transforms = posterior.transforms();
    let mut x = vec![0.0; transforms.n_constrained()];
    let (draws, log_q) = posterior.sample_with_log_density(args.draws, args.seed);
    for (z, log_q) in draws.view().iter().zip(&log_q) {
        transforms.constrain(z, &mut x);
        write!(out, "0,nan,{log_q:?}")?;
        for value in &x {
            write!(out, ",{value:?}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}

fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(csv_cell("age"), "age");
        assert_eq!(csv_cell("age, \"years\""), "\"age, \"\"years\"\"\"");
    }
}
