//! The layers of a network: a matrix-variate Gaussian each, or one variance per weight.

use elinvar::estimate::Curvature;
use elinvar::model::{Architecture, NeuralNetwork};
use elinvar::rule::StepSize;
use elinvar::run::Stop;
use elinvar::{Family, Plan};

use crate::bnn_data::{Split, TableOfSplits};
use crate::{Error, Findings, Settings, Table};

/// A fit of the network.
pub(super) struct Fitted {
    pub(super) name: &'static str,
    pub(super) elbo: f64,
    pub(super) elbo_error: f64,
    pub(super) rmse: f64,
    pub(super) log_likelihood: f64,
    pub(super) seconds: f64,
    /// The bound against steps.
    pub(super) trace: Vec<(f64, f64)>,
}

fn families(model: &NeuralNetwork) -> Result<[(&'static str, Family); 2], Error> {
    Ok([("matrix per layer", Family::layers(&model.layout())?), ("diagonal", Family::gaussian().diagonal())])
}

/// Fits both families from the same means with the same plan.
pub(super) fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Vec<Fitted>, Error> {
    let split: Split = TableOfSplits::yacht()?.split(0)?;
    let hidden = if settings.quick { 10 } else { 50 };
    let architecture = Architecture { hidden: vec![hidden], ..Architecture::default() };
    let model = NeuralNetwork::regression(split.train_x.clone(), split.train_y.clone(), architecture, 1.0)?;
    let steps = if settings.quick { 150 } else { 1_000 };
    let beta = StepSize::Power { initial: 0.1, delay: 100.0, exponent: 0.6 };
    let plan = Plan {
        n_draws: 10,
        max_draws: 10,
        curvature: Curvature::ItemGradients,
        step_size: beta,
        mixing_step_size: beta,
        max_kl: Some(5.0),
        seed: settings.seed,
        stop: Stop { max_steps: steps, remaining_nats: 0.0, ..Stop::default() },
        ..Plan::default()
    };
    let mut fits = Vec::new();
    for (name, family) in families(&model)? {
        let start = model.start(family, settings.seed)?;
        let mut fit = elinvar::fit_from(&model, start, &plan, &mut |_| std::ops::ControlFlow::Continue(()))?;
        let n_draws = if settings.quick { 300 } else { 2_000 };
        let elbo = fit.diagnose(&model, n_draws, settings.seed)?.elbo;
        let predictions = model.predict(fit.sample(n_draws.min(500), settings.seed).view(), &split.test_x)?;
        let fitted = Fitted {
            name,
            elbo: elbo.value,
            elbo_error: elbo.mcse,
            rmse: split.scale * predictions.rmse(&split.test_y)?,
            log_likelihood: predictions.log_likelihood(&split.test_y)? - split.scale.ln(),
            seconds: fit.seconds(),
            trace: fit.trace().iter().filter_map(|step| Some((step.index as f64 + 1.0, step.elbo?))).collect(),
        };
        progress(&format!("network, {name}: ELBO {:.1}, RMSE {:.3}", fitted.elbo, fitted.rmse));
        fits.push(fitted);
    }
    Ok(fits)
}

pub(super) fn record(findings: &mut Findings, fits: &[Fitted]) {
    for fit in fits {
        findings.put(format!("elbo of the network, {}", fit.name), fit.elbo);
        findings.put(format!("test rmse of the network, {}", fit.name), fit.rmse);
        findings.put(format!("test log-likelihood of the network, {}", fit.name), fit.log_likelihood);
    }
    findings.put("elbo of the network, matrix minus diagonal", fits[0].elbo - fits[1].elbo);
}

pub(super) fn table(fits: &[Fitted]) -> Table {
    let mut table =
        Table::new("network", ["family", "ELBO, nats", "± (MC)", "test RMSE", "test log-likelihood", "seconds"]);
    for fit in fits {
        table.push([
            fit.name.into(),
            format!("{:.1}", fit.elbo),
            format!("{:.1}", fit.elbo_error),
            format!("{:.3}", fit.rmse),
            format!("{:.3}", fit.log_likelihood),
            format!("{:.1}", fit.seconds),
        ]);
    }
    table
}
