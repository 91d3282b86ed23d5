//! Files that a fit writes: the fit, its journal, and the checkpoint of a run.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use elinvar::model::Banana;
use elinvar::rule::{EuclideanAdam, Rule};
use elinvar::run::Correct;
use elinvar::run::journal::{Entry, Folder, Part};
use elinvar::run::{Checkpoint, Journal, Run, Stop, fit_journaled, start};
use elinvar::target::{Target, from_fn};
use elinvar::{Error, Family, Plan, Posterior};
use elinvar_analysis::stan::Layout;
use elinvar_analysis::{Analysis, DrawTable, Job, settings};

use crate::allocator;

type Files = Vec<(String, Vec<u8>)>;

/// What is fitted, in two dimensions: with Hessians, and with gradients alone.
fn target(name: &str) -> Box<dyn Target> {
    if name.starts_with("gradients") {
        return Box::new(from_fn(2, |z: &[f64], grad: &mut [f64]| {
            let residual = z[1] - 0.25 * z[0] * z[0] + 1.0;
            grad[0] = -0.25 * z[0] + 0.5 * residual * z[0];
            grad[1] = -residual;
            -0.125 * z[0] * z[0] - 0.5 * residual * residual
        }));
    }
    Box::new(Banana::default())
}

fn cases() -> Vec<(&'static str, Family, Plan)> {
    let plan = |rule: Rule| Plan { rule, ..Plan::default() };
    vec![
        ("gaussian", Family::gaussian(), Plan::default()),
        ("gradients", Family::gaussian(), Plan::default()),
        ("mog", Family::mog(2), Plan::default()),
        ("grown", Family::mog_auto(), Plan::default()),
        ("skew", Family::skew(), plan(Rule::NaturalMomentum { gamma: 0.3 })),
        ("adam", Family::student_t(2.5), plan(Rule::EuclideanAdam(EuclideanAdam::default()))),
    ]
}

fn limited(plan: &Plan, max_steps: u64) -> Plan {
    Plan { stop: Stop { max_steps, ..plan.stop }, ..plan.clone() }
}

/// The members of some families alone, as a fit can begin at, and fits.
pub(crate) fn starts(folder: &Path) -> Result<Files, String> {
    let (_, mut files) = Fits::new(folder)?;
    files.retain(|(name, _)| name != KEPT && name != CHAINS);
    let state = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).map(|fit| fit["state"].to_string());
    let members = files.iter().filter_map(|(name, bytes)| Some((format!("{name}-member"), state(bytes).ok()?.into())));
    let members: Files = members.collect();
    files.extend(members);
    Ok(files)
}

/// The fit of a model by name, and one that chains have corrected.
const KEPT: &str = "kept";
const CHAINS: &str = "chains";
const SETTINGS: &str =
    "diagnostic_draws = 100\n[data]\nfile = \"t.csv\"\ntarget = \"y\"\n[model]\nname = \"poisson\"\n";

/// Fits as `fit.json` holds them.
pub(crate) struct Fits {
    job: Job,
}

impl Fits {
    pub(crate) fn new(folder: &Path) -> Result<(Self, Files), String> {
        let path = folder.join("kept.toml");
        fs::write(&path, SETTINGS).map_err(|e| e.to_string())?;
        let job = settings::read(&path).and_then(|settings| Job::new(&settings)).map_err(|e| e.to_string())?;
        let mut files = Vec::new();
        let mut keep = |name: &str, posterior: &Posterior| -> Result<(), String> {
            let path = folder.join("fit.json");
            posterior.save(&path).map_err(|e| e.to_string())?;
            files.push((name.to_string(), fs::read(&path).map_err(|e| e.to_string())?));
            Ok(())
        };
        for (name, correct) in [(KEPT, Correct::WhereNeeded), (CHAINS, Correct::Always)] {
            let plan = Plan { correct, ..limited(&Plan::default(), 8) };
            let posterior = elinvar::run::fit(job.target(), Family::gaussian(), &plan).map_err(|e| e.to_string())?;
            let analysis = Analysis::new(&job, posterior).map_err(|e| e.to_string())?;
            keep(name, &analysis.posterior)?;
        }
        for (name, family, plan) in cases() {
            let target = target(name);
            let mut posterior = elinvar::run::fit(&*target, family, &limited(&plan, 4)).map_err(|e| e.to_string())?;
            posterior.diagnose(&*target, 200, 1).map_err(|e| e.to_string())?;
            keep(name, &posterior)?;
        }
        Ok((Self { job }, files))
    }

    pub(crate) fn read(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        fs::write(path, bytes)?;
        let Ok(posterior) = Posterior::load(path) else { return Ok(false) };
        let (draws, log_q) = posterior.sample_with_log_density(3, 1);
        DrawTable { posterior: &posterior, draws, log_p: None, log_q }.write_csv(&mut io::sink())?;
        let layout = Layout::new(posterior.names().iter().map(String::as_str));
        layout.json(&vec![0.5; posterior.names().len()]);
        layout.order();
        posterior.summary(20, 1);
        if let Some(corrected) = posterior.corrected() {
            corrected.draws(3);
        }
        // A page costs as much as many fits that are read.
        let is_shown = bytes.iter().fold(0_u8, |sum, b| sum.wrapping_add(*b)) < 16;
        if is_shown && posterior.names_z() == self.job.target().about().names {
            return Ok(self.show(posterior).is_ok());
        }
        Ok(true)
    }

    /// Everything that is shown of a kept fit.
    fn show(&self, posterior: Posterior) -> Result<(), elinvar_analysis::Error> {
        let analysis = Analysis::of_kept(&self.job, posterior)?;
        analysis.page(&self.job);
        analysis.json();
        elinvar_report::html(&analysis.content(&self.job, String::new())?);
        Ok(())
    }
}

/// A journal that stores at every step.
struct Eager(Folder);

impl Journal for Eager {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        self.0.load(part)
    }

    fn store(&self, part: Part, entry: &Entry) -> Result<(), Error> {
        self.0.store(part, entry)
    }

    fn is_due(&self, _: Duration, _: Duration) -> bool {
        true
    }
}

/// A journal that is read and not written.
struct Finished(Folder);

impl Journal for Finished {
    fn load(&self, part: Part) -> Result<Option<Entry>, Error> {
        self.0.load(part)
    }

    fn store(&self, _: Part, _: &Entry) -> Result<(), Error> {
        Ok(())
    }
}

/// Journals of unfinished fits.
pub(crate) struct Journals {
    folder: PathBuf,
}

impl Journals {
    const STEPS: u64 = 5;

    pub(crate) fn new(folder: &Path) -> Result<(Self, Files), Error> {
        let mut files = Vec::new();
        for (name, family, plan) in cases() {
            let path = folder.join(format!("journal-of-{name}"));
            let journal = Eager(Folder::new(&path)?);
            let plan = limited(&plan, Self::STEPS);
            fit_journaled(&*target(name), family, &plan, &mut |_| ControlFlow::Continue(()), &journal)?;
            let io = |source| Error::Io { path: path.clone(), source };
            for entry in fs::read_dir(&path).map_err(io)? {
                let entry = entry.map_err(io)?;
                let file = entry.file_name().to_string_lossy().into_owned();
                files.push((format!("{name}.{file}"), fs::read(entry.path()).map_err(io)?));
            }
        }
        files.sort();
        Ok((Self { folder: folder.join("journal") }, files))
    }

    /// Goes on with the fit that the entry was made from.
    pub(crate) fn read(&self, made_from: &str, bytes: &[u8]) -> io::Result<bool> {
        let Some((case, file)) = made_from.split_once('.') else { return Ok(false) };
        let Some((name, family, plan)) = cases().into_iter().find(|(name, ..)| *name == case) else { return Ok(false) };
        // What an earlier input has left; a file that failed once has a word behind its name.
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder)?;
        let file = file.split_once(".json").map_or(file, |(part, _)| part);
        fs::write(self.folder.join(format!("{file}.json")), bytes)?;
        let journal = Finished(Folder::new(&self.folder).map_err(io::Error::other)?);
        let plan = limited(&plan, Self::STEPS + 1);
        let fitted = fit_journaled(&*target(name), family, &plan, &mut |_| ControlFlow::Continue(()), &journal);
        Ok(fitted.is_ok())
    }
}

/// What a step holds of each of its draws, at the most: coordinates, gradients, densities by component, and their
/// products, in two dimensions.
const BYTES_PER_DRAW: usize = 1 << 10;

/// Checkpoints of single runs.
pub(crate) struct Checkpoints;

impl Checkpoints {
    pub(crate) fn new(folder: &Path) -> Result<(Self, Files), Error> {
        let mut files = Vec::new();
        for (name, family, plan) in cases().into_iter().filter(|(name, ..)| *name != "grown") {
            let target = target(name);
            let mut run = Run::new(&*target, start(&*target, family, &plan)?.approximation, &plan)?;
            for _ in 0..4 {
                run.step()?;
            }
            let path = folder.join("checkpoint.json");
            run.checkpoint().save(&path)?;
            files.push((name.to_string(), fs::read(&path).map_err(|source| Error::Io { path, source })?));
        }
        Ok((Self, files))
    }

    pub(crate) fn read(&self, made_from: &str, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        fs::write(path, bytes)?;
        let Ok(checkpoint) = Checkpoint::load(path) else { return Ok(false) };
        let n_draws = checkpoint.n_draws().max(checkpoint.plan.n_draws);
        allocator::allow_more(n_draws.saturating_mul(BYTES_PER_DRAW));
        let target = target(made_from);
        let Ok(mut run) = Run::resume(&*target, &checkpoint) else { return Ok(false) };
        Ok(run.step().is_ok())
    }
}
