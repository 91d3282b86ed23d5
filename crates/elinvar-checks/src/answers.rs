//! What `auto` gives and what it costs, as it is and without any correction, against the truth.

use std::path::Path;

use elinvar::model::Parametrisation;
use elinvar::posterior::Verdict;
use elinvar::run::Correct;
use elinvar::target::Target;
use elinvar::{Family, Plan};

use crate::chains::{long, median};
use crate::gradients_only::GradientsOnly;
use crate::page::{Table, publish};
use crate::posteriordb;
use crate::problems::hierarchical::eight_schools;
use crate::problems::mixtures::{toy, toy_means};
use crate::problems::regressions::{beta_binomial, breast_cancer, generated_logistic, murphy_toy, sonar};
use crate::problems::shapes::{banana, funnel, rosenbrock};
use crate::problems::{Moments, Problem};
use crate::threads;
use crate::truth::{Errors, GOOD_MEAN, GOOD_SD};

const USAGE: &str = "answers [DIR of posteriordb] [--seeds N] [--only TEXT] [--up-to D] [--corrected] [--write FILE]";
/// Draws behind the quantiles of a bare approximation.
const N_DRAWS: usize = 1_000;

/// Coordinates beyond which families are not climbed to, with Hessians and from gradients alone: that takes a million
/// gradients or more.
const MOST_CLIMBED: [usize; 2] = [100, 10];

/// The uncorrected ladder where it was not climbed again: it takes millions of gradients.
const BEFORE: &str = include_str!("../data/answers-uncorrected.csv");

/// A target whose moments are known on the scale of its coordinates or of its parameters.
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) target: Box<dyn Target>,
    pub(crate) moments: Moments,
    /// Whether they are those of the parameters, under these names.
    pub(crate) parameters: Option<Vec<String>>,
}

/// What one fit came to.
pub(crate) struct Outcome {
    pub(crate) gradients: u64,
    log_densities: u64,
    /// Log densities at which other modes were looked for.
    pub(crate) looked: u64,
    pub(crate) given: String,
    pub(crate) errors: Errors,
    right: bool,
    pub(crate) trusted: bool,
}

fn problems(collection: Option<&Path>, wanted: &dyn Fn(&str) -> bool, most: usize) -> Result<Vec<Known>, String> {
    let logistic = |d: usize| Problem {
        name: format!("logistic d = {d}"),
        target: Box::new(generated_logistic(5 * d, d, 1.0, 11)),
        log_normaliser: None,
        moments: None,
    };
    let all = vec![
        breast_cancer(),
        sonar(),
        logistic(50),
        logistic(200),
        logistic(500),
        logistic(1000),
        murphy_toy(),
        beta_binomial(),
        Problem { name: "ten modes d = 20".into(), ..toy(20, toy_means())? },
        eight_schools(Parametrisation::NonCentred),
        eight_schools(Parametrisation::Centred),
        banana(2.0, 0.5),
        rosenbrock(3, 2.0, 20.0),
        funnel(10),
    ];
    let mut known = Vec::new();
    for problem in all.into_iter().filter(|problem| wanted(&problem.name) && problem.target.dim() <= most) {
        let moments = problem.moments.clone().map_or_else(|| long(&problem), Ok)?;
        known.push(Known { name: problem.name, target: problem.target, moments, parameters: None });
    }
    for name in posteriordb::POSTERIORS.iter().filter(|name| wanted(name)) {
        if let Some(collection) = collection {
            let (target, reference) = posteriordb::with_reference(collection, name)?;
            let moments = Moments { mean: reference.mean, sd: reference.sd };
            known.push(Known { name: (*name).into(), target, moments, parameters: Some(reference.names) });
        }
    }
    Ok(known)
}

/// The errors of what is given. Parameters of a reference that the target has under another form are left out.
fn errors(answer: &elinvar::posterior::Answer, known: &Known) -> Result<Errors, String> {
    let Some(names) = &known.parameters else { return Ok(Errors::of_numbers(&answer.coordinates, &known.moments)) };
    let mut moments = Moments { mean: Vec::new(), sd: Vec::new() };
    let mut numbers = Vec::new();
    for (k, name) in names.iter().enumerate() {
        if let Some(number) = answer.parameters.iter().find(|number| number.name == *name) {
            numbers.push(number.clone());
            moments.mean.push(known.moments.mean[k]);
            moments.sd.push(known.moments.sd[k]);
        }
    }
    if numbers.is_empty() {
        return Err(format!("{}: no parameter of the reference is one of the target", known.name));
    }
    Ok(Errors::of_numbers(&numbers, &moments))
}

/// One fit by `auto`.
pub(crate) fn fit(known: &Known, gradients_only: bool, correct: Correct, seed: u64) -> Result<Outcome, String> {
    let bare = GradientsOnly(known.target.as_ref());
    let target: &dyn Target = if gradients_only { &bare } else { known.target.as_ref() };
    let plan = Plan { seed, correct, ..Plan::default() };
    let mut posterior = elinvar::run::fit(target, Family::auto(), &plan).map_err(|e| e.to_string())?;
    let mut counts = posterior.counts();
    if posterior.verdict().is_none() {
        posterior.judge(target, 4_096, seed).map_err(|e| e.to_string())?;
        counts += posterior.diagnostics().map(|known| known.counts).unwrap_or_default();
    }
    let answer = posterior.summary(N_DRAWS, seed);
    let errors = errors(&answer, known)?;
    let chains = posterior.corrected().map_or((0, 0), |found| (found.adapting_gradients, found.counts.gradient));
    let rungs: Vec<String> = posterior
        .rungs()
        .iter()
        .map(|rung| format!("{} {} ({})", rung.family, rung.counts.gradient, if rung.kept { "kept" } else { "left" }))
        .collect();
    eprintln!(
        "{}, {}, {correct:?}, seed {seed}: {} gradients, {} log densities, by {}, {:?}, errors {:.3} {:.3}; {}; {} to find coordinates, {} by \
         chains, {:.1} s; {}",
        known.name,
        if gradients_only { "gradients only" } else { "Hessians" },
        counts.gradient,
        counts.log_density,
        answer.given_by.name(),
        posterior.verdict(),
        errors.mean,
        errors.sd_ratio,
        rungs.join(", "),
        chains.0,
        chains.1,
        posterior.seconds(),
        posterior.judgement().map_or("", |judgement| &judgement.reason)
    );
    let given = match answer.given_by.name() {
        "approximation" => posterior.family().name().to_owned(),
        by => by.to_owned(),
    };
    Ok(Outcome {
        gradients: counts.gradient,
        log_densities: counts.log_density,
        looked: posterior.scan().map_or(0, |scan| scan.places as u64),
        given,
        errors,
        right: errors.good(),
        trusted: posterior.verdict() == Some(Verdict::Trust),
    })
}

fn fits(known: &Known, gradients_only: bool, correct: Correct, seeds: usize) -> Result<Vec<Outcome>, String> {
    threads::for_each(seeds, |i| fit(known, gradients_only, correct, 1 + i as u64)).into_iter().collect()
}

fn row(known: &Known, gradients_only: bool, correct: Correct, fits: &[Outcome]) -> [String; 8] {
    let seeds = fits.len();
    let count = |choose: &dyn Fn(&Outcome) -> bool| fits.iter().filter(|fit| choose(fit)).count();
    let mut given: Vec<&str> = fits.iter().map(|fit| fit.given.as_str()).collect();
    given.sort_unstable();
    given.dedup();
    [
        known.name.clone(),
        if gradients_only { "gradients" } else { "Hessians" }.into(),
        if correct == Correct::Never { "uncorrected" } else { "default" }.into(),
        given.join(", "),
        median(&mut fits.iter().map(|fit| fit.gradients).collect::<Vec<_>>()).to_string(),
        median(&mut fits.iter().map(|fit| fit.log_densities).collect::<Vec<_>>()).to_string(),
        format!("{} of {seeds}", count(&|fit| fit.right)),
        format!("{} of {seeds}, {} wrongly", count(&|fit| fit.trusted), count(&|fit| fit.trusted && !fit.right)),
    ]
}

/// What default fits of one kind came to, in a sentence.
fn together(what: &str, fits: &[&Outcome]) -> String {
    let count = |choose: &dyn Fn(&&&Outcome) -> bool| fits.iter().filter(choose).count();
    let (good, wrong) = (count(&|fit| fit.right && fit.trusted), count(&|fit| fit.trusted && !fit.right));
    let mut gradients: Vec<u64> = fits.iter().map(|fit| fit.gradients).collect();
    let middle = median(&mut gradients);
    let most = gradients.iter().max().copied().unwrap_or(0);
    format!(
        "- {what}: {good} of {} fits right and trusted, {wrong} trusted and wrong; gradients {middle} in the median, \
         {most} at most.\n",
        fits.len()
    )
}

/// The rows of older code.
fn before() -> String {
    let lines = BEFORE.lines().map(|line| line.split(';').map(String::from).collect::<Vec<String>>());
    let cells = |line: Vec<String>| <[String; 7]>::try_from(line).expect("seven cells in every line of the file");
    let mut table = Table::new(["problem", "offers", "given by", "gradients", "log densities", "right", "trusted"]);
    for line in lines.skip(1) {
        table.push(cells(line));
    }
    table.markdown()
}

fn introduction(seeds: usize, climbs: bool) -> String {
    let plans = if climbs {
        format!(
            "The default plan, seeds from 1 to {seeds}, and `Correct::Never` (`--uncorrected`) with one; beyond {} \
             coordinates ({} from gradients alone) the uncorrected ladder is not climbed. Written by `cargo xtask answers`.",
            MOST_CLIMBED[0], MOST_CLIMBED[1]
        )
    } else {
        format!(
            "The default plan, seeds from 1 to {seeds}, in one run of one build: `elinvar-checks answers DIR --corrected`."
        )
    };
    format!(
        "# What `auto` gives, and what it costs

{plans}
Targets as they are, with their Hessians, and offering gradients alone, where log p costs as much as its gradient.
Gradients and log densities are medians of the whole fit: search, families, verdict and chains. An answer is *right* if
every mean is within {GOOD_MEAN} true standard deviations and every standard deviation within {:.0} %; what is given are
numbers by chains or by importance weights, or the family that was kept. The truth is known by quadrature, long runs or,
for posteriordb, reference draws; parameters of a reference that a model has in another form are left out.

",
        100.0 * GOOD_SD,
    )
}

const UNCORRECTED: &str = "## Without correction, of older code

`Correct::Never` (`--uncorrected`), one seed: these rows were counted before chains gave answers, and the ladder was not
climbed again. They say what a family of one's own choosing costs where it has to be the answer.

";

/// `answers [DIR] [--seeds N] [--only TEXT] [--up-to D] [--corrected] [--write FILE]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (mut collection, mut seeds, mut only, mut write, mut all) = (None, 3, None, None, true);
    let mut most = usize::MAX;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().ok_or_else(|| format!("{word} needs a value: {USAGE}"));
        match word.as_str() {
            "--seeds" => seeds = value()?.parse().map_err(|_| format!("--seeds is a number: {USAGE}"))?,
            "--only" => only = Some(value()?),
            "--up-to" => most = value()?.parse().map_err(|_| format!("--up-to is a number of coordinates: {USAGE}"))?,
            "--corrected" => all = false,
            "--write" => write = Some(value()?),
            folder if !folder.starts_with("--") && collection.is_none() => collection = Some(folder.to_owned()),
            _ => return Err(format!("\"{word}\" is not understood: {USAGE}")),
        }
    }
    let wanted = |name: &str| only.as_ref().is_none_or(|text| name.contains(text.as_str()));
    let mut table =
        Table::new(["problem", "offers", "plan", "given by", "gradients", "log densities", "right", "trusted"]);
    let mut kinds: Vec<(bool, bool, Vec<Outcome>)> = Vec::new();
    for known in problems(collection.as_deref().map(Path::new), &wanted, most)? {
        for gradients_only in [false, true] {
            for correct in [Correct::Never, Correct::WhereNeeded] {
                let climbs = correct == Correct::Never;
                if climbs && (!all || known.target.dim() > MOST_CLIMBED[usize::from(gradients_only)]) {
                    continue;
                }
                let fits = fits(&known, gradients_only, correct, if climbs { 1 } else { seeds })?;
                table.push(row(&known, gradients_only, correct, &fits));
                if !climbs {
                    kinds.push((known.parameters.is_some(), gradients_only, fits));
                }
            }
        }
    }
    let mut text = introduction(seeds, all);
    for (what, by_draws, gradients_only) in [
        ("posteriordb, gradients alone", true, true),
        ("posteriordb, with Hessians", true, false),
        ("the other problems, gradients alone", false, true),
        ("the other problems, with Hessians", false, false),
    ] {
        let own = kinds.iter().filter(|kind| (kind.0, kind.1) == (by_draws, gradients_only));
        let fits: Vec<&Outcome> = own.flat_map(|kind| &kind.2).collect();
        if !fits.is_empty() {
            text += &together(what, &fits);
        }
    }
    text += &format!("\n{}", table.markdown());
    if !all {
        text += &format!("\n{UNCORRECTED}{}", before());
    }
    publish(&text, write.as_ref())
}
