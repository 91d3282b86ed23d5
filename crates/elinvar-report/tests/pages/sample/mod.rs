//! Contents that look like real ones: made-up numbers, made the way a fit makes them.

#![allow(dead_code, reason = "each test program uses a part of it")]

mod importance;
mod random;

use elinvar_report::{
    CalibrationBin, Content, Draws, Estimate, Headline, Metric, Parameter, Rung, Stage, Summary, Test, TraceRow,
    Verdict,
};
use importance::Importance;
use random::Random;

const N_DRAWS: usize = 4000;

/// Logistic regression with eleven parameters, trusted.
pub(crate) fn logistic_11() -> Content {
    let mut random = Random::new(11);
    let mean = [1.675, -1.523, 1.816, 1.017, 1.305, 0.650, 0.070, 1.833, 0.916, 1.141, 0.271];
    let sd = [0.757, 0.823, 0.575, 0.718, 0.698, 0.589, 0.706, 0.444, 0.657, 0.557, 0.639];
    let names: Vec<String> = (0..11).map(|i| if i == 0 { "intercept".into() } else { format!("x{i}") }).collect();
    let (draws, z) = gaussian_draws(&mut random, &mean, &sd, 0.35);
    let importance = Importance::new(&draws, &z, |z| {
        0.03 * skew(z[2]) + 0.04 * skew(-z[7]) + 0.02 * skew(z[1]) + 0.06 * z[4].powi(2) - 0.02 * z[7].powi(2)
    });
    let elbo = Estimate { value: -34.2985, mcse: 0.0033 };
    let log_normaliser = Estimate { value: -34.2478, mcse: 0.0036 };
    let trace = rise(&mut random, 22, -214.0, elbo.value, 0.25, |step| (1, if step < 12 { 16 } else { 32 }));
    let headline = Headline {
        family: "full Gaussian".into(),
        elbo: Some(elbo),
        log_normaliser: Some(log_normaliser),
        stopped: "converged: less than 0.01 nats are left to gain".into(),
        evaluations: evaluations([9191, 999, 944]),
        seconds: 0.0369,
        ..importance.headline(&trace)
    };
    let reason =
        reason("Converged, and importance weights confirm every mean and sd.", &headline, "; 8 searches found 1 mode");
    Content {
        title: "Logistic regression on the embedded breast-cancer data: 341 rows, 11 parameters, prior N(0, 1)".into(),
        made: "Made by elinvar 0.1.0 on 2026-11-16, seed 1.".into(),
        verdict: Verdict::Trust,
        reason,
        next: Some("elinvar fit --family mog --components 4".into()),
        headline,
        parameters: parameters(names, &draws, &importance),
        draws,
        corrected_draws: Some(importance.draws),
        trace,
        tail: Some(importance.tail),
        config: CONFIG.into(),
        command: "elinvar fit --seed 1 --out run1".into(),
        model: words(
            "Bernoulli with a logit link",
            "the embedded breast-cancer data, 341 rows",
            "N(0, 1) on every coefficient",
        ),
        ..Content::default()
    }
}

/// Logistic regression with 61 parameters, three thousand steps, held-out rows, means trusted only.
pub(crate) fn logistic_61() -> Content {
    let mut random = Random::new(61);
    let mean: Vec<f64> = (0..61).map(|_| 1.2 * random.normal()).collect();
    let sd: Vec<f64> = (0..61).map(|_| 0.15 + 0.5 * random.uniform()).collect();
    let names: Vec<String> =
        (0..61).map(|i| if i == 0 { "intercept".into() } else { format!("band_{i:02}") }).collect();
    let (draws, z) = gaussian_draws(&mut random, &mean, &sd, 0.2);
    let tilt = |z: &[f64]| {
        z.iter().step_by(7).map(|v| 0.004 * skew(*v)).sum::<f64>()
            + 0.26 * z[3].powi(2)
            + 0.06 * z[14].powi(2)
            + 0.04 * skew(z[40])
    };
    let importance = Importance::new(&draws, &z, tilt);
    let elbo = Estimate { value: -178.41, mcse: 0.021 };
    let trace = rise(&mut random, 3000, -2310.0, elbo.value, 1.1, |step| (1, 16 << (step / 700).min(3)));
    let headline = Headline {
        family: "full Gaussian".into(),
        elbo: Some(elbo),
        log_normaliser: Some(Estimate { value: -176.98, mcse: 0.19 }),
        stopped: "converged: less than 0.01 nats are left to gain".into(),
        evaluations: evaluations([1_204_331, 1_184_000, 0]),
        seconds: 14.2,
        ..importance.headline(&trace)
    };
    let first = "The sd of band_03 may be 24 % too small, more than the 15 % that can be trusted.";
    let reason = reason(first, &headline, "; importance weights move sds by up to +22 % ± 2.0 % (band_03)");
    Content {
        title: "Logistic regression on sonar.csv: 166 rows, 61 parameters, prior N(0, 10²)".into(),
        made: "Made by elinvar 0.1.0 on 2026-11-16, seed 4.".into(),
        verdict: Verdict::TrustMeansOnly,
        reason,
        next: Some("the same command with --family auto".into()),
        headline,
        parameters: parameters(names, &draws, &importance),
        draws,
        corrected_draws: Some(importance.draws),
        trace,
        tail: Some(importance.tail),
        test: Some(held_out(&mut random)),
        config: CONFIG.into(),
        command: "elinvar fit logistic sonar.csv --target class --prior-sd 10 --family gaussian --test-share 0.2 --seed 4 --out sonar-run".into(),
        model: words("Bernoulli with a logit link", "sonar.csv, 166 rows for the fit and 42 held out", "N(0, 10²) on every coefficient"),
        ..Content::default()
    }
}

/// A mixture of ten Gaussians in the plane, reached by the ladder.
pub(crate) fn mixture_10() -> Content {
    let mut random = Random::new(10);
    let centres: Vec<(f64, f64, f64)> = (0..10)
        .map(|i| {
            let angle = 0.63 * f64::from(i);
            let radius = 4.0 + 9.0 * f64::from((i * 7) % 10) / 10.0;
            (radius * angle.cos(), radius * angle.sin(), 0.9 + 0.6 * random.uniform())
        })
        .collect();
    let mut columns = vec![Vec::new(), Vec::new()];
    let mut z = Vec::new();
    for _ in 0..N_DRAWS {
        let (cx, cy, sd) = centres[(random.uniform() * 10.0) as usize % 10];
        let (u, v) = (random.normal(), random.normal());
        columns[0].push(cx + sd * u);
        columns[1].push(cy + 0.8 * sd * v + 0.4 * sd * u);
        z.push(vec![u, v]);
    }
    let draws = Draws { columns, weights: Vec::new() };
    let importance = Importance::new(&draws, &z, |z| 0.16 * z[0].powi(2) - 0.06 * z[1].powi(2));
    let elbo = Estimate { value: -0.0213, mcse: 0.0031 };
    let mut trace = rise(&mut random, 120, -31.0, -1.94, 0.2, |_| (1, 32));
    let skewed = rise(&mut random, 160, -1.9, -1.61, 0.12, |_| (1, 64));
    let grown = rise(&mut random, 640, -1.5, elbo.value, 0.05, |step| (2 + (step / 60).min(8), 64));
    trace = joined(trace, skewed);
    trace = joined(trace, grown);
    let stage = |first_step, name: &str| Stage { first_step, name: name.into() };
    let rung = |family: &str, elbo: (f64, f64), k: f64, gain: Option<(f64, f64)>, gradients, seconds, kept| Rung {
        family: family.into(),
        elbo: Estimate { value: elbo.0, mcse: elbo.1 },
        pareto_k: Some(k),
        gain: gain.map(|(value, mcse)| Estimate { value, mcse }),
        gradients,
        seconds,
        kept,
    };
    let rungs = vec![
        rung("gaussian", (-1.944, 0.018), 0.93, None, 3840, 0.021, false),
        rung("skew", (-1.612, 0.016), 0.88, Some((0.332, 0.021)), 20_480, 0.094, false),
        rung("student_t", (-1.987, 0.020), 0.41, Some((-0.375, 0.022)), 18_304, 0.083, false),
        rung("mog, 10 components", (-0.0213, 0.0031), 0.38, Some((1.591, 0.016)), 263_168, 1.31, true),
    ];
    let headline = Headline {
        family: "mixture of 10 Gaussians".into(),
        elbo: Some(elbo),
        log_normaliser: Some(Estimate { value: -0.0007, mcse: 0.0032 }),
        stopped: "converged: less than 0.01 nats are left to gain".into(),
        evaluations: evaluations([310_421, 305_792, 0]),
        seconds: 1.51,
        ..importance.headline(&trace)
    };
    let reason = reason(
        "Converged, and importance weights confirm every mean and sd.",
        &headline,
        "; 8 searches found 10 modes",
    );
    Content {
        title: "Ten Gaussians in the plane: 2 parameters; ladder of families".into(),
        made: "Made by elinvar 0.1.0 on 2026-11-16, seed 7.".into(),
        verdict: Verdict::Trust,
        reason,
        next: Some("elinvar sample mixture-run --draws 4000 --out draws.csv".into()),
        headline,
        parameters: parameters(vec!["z1".into(), "z2".into()], &draws, &importance),
        draws,
        corrected_draws: Some(importance.draws),
        trace,
        stages: vec![stage(0, "gaussian"), stage(120, "skew"), stage(280, "mog")],
        tail: Some(importance.tail),
        rungs,
        config: CONFIG.into(),
        command: "elinvar fit --config mixture.toml --family auto --seed 7 --out mixture-run".into(),
        model: words("a mixture of ten Gaussians", "none", "flat"),
        ..Content::default()
    }
}

/// Names and texts that try to leave their place, and numbers that are not finite.
pub(crate) fn hostile() -> Content {
    let mut content = logistic_11();
    let bad = "</script><script>alert('x')</script><!-- & \"q\" 'a' <b>";
    content.title = bad.into();
    content.reason = format!("{bad}. {bad}");
    content.verdict = Verdict::DoNotTrust;
    content.command = bad.into();
    content.config = format!("name = \"{bad}\"\n");
    content.next = Some(bad.into());
    content.parameters[1].name = bad.into();
    content.parameters[2].name = "\" onmouseover=\"alert(1)".into();
    content.parameters[3].name =
        "a name that is far too long for any panel of any figure, and for the table as well".into();
    content.parameters[4].summary.mean = f64::NAN;
    content.parameters[5].summary.sd = f64::INFINITY;
    content.headline.pareto_k = Some(f64::INFINITY);
    content.headline.elbo = Some(Estimate { value: -1e300, mcse: f64::MAX });
    content.trace[3].elbo = Some(f64::NAN);
    content.trace[4].elbo = Some(f64::NEG_INFINITY);
    content.stages = vec![Stage { first_step: 0, name: bad.into() }, Stage { first_step: 9, name: bad.into() }];
    content.model.push((bad.into(), bad.into()));
    content
}

const CONFIG: &str = "[model]\nname = \"logistic\"\nprior_precision = 1.0\nintercept = true\n\n[family]\nname = \"gaussian\"\n\
    covariance = \"full\"\n\n[plan]\nseed = 1\nrestarts = 1\nn_draws = 16\nmax_steps = 3000\nremaining_nats = 0.01\n\n\
    [diagnostics]\nn_draws = 10000\n";

/// What decided, and the numbers of the headline.
fn reason(first: &str, headline: &Headline, last: &str) -> String {
    let (k, n) = (headline.pareto_k.unwrap_or(f64::NAN), headline.n_draws);
    let (elbo, z) = (headline.elbo.unwrap_or_default(), headline.log_normaliser.unwrap_or_default());
    format!(
        "{first} k̂ is {k:.2} (threshold {:.2} for {n} draws), the ELBO {:.4} ± {:.4}, {:.2} nats below the estimated log \
         normaliser {:.4} ± {:.4}{last}.",
        headline.pareto_k_threshold,
        elbo.value,
        elbo.mcse,
        z.value - elbo.value,
        z.value,
        z.mcse
    )
}

fn words(likelihood: &str, data: &str, prior: &str) -> Vec<(String, String)> {
    [("Likelihood", likelihood), ("Data", data), ("Prior", prior)].map(|(a, b)| (a.into(), b.into())).to_vec()
}

fn evaluations([log_density, gradient, hessian]: [u64; 3]) -> Vec<(String, u64)> {
    let listed = [("log density", log_density), ("gradient", gradient), ("Hessian", hessian)];
    listed.into_iter().filter(|(_, n)| *n > 0).map(|(what, n)| (what.into(), n)).collect()
}

/// log Φ(3 z) + log 2, nearly: the tilt that makes a Gaussian a skew one.
fn skew(z: f64) -> f64 {
    2f64.ln() - (-1.702 * 3.0 * z).exp().ln_1p()
}

/// Draws with a common factor, and the standard normal numbers behind them.
fn gaussian_draws(random: &mut Random, mean: &[f64], sd: &[f64], common: f64) -> (Draws, Vec<Vec<f64>>) {
    let mut columns = vec![Vec::with_capacity(N_DRAWS); mean.len()];
    let mut z = Vec::with_capacity(N_DRAWS);
    for _ in 0..N_DRAWS {
        let shared = random.normal();
        let row: Vec<f64> =
            mean.iter().map(|_| common.sqrt() * shared + (1.0 - common).sqrt() * random.normal()).collect();
        columns.iter_mut().zip(&row).enumerate().for_each(|(i, (column, v))| column.push(mean[i] + sd[i] * v));
        z.push(row);
    }
    (Draws { columns, weights: Vec::new() }, z)
}

fn parameters(names: Vec<String>, draws: &Draws, importance: &Importance) -> Vec<Parameter> {
    let both = draws.columns.iter().zip(&importance.draws.columns);
    names
        .into_iter()
        .zip(both)
        .map(|(name, (q, p))| {
            let summary = summary(q);
            let mcse = Some(summary.sd / (N_DRAWS as f64).sqrt());
            Parameter { name, summary, mcse, corrected: Some(self::summary(p)), ..Parameter::default() }
        })
        .collect()
}

fn summary(column: &[f64]) -> Summary {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let sd = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let mut sorted = column.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |p: f64| sorted[(p * (n - 1.0)) as usize];
    Summary { mean, sd, q5: at(0.05), q95: at(0.95) }
}

/// A bound that rises fast, then slowly, with noise that more draws make smaller.
fn rise(
    random: &mut Random,
    n: u64,
    from: f64,
    to: f64,
    noise: f64,
    cost: impl Fn(u64) -> (u64, u64),
) -> Vec<TraceRow> {
    let (mut evaluations, mut seconds) = (0, 0.0);
    let row = |step: u64| {
        let (components, n_draws) = cost(step);
        evaluations += components * n_draws * 2;
        seconds += 2e-6 * (components * n_draws) as f64 * (400.0 + 300.0 * random.uniform());
        let share = 1.0 - (-12.0 * step as f64 / n as f64).exp();
        let se = noise / ((n_draws * components) as f64 / 16.0).sqrt() * (1.0 + 4.0 * (1.0 - share));
        let left = 1.0 - step as f64 / n as f64;
        TraceRow {
            step,
            evaluations,
            seconds,
            elbo: Some(from + (to - from) * share + se * random.normal()),
            elbo_se: Some(se * (0.8 + 0.4 * random.uniform())),
            step_size: Some((0.15 + 0.85 * share) * (0.6 + 0.4 * random.uniform()).min(1.0)),
            kl: Some((0.9 * left.powi(4) + 2e-3) * (0.3 + random.uniform())),
            components,
            n_draws,
        }
    };
    (0..n).map(row).collect()
}

fn joined(mut first: Vec<TraceRow>, second: Vec<TraceRow>) -> Vec<TraceRow> {
    let last = *first.last().expect("a stage has steps");
    first.extend(second.into_iter().map(|row| TraceRow {
        step: row.step + last.step + 1,
        evaluations: row.evaluations + last.evaluations,
        seconds: row.seconds + last.seconds,
        ..row
    }));
    first
}

fn held_out(random: &mut Random) -> Test {
    let bins = (0..8).map(|i| {
        let predicted = (f64::from(i) + 0.5) / 8.0;
        let observed = (predicted + 0.09 * random.normal()).clamp(0.0, 1.0);
        CalibrationBin { predicted, observed, n: 14 + (40.0 * random.uniform()) as u64 }
    });
    let metric =
        |name: &str, value, se, note: &str| Metric { name: name.into(), value, se: Some(se), note: note.into() };
    Test {
        n_rows: 42,
        metrics: vec![
            metric("Log-loss", 0.412, 0.061, "nats per row; 0.693 is a coin"),
            metric("Accuracy", 0.81, 0.06, "share of rows on the right side of one half"),
            metric("Brier score", 0.133, 0.021, "mean squared error of the probability"),
        ],
        calibration: bins.collect(),
    }
}
