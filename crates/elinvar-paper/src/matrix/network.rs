//! The layers of a network: a matrix-variate Gaussian each, by elinvar's update, as printed and by the factors of
//! K-FAC, or one variance per weight.

use std::ops::ControlFlow;
use std::time::Instant;

use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::model::{Architecture, NeuralNetwork};
use elinvar::rule::StepSize;
use elinvar::run::Stop;
use elinvar::run::start_at_guess;
use elinvar::{Family, Plan};

use super::kfac::Kfac;
use crate::bnn_data::{Split, TableOfSplits};
use crate::bound::bound;
use crate::draws::draws;
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

/// Precision of the prior of a weight.
const PRIOR_PRECISION: f64 = 1.0;

/// How the layers are fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// elinvar's update of a matrix-variate Gaussian per layer.
    Matrix,
    /// elinvar's update of one variance per weight.
    Diagonal,
    /// The box (29)–(31) of a matrix-variate Gaussian per layer.
    Printed { beta_1: f64, beta_2: f64 },
    /// Kronecker factors of the Fisher matrix.
    Kfac,
}

impl How {
    fn name(self) -> &'static str {
        match self {
            Self::Matrix => "matrix per layer",
            Self::Diagonal => "diagonal",
            Self::Printed { .. } => "matrix per layer, as printed",
            Self::Kfac => "K-FAC per layer",
        }
    }
}

/// β₁ and β₂/β₁ of the printed box that are tried.
const BETAS: [f64; 5] = [0.1, 0.03, 0.01, 0.003, 0.001];
const SHARES: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// How large the fits are.
#[derive(Clone, Copy)]
struct Size {
    hidden: usize,
    steps: u64,
    n_draws: usize,
}

const SCHEDULE: StepSize = StepSize::Power { initial: 0.1, delay: 100.0, exponent: 0.6 };

/// Fits every split from the same means.
pub(super) fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<(Vec<Fitted>, Table), Error> {
    let table = TableOfSplits::yacht()?;
    let (splits, size) = match settings.quick {
        true => (2, Size { hidden: 10, steps: 150, n_draws: 300 }),
        false => (5, Size { hidden: 50, steps: 1_000, n_draws: 2_000 }),
    };
    let (printed, tries) = tune(&table, settings, size)?;
    let all = [How::Matrix, How::Diagonal, printed, How::Kfac];
    let fits = threads::for_each(splits * all.len(), |i| {
        let k = i / all.len();
        fit(&table.split(k)?, all[i % all.len()], size, settings.seed + k as u64)
    });
    let mut fitted: Vec<Fitted> = all.iter().map(|how| Fitted { name: how.name(), fits: Vec::new() }).collect();
    for (i, fit) in fits.into_iter().enumerate() {
        fitted[i % all.len()].fits.push(fit?);
    }
    for fitted in &fitted {
        let [elbo, rmse] = [fitted.of(|fit| fit.elbo), fitted.of(|fit| fit.rmse)].map(|values| mean_and_sd(&values).0);
        progress(&format!("network, {}: ELBO {elbo:.1}, RMSE {rmse:.3}", fitted.name));
    }
    Ok((fitted, tries))
}

/// The step sizes of the printed box with the highest bound after as many steps, with rows and a seed that the fits
/// above do not have.
fn tune(table: &TableOfSplits, settings: &Settings, size: Size) -> Result<(How, Table), Error> {
    let mut tries = Table::new("printed-on-the-network", ["β₁", "β₂", "ELBO of another split, nats"]);
    let betas: Vec<(f64, f64)> = BETAS.iter().flat_map(|beta| SHARES.map(|share| (*beta, share * beta))).collect();
    let betas = if settings.quick { &betas[6..7] } else { &betas[..] };
    let split = table.split(19)?;
    let bounds = threads::for_each(betas.len(), |i| {
        let (beta_1, beta_2) = betas[i];
        fit(&split, How::Printed { beta_1, beta_2 }, size, settings.seed + 100)
            .map_or(f64::NEG_INFINITY, |fit| fit.elbo)
    });
    let mut best = (f64::NEG_INFINITY, betas[0]);
    for ((beta_1, beta_2), elbo) in betas.iter().zip(bounds) {
        let shown = if elbo.is_finite() { format!("{elbo:.1}") } else { "broke down".into() };
        tries.push([beta_1.to_string(), format!("{beta_2:e}"), shown]);
        if elbo > best.0 {
            best = (elbo, (*beta_1, *beta_2));
        }
    }
    let (beta_1, beta_2) = best.1;
    Ok((How::Printed { beta_1, beta_2 }, tries))
}

fn fit(split: &Split, how: How, size: Size, seed: u64) -> Result<Fit, Error> {
    let architecture = Architecture { hidden: vec![size.hidden], ..Architecture::default() };
    let (x, y) = (split.train_x.clone(), split.train_y.clone());
    let model = NeuralNetwork::regression(x, y, architecture, PRIOR_PRECISION)?;
    let family = match how {
        How::Diagonal => Family::gaussian().diagonal(),
        _ => Family::layers(&model.layout())?,
    };
    let start = start_at_guess(&model, family, seed)?;
    let (end, trace, seconds) = match how {
        How::Kfac => by_kfac(split, &model, &start, size, seed)?,
        _ => {
            let fit =
                elinvar::run::fit_from(&model, start, &plan(how, size, seed), &mut |_| ControlFlow::Continue(()))?;
            let trace = fit.trace().iter().filter_map(|step| Some((step.index as f64 + 1.0, step.elbo?))).collect();
            (fit.approximation().clone(), trace, fit.seconds())
        }
    };
    let predictions = model.predict(draws(&end, size.n_draws.min(500), seed).view(), &split.test_x)?;
    Ok(Fit {
        elbo: bound(&end, &model, size.n_draws, seed)?.elbo,
        rmse: split.scale * predictions.rmse(&split.test_y)?,
        log_likelihood: predictions.log_likelihood(&split.test_y)? - split.scale.ln(),
        seconds,
        trace,
    })
}

fn plan(how: How, size: Size, seed: u64) -> Plan {
    let plan = match how {
        How::Printed { beta_1, beta_2 } => Plan {
            curvature: Curvature::GradientOuterProduct,
            mixing_step_size: StepSize::Constant(beta_2),
            ..Plan::printed(10, beta_1, size.steps)
        },
        _ => Plan {
            n_draws: 10,
            max_draws: 10,
            curvature: Curvature::ItemGradients,
            step_size: SCHEDULE,
            mixing_step_size: SCHEDULE,
            max_kl: Some(5.0),
            stop: Stop { max_steps: size.steps, remaining_nats: 0.0, ..Stop::default() },
            ..Plan::default()
        },
    };
    Plan { seed, ..plan }
}

type Ended = (Approximation, Vec<(f64, f64)>, f64);

fn by_kfac(split: &Split, model: &NeuralNetwork, start: &Approximation, size: Size, seed: u64) -> Result<Ended, Error> {
    let mut kfac = Kfac::new(split, model, start, PRIOR_PRECISION, seed);
    let (mut trace, mut next, mut seconds) = (Vec::new(), 1.0, 0.0);
    for step in 0..size.steps {
        let clock = Instant::now();
        kfac.step(step, SCHEDULE)?;
        seconds += clock.elapsed().as_secs_f64();
        if (step + 1) as f64 >= next {
            trace.push(((step + 1) as f64, bound(&kfac.state()?, model, 100, step)?.elbo));
            next *= 1.15;
        }
    }
    Ok((kfac.state()?, trace, seconds))
}

pub(super) fn record(findings: &mut Findings, fitted: &[Fitted]) {
    for fit in fitted {
        findings.put_mean(format!("elbo of the network, {}", fit.name), &fit.of(|fit| fit.elbo));
        findings.put_mean(format!("test rmse of the network, {}", fit.name), &fit.of(|fit| fit.rmse));
        let log_likelihood = fit.of(|fit| fit.log_likelihood);
        findings.put_mean(format!("test log-likelihood of the network, {}", fit.name), &log_likelihood);
    }
    let minus = |i: usize, what: fn(&Fit) -> f64| -> Vec<f64> {
        fitted[0].of(what).iter().zip(fitted[i].of(what)).map(|(matrix, other)| matrix - other).collect()
    };
    findings.put_mean("elbo of the network, matrix minus diagonal", &minus(1, |fit| fit.elbo));
    findings.put_mean("test rmse of the network, matrix minus diagonal", &minus(1, |fit| fit.rmse));
    findings.put_mean("elbo of the network, matrix minus as printed", &minus(2, |fit| fit.elbo));
    findings.put_mean("elbo of the network, matrix minus K-FAC", &minus(3, |fit| fit.elbo));
}

pub(super) fn table(fitted: &[Fitted]) -> Table {
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
