//! The layers of a network: a matrix-variate Gaussian each, or one variance per weight.

use elinvar::estimate::Curvature;
use elinvar::model::{Architecture, NeuralNetwork};
use elinvar::rule::StepSize;
use elinvar::run::Stop;
use elinvar::run::start_at_guess;
use elinvar::{Family, Plan};

use crate::bnn_data::{Split, TableOfSplits};
use crate::findings::mean_and_sd;
use crate::{Error, Findings, Settings, Table, threads};

/// The fits of one family.
pub(super) struct Fitted {
    pub(super) name: &'static str,
    pub(super) fits: Vec<Fit>,
}

/// A fit of the network to the rows of one split.
pub(super) struct Fit {
    elbo: f64,
    rmse: f64,
    log_likelihood: f64,
    seconds: f64,
    /// The bound against steps.
    pub(super) trace: Vec<(f64, f64)>,
}

impl Fitted {
    fn of(&self, what: fn(&Fit) -> f64) -> Vec<f64> {
        self.fits.iter().map(what).collect()
    }
}

const NAMES: [&str; 2] = ["matrix per layer", "diagonal"];

fn families(model: &NeuralNetwork) -> Result<[Family; 2], Error> {
    Ok([Family::layers(&model.layout())?, Family::gaussian().diagonal()])
}

/// Fits both families to every split from the same means with the same plan.
pub(super) fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<[Fitted; 2], Error> {
    let table = TableOfSplits::yacht()?;
    let splits = if settings.quick { 2 } else { 5 };
    let fits = threads::for_each(splits, |k| fit_both(&table.split(k)?, settings, settings.seed + k as u64));
    let mut fitted = NAMES.map(|name| Fitted { name, fits: Vec::new() });
    for both in fits {
        fitted.iter_mut().zip(both?).for_each(|(fitted, fit)| fitted.fits.push(fit));
    }
    for fitted in &fitted {
        let [elbo, rmse] = [fitted.of(|fit| fit.elbo), fitted.of(|fit| fit.rmse)].map(|values| mean_and_sd(&values).0);
        progress(&format!("network, {}: ELBO {elbo:.1}, RMSE {rmse:.3}", fitted.name));
    }
    Ok(fitted)
}

fn fit_both(split: &Split, settings: &Settings, seed: u64) -> Result<Vec<Fit>, Error> {
    let hidden = if settings.quick { 10 } else { 50 };
    let architecture = Architecture { hidden: vec![hidden], ..Architecture::default() };
    let model = NeuralNetwork::regression(split.train_x.clone(), split.train_y.clone(), architecture, 1.0)?;
    let max_steps = if settings.quick { 150 } else { 1_000 };
    let beta = StepSize::Power { initial: 0.1, delay: 100.0, exponent: 0.6 };
    let plan = Plan {
        n_draws: 10,
        max_draws: 10,
        curvature: Curvature::ItemGradients,
        step_size: beta,
        mixing_step_size: beta,
        max_kl: Some(5.0),
        seed,
        stop: Stop { max_steps, remaining_nats: 0.0, ..Stop::default() },
        ..Plan::default()
    };
    let n_draws = if settings.quick { 300 } else { 2_000 };
    let fit = |family: Family| {
        let start = start_at_guess(&model, family, seed)?;
        let mut fit = elinvar::fit_from(&model, start, &plan, &mut |_| std::ops::ControlFlow::Continue(()))?;
        let predictions = model.predict(fit.sample(n_draws.min(500), seed).view(), &split.test_x)?;
        Ok(Fit {
            elbo: fit.diagnose(&model, n_draws, seed)?.elbo.value,
            rmse: split.scale * predictions.rmse(&split.test_y)?,
            log_likelihood: predictions.log_likelihood(&split.test_y)? - split.scale.ln(),
            seconds: fit.seconds(),
            trace: fit.trace().iter().filter_map(|step| Some((step.index as f64 + 1.0, step.elbo?))).collect(),
        })
    };
    families(&model)?.into_iter().map(fit).collect()
}

pub(super) fn record(findings: &mut Findings, fitted: &[Fitted; 2]) {
    for fit in fitted {
        findings.put_mean(format!("elbo of the network, {}", fit.name), &fit.of(|fit| fit.elbo));
        findings.put_mean(format!("test rmse of the network, {}", fit.name), &fit.of(|fit| fit.rmse));
        let log_likelihood = fit.of(|fit| fit.log_likelihood);
        findings.put_mean(format!("test log-likelihood of the network, {}", fit.name), &log_likelihood);
    }
    let minus = |what: fn(&Fit) -> f64| -> Vec<f64> {
        fitted[0].of(what).iter().zip(fitted[1].of(what)).map(|(matrix, diagonal)| matrix - diagonal).collect()
    };
    findings.put_mean("elbo of the network, matrix minus diagonal", &minus(|fit| fit.elbo));
    findings.put_mean("test rmse of the network, matrix minus diagonal", &minus(|fit| fit.rmse));
}

pub(super) fn table(fitted: &[Fitted; 2]) -> Table {
    let mut table = Table::new("network", ["family", "ELBO, nats", "test RMSE", "test log-likelihood", "seconds"]);
    for fit in fitted {
        let with_sd = |what: fn(&Fit) -> f64, digits: usize| {
            let (mean, sd) = mean_and_sd(&fit.of(what));
            format!("{mean:.digits$} ± {:.digits$}", sd.unwrap_or(0.0))
        };
        table.push([
            fit.name.into(),
            with_sd(|fit| fit.elbo, 1),
            with_sd(|fit| fit.rmse, 3),
            with_sd(|fit| fit.log_likelihood, 3),
            format!("{:.1}", mean_and_sd(&fit.of(|fit| fit.seconds)).0),
        ]);
    }
    table
}
