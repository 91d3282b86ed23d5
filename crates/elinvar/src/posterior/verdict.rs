//! Whether to trust a fit, and the rule that decides it.
//!
//! A fit is trusted when everything that can be seen says that its means and standard deviations are right. What can be
//! seen are the ratios of p to the density that made the draws: they tell how means and standard deviations would move
//! if the draws were drawn from p, with a Monte Carlo error. Draws of q alone cannot show what p has where q has
//! nothing, so half of the draws come from wider laws ([`WideDraws`](super::WideDraws)); for mass that lies farther
//! still, the searches for modes and the restarts ([`Agreement`]) stand in.
//!
//! Why k̂ is not the rule. k̂ asks whether importance sampling corrects what is left, not whether much is left to
//! correct: of 147 fits with right moments 43 had k̂ above 0.7, up to 1.9, since the tail of nearly equal ratios has
//! any shape; and Gaussian fits of Student-t laws with 4 or 2.2 degrees of freedom, or a mixture fitted to a Cauchy law
//! (0.17), had k̂ below it. It is told, and it steers the ladder, but the shifts decide. `docs/trust.md` has the
//! table of fits with known moments.

use serde::{Deserialize, Serialize};

use super::{Agreement, Diagnostics, Estimate, Scan, reason};
use crate::record::StopReason;
use crate::target::Fault;

/// The constants of the rule.
pub mod limits {
    /// A mean is right if it is within so many standard deviations.
    pub const MEAN: f64 = crate::plan::RIGHT_MEAN;
    /// A standard deviation is right if its logarithm is within log 1.15.
    pub const LOG_SD: f64 = 0.139_762;
    /// The 5 %, 50 % and 95 % quantiles of an answer have standard errors within so many standard deviations: what the
    /// other two limits come to at 1.645 standard deviations from the mean.
    pub const QUANTILE: f64 = 0.35;
    /// Estimates must stay within the limits by so many standard errors.
    pub const ERRORS: f64 = 2.0;
    /// Effective share of the draws from which standard deviations are believed. Where q is p it is a half or more (the
    /// other half are wide draws).
    pub const EFFECTIVE_SHARE: f64 = 0.1;
    /// Effective share of the draws from which means are believed.
    pub const EFFECTIVE_SHARE_MEANS: f64 = 0.02;
    /// Share of the second moment of a parameter that one draw may have; above it a transformed parameter is not
    /// judged, because its moments may not exist (the beta-binomial's K has a tail of K⁻²), but its coordinate of z is.
    pub const LARGEST_DRAW: f64 = 0.05;
    /// Fewer effective draws have no moments to speak of.
    pub const EFFECTIVE_DRAWS: f64 = 100.0;
    /// Draws are added up to this multiple of those asked for while noise decides.
    pub const DRAWS_GROWTH: usize = 16;
    /// Share of draws at which log p may fail to be finite.
    pub const DROPPED: f64 = 0.01;
    /// Share of draws at which log p may be NaN; at none may it be +∞.
    pub const UNDEFINED: f64 = 1e-3;
    /// log p − log Z − log q at a mode that q does not cover, in nats above that of the mode it covers best.
    pub const MISSED_MODE_NATS: f64 = 5.0;
    /// Share of the mass that a missed mode may have.
    pub const MISSED_MODE_MASS: f64 = 0.01;
    /// Restarts agree if their bounds are so close, in nats, three standard errors aside.
    pub const AGREEING_NATS: f64 = 0.1;
    /// Of three restarts or more, a second one must come so close to the best, in nats, three standard errors aside.
    pub const LONELY_NATS: f64 = 1.0;
}

/// How far a fit can be trusted: [`Posterior::verdict`](crate::Posterior::verdict); the reason is in a [`Judgement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every mean is within 0.1 standard deviations and every standard deviation within 15 %, as far as can be seen.
    Trust,
    /// The means are, the standard deviations are not.
    TrustMeansOnly,
    /// Neither can be relied on.
    DoNotTrust,
}

impl Verdict {
    /// The word for it in files and output.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Trust => "trust",
            Verdict::TrustMeansOnly => "trust_means_only",
            Verdict::DoNotTrust => "do_not_trust",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A verdict with its reason, one sentence when it is printed: [`Posterior::judgement`](crate::Posterior::judgement).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why: what decided, and then all numbers, as two sentences.
    pub reason: String,
}

impl std::fmt::Display for Judgement {
    /// The verdict and its reason: "trust: Converged, …".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.verdict, self.reason)
    }
}

/// Everything a verdict rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    /// What fresh draws said.
    pub diagnostics: &'a Diagnostics,
    /// Why the fit ended.
    pub stop_reason: StopReason,
    /// The last estimate of what was left to gain, in nats.
    pub remaining: Option<Estimate>,
    /// What several starts said.
    pub agreement: &'a Agreement,
    /// log q at the centre of every mode of the agreement, in order.
    pub log_q_at_modes: &'a [f64],
    /// What is wrong with the target.
    pub fault: Option<&'a Fault>,
    /// Where other modes were looked for.
    pub scan: Option<&'a Scan>,
}

impl<'a> Evidence<'a> {
    /// What is wrong with the target, by the end of the fit or by the draws of the verdict.
    pub(super) fn fault(&self) -> Option<&'a Fault> {
        self.fault.or(self.diagnostics.fault.as_ref())
    }
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cause {
    /// Answers of the target contradict each other, or are no density's.
    Fault,
    NotConverged,
    Unbounded,
    Dropped,
    NotComparable,
    MissedMode {
        index: usize,
        mass: f64,
    },
    LonelyRestart,
    TooFewDraws,
    FewEffectiveDraws,
    /// The mean of this parameter may be wrong by so much, in standard deviations.
    Means {
        index: usize,
        shift: f64,
    },
    /// The logarithm of the standard deviation of this parameter may be wrong by so much.
    StandardDeviations {
        index: usize,
        change: f64,
    },
    FewForStandardDeviations,
    /// Weights give what the approximation has wrong, and are sharp.
    Weighed,
    Nothing,
}

pub(super) struct Assessment {
    pub(super) verdict: Verdict,
    pub(super) cause: Cause,
    /// Whether more draws may change the verdict.
    pub(super) undecided: bool,
}

/// An assessment with its reason in words.
pub(super) fn conclude(evidence: &Evidence<'_>, assessment: &Assessment) -> Judgement {
    Judgement { verdict: assessment.verdict, reason: reason::sentences(evidence, assessment) }
}

/// The verdict on an approximation: a function of the evidence and nothing else.
pub(super) fn assess(evidence: &Evidence<'_>) -> Assessment {
    let Evidence { diagnostics, agreement, .. } = *evidence;
    let refuse = |cause| Assessment { verdict: Verdict::DoNotTrust, cause, undecided: false };
    if evidence.fault().is_some() {
        return refuse(Cause::Fault);
    }
    if evidence.stop_reason != StopReason::Converged {
        return refuse(Cause::NotConverged);
    }
    if agreement.unbounded {
        return refuse(Cause::Unbounded);
    }
    if diagnostics.dropped_share() > limits::DROPPED {
        return refuse(Cause::Dropped);
    }
    if !(diagnostics.elbo.is_known() && diagnostics.log_normaliser.is_known()) {
        return refuse(Cause::NotComparable);
    }
    if let Some((index, mass)) = missed_mode(evidence) {
        return refuse(Cause::MissedMode { index, mass });
    }
    if agreement.restarts.len() >= 3 && agreeing(&agreement.restarts, limits::LONELY_NATS) < 2 {
        return refuse(Cause::LonelyRestart);
    }
    if diagnostics.pareto_k.is_none() {
        return refuse(Cause::TooFewDraws);
    }
    weigh_shifts(diagnostics)
}

/// The part of the rule that looks at the importance weights.
fn weigh_shifts(diagnostics: &Diagnostics) -> Assessment {
    let (mean, log_sd) = (worst(diagnostics, |shift| shift.0), worst(diagnostics, |shift| shift.1));
    let (effective, share) = diagnostics.effective_draws();
    let refuse = |cause, undecided| Assessment { verdict: Verdict::DoNotTrust, cause, undecided };
    let means_only = |cause, undecided| Assessment { verdict: Verdict::TrustMeansOnly, cause, undecided };
    if share < limits::EFFECTIVE_SHARE_MEANS {
        return refuse(Cause::FewEffectiveDraws, false);
    }
    if effective < limits::EFFECTIVE_DRAWS {
        return refuse(Cause::FewEffectiveDraws, mean.least <= limits::MEAN);
    }
    if mean.most > limits::MEAN {
        return refuse(Cause::Means { index: mean.index, shift: mean.most }, mean.least <= limits::MEAN);
    }
    if log_sd.most > limits::LOG_SD {
        let cause = Cause::StandardDeviations { index: log_sd.index, change: log_sd.most };
        return means_only(cause, log_sd.least <= limits::LOG_SD);
    }
    if share < limits::EFFECTIVE_SHARE {
        return means_only(Cause::FewForStandardDeviations, false);
    }
    Assessment { verdict: Verdict::Trust, cause: Cause::Nothing, undecided: false }
}

/// The largest size that a shift must have and that one may have, over all parameters that are judged, and which may
/// have it.
struct Bounds {
    least: f64,
    most: f64,
    index: usize,
}

fn worst(diagnostics: &Diagnostics, choose: impl Fn((Estimate, Estimate)) -> Estimate) -> Bounds {
    let mut bounds = Bounds { least: 0.0, most: 0.0, index: 0 };
    for (index, shift) in diagnostics.shifts.iter().enumerate().filter(|(_, shift)| shift.instead.is_none()) {
        // The smaller of the two standard deviations is the unit.
        let unit = (-shift.log_sd.value).clamp(0.0, 10.0).exp();
        let mean = Estimate { value: unit * shift.mean.value, mcse: unit * shift.mean.mcse };
        let Estimate { value, mcse } = choose((mean, shift.log_sd));
        bounds.least = bounds.least.max(value.abs() - limits::ERRORS * mcse);
        let most = value.abs() + limits::ERRORS * mcse;
        if most > bounds.most {
            (bounds.most, bounds.index) = (most, index);
        }
    }
    bounds
}

/// How many restarts come as close to the best as `nats`, three standard errors aside; the best is one of them.
pub(super) fn agreeing(restarts: &[Estimate], nats: f64) -> usize {
    let Some(best) = restarts.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else { return 0 };
    restarts.iter().filter(|r| best.value - r.value <= nats + 3.0 * best.mcse.hypot(r.mcse)).count()
}

/// The mode of largest mass that q leaves out, with its share of the mass.
///
/// At a mode that q covers, log p − log Z − log q is small; it grows with the dimension where q is wider than the mode,
/// which is why the mode covered best is the measure, within d/2 nats. A mode of unknown mass counts as one of all
/// mass.
fn missed_mode(evidence: &Evidence<'_>) -> Option<(usize, f64)> {
    let modes = &evidence.agreement.modes;
    let log_z = evidence.diagnostics.log_normaliser.value;
    let excess: Vec<f64> =
        modes.iter().zip(evidence.log_q_at_modes).map(|(mode, log_q)| mode.log_p - log_z - log_q).collect();
    let dim = modes.first()?.centre.len();
    let covered = excess.iter().copied().fold(f64::INFINITY, f64::min).clamp(0.0, 0.5 * dim as f64);
    let missed = (0..excess.len()).filter(|i| excess[*i] > covered + limits::MISSED_MODE_NATS);
    // log Z is the mass that q has seen.
    let share = |i: usize| modes[i].log_mass.map_or(1.0, |log_mass| 1.0 / (1.0 + (log_z - log_mass).exp()));
    missed.map(|i| (i, share(i))).filter(|m| m.1 > limits::MISSED_MODE_MASS).max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests;
