//! The correction of a fit by chains on the target, and the verdict on what they found.

use super::answer::unsharp_quantile;
use super::reason::{beginning, grouped, looked_around};
use super::{Judgement, Looked, Posterior, Scan, Verdict, bridge, by_modes, limits};
use crate::Error;
use crate::chains::{self, Corrected, CorrectedMode, CorrectedNumber, Correction, Doubt, Round, SlowChains};
use crate::evaluate::{Evaluator, Interrupt};
use crate::random::Purpose;
use crate::record::Estimate;
use crate::target::{About, Support, Target};
use crate::tuning::answers;

impl Posterior {
    /// Runs short chains on the target in the coordinates of this approximation, until the standard errors of their
    /// means and standard deviations suffice or the budget ends, and keeps what they found with the fit; the verdict is
    /// then that on them.
    ///
    /// Gradients are all they need, and the number of coordinates matters little. Where a mixture has modes apart from
    /// each other they run on each of these, which are then weighed by their evidence; otherwise they start from its
    /// mean and covariance.
    ///
    /// ```
    /// use elinvar::research::chains::Correction;
    /// use elinvar::model::Banana;
    /// use elinvar::{Family, Plan};
    ///
    /// let target = Banana::default();
    /// let mut posterior = elinvar::Fit::new(&target).family(Family::gaussian()).run()?;
    /// let corrected = posterior.correct(&target, &Correction::default())?;
    /// let sd = corrected.parameters[1].sd;
    /// println!("{} ± {}, {:?}", sd.value, sd.mcse, corrected.doubts);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a target without gradients or with edges, [`Error::Domain`] for settings that make no
    /// sense, [`Error::Shape`] for a target of another dimension, and the target's own error.
    pub fn correct(&mut self, target: &dyn Target, settings: &Correction) -> Result<&Corrected, Error> {
        self.correct_by(&mut Evaluator::new(target, None), settings, SlowChains::GoOn, &|_| ())
    }

    /// [`Posterior::correct`] that can be interrupted, and that shows every round of the chains to `watch`.
    ///
    /// # Errors
    /// As [`Posterior::correct`]; [`Error::Interrupted`].
    #[doc(hidden)]
    pub fn correct_watched(
        &mut self,
        target: &dyn Target,
        settings: &Correction,
        interrupt: &dyn Interrupt,
        watch: &dyn Fn(&Round),
    ) -> Result<&Corrected, Error> {
        self.correct_by(&mut Evaluator::new(target, Some(interrupt)), settings, SlowChains::GoOn, watch)
    }

    /// [`Posterior::correct`] by one who may be interrupted; if slow chains are to end on several modes, these are then
    /// among [`Posterior::take_elsewhere`].
    pub(crate) fn correct_by(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        settings: &Correction,
        slow: SlowChains,
        watch: &dyn Fn(&Round),
    ) -> Result<&Corrected, Error> {
        if evaluator.dim() != self.dim() {
            let (expected, found) = (self.dim(), evaluator.dim());
            return Err(Error::Shape { what: "dimension of the target", expected, found });
        }
        if let Some(instead) = cannot_be_corrected(evaluator.about()) {
            return Err(Error::Unsupported { wanted: "a correction by chains".into(), instead: instead.into() });
        }
        let before = evaluator.counts();
        let covariance = self.approximation().covariance();
        let question = chains::Question {
            mean: self.approximation().mean(),
            covariance: &covariance,
            modes: &self.agreement().modes,
            unbounded: self.agreement().unbounded && !self.agreement().emptying,
            names: self.names_z(),
            parameter_names: self.names(),
            transforms: self.transforms(),
            slow,
            watch,
        };
        let claims = chains::Limits {
            mean: limits::MEAN,
            log_sd: limits::LOG_SD,
            quantile: limits::QUANTILE,
            largest: limits::LARGEST_DRAW,
        };
        let by_modes = by_modes::correct(evaluator, self.approximation(), &question, settings, claims)?;
        let mut falls_off = false;
        let (mut corrected, log_evidence) = match by_modes {
            Some((answered, log_evidence)) => (answered.corrected, Ok(Some(log_evidence))),
            None => {
                let answered = chains::correct(evaluator, &question, settings, claims)?;
                let found = (&answered.corrected, &answered.log_p[..]);
                let log_evidence = match evaluator.is_interrupted() {
                    true => Err(Error::Interrupted),
                    false => self.bridge(evaluator, found, settings.seed),
                };
                falls_off = answered.falls_off;
                self.elsewhere = answered.modes;
                self.elsewhere
                    .retain(|mode| !self.record.agreement.modes.iter().any(|known| mode.is_at(&known.centre)));
                (answered.corrected, log_evidence)
            }
        };
        corrected.counts = evaluator.counts().since(before);
        if let Some(fault) = self.fault() {
            corrected.doubts.insert(0, Doubt::Fault(fault.clone()));
        }
        // Chains would be drawn to where there is mass; a spike that holds ever less has none to speak of.
        if self.agreement().unbounded && !self.agreement().emptying && !falls_off {
            corrected.doubts.push(Doubt::Unbounded);
        }
        let looked = log_evidence.and_then(|log_evidence| {
            self.record.log_evidence = log_evidence;
            if corrected.doubts.is_empty() {
                self.look_around_chains(evaluator, &mut corrected, log_evidence, settings.seed)?;
                corrected.counts = evaluator.counts().since(before);
            }
            Ok(())
        });
        match looked {
            Ok(()) => self.record.judgement = Some(judge(&corrected, self.scan())),
            Err(Error::Interrupted) => {
                // What chains have found stays with its errors, and nobody judges it.
                (self.record.judgement, self.record.weighed) = (None, None);
                self.record.corrected = Some(corrected);
                return Err(Error::Interrupted);
            }
            Err(error) => return Err(error),
        }
        self.record.weighed = None;
        Ok(self.record.corrected.insert(corrected))
    }

    /// The log evidence by a bridge between draws of q, those of the last verdict if there was one, and states of the
    /// chains.
    fn bridge(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        (corrected, at_states): (&Corrected, &[f64]),
        seed: u64,
    ) -> Result<Option<Estimate>, Error> {
        let most = answers::bridge_draws(evaluator.about());
        if self.looked.as_ref().is_none_or(|looked| looked.log_p.is_empty()) {
            let log_p = evaluator.values(&self.draw(most, seed, Purpose::Diagnostics).0)?;
            self.looked = Some(Looked { seed, log_p, wide: Vec::new() });
        }
        let Some(looked) = &self.looked else { return Ok(None) };
        let (_, log_q) = self.draw(looked.log_p.len(), looked.seed, Purpose::Diagnostics);
        let kept = most.min(corrected.n_states());
        let states = corrected.draws(kept);
        let of_q: Vec<f64> = looked.log_p.iter().zip(&log_q).map(|(p, q)| p - q).collect();
        let log_p = corrected.chosen(kept).map(|s| at_states[s]);
        let of_p: Vec<f64> = log_p.zip(states.view().iter()).map(|(p, z)| p - self.log_density_z(z)).collect();
        Ok(bridge::log_evidence(&of_q, &of_p, corrected.effective_states))
    }

    /// What [`Posterior::correct`] found, which is saved with the fit.
    pub fn corrected(&self) -> Option<&Corrected> {
        self.record.corrected.as_ref()
    }

    /// The modes of the posterior, the one with the largest share of the mass first, where chains have answered on each
    /// of several; none where there is one.
    pub fn modes(&self) -> Vec<&CorrectedMode> {
        let mut modes: Vec<_> = self.corrected().map_or(&[][..], |corrected| &corrected.modes).iter().collect();
        modes.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
        modes
    }

    /// Forgets what chains found, and the verdict on it.
    #[doc(hidden)]
    pub fn forget_correction(&mut self) {
        if self.record.corrected.take().is_some() {
            (self.record.judgement, self.record.log_evidence) = (None, None);
        }
    }
}

/// Why chains cannot run on a target, and what to do instead.
pub(super) fn cannot_be_corrected(about: &About) -> Option<&'static str> {
    if !about.offers.gradient {
        Some("chains need gradients; judge the fit by importance weights")
    } else if about.support != Support::Real {
        Some("chains move on the whole of ℝᵈ; transform the parameters, or judge the fit by importance weights")
    } else {
        None
    }
}

/// The verdict on what chains found: a function of it and of where other modes were looked for.
pub(super) fn judge(corrected: &Corrected, scan: Option<&Scan>) -> Judgement {
    let doubts = &corrected.doubts;
    let unsharp = unsharp_quantile(corrected.parameters.iter());
    let verdict = if doubts.is_empty() {
        if unsharp.is_some() { Verdict::TrustMeansOnly } else { Verdict::Trust }
    } else if doubts.iter().all(Doubt::spares_means) {
        Verdict::TrustMeansOnly
    } else {
        Verdict::DoNotTrust
    };
    let decided = match (verdict, doubts.first()) {
        (Verdict::TrustMeansOnly, None) => {
            let (name, size) = unsharp.unwrap_or_default();
            format!("means are sharp, but a quantile of {name} is known to {size:.2} standard deviations only")
        }
        (Verdict::Trust, _) | (_, None) => {
            "every mean is within 0.1 standard deviations and every standard deviation within 15 %, by the errors of \
             chains on the target"
                .to_string()
        }
        (Verdict::TrustMeansOnly, Some(doubt)) => format!("means are sharp, but {doubt}"),
        (_, Some(doubt)) => {
            let others: String = doubts[1..].iter().map(|doubt| format!("; {doubt}")).collect();
            format!("{doubt}{others}")
        }
    };
    let worst = |error: fn(&CorrectedNumber) -> f64| {
        let judged = corrected.coordinates.iter().chain(&corrected.parameters).filter(|number| number.judged);
        judged.map(error).fold(0.0, f64::max)
    };
    let numbers = format!(
        "{} chains of {} steps, {} gradients; largest standard errors: {:.3} sd of a mean, {:.1} % of an sd",
        corrected.chains,
        corrected.steps,
        grouped(corrected.counts.gradient as usize),
        worst(|number| number.mean.mcse / number.sd.value),
        100.0 * worst(|number| number.sd.mcse / number.sd.value),
    );
    let modes = match &corrected.modes[..] {
        [] => String::new(),
        modes => {
            let shares: Vec<String> = modes.iter().map(CorrectedMode::share_in_percent).collect();
            format!("; {} modes, with {} of the mass", modes.len(), shares.join(", "))
        }
    };
    let looked = scan.filter(|_| doubts.is_empty()).map_or_else(String::new, looked_around);
    Judgement { verdict, reason: format!("{}. {numbers}{modes}{looked}.", beginning(&decided)) }
}
