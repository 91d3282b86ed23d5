//! Mixtures of Gaussians on logistic regressions: natural gradients against the black box, and what each component
//! buys.

mod figure;
mod race;

use elinvar::estimate::Curvature;
use elinvar::model::LogisticRegression;
use elinvar::{Family, Plan, Posterior};

use crate::bound::bound;
use crate::{Error, Experiment, Findings, Settings, Table, data, findings, threads};
use race::{Course, Look, Mean, Ran, Runner};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-mog-logistic",
    title: "Mixtures of Gaussians on logistic regressions",
    about: "K = 1, 3, 5, 10 on Breast-Cancer and Sonar: natural gradients against black-box gradients, by iterations, evaluations and seconds.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../../expected/figure-mog-logistic.toml"),
};

/// A regression and what is done with it.
struct Problem {
    name: &'static str,
    target: LogisticRegression,
    /// The numbers of components of the race.
    raced: &'static [usize],
    /// The numbers of components of the default fits.
    fitted: &'static [usize],
}

/// How much is done.
struct Size {
    seeds: u64,
    course: Course,
    kl_draws: usize,
    tunes: bool,
}

impl Size {
    fn of(settings: &Settings) -> Self {
        match settings.quick {
            true => Self {
                seeds: 2,
                course: Course { steps: 600, look_draws: 2_000, growth: 1.5 },
                kl_draws: 50_000,
                tunes: false,
            },
            false => Self {
                seeds: 5,
                course: Course { steps: 1_500, look_draws: 4_000, growth: 1.35 },
                kl_draws: 1_000_000,
                tunes: true,
            },
        }
    }
}

fn problems(settings: &Settings) -> Result<[Problem; 2], Error> {
    let all: &[usize] = &[1, 3, 5, 10];
    let (raced, fitted): ([&[usize]; 2], [&[usize]; 2]) =
        if settings.quick { ([&[1, 3], &[1]], [all, &[1, 3]]) } else { ([all; 2], [all; 2]) };
    Ok([
        Problem { name: "Breast-Cancer", target: data::breast_cancer()?, raced: raced[0], fitted: fitted[0] },
        Problem { name: "Sonar", target: data::sonar()?, raced: raced[1], fitted: fitted[1] },
    ])
}

/// What one fit of the default plan reached.
struct Fitted {
    components: usize,
    kls: Vec<f64>,
    evaluations: Vec<f64>,
    seconds: Vec<f64>,
}

/// The curves of one number of components.
struct Race {
    components: usize,
    natural: Vec<Mean>,
    black_box: Vec<Mean>,
    default: Vec<Ran>,
    /// The share of the steps of the black box that were shorter than asked for.
    shortened: f64,
    runners: [Runner; 2],
}

/// Where one runner stood when it first came within a divergence, and where the other did.
struct Factors {
    kl: f64,
    natural: Option<Look>,
    black_box: Option<Look>,
}

impl Race {
    /// The settings that were best in the tuning of the full run, for runs that do not tune.
    fn known(name: &str, components: usize) -> [Runner; 2] {
        let (beta, rate, decays) = match (name, components) {
            ("Sonar", _) => (0.1, 0.1, true),
            (_, 1) => (0.3, 0.3, false),
            _ => (0.3, 0.1, true),
        };
        [Runner::Natural { beta, decays: true }, Runner::BlackBox { rate, decays, curvature: Curvature::Hessian }]
    }

    /// Both at the final divergence of the black box, within the tolerance.
    fn factors(&self) -> Factors {
        let kl = self.black_box.last().map_or(f64::NAN, |mean| mean.look.kl) + race::TOLERANCE;
        Factors {
            kl,
            natural: race::first_within(&self.natural, kl),
            black_box: race::first_within(&self.black_box, kl),
        }
    }
}

impl Factors {
    /// How many times as much the black box took; zero if natural gradients did not get there.
    fn ratio(&self, of: fn(&Look) -> f64) -> f64 {
        match (&self.natural, &self.black_box) {
            (Some(natural), Some(black_box)) => of(black_box) / of(natural).max(f64::MIN_POSITIVE),
            _ => 0.0,
        }
    }
}

fn run(settings: &Settings, say: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let size = Size::of(settings);
    let mut findings = Findings::default();
    let mut fits_table = Table::new("default-plan", ["data", "K", "KL, mean", "sd over seeds", "gradients", "seconds"]);
    let mut race_table = Table::new(
        "race",
        [
            "data",
            "K",
            "natural",
            "black box",
            "its final KL",
            "natural's final KL",
            "at KL",
            "factor in iterations",
            "factor in evaluations",
            "factor in seconds",
        ],
    );
    let mut curves_table =
        Table::new("curves", ["data", "K", "run", "iterations", "evaluations", "seconds", "KL", "lowest", "highest"]);
    let mut panels = Vec::new();
    for problem in problems(settings)? {
        let (log_evidence, fitted) = fit_all(&problem, &size, settings.seed, &mut findings, say)?;
        for fit in &fitted {
            let (kl, sd) = findings::mean_and_sd(&fit.kls);
            let mean = |values: &[f64]| findings::mean_and_sd(values).0;
            fits_table.push([
                problem.name.into(),
                fit.components.to_string(),
                format!("{kl:.5}"),
                format!("{:.5}", sd.unwrap_or(0.0)),
                format!("{:.0}", mean(&fit.evaluations)),
                format!("{:.2}", mean(&fit.seconds)),
            ]);
            findings.put_mean(format!("kl, {}, K = {}", problem.name, fit.components), &fit.kls);
        }
        let rise =
            fitted.windows(2).map(|pair| findings::mean_and_sd(&pair[1].kls).0 - findings::mean_and_sd(&pair[0].kls).0);
        findings.put(format!("largest rise of kl with K, {}", problem.name), rise.fold(f64::NEG_INFINITY, f64::max));
        let mut races = Vec::new();
        for components in problem.raced {
            let race = race(&problem, *components, &size, settings.seed, log_evidence, say)?;
            report(&problem, &race, &mut findings, &mut race_table, &mut curves_table, say);
            races.push(race);
        }
        findings.figures.push(figure::curves(problem.name, &races));
        panels.push((problem.name, fitted));
    }
    findings.figures.push(figure::against_components(&panels));
    findings.page = page(&fits_table, &race_table, &size);
    findings.tables = vec![fits_table, race_table, curves_table];
    Ok(findings)
}

/// The default fits of all numbers of components; the log evidence is that of importance sampling from the best of
/// them.
fn fit_all(
    problem: &Problem,
    size: &Size,
    seed: u64,
    findings: &mut Findings,
    say: &mut dyn FnMut(&str),
) -> Result<(f64, Vec<Fitted>), Error> {
    let mut fits: Vec<(usize, Vec<Posterior>)> = Vec::new();
    for components in problem.fitted {
        let of_seeds = threads::for_each(size.seeds as usize, |i| {
            let plan = Plan { seed: seed + i as u64, ..Plan::default() };
            elinvar::fit(&problem.target, Family::mog(*components), &plan)
        });
        fits.push((*components, of_seeds.into_iter().collect::<Result<_, _>>()?));
    }
    let best = fits.last().map(|(_, fits)| fits[0].approximation());
    let Some(best) = best else { return Ok((f64::NAN, Vec::new())) };
    let evidence = bound(best, &problem.target, size.kl_draws, 1_234)?;
    say(&format!("{}: log evidence {:.4} ± {:.4}", problem.name, evidence.log_normaliser, evidence.log_normaliser_se));
    findings.put(format!("log evidence, {}", problem.name), evidence.log_normaliser);
    let mut fitted = Vec::new();
    for (components, fits) in &fits {
        let kls = threads::for_each(fits.len(), |i| {
            let bound = bound(fits[i].approximation(), &problem.target, size.kl_draws, 7)?;
            Ok::<_, elinvar::Error>(evidence.log_normaliser - bound.elbo)
        });
        let kls: Vec<f64> = kls.into_iter().collect::<Result<_, _>>()?;
        say(&format!("{}, K = {components}, default plan: KL {:.4}", problem.name, findings::mean_and_sd(&kls).0));
        fitted.push(Fitted {
            components: *components,
            kls,
            evaluations: fits.iter().map(|fit| fit.counts().gradient as f64).collect(),
            seconds: fits.iter().map(Posterior::seconds).collect(),
        });
    }
    Ok((evidence.log_normaliser, fitted))
}

fn race(
    problem: &Problem,
    components: usize,
    size: &Size,
    seed: u64,
    log_evidence: f64,
    say: &mut dyn FnMut(&str),
) -> Result<Race, Error> {
    let target = &problem.target;
    let mut runners = Race::known(problem.name, components);
    if size.tunes {
        // With a seed that the race does not use.
        runners = race::tune(target, components, 101, size.course, log_evidence)?;
        say(&format!("{}, K = {components}: tuned to {} and {}", problem.name, runners[0], runners[1]));
    }
    // One after the other: their seconds are compared.
    let of = |runner| -> Result<Vec<Ran>, Error> {
        let seeds = seed..seed + size.seeds;
        Ok(seeds
            .map(|seed| race::run(target, components, runner, seed, size.course, log_evidence))
            .collect::<Result<_, _>>()?)
    };
    let black_box = of(runners[1])?;
    Ok(Race {
        components,
        natural: race::mean_of(&of(runners[0])?),
        black_box: race::mean_of(&black_box),
        default: of(Runner::Default)?,
        shortened: black_box.iter().map(|ran| ran.shortened).sum::<f64>() / black_box.len() as f64,
        runners,
    })
}

fn report(
    problem: &Problem,
    race: &Race,
    findings: &mut Findings,
    races: &mut Table,
    curves: &mut Table,
    say: &mut dyn FnMut(&str),
) {
    let (name, k) = (problem.name, race.components);
    let factors = race.factors();
    let end = |curve: &[Mean]| curve.last().map_or(f64::NAN, |mean| mean.look.kl);
    let (iterations, evaluations, seconds) =
        (factors.ratio(|look| look.steps), factors.ratio(|look| look.evaluations), factors.ratio(|look| look.seconds));
    findings.put(format!("final kl of natural, {name}, K = {k}"), end(&race.natural));
    findings.put(format!("final kl of black box, {name}, K = {k}"), end(&race.black_box));
    findings.put(format!("factor in evaluations, {name}, K = {k}"), evaluations);
    findings.put(format!("factor in iterations, {name}, K = {k}"), iterations);
    findings.put(format!("factor in seconds, {name}, K = {k}"), seconds);
    findings.put(format!("share of shortened steps of black box, {name}, K = {k}"), race.shortened);
    say(&format!("{name}, K = {k}: {evaluations:.1} times fewer evaluations, {seconds:.1} times fewer seconds"));
    races.push([
        name.into(),
        k.to_string(),
        race.runners[0].to_string(),
        race.runners[1].to_string(),
        format!("{:.4}", end(&race.black_box)),
        format!("{:.4}", end(&race.natural)),
        format!("{:.4}", factors.kl),
        format!("{iterations:.1}"),
        format!("{evaluations:.1}"),
        format!("{seconds:.1}"),
    ]);
    let mut add = |run: &str, look: &Look, low: f64, high: f64| {
        let numbers = [look.steps, look.evaluations, look.seconds, look.kl, low, high].map(|v| format!("{v:.6}"));
        let [steps, evaluations, seconds, kl, low, high] = numbers;
        curves.push([name.into(), k.to_string(), run.into(), steps, evaluations, seconds, kl, low, high]);
    };
    for (run, curve) in [("natural", &race.natural), ("black box", &race.black_box)] {
        curve.iter().for_each(|mean| add(run, &mean.look, mean.low, mean.high));
    }
    for (i, ran) in race.default.iter().enumerate() {
        ran.looks.iter().for_each(|look| add(&format!("default plan, repetition {}", i + 1), look, look.kl, look.kl));
    }
}

fn page(fits: &Table, races: &Table, size: &Size) -> String {
    let Size { seeds, course, kl_draws, tunes } = size;
    let tuned = match tunes {
        true => {
            "Both are tuned for each row with another seed: the natural step from {0.3, 0.1, 0.03}, falling; the learning rate from \
             {0.3, 0.1, 0.03}, falling or constant with the Hessian in the gradient of the scale matrices, or falling with pathwise gradients \
             alone: three settings against nine, each method with the one that first comes within 0.01 nats of the best end of the black box."
        }
        false => "Step sizes are those that were best in the full run.",
    };
    format!(
        "## What a component buys\n\n`Plan::default()`, {seeds} seeds, KL by {kl_draws} draws for each of them; log evidence by importance sampling from the \
         fit with most components.\n\n{}\n## Natural gradients against the black box\n\nBoth begin at means from N(0, I) with unit \
         covariances and equal weights and take about twenty draws per iteration, those of all components together, {} iterations, \
         full batches. *Black box*: Adam on means, Cholesky factors with log diagonals and soft-max logits, by the same estimators of the \
         same gradients. {tuned} An evaluation is a gradient at one draw; where the Hessian is used there is one with each. Divergences on the \
         way are by {} draws. The factors are what the black box takes, divided by what natural gradients take, until the mean over the seeds is \
         within 0.01 nats of the final divergence of the black box; seconds are iterations times the median time of an iteration. *Default plan*: no tuning, its own \
         numbers of draws, its reviews counted, and a stop where it believes to be within 0.01 nats of the optimum.\n\n{}",
        fits.markdown(),
        course.steps,
        course.look_draws,
        races.markdown()
    )
}
