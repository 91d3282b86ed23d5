//! One line on the terminal that follows the fit.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use elinvar::run::Step;

use crate::number::{grouped, with_error};

/// The line; shown only on a terminal.
pub(crate) struct Progress {
    is_shown: bool,
    last: Option<Instant>,
    started: Instant,
}

impl Progress {
    const PERIOD: Duration = Duration::from_millis(100);
    const CLEAR_LINE: &str = "\r\x1b[K";

    /// No line yet; none at all if `quiet` or if stderr is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        Self { is_shown: !quiet && io::stderr().is_terminal(), last: None, started: Instant::now() }
    }

    /// Overwrites the line, at most ten times a second.
    pub(crate) fn show(&mut self, step: &Step) {
        if !self.is_shown || self.last.unwrap_or(self.started).elapsed() < Self::PERIOD {
            return;
        }
        self.last = Some(Instant::now());
        // What cannot be shown is not worth an error.
        let _ = write!(io::stderr(), "{}{}", Self::CLEAR_LINE, line(step));
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if self.last.is_some() {
            let _ = write!(io::stderr(), "{}", Self::CLEAR_LINE);
        }
    }
}

fn line(step: &Step) -> String {
    let mut text = format!("step {}", grouped(step.index + 1));
    if let (Some(elbo), Some(error)) = (step.elbo, step.elbo_se) {
        text += &format!("   ELBO {}", with_error(elbo, error));
    }
    if let Some((gain, _)) = step.remaining {
        text += &format!("   remaining {:.3} nats", gain.max(0.0));
    }
    text + &format!("   evaluations {}", grouped(step.counts.gradient))
}

#[cfg(test)]
mod tests {
    use elinvar::run::Counts;

    use super::*;

    #[test]
    fn the_line_has_what_is_known() {
        let counts = Counts { gradient: 12_800, ..Counts::default() };
        let mut step = Step {
            index: 99,
            elbo: Some(-34.3),
            elbo_se: Some(0.02),
            beta: 0.1,
            taken: 0.1,
            remaining: Some((0.0123, 0.001)),
            dropped: 0,
            n_draws: 32,
            components: 1,
            counts,
            seconds: 0.1,
        };
        assert_eq!(line(&step), "step 100   ELBO -34.300 ± 0.020   remaining 0.012 nats   evaluations 12,800");
        (step.elbo, step.remaining) = (None, None);
        assert_eq!(line(&step), "step 100   evaluations 12,800");
    }
}
