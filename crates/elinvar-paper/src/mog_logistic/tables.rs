//! The tables of the race and its page.

use super::race::{self, Look};
use super::runner::{ARMS, Arm};
use super::{Fitted, Race, Size};
use crate::Table;
use crate::findings::mean_and_sd;

/// Divergences at which evaluations are compared, in nats.
pub(super) const ACCURACIES: [f64; 4] = [10.0, 1.0, 0.3, 0.1];

/// Everything that is written down.
pub(super) struct Tables {
    fits: Table,
    race: Table,
    factors: Table,
    accuracies: Table,
    tries: Table,
    curves: Table,
    pub(super) idle: Option<Table>,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            fits: Table::new("default-plan", ["data", "K", "KL, mean", "sd over seeds", "gradients", "seconds"]),
            race: Table::new(
                "race",
                ["data", "K", "run", "setting", "final KL", "sd over seeds", "shortened steps", "left the domain"],
            ),
            factors: Table::new(
                "factors",
                ["data", "K", "black box", "over", "in iterations", "in evaluations", "in seconds"],
            ),
            accuracies: Table::new(
                "accuracies",
                ["data", "K", "KL", ARMS[0].name(), ARMS[1].name(), ARMS[2].name(), ARMS[3].name()],
            ),
            tries: Table::new("tries", ["data", "K", "run", "setting", "last KL", "left the domain at step"]),
            curves: Table::new(
                "curves",
                ["data", "K", "run", "iterations", "evaluations", "seconds", "KL", "lowest", "highest"],
            ),
            idle: None,
        }
    }
}

impl Tables {
    /// A default fit.
    pub(super) fn fitted(&mut self, data: &str, fit: &Fitted) {
        let ((kl, sd), mean) = (mean_and_sd(&fit.kls), |values: &[f64]| mean_and_sd(values).0);
        self.fits.push([
            data.into(),
            fit.components.to_string(),
            format!("{kl:.5}"),
            format!("{:.5}", sd.unwrap_or(0.0)),
            format!("{:.0}", mean(&fit.evaluations)),
            format!("{:.2}", mean(&fit.seconds)),
        ]);
    }

    /// A race.
    pub(super) fn raced(&mut self, data: &str, race: &Race) {
        let place = || [data.to_string(), race.components.to_string()];
        for raced in &race.arms {
            let [data, k] = place();
            let (kl, sd) = mean_and_sd(&raced.kls);
            let left: Vec<String> = raced.left.iter().map(|step| format!("at step {step}")).collect();
            self.race.push([
                data,
                k,
                raced.arm.name().into(),
                raced.runner.to_string(),
                if kl.is_nan() { "–".into() } else { format!("{kl:.4}") },
                sd.filter(|sd| sd.is_finite()).map_or("–".into(), |sd| format!("{sd:.4}")),
                format!("{:.0} %", 100.0 * raced.shortened),
                if left.is_empty() { "none".into() } else { left.join(", ") },
            ]);
        }
        for black_box in [Arm::WithHessian, Arm::Reparameterised] {
            for natural in [Arm::Elinvar, Arm::Printed] {
                let [data, k] = place();
                let factors = race.at_the_end_of(black_box, natural);
                let number = |of: fn(&Look) -> f64| match factors.ratio(of) {
                    0.0 => "not reached".into(),
                    ratio => format!("{ratio:.1}"),
                };
                let numbers = [number(|look| look.steps), number(|look| look.evaluations), number(|look| look.seconds)];
                let [iterations, evaluations, seconds] = numbers;
                let (black_box, natural) = (black_box.name().into(), natural.name().into());
                self.factors.push([data, k, black_box, natural, iterations, evaluations, seconds]);
            }
        }
        for kl in ACCURACIES {
            let [data, k] = place();
            let evaluations = |arm: Arm| {
                let look = race::first_within(&race.of(arm).curve, kl);
                look.map_or("–".to_string(), |look| format!("{:.0}", look.evaluations))
            };
            let [a, b, c, d] = ARMS.map(evaluations);
            self.accuracies.push([data, k, kl.to_string(), a, b, c, d]);
        }
        for each in &race.tries {
            let super::Runner::Tuned { arm, .. } = each.runner else { continue };
            let [data, k] = place();
            let left = each.left.map_or("–".to_string(), |step| step.to_string());
            self.tries.push([data, k, arm.name().into(), each.runner.to_string(), format!("{:.4}", each.kl), left]);
        }
        let mut add = |run: &str, look: &Look, low: f64, high: f64| {
            let numbers = [look.steps, look.evaluations, look.seconds, look.kl, low, high].map(|v| format!("{v:.6}"));
            let ([data, k], [steps, evaluations, seconds, kl, low, high]) = (place(), numbers);
            self.curves.push([data, k, run.into(), steps, evaluations, seconds, kl, low, high]);
        };
        for raced in &race.arms {
            raced.curve.iter().for_each(|mean| add(raced.arm.name(), &mean.look, mean.low, mean.high));
        }
        for (i, ran) in race.default.iter().enumerate() {
            let name = format!("default plan, repetition {}", i + 1);
            ran.looks.iter().for_each(|look| add(&name, look, look.kl, look.kl));
        }
    }

    pub(super) fn into_all(self) -> Vec<Table> {
        let mut all = vec![self.fits, self.race, self.factors, self.accuracies, self.curves];
        all.extend((!self.tries.rows.is_empty()).then_some(self.tries));
        all.extend(self.idle);
        all
    }

    pub(super) fn page(&self, size: &Size) -> String {
        let Size { seeds, course, kl_draws, tunes, .. } = size;
        let tuned = match tunes {
            true => {
                "Every run is tuned for each row with another seed: the steps of elinvar from {1, 0.3, 0.1, 0.03, 0.01}, falling; the constant \
                 β of the printed update from {0.3, 0.1, 0.03, 0.01, 0.003, 0.001}; the learning rates from {1, 0.3, 0.1, 0.03, 0.01}, falling \
                 or constant. Each has the setting that first comes within 0.01 nats of the best end of a black box, or, where none does, \
                 the one that ends closest; a setting that left its domain is not chosen while there is another ([tries](tries.csv))."
            }
            false => "Step sizes are given by hand; a full run tunes them.",
        };
        let idle = self.idle.as_ref().map_or(String::new(), Table::markdown);
        format!(
            "## What a component buys\n\n`Plan::default()`, {seeds} seeds, KL by {kl_draws} draws, shared by the seeds; log evidence by importance \
             sampling from the fit with most components.\n\n{}\n## Natural gradients against the black box\n\nAll begin at means from N(0, I) \
             with unit covariances and equal weights and take twenty draws per iteration, {} iterations, full batches. *elinvar*: the \
             retraction with falling steps, bounded by a nat each, every component by draws of its own, those of all components about twenty. \
             *As printed*: update (16) by twenty draws of the mixture, one constant β for components and weights, nothing else; a step that would \
             leave the domain ends the run. *Black box*: Adam on means, Cholesky factors with log diagonals and soft-max logits; *with \
             Hessians* in the gradient of the scale matrices by Price's identity, which is more than the paper's has, or *by \
             reparameterisation* along the draws of each component, log q included. The logits move by the score function summed over the \
             label in both; implicit reparameterisation of the mixture is not used. {tuned} An evaluation is a gradient at one draw; where the \
             Hessian is used there is one with each. Final divergences are by {kl_draws} draws, shared by the seeds; those on the way by {}. \
             *Default plan* in the figures: no tuning, its own numbers of draws, its reviews counted, and a stop where it believes to be within \
             0.01 nats of the optimum.\n\n{}\nHow many times as much the black box takes, until the mean over the seeds is within 0.01 nats of \
             its own final divergence; seconds are iterations times the median time of an iteration:\n\n{}\nEvaluations until the mean over the \
             seeds is first within a divergence:\n\n{}\n## What keeps components from being used\n\nelinvar's run of the race on Sonar, \
             β = 0.1, {} iterations, {} seeds, and what changes it. The number of components is the exponential of the entropy of the \
             weights.\n\n{idle}",
            self.fits.markdown(),
            course.steps,
            course.look_draws,
            self.race.markdown(),
            self.factors.markdown(),
            self.accuracies.markdown(),
            size.idle.steps,
            size.idle.seeds,
        )
    }
}
