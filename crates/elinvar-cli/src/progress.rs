//! What the fit is doing, on stderr: one line that is overwritten on a terminal, a line every few seconds elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use elinvar::chains::Round;
use elinvar::run::{Step, Stop};
use elinvar_analysis::number::{grouped, with_error};

/// The line, and what it is computed from.
pub(crate) struct Progress {
    style: Style,
    limits: Stop,
    last: Option<Instant>,
    started: Instant,
    /// Evaluations and steps before this process.
    first: Option<(u64, u64)>,
    reviews: Reviews,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Silent,
    /// One line, overwritten.
    Bar,
    /// A new line each time.
    Lines,
}

/// The last two estimates of what is left to gain, with the seconds at which they were made.
#[derive(Clone, Copy, Debug, Default)]
struct Reviews {
    before: Option<(f64, f64)>,
    last: Option<(f64, f64)>,
}

impl Progress {
    const CLEAR_LINE: &str = "\r\x1b[K";

    /// Nothing yet; nothing at all if `quiet`.
    pub(crate) fn new(quiet: bool, limits: &Stop) -> Self {
        let style = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Style::Silent,
            (false, true) => Style::Bar,
            (false, false) => Style::Lines,
        };
        let started = Instant::now();
        Self { style, limits: *limits, last: None, started, first: None, reviews: Reviews::default() }
    }

    /// Shows the step if the last one was shown long enough ago.
    pub(crate) fn show(&mut self, step: &Step) {
        if self.style == Style::Silent {
            return;
        }
        let elapsed = self.started.elapsed();
        let (evaluations, steps) = *self.first.get_or_insert((step.counts.gradient, step.index));
        if let Some((gain, _)) = step.remaining {
            self.reviews.add(elapsed.as_secs_f64(), gain);
        }
        let period = if self.style == Style::Bar { Duration::from_millis(100) } else { Duration::from_secs(5) };
        if self.last.unwrap_or(self.started).elapsed() < period {
            return;
        }
        self.last = Some(Instant::now());
        let seconds = elapsed.as_secs_f64();
        let rate = (step.counts.gradient - evaluations) as f64 / seconds;
        let pace = (step.index - steps) as f64 / seconds;
        let left = time_left(step, &self.limits, self.reviews, seconds, rate, pace);
        let text = line(step, self.reviews.last.map(|(_, gain)| gain), rate, left);
        self.print(left.map(|left| seconds / (seconds + left)), &text);
    }

    /// Shows a round of chains, which are few and far between: a line for each where lines are not overwritten, once
    /// the fit has taken as long as a line is worth.
    pub(crate) fn show_chains(&mut self, round: &Round) {
        let period = if self.style == Style::Bar { Duration::from_millis(100) } else { Duration::from_secs(5) };
        if self.style == Style::Silent || self.last.unwrap_or(self.started).elapsed() < period {
            return;
        }
        self.last = Some(Instant::now());
        self.print(Some(round.gradients as f64 / round.max_gradients as f64), &chains_line(round));
    }

    fn print(&self, part: Option<f64>, text: &str) {
        // What cannot be shown is not worth an error.
        let _ = match self.style {
            // Without wrapping, so that there is one line to overwrite.
            Style::Bar => {
                let bar = part.map_or(String::new(), bar);
                write!(io::stderr(), "{}\x1b[?7l{bar}{text}\x1b[?7h", Self::CLEAR_LINE)
            }
            _ => writeln!(io::stderr(), "{text}"),
        };
    }

    /// Removes the line that is overwritten.
    pub(crate) fn clear(&self) {
        if self.last.is_some() && self.style == Style::Bar {
            let _ = write!(io::stderr(), "{}", Self::CLEAR_LINE);
        }
    }
}

impl Reviews {
    fn add(&mut self, seconds: f64, gain: f64) {
        self.before = self.last.replace((seconds, gain));
    }

    /// Seconds until so little is left to gain, if what is left goes on shrinking by the same factor in the same time.
    fn until(&self, tolerance: f64) -> Option<f64> {
        let ((t1, before), (t2, last)) = (self.before?, self.last?);
        if last <= tolerance {
            return Some(0.0);
        }
        let shrinks = before > last && last > 0.0 && tolerance > 0.0;
        shrinks.then(|| (t2 - t1) * (last / tolerance).ln() / (before / last).ln())
    }
}

/// Seconds to the end: of convergence if it is in sight, of a limit at the latest.
fn time_left(step: &Step, limits: &Stop, reviews: Reviews, seconds: f64, rate: f64, pace: f64) -> Option<f64> {
    let converged = reviews.until(limits.remaining_nats).zip(reviews.last).map(|(left, (at, _))| left - (seconds - at));
    let steps = limits.max_steps.saturating_sub(step.index + 1) as f64 / pace;
    let evaluations = limits.max_evaluations.saturating_sub(step.counts.gradient) as f64 / rate;
    let time = limits.max_seconds.map(|limit| limit - step.seconds);
    let ends = [converged, Some(steps), Some(evaluations), time].into_iter().flatten();
    ends.filter(|left| left.is_finite()).min_by(f64::total_cmp).map(|left| left.max(0.0))
}

fn line(step: &Step, remaining: Option<f64>, rate: f64, left: Option<f64>) -> String {
    let mut text = format!("step {}", grouped(step.index + 1));
    if let (Some(elbo), Some(error)) = (step.elbo, step.elbo_se) {
        text += &format!("   ELBO {}", with_error(elbo, error));
    }
    if let Some(gain) = remaining {
        let gain = gain.max(0.0);
        text += &if gain > 0.0 && gain < 1e-3 {
            format!("   remaining {gain:.0e} nats")
        } else {
            format!("   remaining {gain:.3} nats")
        };
    }
    if step.components > 1 {
        text += &format!("   {} components", step.components);
    }
    text += &format!("   {} evaluations/s", grouped(rate.round() as u64));
    if let Some(left) = left {
        text += &format!("   ETA {}", clock(left));
    }
    text
}

fn chains_line(round: &Round) -> String {
    format!(
        "chains   {} of at most {} gradients   means to {:.3} sd, sds to {:.1} %",
        grouped(round.gradients),
        grouped(round.max_gradients),
        round.mean_error,
        100.0 * round.sd_error
    )
}

/// Ten cells for a part of a whole.
fn bar(part: f64) -> String {
    const CELLS: usize = 10;
    let full = ((part * CELLS as f64) as usize).min(CELLS);
    format!("{}{} ", "█".repeat(full), "░".repeat(CELLS - full))
}

/// A time to come, which is not known to the second: `40 s`, `3 min`, `2.5 h`.
fn clock(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use elinvar::run::{Bound, Counts};

    use super::*;

    fn step() -> Step {
        Step {
            index: 99,
            elbo: Some(-34.3),
            elbo_se: Some(0.02),
            beta: 0.1,
            taken: 0.1,
            kl: None,
            remaining: None,
            dropped: 0,
            n_draws: 32,
            components: 1,
            bound: Bound::Elbo,
            counts: Counts { gradient: 12_800, ..Counts::default() },
            seconds: 0.1,
        }
    }

    #[test]
    fn the_line_has_what_is_known() {
        let mut step = step();
        assert_eq!(
            line(&step, Some(0.0123), 25_600.4, Some(100.0)),
            "step 100   ELBO -34.300 ± 0.020   remaining 0.012 nats   25,600 evaluations/s   ETA 2 min"
        );
        assert!(line(&step, Some(1.24e-5), 0.0, None).contains("   remaining 1e-5 nats   "));
        (step.elbo, step.components) = (None, 7);
        assert_eq!(line(&step, None, 0.0, None), "step 100   7 components   0 evaluations/s");
    }

    #[test]
    fn the_end_is_where_the_gain_or_a_limit_is_reached() {
        let limits = Stop { max_steps: 1_100, max_evaluations: u64::MAX, ..Stop::default() };
        let left = |reviews: Reviews| time_left(&step(), &limits, reviews, 10.0, 1e3, 10.0).unwrap();
        // 1000 steps at 10 a second.
        assert_eq!(left(Reviews::default()), 100.0);
        // A tenth every four seconds: from 0.1 at 9 s to 0.01 at 13 s.
        let mut reviews = Reviews::default();
        reviews.add(5.0, 1.0);
        reviews.add(9.0, 0.1);
        assert!((left(reviews) - 3.0).abs() < 1e-9, "{}", left(reviews));
        // What grows has no end in sight.
        reviews.add(9.5, 0.3);
        assert_eq!(left(reviews), 100.0);
        let soon = Stop { max_seconds: Some(5.1), ..limits };
        assert_eq!(time_left(&step(), &soon, reviews, 10.0, 1e3, 10.0), Some(5.0));
    }

    #[test]
    fn times_and_bars_are_short() {
        assert_eq!([clock(0.4), clock(89.0), clock(200.0), clock(9_000.0)], ["0 s", "89 s", "3 min", "2.5 h"]);
        assert_eq!([bar(0.0), bar(0.55), bar(1.0)], ["░░░░░░░░░░ ", "█████░░░░░ ", "██████████ "]);
    }
}
