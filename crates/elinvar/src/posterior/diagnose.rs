//! How good the approximation is, from fresh draws: ELBO, importance ratios, k̂.

use serde::{Deserialize, Serialize};

use super::correction::{self, cannot_be_corrected};
use super::verdict::{Assessment, Cause, assess, conclude};
use super::weighed::is_sharp;
use super::{
    Evidence, Importance, Judgement, Posterior, Shift, Verdict, Weighed, WideDraws, Widened, limits,
    pareto_k_threshold, shift,
};
use crate::Error;
use crate::evaluate::{Evaluator, Interrupt};
use crate::plan::Correct;
use crate::random::Purpose;
use crate::record::{Counts, Estimate};
use crate::target::fault::shown;
use crate::target::{About, DrawBuffer, Fault, Target};

/// What fresh draws say about a fit: [`Posterior::diagnose`], and [`Posterior::diagnostics`] after a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Number of draws.
    pub n_draws: usize,
    /// Draws at which log p was not finite; they count as draws of importance zero and are left out of the ELBO.
    pub dropped: usize,
    /// The evidence lower bound.
    pub elbo: Estimate,
    /// Importance-sampling estimate of the log normaliser: with the ELBO, a bracket where k̂ is good.
    pub log_normaliser: Estimate,
    /// Pareto k̂ of the importance ratios; `None` where the draws are too few to say.
    pub pareto_k: Option<f64>,
    /// Above this k̂, importance sampling with this many draws is not to be trusted.
    pub pareto_k_threshold: f64,
    /// Effective number of draws after Pareto smoothing.
    pub effective_sample_size: f64,
    /// What importance weights do to the mean and the standard deviation of every parameter: the smoothed weights of
    /// the draws of q or, where there are wide draws, the weights of all.
    #[serde(default)]
    pub shifts: Vec<Shift>,
    /// The wide draws of a verdict; everything else but the shifts and the counts is of draws of q alone.
    #[serde(default)]
    pub wide: Option<WideDraws>,
    /// What was wrong with the log density at the draws: +∞ or NaN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Evaluations that these diagnostics took, beyond those that were known ([`Posterior::judge_further`]); they are
    /// not among those of the fit, unless it is a ladder that judged.
    #[serde(default)]
    pub counts: Counts,
}

impl Diagnostics {
    /// log normaliser − ELBO, an estimate of KL(q‖p): too low where k̂ is above its threshold.
    ///
    /// Its error is at most the sum of the two, which come from the same draws.
    pub fn gap(&self) -> Estimate {
        let (upper, lower) = (self.log_normaliser, self.elbo);
        Estimate::new(upper.value - lower.value, upper.mcse + lower.mcse)
    }

    /// Share of the draws at which log p was not finite.
    pub fn dropped_share(&self) -> f64 {
        self.dropped as f64 / self.n_draws.max(1) as f64
    }

    /// The effective number of draws behind the shifts, and its share of them.
    pub fn effective_draws(&self) -> (f64, f64) {
        let (effective, n) = match self.wide {
            Some(wide) => (wide.effective_sample_size, self.n_draws + wide.n_draws),
            None => (self.effective_sample_size, self.n_draws),
        };
        (effective, effective / n.max(1) as f64)
    }

    /// The parameter whose mean moves most, of those that are judged.
    pub fn worst_mean(&self) -> Option<&Shift> {
        self.judged().max_by(|a, b| a.mean.value.abs().total_cmp(&b.mean.value.abs()))
    }

    /// The parameter whose standard deviation changes most, of those that are judged.
    pub fn worst_sd(&self) -> Option<&Shift> {
        self.judged().max_by(|a, b| a.log_sd.value.abs().total_cmp(&b.log_sd.value.abs()))
    }

    fn judged(&self) -> impl Iterator<Item = &Shift> {
        self.shifts.iter().filter(|shift| shift.instead.is_none())
    }
}

/// Draws with their log densities and normalised, Pareto-smoothed log importance weights.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WeightedDraws {
    /// The draws of z.
    pub draws: DrawBuffer,
    /// log p, the declared prior included.
    pub log_p: Vec<f64>,
    /// log q.
    pub log_q: Vec<f64>,
    /// Logarithms of weights that sum to one.
    pub log_weights: Vec<f64>,
    /// What they say.
    pub diagnostics: Diagnostics,
    /// With the wide draws of a verdict, where there are any.
    pub widened: Option<Widened>,
}

/// log p at the draws that the last verdict rests on. The draws are made again from the seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    pub(super) seed: u64,
    /// At the draws of q, and at the wide ones.
    pub(super) log_p: Vec<f64>,
    pub(super) wide: Vec<f64>,
}

/// A verdict, the draws that it rests on, and what they say of the approximation alone.
struct Judged {
    judgement: Judgement,
    weighted: WeightedDraws,
    of_approximation: Assessment,
}

impl Posterior {
    /// Draws `n` times, evaluates the target and smooths the importance ratios.
    ///
    /// # Errors
    /// The target's own error; [`Error::Domain`] if log p is finite at no draw.
    pub fn importance(&self, target: &dyn Target, n: usize, seed: u64) -> Result<WeightedDraws, Error> {
        self.importance_by(&mut Evaluator::new(target, None), n, seed, &[])
    }

    /// [`Posterior::importance`] by one who may be interrupted; log p at the first draws may be `known`.
    pub(crate) fn importance_by(
        &self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        seed: u64,
        known: &[f64],
    ) -> Result<WeightedDraws, Error> {
        let (d, before) = (self.dim(), evaluator.counts());
        if evaluator.dim() != d {
            return Err(Error::Shape { what: "dimension of the target", expected: d, found: evaluator.dim() });
        }
        if n < 2 {
            let reason = "a standard error needs at least two draws";
            return Err(Error::Domain { parameter: "number of draws", value: n as f64, reason });
        }
        let (draws, log_q) = self.draw(n, seed, Purpose::Diagnostics);
        let log_p = evaluator.values_beyond(known, &draws)?;
        let seen = Importance::of(&log_p, &log_q, &[1.0])?;
        let names = (self.transforms(), self.names_z(), self.names());
        let log_weights = seen.smoothed.log_weights.clone();
        let weights: Vec<f64> = log_weights.iter().map(|w| w.exp()).collect();
        let diagnostics = Diagnostics {
            n_draws: n,
            dropped: n - seen.n_kept,
            elbo: seen.elbo,
            log_normaliser: seen.log_normaliser,
            pareto_k: seen.pareto_k(),
            pareto_k_threshold: pareto_k_threshold(n),
            effective_sample_size: seen.smoothed.effective_sample_size,
            shifts: shift::shifts(names, &draws, &weights, &vec![1.0 / n as f64; n]),
            wide: None,
            fault: not_finite(&log_p, &draws, limits::UNDEFINED),
            counts: evaluator.counts().since(before),
        };
        Ok(WeightedDraws { draws, log_p, log_q, log_weights, diagnostics, widened: None })
    }

    /// ELBO, k̂ and what importance weights say about normaliser, means and standard deviations, from `n` fresh draws;
    /// kept with the fit.
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub fn diagnose(&mut self, target: &dyn Target, n: usize, seed: u64) -> Result<Diagnostics, Error> {
        let diagnostics = self.importance(target, n, seed)?.diagnostics;
        self.record.diagnostics = Some(diagnostics.clone());
        self.record.judgement = self.corrected().map(|corrected| correction::judge(corrected, self.scan()));
        self.record.weighed = None;
        Ok(diagnostics)
    }

    /// [`Posterior::diagnose`] and a verdict, both kept with the fit. Where the fit was corrected
    /// ([`Posterior::correct`]), the verdict is that on the correction.
    ///
    /// To the `n` draws of q come as many from two wider laws around it ([`WideDraws`]): shifts seen from inside q
    /// alone miss what lies outside. Both are made four times as many, twice at most, while their noise is what
    /// decides, by adding to those that there are; the evaluations of all are in the counts of the diagnostics.
    ///
    /// ```
    /// use elinvar::model::Banana;
    /// use elinvar::Verdict;
    /// use elinvar::{Family, Plan};
    ///
    /// let target = Banana::default();
    /// let mut posterior = elinvar::Fit::new(&target).family(Family::gaussian()).run()?;
    /// let judgement = posterior.judge(&target, 10_000, 1)?;
    /// assert_eq!(judgement.verdict, Verdict::DoNotTrust);
    /// println!("{}: {}", judgement.verdict, judgement.reason);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub fn judge(&mut self, target: &dyn Target, n: usize, seed: u64) -> Result<Judgement, Error> {
        Ok(self.judge_with_draws(target, n, seed)?.0)
    }

    /// [`Posterior::importance`] with the wide draws of a verdict: what [`Posterior::judge`] looks at, without making
    /// `n` larger.
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub fn importance_widened(&self, target: &dyn Target, n: usize, seed: u64) -> Result<WeightedDraws, Error> {
        let looked = Looked { seed, ..Looked::default() };
        Ok(self.look(&mut Evaluator::new(target, None), n, looked)?.0)
    }

    /// The draws of q and the wide ones, beyond those that were looked at before.
    fn look(
        &self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        Looked { seed, log_p, wide }: Looked,
    ) -> Result<(WeightedDraws, Looked), Error> {
        let mut weighted = self.importance_by(evaluator, n, seed, &log_p)?;
        let wide = self.look_wider(evaluator, seed, &wide, &mut weighted)?;
        let looked = Looked { seed, log_p: weighted.log_p.clone(), wide };
        Ok((weighted, looked))
    }

    /// [`Posterior::judge`] and the draws that the verdict rests on.
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    #[doc(hidden)]
    pub fn judge_with_draws(
        &mut self,
        target: &dyn Target,
        n: usize,
        seed: u64,
    ) -> Result<(Judgement, WeightedDraws), Error> {
        self.judge_by(&mut Evaluator::new(target, None), n, seed)
    }

    /// [`Posterior::judge_with_draws`] on `n` draws, those of the last verdict among them: only the others are
    /// evaluated, and the counts of the diagnostics are of these alone. On the draws of the last verdict, if they are
    /// more; on draws from `seed`, if there was none since the fit was made or read.
    ///
    /// `target` must be the one of the last verdict.
    ///
    /// ```
    /// use elinvar::model::Banana;
    /// use elinvar::{Family, Plan};
    ///
    /// let target = Banana::default();
    /// // `auto` judges the families that it tries.
    /// let mut posterior = elinvar::Fit::new(&target).family(Family::auto()).run()?;
    /// let judged = posterior.diagnostics().unwrap().n_draws;
    /// posterior.judge_further(&target, 2 * judged, 1)?;
    /// assert_eq!(posterior.diagnostics().unwrap().counts.log_density, 2 * judged as u64);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub fn judge_further(
        &mut self,
        target: &dyn Target,
        n: usize,
        seed: u64,
    ) -> Result<(Judgement, WeightedDraws), Error> {
        self.judge_further_by(&mut Evaluator::new(target, None), n, seed)
    }

    /// [`Posterior::judge_further`], which `interrupt` may end before any batch of draws.
    ///
    /// # Errors
    /// As [`Posterior::judge_further`]; [`Error::Interrupted`].
    #[doc(hidden)]
    pub fn judge_further_interruptibly(
        &mut self,
        target: &dyn Target,
        n: usize,
        seed: u64,
        interrupt: &dyn Interrupt,
    ) -> Result<(Judgement, WeightedDraws), Error> {
        self.judge_further_by(&mut Evaluator::new(target, Some(interrupt)), n, seed)
    }

    fn judge_further_by(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        seed: u64,
    ) -> Result<(Judgement, WeightedDraws), Error> {
        let looked = self.looked.take().unwrap_or(Looked { seed, ..Looked::default() });
        let judged = self.judge_beyond(evaluator, n.max(looked.log_p.len()), looked, limits::DRAWS_GROWTH)?;
        Ok((judged.judgement, judged.weighted))
    }

    /// What weights give where it is the answer: the approximation is confirmed by them; or it is not, they are sharp
    /// all the same, and chains, which see more, cannot be run.
    fn weigh_where_it_helps(
        &self,
        about: &About,
        weighted: &WeightedDraws,
        assessment: &Assessment,
    ) -> Option<Weighed> {
        let is_confirmed = assessment.verdict == Verdict::Trust;
        let is_about_shifts = matches!(assessment.cause, Cause::Means { .. } | Cause::StandardDeviations { .. })
            && cannot_be_corrected(about).is_some();
        if self.corrected().is_some() || self.plan().correct == Correct::Never || !(is_confirmed || is_about_shifts) {
            return None;
        }
        Some(self.weigh(weighted)).filter(|weighed| is_confirmed || is_sharp(&weighted.diagnostics, weighed))
    }

    /// Whether weights on `n` draws confirm the approximation, not only what they give; and whether they are so far
    /// from it that no number of draws would.
    pub(super) fn confirm(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        looked: Looked,
    ) -> Result<(bool, bool), Error> {
        let Assessment { verdict, undecided, .. } = self.judge_beyond(evaluator, n, looked, 1)?.of_approximation;
        Ok((verdict == Verdict::Trust, verdict != Verdict::Trust && !undecided))
    }

    /// [`Posterior::judge_with_draws`] by one who may be interrupted.
    pub(crate) fn judge_by(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        seed: u64,
    ) -> Result<(Judgement, WeightedDraws), Error> {
        let judged = self.judge_beyond(evaluator, n, Looked { seed, ..Looked::default() }, limits::DRAWS_GROWTH)?;
        Ok((judged.judgement, judged.weighted))
    }

    fn log_density_at_modes(&self) -> Vec<f64> {
        self.agreement().modes.iter().map(|mode| self.log_density_z(&mode.centre)).collect()
    }

    /// A verdict on `n` draws, those that were looked at among them, and on up to `growth` times as many while noise
    /// decides.
    fn judge_beyond(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        mut looked: Looked,
        growth: usize,
    ) -> Result<Judged, Error> {
        /// Draws of q times dimension beyond which none are added: 256 MiB, and as much for the wide ones.
        const MOST_NUMBERS: usize = 1 << 25;
        if let Some(mode) = self.agreement().modes.iter().find(|mode| mode.centre.len() != self.dim()) {
            let (expected, found) = (self.dim(), mode.centre.len());
            return Err(Error::Shape { what: "coordinates of a mode", expected, found });
        }
        let mut log_q = self.log_density_at_modes();
        let before = evaluator.counts();
        let (mut n_draws, mut has_looked_around) = (n, self.scan().is_some());
        loop {
            let mut weighted;
            (weighted, looked) = self.look(evaluator, n_draws, looked)?;
            let evidence = Evidence {
                diagnostics: &weighted.diagnostics,
                stop_reason: self.stop_reason(),
                remaining: self.record.remaining.map(|(value, error)| Estimate::new(value, error)),
                agreement: self.agreement(),
                log_q_at_modes: &log_q,
                fault: self.fault(),
                scan: self.scan(),
            };
            let more = 4 * n_draws;
            let of_approximation = assess(&evidence);
            if self.corrected().is_none()
                && of_approximation.undecided
                && more <= growth * n
                && more.saturating_mul(self.dim()) <= MOST_NUMBERS
            {
                n_draws = more;
                continue;
            }
            // What is given is judged: the answer of chains or of weights, where there is one.
            let weighed = self.weigh_where_it_helps(evaluator.about(), &weighted, &of_approximation);
            let is_trusted = of_approximation.verdict == Verdict::Trust || weighed.is_some();
            if is_trusted && !has_looked_around && self.corrected().is_none() {
                self.look_around_weights(evaluator, looked.seed)?;
                log_q = self.log_density_at_modes();
                has_looked_around = true;
                continue;
            }
            let judgement = match (self.corrected(), &weighed) {
                (Some(corrected), _) => correction::judge(corrected, self.scan()),
                (None, Some(_)) if of_approximation.verdict != Verdict::Trust => {
                    let assessment = Assessment { verdict: Verdict::Trust, cause: Cause::Weighed, undecided: false };
                    conclude(&evidence, &assessment)
                }
                _ => conclude(&evidence, &of_approximation),
            };
            self.record.weighed = weighed;
            weighted.diagnostics.counts = evaluator.counts().since(before);
            self.record.diagnostics = Some(weighted.diagnostics.clone());
            self.record.judgement = Some(judgement.clone());
            self.looked = Some(looked);
            return Ok(Judged { judgement, weighted, of_approximation });
        }
    }
}

/// What is wrong with log p at draws, if anything is: +∞ at one of them, or NaN at more than `share` of them.
pub(super) fn not_finite(log_p: &[f64], draws: &DrawBuffer, share: f64) -> Option<Fault> {
    let infinite = log_p.iter().filter(|l| **l == f64::INFINITY).count() as u64;
    let undefined = log_p.iter().filter(|l| l.is_nan()).count() as u64;
    let of = log_p.len() as u64;
    let found = if infinite > 0 {
        log_p.iter().position(|l| *l == f64::INFINITY)
    } else if undefined as f64 > share * of as f64 {
        log_p.iter().position(|l| l.is_nan())
    } else {
        None
    };
    found.map(|s| Fault::NotFinite { infinite, undefined, of, point: shown(draws.get(s)) })
}
