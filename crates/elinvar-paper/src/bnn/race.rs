//! The runs of one method on one table, and how soon they are where they go.

use crate::findings::mean_and_sd;

use super::method::{Look, Method};

/// A goal of a mean curve: a share of the lowest last RMSE, or nats below the highest last log-likelihood.
pub(super) const RMSE_GOAL: f64 = 1.05;
pub(super) const LIKELIHOOD_GOAL: f64 = 0.05;
/// Steps from which curves are compared: the first look shows the start alone, and means of squares remember it for a
/// hundred steps.
pub(super) const FROM: [f64; 2] = [10.0, 100.0];

/// The runs of one method on one table, a list of looks per split.
pub(super) struct Ran {
    pub(super) table: &'static str,
    pub(super) method: Method,
    pub(super) beta: f64,
    pub(super) splits: Vec<Vec<Look>>,
    /// Of a run with no other beside it.
    pub(super) seconds_per_step: f64,
}

/// What is followed along a run; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The logarithm of the RMSE.
    LogRmse,
    /// Minus the log-likelihood.
    Likelihood,
}

impl Loss {
    pub(super) fn of(self, look: &Look) -> f64 {
        match self {
            Self::LogRmse => look.rmse.ln(),
            Self::Likelihood => -look.log_likelihood,
        }
    }

    /// What a mean curve has to come to, given the lowest last value of any.
    fn goal(self, lowest: f64) -> f64 {
        lowest + if self == Self::LogRmse { RMSE_GOAL.ln() } else { LIKELIHOOD_GOAL }
    }
}

/// Mean and standard error; zero for a single value.
pub(super) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let (mean, sd) = mean_and_sd(values);
    (mean, sd.unwrap_or(0.0) / (values.len() as f64).sqrt())
}

/// The mean of a loss over the logarithm of the steps from `from` to the last: every factor of ten counts the same, so
/// it tells how soon a run is good without a level that someone has to choose.
pub(super) fn mean_over_log_steps(looks: &[Look], loss: Loss, from: f64) -> f64 {
    let looks: Vec<&Look> = looks.iter().filter(|look| look.steps >= from).collect();
    let [first, .., last] = looks[..] else { return looks.first().map_or(f64::NAN, |only| loss.of(only)) };
    let trapezium = |pair: &[&Look]| (pair[1].steps / pair[0].steps).ln() * 0.5 * (loss.of(pair[0]) + loss.of(pair[1]));
    looks.windows(2).map(trapezium).sum::<f64>() / (last.steps / first.steps).ln()
}

/// Of the last look of each split.
pub(super) fn last(splits: &[Vec<Look>], of: impl Fn(&Look) -> f64) -> Vec<f64> {
    splits.iter().filter_map(|looks| looks.last()).map(of).collect()
}

/// Steps, mean and standard error over the splits at each look.
pub(super) fn curve(splits: &[Vec<Look>], of: impl Fn(&Look) -> f64) -> Vec<(f64, f64, f64)> {
    let at = |i: usize| {
        let values: Vec<f64> = splits.iter().map(|looks| of(&looks[i])).collect();
        let (mean, error) = mean_and_error(&values);
        (splits[0][i].steps, mean, error)
    };
    (0..splits.first().map_or(0, Vec::len)).map(at).collect()
}

impl Ran {
    /// Of the last look of each split.
    pub(super) fn last(&self, of: impl Fn(&Look) -> f64) -> Vec<f64> {
        last(&self.splits, of)
    }

    /// Steps, mean and standard error over the splits at each look.
    pub(super) fn curve(&self, of: impl Fn(&Look) -> f64) -> Vec<(f64, f64, f64)> {
        curve(&self.splits, of)
    }

    /// Evaluations of the gradient in a step.
    pub(super) fn evaluations_per_step(&self) -> f64 {
        self.splits.first().and_then(|looks| looks.last()).map_or(f64::NAN, |last| last.evaluations / last.steps)
    }

    /// The mean curve of a loss: the logarithm of the mean RMSE, or minus the mean log-likelihood.
    fn mean_curve(&self, loss: Loss) -> Vec<(f64, f64)> {
        match loss {
            Loss::LogRmse => {
                self.curve(|look| look.rmse).into_iter().map(|(steps, rmse, _)| (steps, rmse.ln())).collect()
            }
            Loss::Likelihood => {
                self.curve(|look| loss.of(look)).into_iter().map(|(steps, mean, _)| (steps, mean)).collect()
            }
        }
    }

    /// `mean_over_log_steps` of each split, less that of `ours`.
    pub(super) fn lead_of(&self, ours: &Ran, loss: Loss, from: f64) -> Vec<f64> {
        let mean = |looks: &Vec<Look>| mean_over_log_steps(looks, loss, from);
        self.splits.iter().zip(&ours.splits).map(|(theirs, ours)| mean(theirs) - mean(ours)).collect()
    }
}

/// Steps after which the mean curve of each run stays within the goal, which the best last value of all sets; none
/// where it is not there in the end.
pub(super) fn steps_to_goal(of_table: &[Ran], loss: Loss) -> Vec<Option<f64>> {
    let curves: Vec<Vec<(f64, f64)>> = of_table.iter().map(|ran| ran.mean_curve(loss)).collect();
    let lowest = curves.iter().filter_map(|curve| curve.last()).map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
    curves.iter().map(|curve| crossing(curve, loss.goal(lowest))).collect()
}

/// Where a curve comes below `goal` for good, between two looks by a line over the logarithm of the steps.
fn crossing(curve: &[(f64, f64)], goal: f64) -> Option<f64> {
    let Some(above) = curve.iter().rposition(|(_, loss)| *loss > goal || loss.is_nan()) else {
        return curve.first().map(|at| at.0);
    };
    let ((s0, l0), (s1, l1)) = (curve[above], *curve.get(above + 1)?);
    let share = (l0 - goal) / (l0 - l1);
    Some(if s0 > 0.0 { s0 * (s1 / s0).powf(share) } else { s0 + share * (s1 - s0) })
}

#[cfg(test)]
mod tests {
    use super::super::method::METHODS;
    use super::*;

    fn looks(rmse: impl Fn(f64) -> f64) -> Vec<Look> {
        let look =
            |steps: f64| Look { steps, evaluations: 10.0 * steps, rmse: rmse(steps), log_likelihood: -rmse(steps) };
        [0.0, 1.0, 10.0, 100.0, 1000.0].map(look).to_vec()
    }

    fn ran(splits: Vec<Vec<Look>>) -> Ran {
        Ran { table: "toy", method: METHODS[0], beta: 0.1, splits, seconds_per_step: 1.0 }
    }

    #[test]
    fn a_power_law_crosses_its_goal_where_it_should_and_a_run_that_leaves_it_does_not() {
        let power = looks(|steps| if steps > 0.0 { 8.0 * steps.powf(-0.5) } else { 9.0 });
        let end = power.last().unwrap().rmse;
        // The first comes to 1.05 of its last value at 1000/1.05²; the second is below at 100 and above in the end.
        let leaves = looks(|steps| if steps == 100.0 { 0.5 * end } else { 2.0 * end });
        let found = steps_to_goal(&[ran(vec![power.clone(), power]), ran(vec![leaves])], Loss::LogRmse);
        let expected = 1000.0 / (RMSE_GOAL * RMSE_GOAL);
        assert!((found[0].unwrap() - expected).abs() < 1e-9 * expected, "{found:?}");
        assert_eq!(found[1], None);
        assert_eq!(crossing(&[(0.0, 3.0), (1.0, 1.0)], 2.0), Some(0.5));
        assert_eq!(crossing(&[(0.0, 1.0), (1.0, 1.0)], 2.0), Some(0.0));
        assert_eq!(crossing(&[(1.0, 1.0), (2.0, f64::NAN)], 2.0), None);
    }

    #[test]
    fn the_lead_is_the_mean_ratio_over_decades_paired_by_split() {
        // Twice our RMSE everywhere on one split, and over the first of the two decades from the tenth step on the
        // other.
        let ours = looks(|steps| 1.0 / (1.0 + steps));
        let twice = looks(|steps| 2.0 / (1.0 + steps));
        let slow = looks(|steps| if steps < 100.0 { 4.0 } else { 1.0 } / (1.0 + steps));
        let lead = ran(vec![twice, slow]).lead_of(&ran(vec![ours.clone(), ours]), Loss::LogRmse, 10.0);
        let expected = [2.0f64.ln(), 0.25 * 4.0f64.ln()];
        assert_eq!(mean_over_log_steps(&looks(|steps| steps), Loss::Likelihood, 1000.0), 1000.0);
        assert!(lead.iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-12), "{lead:?}");
    }
}
