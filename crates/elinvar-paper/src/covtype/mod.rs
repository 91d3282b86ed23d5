//! Student-t and skew-Gaussian by natural gradients of mini-batches against black-box gradients, on covtype.

mod data;
mod figure;
mod products;
mod race;

use elinvar::run::Stop;
use elinvar::{Family, Plan};

use crate::{Error, Experiment, Findings, Settings, Table};
use data::Data;
use products::Bare;
use race::{Course, Entry, Method, Ran};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "figure-covtype",
    title: "Mini-batches: Student-t and skew-Gaussian on covtype",
    about: "464 809 × 54 logistic regression; test log-loss against epochs and seconds, and the bare cost of the products.",
    has_paper_settings: false,
    needs: Some("covtype.parquet"),
    run,
    expected: include_str!("../../expected/figure-covtype.toml"),
};

/// Nats of log-loss above the last value of natural gradients at which a run counts as there.
const NEAR: f64 = 2e-3;

/// What all runs are held against.
struct Reference {
    loss: f64,
    seconds: f64,
    /// Draws of a log-loss over all rows that are kept back.
    n_draws: usize,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn run(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    // Seconds are compared, so everything has one thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| Error::Io { path: "threads".into(), source: std::io::Error::other(e) })?;
    // Lines come from the thread of the pool and are shown by this one.
    let (send, lines) = std::sync::mpsc::channel::<String>();
    std::thread::scope(|scope| {
        let run = scope.spawn(move || {
            // A line that nobody takes is no loss.
            pool.install(|| run_alone(settings, &mut |line| send.send(line.to_owned()).unwrap_or_default()))
        });
        lines.iter().for_each(|line| progress(&line));
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_alone(settings: &Settings, progress: &mut dyn FnMut(&str)) -> Result<Findings, Error> {
    let data = match (&settings.data, settings.quick) {
        (_, true) => Data::stand_in(30_000, 10_000, settings.seed)?,
        (Some(folder), false) => Data::read(folder)?,
        (None, false) => Data::read("".as_ref())?,
    };
    let n_rows = data.model.design().n_rows();
    progress(&format!("{n_rows} rows to fit, {} kept back", data.n_test()));
    let course = Course {
        minibatch: if settings.quick { 1_000 } else { 2_000 },
        n_draws: 10,
        epochs: 5.0,
        seed: settings.seed,
        repetitions: if settings.quick { 2 } else { 5 },
        test: if settings.quick { (2_000, 20) } else { (10_000, 50) },
    };
    // Steps from the mode of all data; a step over 464 809 rows is dear, and the log-loss has long settled.
    let max_steps = if settings.quick { 3_000 } else { 20 };
    let stop = Stop { remaining_nats: 0.05, max_steps, ..Stop::default() };
    let all = Plan { n_draws: course.n_draws, max_draws: 40, stop, seed: settings.seed, ..Plan::default() };
    let gaussian = elinvar::run::fit(&data.model, Family::gaussian(), &all)?;
    let n_draws = 100;
    let loss = mean(&data.losses(gaussian.approximation(), usize::MAX, n_draws));
    let reference = Reference { loss, seconds: gaussian.seconds(), n_draws };
    progress(&format!("the Gaussian of all data: log-loss {:.5} nats", reference.loss));
    let (mut runs, mut printed, mut tries) = (Vec::new(), Vec::new(), Vec::new());
    for family in [Family::student_t_learned(), Family::skew()] {
        for method in [Method::Natural, best_adam(&data, family, &course)?] {
            let ran = race::run(&data, Entry { family, method }, &course)?;
            progress(&format!("{}: log-loss {:.5} nats", ran.entry.name(), ran.final_loss()));
            runs.push(ran);
        }
    }
    for family in [Family::student_t_learned(), Family::student_t(race::SHAPE), Family::skew()] {
        let method = best_printed(&data, family, &course, settings.quick, &mut tries)?;
        let ran = race::run(&data, Entry { family, method }, &course)?;
        let left: Vec<String> =
            ran.left.iter().map(|(step, what)| format!("; {what} left its domain at step {step}")).collect();
        progress(&format!("{}, {method:?}: log-loss {:.5} nats{}", ran.entry.name(), ran.final_loss(), left.concat()));
        printed.push(ran);
    }
    let bare = products::measure(data.model.design(), course.n_draws, course.minibatch, 3);
    let costs = costs(&data, &course)?;
    let mut findings = Findings::default();
    findings.put("rows to fit", n_rows as f64);
    findings.put("test log-loss of the gaussian of all data", reference.loss);
    findings.put("seconds of the gaussian of all data", reference.seconds);
    findings.put("bare seconds of reading the rows", bare.read);
    findings.put("bare seconds of the products of a gradient", bare.gradient);
    findings.put("bare seconds of the products of a gradient and a Hessian", bare.hessian);
    findings.put("bare seconds of the products over mini-batches", bare.gathered);
    runs.iter().chain(&printed).for_each(|ran| record(&mut findings, &data, &reference, &bare, ran));
    for (size, seconds) in &costs {
        let ratio = seconds / bare.gathered;
        findings.put(format!("seconds per epoch over the bare products of mini-batches of {size} rows"), ratio);
    }
    for pair in runs.chunks_exact(2) {
        compare(&mut findings, &course, &pair[0], &pair[1]);
        let own = printed.iter().filter(|ran| ran.entry.family.name() == pair[0].entry.family.name());
        own.for_each(|ran| compare_printed(&mut findings, &course, &pair[0], &pair[1], ran));
    }
    runs.extend(printed);
    if let Some(peak) = peak_memory() {
        findings.put("peak memory, MB", peak);
    }
    findings.tables = tables(&findings, &runs, &costs);
    findings.tables.push(table_of_tries(&tries));
    findings.figures.push(figure::draw(&runs, reference_on_the_way(&data, &gaussian, &course), &bare, settings.quick));
    findings.page = page(&findings, settings, &course);
    Ok(findings)
}

/// Rows of a mini-batch and the seconds of an epoch of natural gradients on a skew-Gaussian: what a step costs whatever
/// its rows is shared by more of them.
fn costs(data: &Data, course: &Course) -> Result<Vec<(usize, f64)>, Error> {
    let entry = Entry { family: Family::skew(), method: Method::Natural };
    let n_rows = data.model.design().n_rows();
    let of_size = |size: usize| {
        let epochs = 160.0 * size as f64 / n_rows as f64;
        let short = Course { minibatch: size, epochs, repetitions: 3, test: (10, 2), ..*course };
        Ok((size, race::run(data, entry, &short)?.seconds_per_epoch))
    };
    [500, 2_000, 8_000, 32_000].into_iter().filter(|size| *size < n_rows).map(of_size).collect()
}

/// The log-loss of the Gaussian of all data, by the rows and draws of the runs.
fn reference_on_the_way(data: &Data, gaussian: &elinvar::Posterior, course: &Course) -> f64 {
    mean(&data.losses(gaussian.approximation(), course.test.0, course.test.1))
}

/// The setting of Adam with the lowest log-loss at the end of the course, by a seed that the race does not use.
fn best_adam(data: &Data, family: Family, course: &Course) -> Result<Method, Error> {
    let alone = Course { seed: course.seed + 100, repetitions: 1, test: (2_000, 20), ..*course };
    let mut best = (f64::INFINITY, None);
    for method in Method::adams() {
        let loss = race::run(data, Entry { family, method }, &alone)?.final_loss();
        if loss < best.0 {
            best = (loss, Some(method));
        }
    }
    best.1.ok_or_else(|| {
        elinvar::Error::Unsupported {
            wanted: "black-box gradients".into(),
            instead: "no setting led to a finite log-loss".into(),
        }
        .into()
    })
}

/// A step size of the printed update and what it led to, by a seed that the race does not use.
struct Try {
    name: String,
    beta: f64,
    loss: f64,
    left: Option<(u64, String)>,
}

/// The step size of the printed update with the lowest log-loss at the end of the course, of those that stay in their
/// domain; if none does, the smallest.
fn best_printed(
    data: &Data,
    family: Family,
    course: &Course,
    quick: bool,
    tries: &mut Vec<Try>,
) -> Result<Method, Error> {
    let alone = Course { seed: course.seed + 100, repetitions: 1, test: (2_000, 20), ..*course };
    let mut best = (f64::INFINITY, Method::Printed { beta: 0.001 });
    let keeps = |method: &Method| !quick || matches!(method, Method::Printed { beta } if [0.1, 0.01].contains(beta));
    for method in Method::printed().filter(keeps) {
        let ran = race::run(data, Entry { family, method }, &alone)?;
        let loss = ran.final_loss();
        if ran.left.is_empty() && loss < best.0 {
            best = (loss, method);
        }
        if let Method::Printed { beta } = method {
            tries.push(Try { name: ran.entry.name(), beta, loss, left: ran.left.first().cloned() });
        }
    }
    Ok(best.1)
}

fn table_of_tries(tries: &[Try]) -> Table {
    let header =
        ["run", "β", "last log-loss of 2 000 rows, nats", "left the domain at step", "what would have been outside"];
    let mut table = Table::new("printed-step-sizes", header);
    for Try { name, beta, loss, left } in tries {
        let (step, what) =
            left.as_ref().map_or(("–".into(), "–".into()), |(step, what)| (step.to_string(), what.clone()));
        table.push([name.clone(), beta.to_string(), format!("{loss:.4}"), step, what]);
    }
    table
}

fn record(findings: &mut Findings, data: &Data, reference: &Reference, bare: &Bare, ran: &Ran) {
    let name = ran.entry.name();
    let loss_of = |q| mean(&data.losses(q, usize::MAX, reference.n_draws));
    findings.put(format!("repetitions that left the domain of {name}"), ran.left.len() as f64);
    if let Method::Printed { beta } = ran.entry.method {
        findings.put(format!("step size of {name}"), beta);
        let steps: Vec<f64> = ran.left.iter().map(|(step, _)| *step as f64).collect();
        if !steps.is_empty() {
            findings.put_mean(format!("step at which {name} left the domain"), &steps);
            findings.put(
                format!("first step at which {name} left the domain"),
                steps.iter().copied().fold(f64::INFINITY, f64::min),
            );
            findings
                .put(format!("last step at which {name} left the domain"), steps.iter().copied().fold(0.0, f64::max));
            // What is left is not the end of a run.
            return;
        }
    }
    let losses: Vec<f64> = ran.last.iter().map(loss_of).collect();
    let differences: Vec<f64> = losses.iter().map(|loss| loss - reference.loss).collect();
    findings.put_mean(format!("test log-loss of {name}"), &losses);
    findings.put_mean(format!("log-loss over the gaussian of all data of {name}"), &differences);
    findings.put(format!("seconds per epoch of {name}"), ran.seconds_per_epoch);
    findings.put(format!("share of shortened steps of {name}"), ran.shortened);
    match ran.entry.method {
        Method::Natural | Method::Printed { .. } => {
            let ratio = ran.seconds_per_epoch / bare.gathered;
            findings.put(format!("seconds per epoch over the bare products of mini-batches of {name}"), ratio);
            let ratio = ran.seconds_per_epoch / bare.hessian;
            findings.put(format!("seconds per epoch over the bare products of {name}"), ratio);
        }
        Method::Adam { rate, decays } => {
            let ratio = ran.seconds_per_epoch / bare.gradient;
            findings.put(format!("seconds per epoch over the bare products of {name}"), ratio);
            findings.put(format!("step size of {name}"), rate);
            findings.put(format!("whether the step size of {name} falls"), f64::from(u8::from(decays)));
        }
    }
}

/// How much longer the second takes to come near the Gaussian of all data; if it never does, at least so much longer.
fn compare(findings: &mut Findings, course: &Course, natural: &Ran, adam: &Ran) {
    let family = natural.entry.family;
    let start = &natural.looks[0][0];
    // The rows on the way are fewer: what all converge to there is the natural gradient's own last value.
    let goal = natural.final_loss() + NEAR;
    let (epochs, seconds) = natural.reaches(goal).unwrap_or((f64::INFINITY, f64::INFINITY));
    let end = (course.epochs, course.epochs * adam.seconds_per_epoch);
    let (there, (adam_epochs, adam_seconds)) = match adam.reaches(goal) {
        Some(reached) => (1.0, reached),
        None => (0.0, end),
    };
    findings.put(format!("log-loss of the start of {family}"), start.loss);
    findings.put(format!("epochs of {family}, natural gradient, to within 0.002 nats"), epochs);
    findings.put(format!("seconds of {family}, natural gradient, to within 0.002 nats"), seconds);
    findings.put(format!("whether {family}, BBVI, came within 0.002 nats"), there);
    findings.put(format!("epochs of {family}, BBVI over natural"), adam_epochs / epochs);
    findings.put(format!("seconds of {family}, BBVI over natural"), adam_seconds / seconds);
    findings.put(format!("last log-loss of {family}, BBVI minus natural"), adam.final_loss() - natural.final_loss());
}

/// How much longer the black box takes than the printed update, likewise; nothing where that does not come near.
fn compare_printed(findings: &mut Findings, course: &Course, natural: &Ran, adam: &Ran, printed: &Ran) {
    let name = printed.entry.name();
    let goal = natural.final_loss() + NEAR;
    findings
        .put(format!("whether {name} came within 0.002 nats"), f64::from(u8::from(printed.reaches(goal).is_some())));
    if let Some((epochs, _)) = printed.reaches(goal) {
        let adam_epochs = adam.reaches(goal).map_or(course.epochs, |(epochs, _)| epochs);
        findings.put(format!("epochs of {name}, to within 0.002 nats"), epochs);
        findings.put(format!("epochs of BBVI over {name}"), adam_epochs / epochs);
    }
}

/// The most memory the process has held, in megabytes, where the system says so.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

fn tables(findings: &Findings, runs: &[Ran], costs: &[(usize, f64)]) -> Vec<Table> {
    let get = |name: String| findings.get(&name).unwrap_or(f64::NAN);
    let mut table = Table::new(
        "runs",
        ["run", "test log-loss, nats", "over the Gaussian of all data", "s per epoch", "over products"],
    );
    for ran in runs {
        let name = ran.entry.name();
        if !ran.left.is_empty() {
            let steps: Vec<String> = ran.left.iter().map(|(step, what)| format!("{what} at step {step}")).collect();
            table.push([name, format!("left its domain: {}", steps.join(", ")), "–".into(), "–".into(), "–".into()]);
            continue;
        }
        table.push([
            name.clone(),
            format!("{:.5}", get(format!("test log-loss of {name}"))),
            format!("{:+.5}", get(format!("log-loss over the gaussian of all data of {name}"))),
            format!("{:.3}", get(format!("seconds per epoch of {name}"))),
            format!("{:.2}", get(format!("seconds per epoch over the bare products of {name}"))),
        ]);
    }
    let mut looks = Table::new("log-loss", ["run", "epochs", "seconds", "log-loss, nats", "lowest", "highest"]);
    for ran in runs {
        for (look, low, high) in ran.curve() {
            let [epochs, seconds] = [look.epochs, look.seconds].map(|v| format!("{v:.4}"));
            let [loss, low, high] = [look.loss, low, high].map(|v| format!("{v:.6}"));
            looks.push([ran.entry.name(), epochs, seconds, loss, low, high]);
        }
    }
    let mut sizes =
        Table::new("minibatches", ["rows of a mini-batch", "s per epoch", "over the bare products of mini-batches"]);
    for (size, seconds) in costs {
        let ratio = get(format!("seconds per epoch over the bare products of mini-batches of {size} rows"));
        sizes.push([size.to_string(), format!("{seconds:.3}"), format!("{ratio:.2}")]);
    }
    vec![table, looks, sizes]
}

fn page(findings: &Findings, settings: &Settings, course: &Course) -> String {
    let get = |name: &str| findings.get(name).unwrap_or(f64::NAN);
    let which = if settings.quick { "a generated stand-in of covtype" } else { "covtype" };
    format!(
        "Logistic regression on {which}, {} rows to fit, mini-batches of {}, {} draws a step, one thread. The Student-t has the t prior \
         that shares w with it, the skew-Gaussian the normal prior; both have δ = 0.002. The size of the mini-batches and a = {} of the t \
         prior are our choices: the paper's text has neither. All runs begin at N(0, I). *Natural gradient* is elinvar's: steps of \
         0.5(1 + t/20)^−0.9, each bounded by 10 nats. *As printed*: the boxes (19)–(24) and nothing else, constant β, independent draws, the w \
         of each draw (option I), no bound; a step that would leave the domain ends the run. BBVI is Adam on \
         reparameterisation gradients, with the best of eight settings over the whole course (0.001, 0.003, 0.01, 0.03; constant or \
         falling). Means of {} seeds.\n\n{}\nThe step sizes of the printed boxes, with another seed; of those that stay in their domain \
         the one with the lowest log-loss is taken:\n\n{}\n\
         Reading all rows once takes {:.3} s, the products of a gradient {:.3} s, with those of a Hessian {:.3} s, the same over rows \
         chosen at random as mini-batches are {:.3} s (for every mini-batch the minimum of three). The process held at most {:.0} MB. \
         What a step costs whatever its rows (choosing them, and the algebra of the approximation) weighs less in larger batches:\n\n{}\n",
        get("rows to fit"),
        course.minibatch,
        course.n_draws,
        race::SHAPE,
        course.repetitions,
        findings.tables[0].markdown(),
        findings.tables[3].markdown(),
        get("bare seconds of reading the rows"),
        get("bare seconds of the products of a gradient"),
        get("bare seconds of the products of a gradient and a Hessian"),
        get("bare seconds of the products over mini-batches"),
        get("peak memory, MB"),
        findings.tables[2].markdown(),
    )
}
