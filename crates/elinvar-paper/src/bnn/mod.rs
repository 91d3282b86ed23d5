//! Bayesian networks: diagonal skew-Gaussian by the Adam-like rule against black-box gradients.

mod figure;

use std::ops::ControlFlow;
use std::time::Instant;

use elinvar::estimate::Curvature;
use elinvar::family::AnyApproximation;
use elinvar::model::{Architecture, NeuralNetwork};
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Rule, StepSize};
use elinvar::run::Stop;
use elinvar::{Family, Plan};

use crate::bnn_data::{Split, TableOfSplits};
use crate::findings::mean_and_sd;
use crate::watch::{Watch, watch};
use crate::{Error, Experiment, Findings, Settings, Table};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-bnn",
    title: "Bayesian networks: diagonal skew-Gaussian by the Adam-like rule",
    about: "50 rectified units, batches of 32, ten draws; test RMSE and log-likelihood over the usual splits of five tables.",
    has_paper_settings: false,
    needs: Some("boston.csv"),
    run,
    expected: include_str!("../../expected/figure-bnn.toml"),
};

/// Rows of a batch and draws of a step (spec 09 §9.2, E6).
const BATCH: usize = 32;
const N_DRAWS: usize = 10;
/// Draws of a prediction.
const N_PREDICTIONS: usize = 200;

/// A way to fit.
#[derive(Clone, Copy, Debug)]
struct Method {
    name: &'static str,
    skew: bool,
    adam_like: bool,
    beta: f64,
}

const METHODS: [Method; 3] = [
    Method { name: "skew, Adam-like", skew: true, adam_like: true, beta: 0.1 },
    Method { name: "gaussian, BBVI", skew: false, adam_like: false, beta: 0.01 },
    Method { name: "skew, BBVI", skew: true, adam_like: false, beta: 0.01 },
];

/// A look at a run: steps, seconds, test RMSE and log-likelihood in units of the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) steps: f64,
    pub(super) seconds: f64,
    pub(super) rmse: f64,
    pub(super) log_likelihood: f64,
}

/// The runs of one method on one table, a list of looks per split.
pub(super) struct Ran {
    pub(super) table: &'static str,
    pub(super) method: &'static str,
    pub(super) splits: Vec<Vec<Look>>,
}

impl Ran {
    fn last(&self, of: impl Fn(&Look) -> f64) -> Vec<f64> {
        self.splits.iter().filter_map(|looks| looks.last()).map(of).collect()
    }

    /// Steps, mean and standard error over the splits at each look.
    pub(super) fn curve(&self, of: impl Fn(&Look) -> f64) -> Vec<(f64, f64, f64)> {
        let at = |i: usize| {
            let values: Vec<f64> = self.splits.iter().map(|looks| of(&looks[i])).collect();
            let (mean, sd) = mean_and_sd(&values);
            (self.splits[0][i].steps, mean, sd.unwrap_or(0.0) / (values.len() as f64).sqrt())
        };
        (0..self.splits.first().map_or(0, Vec::len)).map(at).collect()
    }
}

/// How large the experiment is.
struct Size {
    tables: Vec<TableOfSplits>,
    splits: usize,
    steps: u64,
}

impl Size {
    fn of(settings: &Settings) -> Result<Self, Error> {
        if settings.quick {
            return Ok(Self {
                tables: vec![TableOfSplits::yacht()?, TableOfSplits::energy()?],
                splits: 2,
                steps: 1_600,
            });
        }
        let tables = vec![
            TableOfSplits::boston(settings.data.as_deref())?,
            TableOfSplits::concrete()?,
            TableOfSplits::energy()?,
            TableOfSplits::wine()?,
            TableOfSplits::yacht()?,
        ];
        Ok(Self { tables, splits: 20, steps: 3_000 })
    }
}

fn plan(method: Method, seed: u64) -> Plan {
    let plan = Plan {
        n_draws: N_DRAWS,
        minibatch: Some(BATCH),
        step_size: StepSize::Power { initial: method.beta, delay: 1_000.0, exponent: 0.6 },
        max_kl: None,
        seed,
        stop: Stop { max_steps: u64::MAX, ..Stop::default() },
        ..Plan::default()
    };
    if method.adam_like {
        // log σ has a prior of its own, so s cannot start from that of the weights: it starts from the widths of the start.
        let rule = AdamLike { gamma2: 0.99, bias_correction: BiasCorrection::MomentumOnly, ..AdamLike::default() };
        Plan { rule: Rule::AdamLike(rule), curvature: Curvature::ItemGradients, ..plan }
    } else {
        let curvature = Curvature::Stein { control_variate: false };
        Plan { rule: Rule::EuclideanAdam(EuclideanAdam::default()), curvature, ..plan }
    }
}

fn look(model: &NeuralNetwork, split: &Split, q: &AnyApproximation) -> Result<(f64, f64), elinvar::Error> {
    let draws = crate::draws::draws(q, N_PREDICTIONS, 1);
    let predictions = model.predict(draws.view(), &split.test_x)?;
    let log_likelihood = predictions.log_likelihood(&split.test_y)? - split.scale.ln();
    Ok((split.scale * predictions.rmse(&split.test_y)?, log_likelihood))
}

fn fit(split: &Split, method: Method, steps: u64, seed: u64) -> Result<Vec<Look>, Error> {
    let (x, y) = (split.train_x.clone(), split.train_y.clone());
    let model = NeuralNetwork::regression(x, y, Architecture::default(), 1.0)?;
    let family = if method.skew { Family::skew() } else { Family::gaussian() }.diagonal();
    let start = model.start(family, seed)?;
    let mut looks = Vec::new();
    let settings = Watch { growth: 1.5, reviews: false, steps };
    watch(&model, &start, &plan(method, seed), settings, &mut |seen, moment| {
        let (rmse, log_likelihood) = look(&model, split, &seen.state)?;
        looks.push(Look { steps: moment.steps as f64, seconds: moment.seconds, rmse, log_likelihood });
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(looks)
}

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let size = Size::of(settings)?;
    let mut runs = Vec::new();
    for table in &size.tables {
        for method in METHODS {
            let clock = Instant::now();
            let of_split = |k: usize| fit(&table.split(k)?, method, size.steps, settings.seed + k as u64);
            let splits: Vec<Vec<Look>> =
                crate::threads::for_each(size.splits, of_split).into_iter().collect::<Result<_, Error>>()?;
            let ran = Ran { table: table.name, method: method.name, splits };
            let (rmse, _) = mean_and_sd(&ran.last(|look| look.rmse));
            let seconds = clock.elapsed().as_secs_f64();
            progress(&format!("{}, {}: RMSE {rmse:.3} ({seconds:.0} s)", table.name, method.name));
            runs.push(ran);
        }
    }
    let mut findings = Findings::default();
    findings.put("splits", size.splits as f64);
    findings.put("steps", size.steps as f64);
    for ran in &runs {
        findings.put_mean(format!("rmse on {}, {}", ran.table, ran.method), &ran.last(|look| look.rmse));
        let log_likelihood = ran.last(|look| look.log_likelihood);
        findings.put_mean(format!("log-likelihood on {}, {}", ran.table, ran.method), &log_likelihood);
    }
    runs.chunks_exact(METHODS.len()).for_each(|of_table| compare(&mut findings, of_table));
    findings.tables = tables(&runs);
    findings.figures.push(figure::draw(&runs, METHODS.len()));
    findings.page = page(&findings, &size);
    Ok(findings)
}

/// Steps until the mean RMSE is within a twentieth of the lowest last one of the three; the length of the run where it never is.
fn compare(findings: &mut Findings, of_table: &[Ran]) {
    let last = |ran: &Ran| mean_and_sd(&ran.last(|look| look.rmse)).0;
    let goal = 1.05 * of_table.iter().map(last).fold(f64::INFINITY, f64::min);
    let reaches = |ran: &Ran| {
        let curve = ran.curve(|look| look.rmse);
        let first = curve.iter().rposition(|(_, rmse, _)| *rmse > goal).map_or(0, |i| i + 1);
        curve.get(first).or(curve.last()).map_or(f64::NAN, |(steps, _, _)| *steps)
    };
    let ours = reaches(&of_table[0]).max(1.0);
    for ran in of_table {
        findings.put(format!("steps to 1.05 of the lowest rmse on {}, {}", ran.table, ran.method), reaches(ran));
    }
    let fastest = of_table[1..].iter().map(reaches).fold(f64::INFINITY, f64::min);
    findings.put(format!("steps of the faster BBVI over ours on {}", of_table[0].table), fastest / ours);
    // The area under the curve says how fast a run falls without a level that someone has to choose.
    let area = |ran: &Ran| {
        let curve = ran.curve(|look| look.rmse.ln());
        curve.windows(2).skip(1).map(|w| (w[1].0 / w[0].0).ln() * 0.5 * (w[0].1 + w[1].1)).sum::<f64>()
    };
    let best = of_table[1..].iter().map(area).fold(f64::INFINITY, f64::min);
    findings.put(
        format!("area under log rmse, faster BBVI minus ours on {}", of_table[0].table),
        best - area(&of_table[0]),
    );
}

/// RMSE and log-likelihood of VI (Graves 2011), back-propagation (no log-likelihood) and PBP for networks of 50 units:
/// J. M. Hernández-Lobato and R. P. Adams, *Probabilistic Backpropagation for Scalable Learning of Bayesian Neural Networks*, ICML 2015.
const PUBLISHED: [(&str, [f64; 3], [f64; 2]); 5] = [
    ("boston", [4.320, 3.228, 3.014], [-2.903, -2.574]),
    ("concrete", [7.128, 5.977, 5.667], [-3.391, -3.161]),
    ("energy", [2.646, 1.098, 1.804], [-2.391, -2.042]),
    ("wine_red", [0.646, 0.645, 0.635], [-0.980, -0.968]),
    ("yacht", [6.887, 1.182, 1.015], [-3.439, -1.634]),
];

fn tables(runs: &[Ran]) -> Vec<Table> {
    let mut ends = Table::new(
        "ends",
        ["table", "method", "test RMSE", "published: VI, BP, PBP", "test log-likelihood", "published: VI, PBP"],
    );
    for ran in runs {
        let with_error = |values: &[f64]| {
            let (mean, sd) = mean_and_sd(values);
            format!("{mean:.3} ± {:.3}", sd.unwrap_or(0.0) / (values.len() as f64).sqrt())
        };
        let published = PUBLISHED.iter().find(|(name, _, _)| *name == ran.table);
        let words = |values: &[f64]| values.iter().map(|v| format!("{v}")).collect::<Vec<_>>().join(", ");
        ends.push([
            ran.table.into(),
            ran.method.into(),
            with_error(&ran.last(|look| look.rmse)),
            published.map_or(String::new(), |(_, rmse, _)| words(rmse)),
            with_error(&ran.last(|look| look.log_likelihood)),
            published.map_or(String::new(), |(_, _, likelihood)| words(likelihood)),
        ]);
    }
    let mut trace =
        Table::new("rmse", ["table", "method", "steps", "seconds", "test RMSE", "standard error", "log-likelihood"]);
    for ran in runs {
        let (rmse, likelihood) = (ran.curve(|look| look.rmse), ran.curve(|look| look.log_likelihood));
        let seconds = ran.curve(|look| look.seconds);
        for ((rmse, likelihood), seconds) in rmse.iter().zip(likelihood).zip(seconds) {
            let numbers = [seconds.1, rmse.1, rmse.2, likelihood.1].map(|v| format!("{v:.4}"));
            let [seconds, mean, error, likelihood] = numbers;
            trace.push([ran.table.into(), ran.method.into(), format!("{}", rmse.0), seconds, mean, error, likelihood]);
        }
    }
    vec![ends, trace]
}

fn page(findings: &Findings, size: &Size) -> String {
    format!(
        "One hidden layer of 50 rectified units, N(0, I) on all weights, the noise learned (half-Cauchy prior on σ), columns standardised \
         by the rows that are fitted; batches of {BATCH}, {N_DRAWS} draws a step, {} steps, the first {} of the twenty usual splits. The \
         Adam-like rule (γ₁ = 0.9, γ₂ = 0.99, β = {}) moves a diagonal skew-Gaussian; BBVI is Adam (β = {}) on reparameterisation \
         gradients; all take steps of β(1 + t/1000)^−0.6. Predictions average {N_PREDICTIONS} draws. Published numbers: Hernández-Lobato & Adams, *Probabilistic \
         Backpropagation*, ICML 2015 (variational inference, back-propagation, PBP; the same kind of network and splits).\n\n{}",
        size.steps,
        size.splits,
        METHODS[0].beta,
        METHODS[1].beta,
        findings.tables[0].markdown(),
    )
}
