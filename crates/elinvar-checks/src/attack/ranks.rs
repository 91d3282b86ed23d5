//! Simulation-based calibration: parameters from the prior, data from the parameters, and the place of the parameters
//! among the states of the corrected fit, which is uniform if the states are draws of the posterior.
//!
//! Whether a fit is trusted depends on its data and seed, not on the parameters that made the data; so the places must
//! be uniform among the trusted fits, too. (S. Talts et al., Validating Bayesian inference algorithms with
//! simulation-based calibration, 2018.)

use elinvar::chains::Correction;
use elinvar::model::{DesignMatrix, EightSchools, LogisticRegression, Parametrisation};
use elinvar::random::{Purpose, Stream};
use elinvar::target::{Pointwise, Target};
use elinvar::{Family, Plan};

use crate::gradients_only::GradientsOnly;
use crate::page::Table;
use crate::problems::hierarchical::{Hierarchy, SCALE};
use crate::problems::linear_map::dot;
use crate::threads;

/// Rows and columns of the logistic regressions.
const ROWS: usize = 20;
const COLUMNS: usize = 3;

/// A model with its names, the target of a seed and the parameters that made its data.
struct Simulated {
    name: &'static str,
    names: &'static [&'static str],
    simulate: fn(&mut Stream) -> Drawn,
}

/// A target, and the parameters that made its data.
type Drawn = (Box<dyn Target>, Vec<f64>);

const MODELS: [Simulated; 2] = [
    Simulated { name: "logistic regression", names: &["w1", "w2", "w3"], simulate: logistic },
    Simulated { name: "eight schools, non-centred", names: &["mu", "log_tau", "eta1"], simulate: eight_schools },
];

/// Twenty rows, an intercept and two features; weights ~ N(0, I).
fn logistic(stream: &mut Stream) -> Drawn {
    let weights: Vec<f64> = (0..COLUMNS).map(|_| stream.normal()).collect();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let row = [1.0, stream.normal(), stream.normal()];
        y.push(if stream.uniform() * (1.0 + (-dot(&row, &weights)).exp()) < 1.0 { 1.0 } else { -1.0 });
        x.extend(row);
    }
    let names = (0..COLUMNS).map(|j| format!("x{j}")).collect();
    let x = DesignMatrix::new(x, COLUMNS, names).expect("finite features");
    (Box::new(LogisticRegression::new(x, y, 1.0).expect("labels −1 and 1")), weights)
}

/// The standard errors of the eight schools; μ, τ and the effects from their priors.
fn eight_schools(stream: &mut Stream) -> Drawn {
    let (mu, tau) = (SCALE * stream.normal(), SCALE * (0.5 * std::f64::consts::PI * stream.uniform()).tan());
    let (_, standard_errors) = EightSchools::data();
    let etas: Vec<f64> = standard_errors.iter().map(|_| stream.normal()).collect();
    let effects =
        etas.iter().zip(standard_errors).map(|(eta, s)| mu + tau * eta + s * stream.normal()).collect::<Vec<f64>>();
    let truth = vec![mu, tau.ln(), etas[0]];
    let form = Parametrisation::NonCentred;
    (Box::new(Pointwise(Hierarchy { form, effects, standard_errors: standard_errors.to_vec() })), truth)
}

/// Whether the fit was trusted, and the share of its states below each parameter.
fn places(model: &Simulated, seed: u64) -> Result<(bool, Vec<f64>), String> {
    let (target, truth) = (model.simulate)(&mut Stream::open(seed, Purpose::Sample, 11, 0));
    let target = GradientsOnly(target.as_ref());
    let plan = Plan { seed, ..Plan::default() };
    let mut fit = elinvar::run::fit(&target, Family::gaussian(), &plan).map_err(|e| e.to_string())?;
    let corrected = fit.correct(&target, &Correction { seed, ..Correction::default() }).map_err(|e| e.to_string())?;
    let states = corrected.draws(corrected.n_states());
    let below = |i: usize| (0..states.len()).filter(|s| states.get(*s)[i] < truth[i]).count();
    let shares = (0..truth.len()).map(|i| below(i) as f64 / states.len() as f64).collect();
    Ok((corrected.is_trusted(), shares))
}

/// The probability that the largest distance of uniform numbers from their distribution is as large as here, after
/// Kolmogorov, with Stephens' correction for few numbers.
fn uniform_probability(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let n = numbers.len() as f64;
    let distance = |(i, u): (usize, &f64)| (u - i as f64 / n).max((i + 1) as f64 / n - u);
    let largest = numbers.iter().enumerate().map(distance).fold(0.0, f64::max);
    let scaled = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * largest;
    if scaled < 0.2 {
        // The series does not converge there, and its value is 1 to more than ten digits.
        return 1.0;
    }
    let term = |k: i32| f64::from(if k % 2 == 1 { 2 } else { -2 }) * (-2.0 * f64::from(k * k) * scaled * scaled).exp();
    (1..=50).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// A table with a row for each parameter of both models, over `n` simulations each.
pub(super) fn table(n: usize) -> Table {
    let mut table = Table::new([
        "model",
        "parameter",
        "fits",
        "probability of such places",
        "below the middle",
        "outermost tenth",
        "trusted fits",
        "probability among them",
    ]);
    for model in &MODELS {
        let runs = threads::for_each(n, |i| places(model, 1 + i as u64));
        let runs: Vec<(bool, Vec<f64>)> = runs.into_iter().filter_map(Result::ok).collect();
        for (i, name) in model.names.iter().enumerate() {
            let all: Vec<f64> = runs.iter().map(|run| run.1[i]).collect();
            let trusted: Vec<f64> = runs.iter().filter(|run| run.0).map(|run| run.1[i]).collect();
            let share = |f: &dyn Fn(&&f64) -> bool| 100.0 * all.iter().filter(f).count() as f64 / all.len() as f64;
            table.push([
                model.name.into(),
                (*name).into(),
                all.len().to_string(),
                format!("{:.3}", uniform_probability(all.clone())),
                format!("{:.0} %", share(&|u| **u < 0.5)),
                format!("{:.0} %", share(&|u| (**u - 0.5).abs() > 0.45)),
                trusted.len().to_string(),
                format!("{:.3}", uniform_probability(trusted)),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_numbers_are_uniform_and_crowded_ones_are_not() {
        let even: Vec<f64> = (0..200).map(|i| (i as f64 + 0.5) / 200.0).collect();
        assert!(uniform_probability(even.clone()) > 0.999);
        // All in the middle 80 %: a posterior that is too wide.
        assert!(uniform_probability(even.iter().map(|u| 0.1 + 0.8 * u).collect()) < 0.05);
        // The critical value at 1 % for 100 numbers is 0.1608.
        let shifted = (0..100).map(|i| (i as f64 / 100.0 + 0.1608).min(1.0)).collect();
        assert!((uniform_probability(shifted) - 0.01).abs() < 0.001);
    }
}
