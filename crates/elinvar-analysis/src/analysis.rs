//! What a fit has found, judged: all that the page, the JSON object, the report and the run folder show.

use std::path::{Path, PathBuf};

use elinvar::Posterior;
use elinvar::posterior::{Answer, Diagnostics, Estimate, GivenBy, Judgement, WeightedDraws};
use elinvar::run::Interrupt;
use elinvar::target::Target;
use elinvar_report::Content;

use crate::answer_draws::AnswerDraws;
use crate::error::Error;
use crate::family::family_in_words;
use crate::held_out::{self, Test};
use crate::job::Job;
use crate::model_check::{self, ModelCheck};
use crate::parameter_quantiles::ParameterQuantiles;
use crate::prior::far_from_data;
use crate::report::Frame;
use crate::settings::Settings;
use crate::stream::Purpose;
use crate::{json, left_to_prior, page, report};

/// A finished fit, judged.
#[non_exhaustive]
pub struct Analysis {
    /// What was fitted.
    pub posterior: Posterior,
    /// How far to trust it, and why.
    pub judgement: Judgement,
    /// What the verdict rests on. Its k̂ is `None` where it is not known, not finite or without meaning.
    pub diagnostics: Diagnostics,
    /// Whether k̂ is not finite: the weights of very few draws exceed all others by far.
    pub few_draws_dominate: bool,
    /// What is given: the parameters with their errors, and where they come from.
    pub answer: Answer,
    /// What a reader should know before the table.
    pub warnings: Vec<String>,
    /// Whether the model could have made its responses; `None` where it is no regression.
    pub model_check: Option<ModelCheck>,
    /// What rows say that were held out.
    pub test: Option<Test>,
    /// What each pass over rows that are not in memory was made for; empty where they are.
    pub passes: Vec<Purpose>,
    /// Seconds from the search for a start to the last step.
    pub seconds: f64,
    /// Where the fit was kept, if it was.
    pub run_folder: Option<PathBuf>,
    /// Draws of the verdict, as far as the settings allow: a file may claim any number.
    pub(crate) n_draws: usize,
    /// The draws of the verdict, if it was made just now.
    weighted: Option<WeightedDraws>,
    /// Quantiles of the parameters; none of somebody's own model.
    pub(crate) quantiles: Option<ParameterQuantiles>,
}

/// Draws of a verdict for each that was asked for, at most.
const MOST_GROWTH: usize = 64;

impl Analysis {
    /// A fit with its verdict: the one that it has, if that rests on chains or on as many draws as the job asks for;
    /// else one on its draws and on as many more as that takes.
    ///
    /// # Errors
    /// Those of the model.
    pub fn new(job: &Job, posterior: Posterior) -> Result<Self, Error> {
        Self::new_interruptibly(job, posterior, &|| false)
    }

    /// The same, which `interrupt` may end before any batch of draws.
    pub(crate) fn new_interruptibly(
        job: &Job,
        mut posterior: Posterior,
        interrupt: &dyn Interrupt,
    ) -> Result<Self, Error> {
        let mut weighted = None;
        let n_judged = posterior.judgement().and(posterior.diagnostics()).map_or(0, |known| known.n_draws);
        let is_by_chains = posterior.corrected().is_some() && n_judged > 0;
        if n_judged < job.diagnostic_draws && !is_by_chains {
            let (n, seed) = (job.diagnostic_draws, job.plan.seed);
            let judged = posterior.judge_further_interruptibly(job.target(), n, seed, interrupt);
            weighted = Some(judged.map_err(Error::of_fit)?.1);
        } else if posterior.given_by() == GivenBy::Weights {
            // The draws of the verdict again: their log densities are known, nothing is evaluated.
            let judged =
                posterior.clone().judge_further_interruptibly(job.target(), n_judged, job.plan.seed, interrupt);
            weighted = Some(judged.map_err(Error::of_fit)?.1);
        }
        Self::judged(job, posterior, weighted)
    }

    /// A fit that was kept: with the verdict that it was kept with, if it was judged.
    ///
    /// # Errors
    /// Those of the model.
    pub fn of_kept(job: &Job, posterior: Posterior) -> Result<Self, Error> {
        if posterior.judgement().is_some() && posterior.diagnostics().is_some() {
            Self::judged(job, posterior, None)
        } else {
            Self::new(job, posterior)
        }
    }

    fn judged(job: &Job, posterior: Posterior, weighted: Option<WeightedDraws>) -> Result<Self, Error> {
        let (n, seed) = (job.diagnostic_draws, job.plan.seed);
        let weighted = match weighted {
            None if posterior.given_by() == GivenBy::Weights => {
                Some(again(&posterior, job.target(), most_draws(&posterior, n), seed)?)
            }
            weighted => weighted,
        };
        let regression = job.model.regression();
        let answer = AnswerDraws::new(&posterior, job.target(), weighted.as_ref(), seed)?;
        let tested = |rows: &held_out::HeldOut| held_out::test(rows, &*job.model, &posterior, &answer);
        let test = job.held_out.as_ref().map(tested).transpose()?;
        let checked = |rows| model_check::check(&rows, &posterior, &answer.take(model_check::DRAWS), seed);
        let model_check = regression.and_then(checked);
        let quantiles = Some(ParameterQuantiles::of(&posterior, &answer, n, job.quantiles()));
        let mut conflicts = job.model.conflicts(&posterior);
        // Draws of the prior are of coefficients, not of the directions that few rows see.
        let is_whole = posterior.transforms().row_space().is_none();
        if let (true, Some(rows)) = (conflicts.is_empty() && is_whole, &regression) {
            let (dim, remedy) = (posterior.dim(), job.model.remedy());
            let draw = |stream: &mut _, z: &mut [f64]| job.model.draw_prior(stream, z);
            conflicts.extend(far_from_data(rows, posterior.transforms(), seed, remedy, draw, dim));
        }
        // Whether classes are apart is a matter of all rows.
        if let (Some(rows), false) = (&regression, job.rows.is_streamed()) {
            let mean = posterior.approximation().mean();
            conflicts.extend(left_to_prior::sentences(rows, posterior.transforms(), &mean, seed));
        }
        let warnings = job.notes.iter().cloned().chain(conflicts).collect();
        Ok(Self {
            warnings,
            model_check,
            test,
            quantiles,
            weighted,
            passes: job.rows.passes.as_ref().map_or(Vec::new(), |passes| passes.purposes()),
            ..Self::bare(posterior, n, seed).expect("it was judged")
        })
    }

    /// What a judged fit itself says; `None` if it was not judged. No more draws are made again than grow from `n`,
    /// whatever a file says.
    fn bare(posterior: Posterior, n: usize, seed: u64) -> Option<Self> {
        let judgement = posterior.judgement()?.clone();
        let (diagnostics, few_draws_dominate) = without_stand_ins(posterior.diagnostics()?.clone());
        Some(Self {
            answer: posterior.summary(n, seed),
            warnings: Vec::new(),
            seconds: posterior.seconds(),
            run_folder: None,
            n_draws: most_draws(&posterior, n),
            posterior,
            judgement,
            diagnostics,
            few_draws_dominate,
            model_check: None,
            test: None,
            passes: Vec::new(),
            weighted: None,
            quantiles: None,
        })
    }

    /// With the folder in which it is kept.
    pub fn in_folder(self, path: &Path) -> Self {
        Self { run_folder: Some(path.into()), ..self }
    }

    /// Whether the evaluations of the verdict are among those of the fit: it is that of a ladder.
    pub(crate) fn is_of_ladder(&self) -> bool {
        // The verdict that a rung was kept for has its bits.
        let elbo = self.posterior.diagnostics().map(|diagnostics| diagnostics.elbo);
        self.posterior.rungs().iter().any(|rung| rung.kept && Some(rung.elbo) == elbo)
    }

    /// The page, its lines of prose folded.
    pub fn page(&self, job: &Job) -> String {
        page::text(job, self, None)
    }

    /// The page for a screen of so many places.
    pub fn page_of_width(&self, job: &Job, width: usize) -> String {
        page::folded_to(&page::text(job, self, Some(width)), width)
    }

    /// One JSON object; numbers that are not finite are `null`.
    pub fn json(&self) -> String {
        json::text(self)
    }

    /// All that the report shows; `command` is the one that makes the same fit again.
    ///
    /// # Errors
    /// Those of the model, where the draws of the verdict have to be weighed again.
    pub fn content(&self, job: &Job, command: String) -> Result<Content, Error> {
        self.framed(Frame::of_job(job, self, command)?, job.target(), job.plan.seed)
    }

    /// A judged fit of somebody's own model, of which there is no table; `None` if it was not judged.
    pub fn of_model(posterior: Posterior) -> Option<Self> {
        let seed = posterior.plan().seed;
        Self::bare(posterior, Settings::default().diagnostic_draws(), seed)
    }

    /// [`Analysis::content`] of such a fit: `title` says in a line what was fitted, `command` what makes the fit again.
    ///
    /// # Errors
    /// Those of the model, whose draws are weighed again.
    pub fn content_of_model(&self, target: &dyn Target, title: &str, command: &str) -> Result<Content, Error> {
        let (posterior, n) = (&self.posterior, self.posterior.names().len());
        let frame = Frame {
            title: format!("{title}; {}", family_in_words(&posterior.family())),
            next: None,
            config: toml::to_string(posterior.plan())?,
            command: command.into(),
            model: vec![("Model".into(), title.into()), ("Parameters".into(), n.to_string())],
        };
        self.framed(frame, target, posterior.plan().seed)
    }

    fn framed(&self, frame: Frame, target: &dyn Target, seed: u64) -> Result<Content, Error> {
        if let Some(weighted) = &self.weighted {
            return Ok(report::content(frame, self, weighted));
        }
        Ok(report::content(frame, self, &again(&self.posterior, target, self.n_draws, seed)?))
    }
}

/// The draws of the verdict, made again.
fn again(posterior: &Posterior, target: &dyn Target, n: usize, seed: u64) -> Result<WeightedDraws, Error> {
    // The same seed makes the same draws; those of a ladder begin with the draws that a rung was kept for.
    let seed = if posterior.rungs().is_empty() { seed } else { posterior.plan().seed };
    posterior.importance_widened(target, n, seed).map_err(Error::of_fit)
}

/// Draws of the verdict, as far as `n` that were asked for allow: a file may claim any number.
fn most_draws(posterior: &Posterior, n: usize) -> usize {
    posterior.diagnostics().map_or(0, |known| known.n_draws).min(MOST_GROWTH.saturating_mul(n))
}

/// The diagnostics without the finite numbers by which the library's files stand in for infinity, and whether k̂ was
/// one.
pub(crate) fn without_stand_ins(mut diagnostics: Diagnostics) -> (Diagnostics, bool) {
    let shifts = diagnostics.shifts.iter_mut().flat_map(|shift| [&mut shift.mean, &mut shift.log_sd]);
    for estimate in [&mut diagnostics.elbo, &mut diagnostics.log_normaliser].into_iter().chain(shifts) {
        *estimate = unbounded(*estimate);
    }
    let few_draws_dominate = diagnostics.pareto_k.is_some_and(is_endless);
    // Ratios of densities that cannot be compared have a tail without meaning.
    let comparable = diagnostics.elbo.mcse.is_finite();
    diagnostics.pareto_k = diagnostics.pareto_k.filter(|_| comparable && !few_draws_dominate);
    (diagnostics, few_draws_dominate)
}

/// The estimate with infinity where files have the largest number.
pub(crate) fn unbounded(Estimate { value, mcse }: Estimate) -> Estimate {
    let endless = |x: f64| if x.abs() >= f64::MAX { f64::INFINITY.copysign(x) } else { x };
    Estimate { value: endless(value), mcse: endless(mcse) }
}

/// Whether this k̂ stands for infinity.
pub(crate) fn is_endless(k: f64) -> bool {
    k >= 99.0
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use elinvar::run::journal::Folder;

    use super::*;
    use crate::settings::Settings;

    fn analysis(diagnostic_draws: usize) -> (Job, Analysis) {
        let mut settings = Settings { diagnostic_draws: Some(diagnostic_draws), ..Settings::default() };
        settings.set_example();
        let job = Job::new(&settings).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let journal = Folder::new(folder.path()).unwrap();
        let analysis = job.fit(&mut |_| ControlFlow::Continue(()), &journal).unwrap();
        (job, analysis)
    }

    #[test]
    fn the_verdict_of_a_ladder_is_kept_where_it_rests_on_enough_draws() {
        let (job, few) = analysis(4_096);
        let kept = few.posterior.rungs().iter().find(|rung| rung.kept).unwrap();
        assert_eq!(kept.elbo, few.diagnostics.elbo);
        assert!(few.is_of_ladder() && few.page(&job).contains(" of these for the verdict\n"));
        // The draws of the verdict, made again: they say the same.
        let content = few.content(&job, String::new()).unwrap();
        let again = few.posterior.importance_widened(job.target(), few.diagnostics.n_draws, few.posterior.plan().seed);
        assert_eq!(again.unwrap().diagnostics.elbo, few.diagnostics.elbo);
        assert_eq!(content.headline.n_draws, few.diagnostics.n_draws as u64);

        // More draws are added to those of the ladder, and say what as many fresh ones with its seed say.
        let (job, many) = analysis(100_000);
        assert!(many.diagnostics.n_draws == 100_000 && !many.is_of_ladder());
        assert!(many.page(&job).contains(" more for the verdict\n"));
        let mut afresh = many.posterior.clone();
        afresh.judge(job.target(), 100_000, many.posterior.plan().seed).unwrap();
        let mut afresh = afresh.diagnostics().unwrap().clone();
        assert_eq!(afresh.counts.log_density - many.diagnostics.counts.log_density, 2 * 4_096);
        afresh.counts = many.diagnostics.counts;
        assert_eq!(many.posterior.diagnostics(), Some(&afresh));
    }
}
