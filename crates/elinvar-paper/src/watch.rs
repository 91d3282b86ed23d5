//! A run that is looked at from time to time.

use std::ops::ControlFlow;
use std::time::Instant;

use elinvar::family::Approximation;
use elinvar::run::{Counts, Run};
use elinvar::target::Target;
use elinvar::{Error, Plan};

/// Where a run is when it is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Steps taken.
    pub(crate) steps: u64,
    /// Evaluations so far, reviews included.
    pub(crate) counts: Counts,
    /// Seconds of the run alone; looking costs nothing.
    pub(crate) seconds: f64,
}

/// What a look sees.
pub(crate) struct Seen {
    /// The present state.
    pub(crate) state: Approximation,
    /// The best average so far; the present state before the first review and in runs without reviews.
    pub(crate) best: Approximation,
}

/// Sees a run at a moment and may end it.
pub(crate) type Looker<'l> = &'l mut dyn FnMut(&Seen, Moment) -> Result<ControlFlow<()>, Error>;

/// How a run is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    /// A look after the first step, and whenever the steps have grown by this factor (1.2: some 13 looks per decade).
    pub(crate) growth: f64,
    /// Whether the run reviews itself, which is where its own averages and its reasons to stop come from.
    pub(crate) reviews: bool,
    /// At most this many steps.
    pub(crate) steps: u64,
}

/// The steps of a run. On a busy machine the sum of their seconds also holds the time of others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    /// Half of the steps took fewer seconds.
    pub(crate) median: f64,
    /// The seconds of a step when nothing else runs.
    pub(crate) fastest: f64,
    /// The share of steps that were shorter than asked for: a bound held them back, or where they led was no approximation.
    pub(crate) shortened: f64,
}

/// Runs from `start` and shows the start, the states in between and the last one to `look`, which may end the run.
pub(crate) fn watch(
    target: &dyn Target,
    start: &Approximation,
    plan: &Plan,
    watch: Watch,
    look: Looker<'_>,
) -> Result<Steps, Error> {
    let mut run = Run::new(target, start.clone(), plan)?;
    let (mut steps, mut seconds, mut each) = (0, 0.0, Vec::new());
    let mut shortened = 0.0;
    let mut next = 1.0f64;
    let mut show = |run: &Run<'_>, steps, seconds| {
        let seen = Seen { state: run.q().clone(), best: run.best().clone() };
        look(&seen, Moment { steps, counts: run.counts(), seconds })
    };
    if show(&run, 0, 0.0)?.is_break() {
        return Ok(Steps::default());
    }
    loop {
        let clock = Instant::now();
        let over = steps >= watch.steps || run.reason_to_stop().is_some();
        if !over {
            let step = run.step()?;
            shortened += f64::from(u8::from(step.taken < step.beta));
            steps += 1;
            if watch.reviews && run.review_is_due() {
                run.review()?;
            }
        }
        let spent = clock.elapsed().as_secs_f64();
        seconds += spent;
        // The last turn comes without a step.
        if !over {
            each.push(spent);
        }
        let is_due = over || steps as f64 >= next;
        let ended = is_due && show(&run, steps, seconds)?.is_break();
        if over || ended {
            each.sort_by(f64::total_cmp);
            let at = |rank: usize| each.get(rank).copied().unwrap_or(0.0);
            let shortened = shortened / each.len().max(1) as f64;
            return Ok(Steps { median: at(each.len() / 2), fastest: at(0), shortened });
        }
        if is_due {
            next = (steps as f64 * watch.growth).max(steps as f64 + 1.0).floor();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::Family;
    use elinvar::model::Banana;

    #[test]
    fn a_watched_run_is_the_run_and_can_be_ended() {
        let target = Banana::default();
        let plan = Plan::default();
        let start = elinvar::run::start(&target, Family::gaussian(), &plan).unwrap().approximation;
        let mut steps = Vec::new();
        let settings = Watch { growth: 1.5, reviews: false, steps: 10 };
        watch(&target, &start, &plan, settings, &mut |_, moment| {
            steps.push(moment.steps);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(steps, [0, 1, 2, 3, 4, 6, 9, 10]);
        let mut looks = 0;
        watch(&target, &start, &plan, settings, &mut |_, moment| {
            looks += 1;
            Ok(if moment.steps < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })
        .unwrap();
        assert_eq!(looks, 3);
    }
}
