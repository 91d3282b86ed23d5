//! Bayesian networks by the boxes as printed, what each choice between them and elinvar's form does, and more layers.

mod arm;
mod figure;
mod runs;

use crate::bnn_data::TableOfSplits;
use crate::findings::mean_and_sd;
use crate::{Error, Experiment, Findings, Settings, Table};

use super::method::{BATCH, Course, DECAYS, N_DRAWS};
use super::race::last;
use super::tables::with_error;
use arm::{Arm, Setting, Squares, Start, Steps};
use runs::{NOISE_PRECISIONS, Ran, STEP_SIZES, Try};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-bnn-printed",
    title: "Bayesian networks by the boxes as printed",
    about: "The skew-Gaussian box of App. J as printed beside elinvar's form; noise learned or fixed, narrow or wide start; more layers.",
    has_paper_settings: false,
    needs: None,
    run,
    expected: include_str!("../../../expected/figure-bnn-printed.toml"),
};

/// How large the experiment is.
struct Size {
    tables: Vec<TableOfSplits>,
    /// The tables among them on which choices are taken apart.
    taken_apart: &'static [&'static str],
    splits: usize,
    course: Course,
    tunes: bool,
    hidden: usize,
    /// Splits and steps with more layers.
    deep: (usize, u64),
}

impl Size {
    fn of(settings: &Settings) -> Result<Self, Error> {
        if settings.quick {
            return Ok(Self {
                tables: vec![TableOfSplits::yacht()?],
                taken_apart: &["yacht"],
                splits: 1,
                course: Course { steps: 1_000, growth: 1.8 },
                tunes: false,
                hidden: 50,
                deep: (1, 100),
            });
        }
        Ok(Self {
            tables: vec![TableOfSplits::yacht()?, TableOfSplits::energy()?],
            taken_apart: &["yacht"],
            splits: 20,
            course: Course { steps: 3_000, growth: 1.35 },
            tunes: true,
            hidden: 50,
            deep: (5, 2_000),
        })
    }
}

/// For runs that do not tune.
fn known(arm: &Arm) -> Setting {
    let beta = match (arm.steps, arm.squares) {
        (Steps::Printed, _) => 0.025,
        (_, Squares::OfItems) => 0.15,
        (_, Squares::OfMean) => 0.06,
    };
    Setting { beta, noise_precision: (!arm.learns_noise).then_some(250.0) }
}

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let size = Size::of(settings)?;
    let seed = settings.seed;
    let mut findings = Findings::default();
    findings.put("splits", size.splits as f64);
    findings.put("steps", size.course.steps as f64);
    let (mut tries, mut raced, mut apart): (Vec<Try>, Vec<Ran>, Vec<Ran>) = Default::default();
    let mut deep = Vec::new();
    for table in &size.tables {
        let mut tuned = Vec::new();
        for arm in [Arm::elinvar(), Arm::printed(Squares::OfItems), Arm::printed(Squares::OfMean)] {
            let noises: Vec<Option<f64>> =
                if arm.learns_noise { vec![None] } else { NOISE_PRECISIONS.map(Some).to_vec() };
            let setting = choose(table, &arm, arm.name(), &noises, &size, seed, &mut tries);
            let ran = runs::race(table, &arm, arm.name(), setting, size.course, seed, size.splits)?;
            say(&ran, progress);
            raced.push(ran);
            tuned.push((arm, setting));
        }
        if size.taken_apart.contains(&table.name) {
            for arm in cells(settings.quick) {
                // σ is what the box with the same curvature was tuned to.
                let of_box = tuned.iter().find(|(tuned, _)| !tuned.learns_noise && tuned.squares == arm.squares);
                let noise = of_box.map(|(_, setting)| setting.noise_precision.filter(|_| !arm.learns_noise));
                let setting = choose(table, &arm, arm.cell(), &[noise.flatten()], &size, seed, &mut tries);
                let ran = runs::race(table, &arm, arm.cell(), setting, size.course, seed, size.splits)?;
                say(&ran, progress);
                apart.push(ran);
            }
        }
        if table.name == "yacht" {
            for layers in 1..=3 {
                deep.push((layers, with_layers(table, layers, &tuned, &size, seed, progress)?));
            }
        }
    }
    for (part, runs) in [("", &raced), (", apart", &apart)] {
        runs.iter().for_each(|ran| record(&mut findings, part, ran));
    }
    for (layers, runs) in &deep {
        runs.iter().for_each(|ran| record(&mut findings, &format!(", {layers} hidden layers"), ran));
    }
    findings.figures = vec![figure::race(&raced), figure::ablation(&apart), figure::depth(&deep)];
    let depths = deep.iter().flat_map(|(layers, runs)| runs.iter().map(move |ran| (layers.to_string(), ran)));
    findings.tables = vec![
        table_of("ends", "table", raced.iter().map(|ran| (ran.table.to_string(), ran))),
        table_of("ablation", "table", apart.iter().map(|ran| (ran.table.to_string(), ran))),
        table_of("depth", "hidden layers", depths),
    ];
    findings.page = page(&findings, &size);
    if size.tunes {
        findings.tables.push(tries_of(&tries));
    }
    Ok(findings)
}

/// The setting of an arm: tuned, or known.
fn choose(
    table: &TableOfSplits,
    arm: &Arm,
    name: String,
    noises: &[Option<f64>],
    size: &Size,
    seed: u64,
    all: &mut Vec<Try>,
) -> Setting {
    if !size.tunes {
        return known(arm);
    }
    let tries = runs::tries(table, arm, &name, &runs::settings(noises), size.course, seed);
    let best = runs::best(&tries).unwrap_or_else(|| known(arm));
    all.extend(tries);
    best
}

/// elinvar's form with every choice of curvature, noise and start; the squared mean alone in a quick run.
fn cells(quick: bool) -> Vec<Arm> {
    let squares = if quick { &[Squares::OfMean][..] } else { &[Squares::OfItems, Squares::OfMean] };
    let mut cells = Vec::new();
    for squares in squares {
        for learns_noise in [true, false] {
            for start in [Start::Narrow, Start::Prior] {
                cells.push(Arm { squares: *squares, start, learns_noise, ..Arm::elinvar() });
            }
        }
    }
    cells
}

/// The arms of the race with so many hidden layers and the settings of one.
fn with_layers(
    table: &TableOfSplits,
    layers: usize,
    tuned: &[(Arm, Setting)],
    size: &Size,
    seed: u64,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Ran>, Error> {
    let (n_splits, steps) = size.deep;
    let one = |(arm, setting): &(Arm, Setting)| {
        let arm = Arm { hidden: vec![size.hidden; layers], ..arm.clone() };
        let course = Course { steps, ..size.course };
        let ran = runs::race(table, &arm, arm.name(), *setting, course, seed, n_splits)?;
        say(
            &Ran { name: format!("{}, {layers} hidden layers", ran.name), splits: ran.splits.clone(), ..ran },
            progress,
        );
        Ok(ran)
    };
    tuned.iter().map(one).collect()
}

fn say(ran: &Ran, progress: &mut dyn FnMut(&str)) {
    let rmse = mean_and_sd(&last(&ran.splits, |look| look.rmse)).0;
    progress(&format!("{}, {}, {}: RMSE {rmse:.3}, {} broke down", ran.table, ran.name, ran.setting, ran.broken));
}

fn record(findings: &mut Findings, part: &str, ran: &Ran) {
    let place = format!("on {}, {}{part}", ran.table, ran.name);
    findings.put(format!("step size {place}"), ran.setting.beta);
    if let Some(precision) = ran.setting.noise_precision {
        findings.put(format!("noise precision {place}"), precision);
    }
    findings.put(format!("broke down {place}"), ran.broken as f64);
    findings.put_mean(format!("rmse {place}"), &last(&ran.splits, |look| look.rmse));
    findings.put_mean(format!("log-likelihood {place}"), &last(&ran.splits, |look| look.log_likelihood));
}

fn table_of<'a>(stem: &str, first: &str, runs: impl Iterator<Item = (String, &'a Ran)>) -> Table {
    let mut table = Table::new(stem, [first, "run", "setting", "test RMSE", "test log-likelihood", "broke down"]);
    for (first, ran) in runs {
        table.push([
            first,
            ran.name.clone(),
            ran.setting.to_string(),
            with_error(&last(&ran.splits, |look| look.rmse), 3),
            with_error(&last(&ran.splits, |look| look.log_likelihood), 3),
            ran.broken.to_string(),
        ]);
    }
    table
}

fn tries_of(tries: &[Try]) -> Table {
    let header = ["table", "run", "β", "τ", "log RMSE of validation rows, mean over log steps from 100"];
    let mut table = Table::new("tries", header);
    for each in tries {
        let score = if each.score.is_finite() { format!("{:.4}", each.score) } else { "broke down".into() };
        let noise = each.setting.noise_precision.map_or("learned".into(), |precision| precision.to_string());
        table.push([each.table.into(), each.arm.clone(), each.setting.beta.to_string(), noise, score]);
    }
    table
}

fn page(findings: &Findings, size: &Size) -> String {
    let words = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let tuning = if size.tunes {
        format!(
            "Step sizes are chosen among {}, and the precision τ of fixed noise among {} (the responses have variance one), for every \
             run of the race by the log RMSE of the validation rows of one split, mean over the logarithm of the steps from the hundredth on; \
             the runs that are taken apart have τ of the box of the same curvature ([tries](tries.csv)).",
            words(&STEP_SIZES),
            words(&NOISE_PRECISIONS)
        )
    } else {
        "Settings are given by hand; a full run tunes them.".into()
    };
    let (deep_splits, deep_steps) = size.deep;
    format!(
        "One hidden layer of {} rectified units, N(0, I) on all weights, batches of {BATCH}, {N_DRAWS} draws a step, decays {DECAYS:?}, {} \
         steps, the first {} of the twenty usual splits. *As printed*: the skew-Gaussian box of App. J and nothing else: constant steps, \
         independent draws, the w of each draw, both bias corrections, s = 0 at first (so that all weights begin as wide as the prior), \
         and fixed noise. *elinvar*: falling steps, even draws, E[u | z], a narrow start, learned noise. {tuning} Mean ± standard error over \
         the splits.\n\n{}\n## What each choice does\n\nelinvar's steps with σ learned or fixed, from a narrow start (a tenth of the spread of \
         the means) or from the widths of the prior, and with the curvature of the squares of items or of the squared mean of a batch.\n\n{}\n\
         ## More hidden layers\n\nLayers of {} units on Yacht, {deep_steps} steps, {deep_splits} splits, with the settings of one layer.\n\n{}",
        size.hidden,
        size.course.steps,
        size.splits,
        findings.tables[0].markdown(),
        findings.tables[1].markdown(),
        size.hidden,
        findings.tables[2].markdown(),
    )
}
