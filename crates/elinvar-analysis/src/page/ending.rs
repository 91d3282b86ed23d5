//! How a fit ended, as a sentence.

use elinvar::Posterior;
use elinvar::run::StopReason;

use crate::number::{decimals, fixed, grouped, significant, with_error};

/// How a fit ended.
pub(crate) struct Ending {
    reason: StopReason,
    n_steps: usize,
    n_rungs: usize,
    /// Whether the last step that was allowed was taken.
    at_limit: bool,
    remaining: Option<(f64, f64)>,
}

impl Ending {
    pub(crate) fn of(posterior: &Posterior) -> Self {
        Self {
            reason: posterior.stop_reason(),
            n_steps: posterior.trace().len(),
            n_rungs: posterior.rungs().len(),
            at_limit: posterior.trace().last().is_some_and(|step| step.index + 1 >= posterior.plan().stop.max_steps),
            remaining: remaining(posterior),
        }
    }

    pub(crate) fn sentence(&self, tolerance: f64) -> String {
        let left = self.remaining.map_or(String::new(), left_to_gain);
        let steps = match (self.n_steps, self.n_rungs) {
            (1, _) => "1 step".into(),
            (n, 0 | 1) => format!("{} steps", grouped(n as u64)),
            (n, rungs) => format!("{} steps of {rungs} families", grouped(n as u64)),
        };
        match self.reason {
            StopReason::Converged if self.at_limit => {
                format!(
                    "at the limit of steps, after {steps}, with less than {} nats left to gain",
                    significant(tolerance)
                )
            }
            StopReason::Converged => {
                format!("converged after {steps}: less than {} nats are left to gain", significant(tolerance))
            }
            reason @ StopReason::LeftToChains => format!("after {steps}: {}", reason.sentence()),
            // Elsewhere nothing more could be gained from where the fit was, or nobody knows.
            reason @ (StopReason::MaxSteps | StopReason::Stagnated) => {
                format!("not converged after {steps}: {}{left}", reason.sentence())
            }
            reason => format!("not converged after {steps}: {}", reason.sentence()),
        }
    }
}

fn left_to_gain((gain, error): (f64, f64)) -> String {
    if is_noise((gain, error)) {
        let decimals = decimals(error).saturating_sub(1).max(2);
        return format!("; what is left to gain is hidden by noise (± {} nats)", fixed(error, decimals));
    }
    format!(", with {} nats left to gain", with_error(gain, error))
}

/// Whether an estimated gain cannot be told from none.
pub(crate) fn is_noise((gain, error): (f64, f64)) -> bool {
    gain < 2.0 * error || gain < 0.0
}

/// The last estimate of what is left to gain, with its error; not known if the last steps were those of a family that
/// was not kept.
pub(crate) fn remaining(posterior: &Posterior) -> Option<(f64, f64)> {
    let is_of_the_kept = posterior.rungs().last().is_none_or(|rung| rung.kept);
    posterior.trace().last().filter(|_| is_of_the_kept).and_then(|step| step.remaining)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_never_negative() {
        assert_eq!(left_to_gain((-0.3, 0.01)), "; what is left to gain is hidden by noise (± 0.010 nats)");
        assert_eq!(left_to_gain((0.3, 0.25)), "; what is left to gain is hidden by noise (± 0.25 nats)");
        assert_eq!(left_to_gain((0.3, 0.01)), ", with 0.300 ± 0.010 nats left to gain");
    }

    #[test]
    fn every_ending_has_a_sentence() {
        let ending =
            |reason, n_rungs| Ending { reason, n_steps: 1200, n_rungs, at_limit: false, remaining: Some((0.3, 0.01)) };
        let said = |reason| ending(reason, 0).sentence(0.01);
        assert_eq!(said(StopReason::Converged), "converged after 1,200 steps: less than 0.01 nats are left to gain");
        let at_limit = Ending { at_limit: true, ..ending(StopReason::Converged, 0) }.sentence(0.01);
        assert_eq!(at_limit, "at the limit of steps, after 1,200 steps, with less than 0.01 nats left to gain");
        assert_eq!(
            said(StopReason::Stagnated),
            "not converged after 1,200 steps: the bound was no longer rising, and more draws did not help, with \
             0.300 ± 0.010 nats left to gain"
        );
        assert!(
            said(StopReason::Diverged).starts_with("not converged after 1,200 steps: the approximation became wider")
        );
        let of_three = ending(StopReason::MaxSteps, 3).sentence(0.01);
        assert!(
            of_three.starts_with("not converged after 1,200 steps of 3 families: the limit of steps was reached, with")
        );
        for reason in
            [StopReason::MaxEvaluations, StopReason::MaxSeconds, StopReason::BadEvaluations, StopReason::Stuck]
        {
            assert!(said(reason).starts_with("not converged after ") && !said(reason).contains(reason.name()));
        }
    }
}
