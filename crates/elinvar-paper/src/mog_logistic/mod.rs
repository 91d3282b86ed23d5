//! Mixtures of Gaussians on logistic regressions: natural gradients against the black box, and what each component
//! buys.

mod figure;
mod idle;
mod race;
mod runner;
mod tables;

use elinvar::model::LogisticRegression;
use elinvar::{Family, Plan, Posterior};

use crate::bound::bound;
use crate::findings::mean_and_sd;
use crate::{Error, Experiment, Findings, Settings, data, threads};
use race::{Course, Look, Mean, Ran, Try};
use runner::{ARMS, Arm, Runner};
use tables::Tables;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-mog-logistic",
    title: "Mixtures of Gaussians on logistic regressions",
    about: "K = 1, 3, 5, 10 on Breast-Cancer and Sonar: update (16) as printed and elinvar's against black-box gradients, by iterations, evaluations and seconds.",
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
    idle: idle::Size,
}

impl Size {
    /// The draws of a mean divergence are shared by its seeds.
    fn draws_of_a_seed(&self) -> usize {
        self.kl_draws.div_ceil(self.seeds as usize)
    }

    fn of(settings: &Settings) -> Self {
        match settings.quick {
            true => Self {
                seeds: 2,
                course: Course { steps: 600, look_draws: 2_000, growth: 1.5 },
                kl_draws: 50_000,
                tunes: false,
                idle: idle::Size { components: &[3], changes: 2, seeds: 1, steps: 600 },
            },
            false => Self {
                seeds: 5,
                course: Course { steps: 1_500, look_draws: 4_000, growth: 1.35 },
                kl_draws: 1_000_000,
                tunes: true,
                idle: idle::Size { components: &[3, 10], changes: 5, seeds: 2, steps: 1_500 },
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

/// What became of one arm.
struct Raced {
    arm: Arm,
    runner: Runner,
    curve: Vec<Mean>,
    /// The last divergence of each seed, of those that stayed in their domain.
    kls: Vec<f64>,
    /// The share of steps that were shorter than asked for.
    shortened: f64,
    /// The steps at which seeds left their domain.
    left: Vec<u64>,
}

impl Raced {
    /// The mean of the last divergences.
    fn end(&self) -> f64 {
        mean_and_sd(&self.kls).0
    }
}

/// The curves of one number of components.
struct Race {
    components: usize,
    arms: Vec<Raced>,
    default: Vec<Ran>,
    tries: Vec<Try>,
}

impl Race {
    fn of(&self, arm: Arm) -> &Raced {
        self.arms.iter().find(|raced| raced.arm == arm).expect("every arm is in every race")
    }

    /// A black box at its final divergence, within the tolerance, and another arm there.
    fn at_the_end_of(&self, black_box: Arm, natural: Arm) -> Factors {
        let end = self.of(black_box).curve.last().map_or(f64::NAN, |mean| mean.look.kl);
        let at = |arm: Arm| race::first_within(&self.of(arm).curve, end + race::TOLERANCE);
        Factors { natural: at(natural), black_box: at(black_box) }
    }
}

/// Where two arms stood when they first came within a divergence.
struct Factors {
    natural: Option<Look>,
    black_box: Option<Look>,
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
    let mut tables = Tables::default();
    let mut panels = Vec::new();
    let mut idle = None;
    for problem in problems(settings)? {
        let (log_evidence, fitted) = fit_all(&problem, &size, settings.seed, &mut findings, say)?;
        for fit in &fitted {
            tables.fitted(problem.name, fit);
            findings.put_mean(format!("kl, {}, K = {}", problem.name, fit.components), &fit.kls);
        }
        let rise = fitted.windows(2).map(|pair| mean_and_sd(&pair[1].kls).0 - mean_and_sd(&pair[0].kls).0);
        findings.put(format!("largest rise of kl with K, {}", problem.name), rise.fold(f64::NEG_INFINITY, f64::max));
        let mut races = Vec::new();
        for components in problem.raced {
            let race = race(&problem, *components, &size, settings.seed, log_evidence, say)?;
            report(problem.name, &race, &mut findings, say);
            tables.raced(problem.name, &race);
            races.push(race);
        }
        findings.figures.push(figure::curves(problem.name, &races));
        panels.push((problem.name, fitted));
        if problem.name == "Sonar" {
            let (target, seed) = (&problem.target, settings.seed);
            idle = Some(idle::explain(target, &size.idle, seed, log_evidence, &mut findings, say)?);
        }
    }
    findings.figures.push(figure::against_components(&panels));
    tables.idle = idle;
    findings.page = tables.page(&size);
    findings.tables = tables.into_all();
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
            elinvar::run::fit(&problem.target, Family::mog(*components), &plan)
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
            let bound = bound(fits[i].approximation(), &problem.target, size.draws_of_a_seed(), 7)?;
            Ok::<_, elinvar::Error>(evidence.log_normaliser - bound.elbo)
        });
        let kls: Vec<f64> = kls.into_iter().collect::<Result<_, _>>()?;
        say(&format!("{}, K = {components}, default plan: KL {:.4}", problem.name, mean_and_sd(&kls).0));
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
    let (mut runners, mut tries) = (ARMS.map(|arm| arm.known(problem.name, components)), Vec::new());
    if size.tunes {
        // With a seed that the race does not use.
        (runners, tries) = race::tune(target, components, 101, size.course, log_evidence)?;
        let words: Vec<String> =
            ARMS.iter().zip(runners).map(|(arm, runner)| format!("{}, {runner}", arm.name())).collect();
        say(&format!("{}, K = {components}: tuned to {}", problem.name, words.join("; ")));
    }
    // One after the other: their seconds are compared.
    let of = |runner| -> Result<Vec<Ran>, Error> {
        let seeds = seed..seed + size.seeds;
        Ok(seeds
            .map(|seed| race::run(target, components, runner, seed, size.course, log_evidence))
            .collect::<Result<_, _>>()?)
    };
    let mut arms = Vec::new();
    for (arm, runner) in ARMS.into_iter().zip(runners) {
        let runs = of(runner)?;
        let stayed: Vec<&Ran> = runs.iter().filter(|ran| ran.left.is_none()).collect();
        let kls = threads::for_each(stayed.len(), |i| {
            Ok::<_, elinvar::Error>(log_evidence - bound(&stayed[i].last, target, size.draws_of_a_seed(), 7)?.elbo)
        });
        arms.push(Raced {
            arm,
            runner,
            curve: race::mean_of(&runs),
            kls: kls.into_iter().collect::<Result<_, _>>()?,
            shortened: runs.iter().map(|ran| ran.shortened).sum::<f64>() / runs.len() as f64,
            left: runs.iter().filter_map(|ran| ran.left).collect(),
        });
    }
    Ok(Race { components, arms, default: of(Runner::Default)?, tries })
}

/// Puts the numbers of a race down.
fn report(name: &str, race: &Race, findings: &mut Findings, say: &mut dyn FnMut(&str)) {
    let place = format!("{name}, K = {}", race.components);
    for raced in &race.arms {
        let arm = raced.arm.name();
        if !raced.kls.is_empty() {
            findings.put_mean(format!("final kl of {arm}, {place}"), &raced.kls);
        }
        findings.put(format!("share of shortened steps of {arm}, {place}"), raced.shortened);
        findings.put(format!("runs that left the domain, {arm}, {place}"), raced.left.len() as f64);
        for kl in tables::ACCURACIES {
            if let Some(look) = race::first_within(&raced.curve, kl) {
                findings.put(format!("evaluations to {kl} nats of {arm}, {place}"), look.evaluations);
            }
        }
        say(&format!("{place}, {arm}, {}: KL {:.4}, {} left the domain", raced.runner, raced.end(), raced.left.len()));
    }
    for each in race.tries.iter().filter(|each| each.left.is_some()) {
        if let (Runner::Tuned { size, .. }, Some(step)) = (each.runner, each.left) {
            findings.put(format!("step at which β = {size} left the domain in tuning, {place}"), step as f64);
        }
    }
    for black_box in [Arm::WithHessian, Arm::Reparameterised] {
        for natural in [Arm::Elinvar, Arm::Printed] {
            let factors = race.at_the_end_of(black_box, natural);
            let pair = format!("{} over {}, {place}", black_box.name(), natural.name());
            type Costs = (&'static str, fn(&Look) -> f64);
            let costs: [Costs; 3] = [
                ("evaluations", |look| look.evaluations),
                ("iterations", |look| look.steps),
                ("seconds", |look| look.seconds),
            ];
            for (word, of) in costs {
                findings.put(format!("factor in {word}, {pair}"), factors.ratio(of));
            }
        }
    }
}
