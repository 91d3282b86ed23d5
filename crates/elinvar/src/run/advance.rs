//! The step of a run by its rule, and what the rule remembers between steps.

use serde::{Deserialize, Serialize};

use super::{Plan, Run};
use crate::Error;
use crate::family::{Approximation, Left, StepRequest};
use crate::rule::{AdamLikeMemory, AdamLikeRequest, EuclideanAdamMemory, Printed, PrintedStep, Rule, Taken};
use crate::target::Prior;

/// What a rule remembers.
pub(super) enum Memory {
    None,
    /// The state before the last step, once there was one.
    Momentum {
        before: Approximation,
        known: bool,
    },
    AdamLike(AdamLikeMemory),
    EuclideanAdam(EuclideanAdamMemory),
    /// Room for the state before the step.
    Printed(Box<Approximation>),
}

/// The same as plain data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MemoryState {
    #[default]
    None,
    Momentum(Option<Box<Approximation>>),
    AdamLike(AdamLikeMemory),
    EuclideanAdam(EuclideanAdamMemory),
}

impl Memory {
    /// The memory of a run of this plan from `start`, which the rule may change.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the family has no step by this rule.
    pub(super) fn new(plan: &Plan, prior: &Prior, start: &mut Approximation) -> Result<Self, Error> {
        let missing = |instead: &str| Error::Unsupported {
            wanted: format!("rule `{}` for `{}`", plan.rule, start.family()),
            instead: instead.into(),
        };
        match plan.rule {
            Rule::NaturalGradient | Rule::Retraction => Ok(Self::None),
            Rule::Printed(Printed { step: PrintedStep::Natural, .. }) => Ok(Self::Printed(Box::new(start.clone()))),
            Rule::NaturalMomentum { .. } | Rule::Printed(Printed { step: PrintedStep::Momentum { .. }, .. }) => {
                Ok(Self::Momentum { before: start.clone(), known: false })
            }
            Rule::AdamLike(rule) | Rule::Printed(Printed { step: PrintedStep::AdamLike(rule), .. }) => {
                let memory = start.adam_like_memory().ok_or_else(|| {
                    missing("it needs diagonal scale matrices, and one w for all coordinates; use `euclidean_adam` elsewhere")
                })?;
                if rule.bias_correction.starts_from_the_prior() && !start.start_from_prior(prior) {
                    return Err(Error::Unsupported {
                        wanted:
                            "rule `adam_like` with bias correction of s, which starts from the precision of the prior,\
                                 for a target that does not declare a Gaussian prior on all coordinates"
                                .into(),
                        instead: "declare the prior, or set `bias_correction` to `momentum_only` or `none`".into(),
                    });
                }
                Ok(Self::AdamLike(memory))
            }
            Rule::EuclideanAdam(_) | Rule::GradientDescent => {
                let mut coordinates = vec![0.0; start.chart_len()];
                start.chart(&mut coordinates);
                EuclideanAdamMemory::new(coordinates)
                    .map(Self::EuclideanAdam)
                    .ok_or_else(|| missing("it needs coordinates without constraints; use `natural_gradient`"))
            }
        }
    }

    pub(super) fn state(&self) -> MemoryState {
        match self {
            Self::None | Self::Printed(_) => MemoryState::None,
            Self::Momentum { before, known } => MemoryState::Momentum(known.then(|| Box::new(before.clone()))),
            Self::AdamLike(memory) => MemoryState::AdamLike(memory.clone()),
            Self::EuclideanAdam(memory) => MemoryState::EuclideanAdam(memory.clone()),
        }
    }

    /// The memory of a checkpoint whose state is `q`, in place of this fresh one.
    ///
    /// # Errors
    /// [`Error::Shape`] if it belongs to another rule or state.
    pub(super) fn restore(&self, stored: &MemoryState, q: &Approximation) -> Result<Self, Error> {
        let misfit = |expected, found| Error::Shape { what: "numbers in the memory of the rule", expected, found };
        Ok(match (self, stored) {
            (Self::None, MemoryState::None) => Self::None,
            (Self::Printed(room), MemoryState::None) => Self::Printed(room.clone()),
            (Self::Momentum { .. }, MemoryState::Momentum(None)) => Self::Momentum { before: q.clone(), known: false },
            (Self::Momentum { .. }, MemoryState::Momentum(Some(before))) => {
                if !before.is_shaped_as(q) {
                    return Err(misfit(q.natural_len(), before.natural_len()));
                }
                Self::Momentum { before: (**before).clone(), known: true }
            }
            (Self::AdamLike(fresh), MemoryState::AdamLike(memory)) => {
                let counted = memory.t <= u64::MAX / 4;
                if fresh.m.len() != memory.m.len() || !memory.m.iter().all(|m| m.is_finite()) || !counted {
                    return Err(misfit(fresh.m.len(), memory.m.len()));
                }
                Self::AdamLike(memory.clone())
            }
            (Self::EuclideanAdam(_), MemoryState::EuclideanAdam(memory)) => {
                let n = q.chart_len();
                Self::EuclideanAdam(memory.restored(n).ok_or_else(|| misfit(n, memory.n_coordinates()))?)
            }
            _ => {
                return Err(misfit(
                    usize::from(!matches!(self, Self::None)),
                    usize::from(*stored != MemoryState::None),
                ));
            }
        })
    }
}

impl Run<'_> {
    /// Moves along the gradient of the last estimate.
    ///
    /// # Errors
    /// [`Error::LeftDomain`].
    pub(super) fn advance(&mut self, request: StepRequest) -> Result<Taken, Error> {
        let (q, gradient, scratch) = (&mut self.q, &mut self.gradient, &mut self.scratch);
        let step = self.pace.step();
        let left = |Left { what, value }| Error::LeftDomain { step, what, value };
        Ok(match (request.rule, &mut self.memory) {
            (Rule::NaturalMomentum { gamma }, Memory::Momentum { before, known }) => {
                if *known {
                    q.add_momentum(before, gamma / request.beta, scratch, gradient);
                }
                before.clone_from(q);
                *known = true;
                q.advance(gradient, request, scratch)
            }
            (
                Rule::AdamLike(rule) | Rule::Printed(Printed { step: PrintedStep::AdamLike(rule), .. }),
                Memory::AdamLike(memory),
            ) => {
                let n_items = self.evaluator.about().n_rows.unwrap_or(1).max(1) as f64;
                let StepRequest { beta, mixing_beta, max_kl, .. } = request;
                let request = AdamLikeRequest { rule, beta, mixing_beta, max_kl, n_items };
                q.adam_like_step(gradient, &self.evaluator.about().prior, request, memory, scratch)
            }
            (Rule::EuclideanAdam(rule), Memory::EuclideanAdam(memory)) => {
                q.chart_gradient(gradient, scratch, memory.gradient_mut());
                Taken::by_one(memory.step(rule, request.beta, |coordinates| q.set_chart(coordinates, scratch)))
            }
            (Rule::GradientDescent, Memory::EuclideanAdam(memory)) => {
                q.chart_gradient(gradient, scratch, memory.gradient_mut());
                Taken::by_one(memory.plain_step(request.beta, |coordinates| q.set_chart(coordinates, scratch)))
            }
            (
                Rule::Printed(Printed { step: PrintedStep::Momentum { gamma }, on_leaving, .. }),
                Memory::Momentum { before, known },
            ) => {
                if std::mem::replace(known, true) {
                    q.add_momentum(before, gamma / request.beta, scratch, gradient);
                }
                q.printed_step(gradient, request, on_leaving, before, scratch).map_err(left)?
            }
            (Rule::Printed(options), Memory::Printed(before)) => {
                q.printed_step(gradient, request, options.on_leaving, before, scratch).map_err(left)?
            }
            _ => q.advance(gradient, request, scratch),
        })
    }
}
