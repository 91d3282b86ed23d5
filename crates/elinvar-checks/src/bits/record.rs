//! From a fit to its line.

use std::ops::ControlFlow;

use elinvar::family::Approximation;
use elinvar::run::{Counts, Step, fit_journaled, journal};
use elinvar::run::{fit, fit_from};
use elinvar::{Error, Posterior};
use serde_json::Value;

use super::cases::{Case, Way};
use super::line::Line;
use crate::families::label;

/// Draws of a judgement, before it makes them more.
const JUDGED: usize = 500;
/// Steps after which a fit is interrupted.
const PATIENCE: u64 = 17;

/// FNV-1a with 64 bits.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn whole(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    fn number(&mut self, value: f64) {
        self.whole(value.to_bits());
    }

    fn numbers(&mut self, values: &[f64]) {
        self.whole(values.len() as u64);
        values.iter().for_each(|value| self.number(*value));
    }

    fn maybe(&mut self, value: Option<f64>) {
        self.whole(u64::from(value.is_some()));
        self.number(value.unwrap_or_default());
    }

    fn text(&mut self, text: &str) {
        self.whole(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn counts(&mut self, counts: Counts) {
        [counts.log_density, counts.gradient, counts.hessian, counts.dropped].iter().for_each(|n| self.whole(*n));
    }

    /// Every leaf of plain data but the times.
    fn leaves(&mut self, value: &Value) {
        match value {
            Value::Null => self.whole(0),
            Value::Bool(flag) => self.whole(u64::from(*flag)),
            Value::Number(number) => match number.as_u64() {
                Some(whole) => self.whole(whole),
                None => self.maybe(number.as_f64()),
            },
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                self.whole(items.len() as u64);
                items.iter().for_each(|item| self.leaves(item));
            }
            Value::Object(entries) => {
                entries.iter().filter(|(name, _)| *name != "seconds").for_each(|(name, value)| {
                    self.text(name);
                    self.leaves(value);
                })
            }
        }
    }

    fn data(&mut self, data: &impl serde::Serialize) -> Result<(), String> {
        self.leaves(&serde_json::to_value(data).map_err(|problem| problem.to_string())?);
        Ok(())
    }

    fn digits(&self) -> String {
        format!("{:016x}", self.0)
    }
}

fn of_state(q: &Approximation) -> String {
    let mut hash = Hash::new();
    // The constants of the family are in its label to the last digit; the shape of a Student-t is learned.
    hash.text(&label(q.family()));
    hash.whole(q.dim() as u64);
    for (b, precision) in q.parts() {
        hash.numbers(&b);
        hash.numbers(&precision);
    }
    hash.numbers(q.weights().log());
    hash.digits()
}

fn of_trace(trace: &[Step]) -> String {
    let mut hash = Hash::new();
    for step in trace {
        hash.whole(step.index);
        hash.maybe(step.elbo);
        hash.maybe(step.elbo_se);
        hash.number(step.beta);
        hash.number(step.taken);
        hash.maybe(step.kl);
        hash.maybe(step.remaining.map(|(gain, _)| gain));
        hash.maybe(step.remaining.map(|(_, error)| error));
        hash.whole(step.dropped);
        hash.whole(step.n_draws as u64);
        hash.whole(step.components as u64);
        hash.counts(step.counts);
    }
    hash.digits()
}

/// What the searches, the restarts and the rungs of the ladder found, and the plan with every choice made.
fn of_findings(posterior: &Posterior) -> Result<String, String> {
    let mut hash = Hash::new();
    hash.data(posterior.agreement())?;
    hash.data(&posterior.rungs())?;
    hash.data(posterior.plan())?;
    Ok(hash.digits())
}

fn go_on(_: &Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The fit of a case, made in its way.
fn fitted(case: &Case) -> Result<Posterior, Error> {
    let target = (case.target)();
    let straight = || fit(&*target, case.family, &case.plan);
    match case.way {
        Way::Straight => straight(),
        Way::From => {
            let mut plan = case.plan.clone();
            plan.stop.max_steps = 5;
            let start = fit(&*target, case.family, &plan)?.approximation().clone();
            fit_from(&*target, start, &case.plan, &mut go_on)
        }
        Way::Interrupted => {
            let name = format!("elinvar-bits-{}-{}", std::process::id(), case.name.replace('/', "-"));
            let journal = journal::Folder::new(std::env::temp_dir().join(name))?;
            let resumed = loop {
                let mut seen = 0;
                let mut impatient = |_: &Step| {
                    seen += 1;
                    if seen < PATIENCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                match fit_journaled(&*target, case.family, &case.plan, &mut impatient, &journal) {
                    Err(Error::Interrupted) => {}
                    ended => break ended,
                }
            };
            // A folder that stays behind does no harm.
            let _ = std::fs::remove_dir_all(journal.path());
            resumed
        }
    }
}

/// The line of a case.
pub(super) fn line(case: &Case) -> Result<Line, String> {
    let told = |problem: Error| format!("{}: {problem}", case.name);
    let line = of_posterior(case, &mut fitted(case).map_err(told)?)?;
    if case.way == Way::Interrupted {
        let straight = fit(&*(case.target)(), case.family, &case.plan);
        let differing = of_posterior(case, &mut straight.map_err(told)?)?.differences(&line).join(", ");
        if !differing.is_empty() {
            return Err(format!("{}: resumed and uninterrupted fits differ in {differing}", case.name));
        }
    }
    Ok(line)
}

fn of_posterior(case: &Case, posterior: &mut Posterior) -> Result<Line, String> {
    let judgement =
        posterior.judge(&*(case.target)(), JUDGED, 1).map_err(|problem| format!("{}: {problem}", case.name))?;
    let diagnostics = posterior.diagnostics().ok_or("a judgement keeps its diagnostics")?;
    let mut judged = Hash::new();
    judged.text(&judgement.reason);
    judged.data(diagnostics)?;
    let counts = posterior.counts();
    let counts = [counts.log_density, counts.gradient, counts.hessian, counts.dropped].map(|n| n.to_string());
    let values = [
        format!("{:.16e}", diagnostics.elbo.value),
        of_state(posterior.approximation()),
        of_trace(posterior.trace()),
        of_findings(posterior)?,
        counts.join(","),
        posterior.trace().len().to_string(),
        posterior.stop_reason().name().to_string(),
        judgement.verdict.name().to_string(),
        judged.digits(),
    ];
    Ok(Line::new(&case.name, values))
}
