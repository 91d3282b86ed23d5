//! Default fits of twelve posteriors of posteriordb against the reference draws of that collection.

mod check_points;
mod measure;
mod problem;
mod reference;
mod table;

use std::path::{Path, PathBuf};

use elinvar::Family;
use elinvar::target::Target;

use measure::Fit;
use problem::Problem;
pub(crate) use reference::Reference;
use table::Row;

const USAGE: &str = "posteriordb DIR [--write FILE] [--seeds N] [--family WORD] [--only NAME]";
const DEFAULT_FAMILY: &str = "auto";

/// The posteriors by name.
pub(crate) const POSTERIORS: [&str; 12] = [
    "eight_schools-eight_schools_noncentered",
    "kidiq-kidscore_momiq",
    "earnings-earn_height",
    "earnings-logearn_height_male",
    "nes1980-nes",
    "mesquite-mesquite",
    "sblri-blr",
    "kilpisjarvi_mod-kilpisjarvi",
    "arK-arK",
    "arma-arma11",
    "low_dim_gauss_mix-low_dim_gauss_mix",
    "gp_pois_regr-gp_pois_regr",
];

struct Arguments {
    collection: PathBuf,
    write: Option<PathBuf>,
    n_seeds: u64,
    family: Family,
    only: Option<String>,
}

impl Arguments {
    fn parse(words: &[String]) -> Result<Self, String> {
        let mut words = words.iter();
        let (mut collection, mut write, mut n_seeds, mut only) = (None, None, 5, None);
        let mut family_word = DEFAULT_FAMILY.to_owned();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or_else(|| format!("{word} needs a value: {USAGE}"));
            match word.as_str() {
                "--write" => write = Some(value()?.into()),
                "--seeds" => n_seeds = value()?.parse().map_err(|_| format!("--seeds is a number: {USAGE}"))?,
                "--family" => family_word = value()?,
                "--only" => only = Some(value()?),
                option if option.starts_with("--") => return Err(format!("there is no option {option}: {USAGE}")),
                folder if collection.is_none() => collection = Some(folder.into()),
                extra => return Err(format!("\"{extra}\" is one argument too many: {USAGE}")),
            }
        }
        let collection = collection.ok_or_else(|| format!("the folder of the collection is missing: {USAGE}"))?;
        Ok(Self { collection, write, n_seeds, family: family(&family_word)?, only })
    }
}

/// A posterior of the collection as a target.
pub(crate) fn target(collection: &Path, name: &str) -> Result<Box<dyn Target>, String> {
    Ok(Problem::new(name, &Reference::read(collection, name)?)?.target)
}

/// The same with what is known about it, its parameters under the names by which the target has them; a parameter that
/// the target has in another form keeps the name of the collection.
pub(crate) fn with_reference(collection: &Path, name: &str) -> Result<(Box<dyn Target>, Reference), String> {
    let mut reference = Reference::read(collection, name)?;
    let problem = Problem::new(name, &reference)?;
    if let Some(names) = problem.names() {
        reference.names = names;
    }
    Ok((problem.target, reference))
}

/// A family with the constants of the `elinvar` program.
fn family(word: &str) -> Result<Family, String> {
    match word {
        "auto" => Ok(Family::auto()),
        "gaussian" => Ok(Family::gaussian()),
        "student_t" => Ok(Family::student_t(4.0)),
        "skew" => Ok(Family::skew()),
        "emg" => Ok(Family::emg()),
        "nig" => Ok(Family::nig(2.0)),
        "snig" => Ok(Family::snig(2.0)),
        "mog" => Ok(Family::mog(3)),
        _ => Err(format!("there is no family {word}")),
    }
}

/// Runs the check; fails if a model, a fit or a bound does.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::parse(words)?;
    let chosen = POSTERIORS.into_iter().filter(|name| arguments.only.as_ref().is_none_or(|part| name.contains(part)));
    let rows = chosen.map(|name| row(&arguments, name)).collect::<Result<Vec<Row>, String>>()?;
    if rows.is_empty() {
        return Err(format!("there is no posterior with this name: {USAGE}"));
    }
    print!("{}", table::markdown(&rows));
    if let Some(file) = &arguments.write {
        write(file, &table::document(&rows, arguments.n_seeds))?;
    }
    let missed = table::missed(&rows);
    if missed.is_empty() {
        Ok(())
    } else {
        Err(format!("{} bounds are missed:\n  {}", missed.len(), missed.join("\n  ")))
    }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Checks the model of one posterior and fits it once per seed.
fn row(arguments: &Arguments, name: &'static str) -> Result<Row, String> {
    let reference = Reference::read(&arguments.collection, name)?;
    let problem = Problem::new(name, &reference)?;
    let error = check_points::check(name, &problem, &reference)?;
    eprintln!("{name}: log joint density within {error:.1e}");
    let mut row =
        Row { posterior: name, parameters: reference.names.clone(), dim: problem.target.dim(), fits: Vec::new() };
    for seed in 1..=arguments.n_seeds {
        let fit = Fit::run(&problem, &reference, arguments.family, seed);
        match &fit {
            Ok(fit) => eprintln!("  seed {seed}: {}", line(&row, fit)),
            Err(problem) => eprintln!("  seed {seed}: {problem}"),
        }
        row.fits.push(fit);
    }
    Ok(row)
}

/// One fit in one line, for the reader who waits.
fn line(row: &Row, fit: &Fit) -> String {
    let one = |errors| std::iter::once(errors);
    let mean = row.worst(one(fit.errors.as_slice()), |e| e.mean);
    let log_sd = row.worst(one(fit.errors.as_slice()), |e| e.log_sd);
    let k = fit.pareto_k.map_or("unknown".to_owned(), |k| format!("{k:.2}"));
    format!(
        "{} {:?}, mean {mean}, log sd {log_sd}, k̂ {k}, ELBO {:.3} and log Z {:.3}, {} steps, {} gradients, {} Hessians, \
         {} dropped, {:.2} s",
        fit.family,
        fit.stop_reason,
        fit.elbo,
        fit.log_normaliser,
        fit.steps,
        fit.counts.gradient,
        fit.counts.hessian,
        fit.counts.dropped,
        fit.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_takes_the_names_of_its_target() {
        let collection = std::env::temp_dir().join(format!("elinvar-names-{}", std::process::id()));
        let folder = collection.join("kidiq-kidscore_momiq");
        std::fs::create_dir_all(&folder).unwrap();
        let files = [
            ("data.json", r#"{"mom_iq": [80, 95, 110, 120], "kid_score": [60, 85, 80, 110]}"#),
            ("summary.csv", "parameter,mean,sd\nbeta[1],0,1\nbeta[2],0,1\nsigma,1,1\n"),
            ("draws.csv", "beta[1],beta[2],sigma\n0,0,1\n"),
        ];
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        let found = with_reference(&collection, "kidiq-kidscore_momiq");
        std::fs::remove_dir_all(&collection).unwrap();
        let (target, reference) = found.unwrap();
        // By the names of the collection, beta[1] and beta[2], only sigma would be found again.
        assert_eq!(reference.names, target.about().parameters);
        assert_eq!(reference.names, ["beta1", "beta2", "sigma"]);
    }

    #[test]
    fn arguments_in_any_order() {
        let words = ["--seeds", "3", "folder", "--family", "skew"].map(str::to_owned);
        let arguments = Arguments::parse(&words).unwrap();
        assert_eq!((arguments.n_seeds, arguments.family), (3, Family::skew()));
        assert_eq!(arguments.collection, PathBuf::from("folder"));
        for wrong in
            [&["a", "b"][..], &["--seeds"], &["a", "--seeds", "x"], &["a", "--family", "x"], &["a", "--so"], &[]]
        {
            let words: Vec<String> = wrong.iter().map(|word| (*word).to_owned()).collect();
            assert!(Arguments::parse(&words).is_err(), "{wrong:?}");
        }
    }
}
