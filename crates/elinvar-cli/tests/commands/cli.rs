//! What the program does, told as stories over a temporary folder.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::story::{Story, Uniforms, number};

/// The best ELBO of a full Gaussian on the embedded data, from 200 000 draws after a fit with 2000 draws per step.
const BEST_GAUSSIAN: f64 = -34.296;
/// The log normaliser of the embedded model, by importance sampling from 10 000 draws of a mixture, ± 0.004.
const LOG_NORMALISER: f64 = -34.244;

fn parameter<'a>(fit: &'a Value, name: &str) -> &'a Value {
    let all = fit["parameters"].as_array().expect("an array of parameters");
    all.iter().find(|p| p["name"] == name).unwrap_or_else(|| panic!("no parameter {name}"))
}

fn mean_and_sd(fit: &Value, name: &str) -> (f64, f64) {
    let p = parameter(fit, name);
    (number(&p["mean"]), number(&p["sd"]))
}

#[test]
fn without_arguments_an_example_is_fitted() {
    let page = Story::new().ok(&["fit"]);
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(
        lines[0],
        "Logistic regression on the embedded breast-cancer data: 341 rows, 11 parameters, prior N(0, 1); full Gaussian"
    );
    assert!(
        lines[1].is_empty() && lines[2].starts_with("Approximation: trust. Converged, and importance weights"),
        "{page}"
    );
    let lines = &lines[lines.iter().position(|line| line.starts_with("parameter ")).unwrap() - 2..];
    assert_eq!(
        lines[2].split_whitespace().collect::<Vec<_>>(),
        ["parameter", "mean", "sd", "2.5", "%", "50", "%", "97.5", "%", "P(>", "0)"]
    );
    assert!(lines[3].starts_with("intercept ") && lines[13].starts_with("x10 "));
    let points: Vec<usize> = lines[3..14].iter().map(|line| line.find('.').unwrap()).collect();
    assert!(points.iter().all(|point| *point == points[0]), "{page}");
    assert!(lines[3..14].iter().all(|line| line.matches(" ± ").count() == 2), "means and sds have errors\n{page}");
    assert!(lines[15].starts_with("evidence ") && lines[16].starts_with("weights move a mean   0."), "{page}");
    let lines = &lines[lines.iter().position(|line| line.starts_with("given by ")).unwrap() - 15..];
    assert!(lines[15].starts_with("given by     importance weights of 20,000 draws, worth 1"), "{page}");
    // By a long run: −34.2466.
    let evidence: Vec<&str> = lines[16].split_whitespace().collect();
    assert_eq!((evidence[0], evidence[1], evidence[3], evidence[5]), ("log", "evidence", "±", "nats"));
    assert!((evidence[2].parse::<f64>().unwrap() + 34.2466).abs() < 0.02, "{page}");
    let elbo: Vec<&str> = lines[17].split_whitespace().collect();
    assert_eq!((elbo[0], elbo[2], elbo[4]), ("ELBO", "±", "nats"));
    assert!((elbo[1].parse::<f64>().unwrap() - BEST_GAUSSIAN).abs() < 0.02, "{page}");
    for sentence in [
        "below 0.70 for 10,000 draws: importance sampling from this fit is reliable",
        "\nladder       a Gaussian is enough; no other family was tried\n",
        "stopped      converged after ",
        ": less than 0.01 nats are left to gain",
        " Hessian\n             11,808 log density more for the verdict\ndraws        none: expectations were exact\n",
        "\ntime         fitting ",
    ] {
        assert!(page.contains(sentence), "{sentence}\n{page}");
    }
    assert!(lines[lines.len() - 1].starts_with("Next: elinvar fit --family "), "{page}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let story = Story::new();
    let without_seconds = |seed: &str| {
        let mut fit = story.json(&["fit", "--seed", seed, "--family", "mog"]);
        fit.as_object_mut().unwrap().remove("seconds");
        fit.to_string()
    };
    assert_eq!(without_seconds("5"), without_seconds("5"));
    assert_ne!(without_seconds("5"), without_seconds("6"));
    for run in ["a", "b"] {
        story.ok(&["fit", "--seed", "5", "--out", run]);
    }
    assert_eq!(story.ok(&["sample", "a"]), story.ok(&["sample", "b"]));
    assert_ne!(story.ok(&["sample", "a"]), story.ok(&["sample", "a", "--seed", "2"]));
}

#[test]
fn the_number_of_components_can_be_found() {
    let story = Story::new();
    let found = ["fit", "--family", "mog", "--components", "auto"];
    let fit = story.json_good_or_not(&found);
    assert_eq!(fit["family"], "mog");
    assert!(number(&fit["elbo"]) > BEST_GAUSSIAN + 0.02, "{fit}");
    let page = story.ok(&[&found[..], &["--out", "run"]].concat());
    let first = page.lines().next().unwrap();
    assert!(first.contains("full mixture of ") && !first.contains("auto"), "{first}");
    let config: toml::Table = toml::from_str(&story.read("run/config.toml")).unwrap();
    assert_eq!(config["family"]["components"].as_str(), Some("auto"));
    let trace = story.read("run/trace.csv");
    let components = |line: &str| line.rsplit(',').nth(1).unwrap().parse::<usize>().unwrap();
    let (first, last) = (trace.lines().nth(1).unwrap(), trace.lines().last().unwrap());
    assert!(components(first) == 1 && components(last) > 1, "{first}\n{last}");
}

#[test]
fn every_family_fits_the_example() {
    let story = Story::new();
    for (family, constants) in [
        ("gaussian", &[][..]),
        ("mog", &["--components", "2"]),
        ("student_t", &["--shape", "10"]),
        ("skew", &[]),
        ("emg", &[]),
        ("nig", &["--lambda", "20"]),
        ("snig", &["--lambda", "20"]),
        ("rank_k", &["--rank", "4"]),
        ("skew_k", &["--directions", "2"]),
        ("emg_k", &["--directions", "1"]),
    ] {
        let fit = story.json_good_or_not(&[&["fit", "--family", family], constants].concat());
        let elbo = number(&fit["elbo"]);
        let spare = 5.0 * number(&fit["elbo_se"]) + 0.02;
        assert_eq!(fit["family"], family);
        assert!(elbo < LOG_NORMALISER + spare, "{family}: {elbo} is above the log normaliser");
        let least = match family {
            "gaussian" | "mog" | "skew" | "emg" | "skew_k" | "emg_k" => BEST_GAUSSIAN - 0.03,
            // Heavier tails than the posterior, or a covariance of few factors, cost up to about a nat here.
            _ => BEST_GAUSSIAN - 1.5,
        };
        assert!(elbo > least, "{family}: {elbo}");
        let plain = story.json_good_or_not(&["fit", "--family", family]);
        assert!(number(&plain["elbo"]) > BEST_GAUSSIAN - 4.0, "{family}: {plain}");
    }
    let full = story.json_good_or_not(&["fit", "--family", "rank_k", "--covariance", "full"]);
    assert!((number(&full["elbo"]) - BEST_GAUSSIAN).abs() < 0.03, "{full}");
    let diagonal = story.json_good_or_not(&["fit", "--family", "gaussian", "--covariance", "diagonal"]);
    assert!(number(&diagonal["elbo"]) < BEST_GAUSSIAN - 0.5, "{diagonal}");
}

#[test]
fn a_run_directory_holds_everything() {
    let story = Story::new();
    let arguments = "fit --out runs/a --family student_t --shape 4 --prior-sd 2 --exclude x1";
    let fit = story.json(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(fit["run_dir"], "runs/a");
    let names: Vec<String> = story.files().iter().map(|p| p.display().to_string()).collect();
    assert_eq!(
        names,
        [
            "runs",
            "runs/a",
            "runs/a/checksums.txt",
            "runs/a/config.toml",
            "runs/a/diagnostics.json",
            "runs/a/fit.json",
            "runs/a/recipe.json",
            "runs/a/report.html",
            "runs/a/trace.csv"
        ]
    );
    let config: toml::Table = story.read("runs/a/config.toml").parse().unwrap();
    assert_eq!(config["model"]["name"].as_str(), Some("logistic"));
    assert_eq!(config["model"]["prior_precision"].as_float(), Some(0.25));
    assert_eq!(config["data"]["features"].as_array().map(Vec::len), Some(9));
    assert_eq!(config["family"]["name"].as_str(), Some("student_t"));
    assert_eq!(config["family"]["shape"].as_float(), Some(4.0));
    assert_eq!(config["plan"]["curvature"].as_str(), Some("hessian"), "automatic choices are made");

    let trace = story.read("runs/a/trace.csv");
    assert_eq!(
        trace.lines().next(),
        Some("step,evaluations,seconds,elbo,elbo_se,step_size,taken,kl,remaining,dropped,draws,components,bound")
    );
    assert!(trace.lines().skip(1).enumerate().all(|(i, line)| line.starts_with(&format!("{i},"))));
    let last: Vec<&str> = trace.lines().last().unwrap().split(',').collect();
    assert_eq!((last.len(), last[11], last[12]), (13, "1", "elbo"));
    assert!(last[8].parse::<f64>().unwrap() < 0.01, "it ended because little remained");

    let diagnostics: Value = serde_json::from_str(&story.read("runs/a/diagnostics.json")).unwrap();
    assert_eq!((&diagnostics["elbo"]["value"], &diagnostics["converged"]), (&fit["elbo"], &true.into()));
    assert_eq!(diagnostics["n_draws"], 10_000);
    assert_eq!((&diagnostics["verdict"], &diagnostics["reason"]), (&fit["verdict"], &fit["reason"]));
    assert_eq!(diagnostics["shifts"].as_array().unwrap().len(), 10);
    assert_eq!(diagnostics["shifts"][0]["name"], "intercept");
    assert!(number(&diagnostics["gap"]["value"]) > 0.0 && number(&diagnostics["shifts"][3]["log_sd"]["mcse"]) > 0.0);
    // Draws of the fit and wide ones; nobody looks around a log-concave density.
    let counted = |what: &str| diagnostics["counts"][what].as_u64().unwrap();
    assert_eq!(counted("log_density") - counted("gradient"), 20_000);
    assert!(counted("gradient") < 200, "{}", counted("gradient"));
    assert_eq!(diagnostics["fit_counts"]["gradient"], fit["evaluations"]["gradient"]);
    let cell = |line: &str, column: usize| line.split(',').nth(column).unwrap().parse::<u64>().unwrap();
    let draws = trace.lines().skip(1).map(|line| cell(line, 10) * cell(line, 11)).max();
    assert_eq!(diagnostics["peak_draws"].as_u64(), draws);
    let kept: Value = serde_json::from_str(&story.read("runs/a/fit.json")).unwrap();
    assert_eq!(kept["judgement"]["verdict"], fit["verdict"]);

    std::fs::create_dir(story.path("empty")).unwrap();
    let page = story.ok(&["fit", "--out", "empty/"]);
    assert!(page.ends_with("Next: elinvar sample empty/ --draws 4000 --out draws.csv\n"), "{page}");
    assert!(story.path("empty/fit.json").is_file());
}

#[test]
fn draws_come_back_from_the_run_directory() {
    let story = Story::new();
    let fit = story.json(&["fit", "--out", "run"]);
    let text = story.ok(&["sample", "run", "--draws", "20000"]);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("lp__,log_p__,log_g__,intercept,x1,x2,x3,x4,x5,x6,x7,x8,x9,x10"));
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 20_000);
    assert!(rows.iter().all(|row| row.len() == 14 && row[0] == 0.0 && row[1] < 0.0 && row[2] < 0.0));
    let n = rows.len() as f64;
    for (j, name) in ["intercept", "x1", "x2", "x10"].into_iter().zip([3, 4, 5, 13]).map(|(name, j)| (j, name)) {
        let (mean, sd) = mean_and_sd(&fit, name);
        let average = rows.iter().map(|row| row[j]).sum::<f64>() / n;
        // False alarm of each: 7e−6.
        assert!((average - mean).abs() < 4.5 * sd / n.sqrt(), "{name}: {average} is not {mean}");
    }

    assert_eq!(story.ok(&["sample", "run/fit.json", "--draws", "20000"]), text);
    assert_eq!(story.ok(&["sample", "run", "--draws", "20000", "--out", "draws.csv"]), "");
    assert_eq!(story.read("draws.csv"), text);
    assert!(!story.files().iter().any(|file| file.to_string_lossy().contains(".elinvar-")));
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let story = Story::new();
    story.ok(&["fit", "--out", "run"]);
    let mut command = story.command(&["sample", "run", "--draws", "200000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(line.starts_with("lp__,"));
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn linear_regression_agrees_with_least_squares() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(1);
    let mut text = String::from("a,note,b,y\n");
    let mut rows = Vec::new();
    for _ in 0..400 {
        let (a, b) = (uniforms.normal(), 10.0 * uniforms.next());
        let y = 1.5 + 2.0 * a - 0.7 * b + 0.5 * uniforms.normal();
        text += &format!("{a},free text,{b},{y}\n");
        rows.push(([1.0, a, b], y));
    }
    story.write("data.csv", text);
    let (beta, sigma) = least_squares(&rows);
    let arguments = "fit linear data.csv --target y --exclude note --prior-sd 1000 --tolerance 1e-4 \
                     --draws-per-step 512 --diagnostic-draws 1000000 --out run";
    let fit = story.json(&arguments.split_whitespace().collect::<Vec<_>>());
    for (name, expected) in ["intercept", "a", "b"].into_iter().zip(beta) {
        let (mean, sd) = mean_and_sd(&fit, name);
        // A gain of 1e−4 nats is left: |Δ| < √(2e−4) sd; the mean of 10⁶ draws adds 4.5e−3 sd (false alarm 7e−6).
        assert!((mean - expected).abs() < 0.0187 * sd, "{name}: {mean} ± {sd} is not {expected}");
    }
    // σ² is about inverse-gamma with ν degrees of freedom: three fewer than rows for the coefficients, one fewer and a
    // little more for the half-Cauchy prior of scale 2.5.
    let nu = 396.0 + 2.0 * sigma.powi(2) / (6.25 + sigma.powi(2));
    let expected = sigma * (400.0 / nu).sqrt() * (1.0 + 0.75 / nu);
    let (mean, sd) = mean_and_sd(&fit, "sigma");
    assert!((mean - expected).abs() < 0.05 * sd, "{mean} ± {sd} is not {expected}");
    assert!((sd * (2.0 * nu).sqrt() / expected - 1.0).abs() < 0.01, "{sd}");

    let draws = story.ok(&["sample", "run", "--draws", "5"]);
    assert!(draws.starts_with("lp__,log_p__,log_g__,intercept,a,b,sigma\n"));
    let last_cells = draws.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    assert!(last_cells.into_iter().all(|value| (value - sigma).abs() < 0.1), "sigma, not log sigma\n{draws}");

    let narrow = ["fit", "linear", "data.csv", "--target", "y", "--features", "b,a", "--sigma-scale", "0.0001"];
    let page = story.ok(&narrow);
    assert!(
        page.starts_with(
            "Linear regression on data.csv: 400 rows, 4 parameters, prior scaled to the data, sigma half-Cauchy(0.0001);"
        ),
        "{page}"
    );
    assert!(page.find("\nb ").unwrap() < page.find("\na ").unwrap(), "in the order asked for\n{page}");
}

/// Coefficients and √(residual sum / n) by Gaussian elimination of the normal equations.
fn least_squares(rows: &[([f64; 3], f64)]) -> ([f64; 3], f64) {
    let mut m = [[0.0; 4]; 3];
    for (x, y) in rows {
        for i in 0..3 {
            (0..3).for_each(|j| m[i][j] += x[i] * x[j]);
            m[i][3] += x[i] * y;
        }
    }
    for i in 0..3 {
        for k in (0..3).filter(|k| *k != i) {
            let factor = m[k][i] / m[i][i];
            let pivot = m[i];
            m[k].iter_mut().zip(pivot).for_each(|(a, b)| *a -= factor * b);
        }
    }
    let beta = [m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]];
    let residual = |(x, y): &([f64; 3], f64)| y - x.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>();
    let sum: f64 = rows.iter().map(|row| residual(row).powi(2)).sum();
    (beta, (sum / rows.len() as f64).sqrt())
}

#[test]
fn poisson_and_logistic_regression_find_what_made_the_data() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(2);
    let (mut counts, mut classes) = (String::from("a;b;n\n"), String::from("a\tb\tclass\n"));
    for _ in 0..1500 {
        let (a, b) = (uniforms.normal(), uniforms.normal());
        let eta = 0.4 + 0.5 * a - 0.8 * b;
        counts += &format!("{a};{b};{}\n", poisson(eta.exp(), uniforms.next()));
        let class = if uniforms.next() < 1.0 / (1.0 + (-eta).exp()) { 1 } else { -1 };
        classes += &format!("{a}\t{b}\t{class}\n");
    }
    story.write("counts.csv", counts).write("classes.tsv", classes);
    for (model, file, target) in [("poisson", "counts.csv", "n"), ("logistic", "classes.tsv", "class")] {
        let fit = story.json(&["fit", model, file, "--target", target, "--prior-precision", "0.01"]);
        for (name, truth) in [("intercept", 0.4), ("a", 0.5), ("b", -0.8)] {
            let (mean, sd) = mean_and_sd(&fit, name);
            // False alarm of each: 7e−6.
            assert!((mean - truth).abs() < 4.5 * sd && sd < 0.1, "{model}: {name} is {mean} ± {sd}");
        }
        let without = story.json(&["fit", model, file, "--target", target, "--no-intercept"]);
        assert_eq!(without["parameters"].as_array().unwrap().len(), 2);
    }
}

/// The count whose distribution function first exceeds `u`.
fn poisson(rate: f64, u: f64) -> u64 {
    let (mut n, mut p) = (0, (-rate).exp());
    let mut below = p;
    while below < u {
        n += 1;
        p *= rate / n as f64;
        below += p;
    }
    n
}

#[test]
fn mini_batches_come_close() {
    let story = Story::new();
    let fit = story.json_good_or_not(&["fit", "--minibatch", "300", "--draws-per-step", "64"]);
    assert!((number(&fit["elbo"]) - BEST_GAUSSIAN).abs() < 0.1, "{fit}");
    let all = story.json(&["fit", "--draws-per-step", "64"]);
    assert_ne!(fit["elbo"], all["elbo"]);
}

#[test]
fn a_fit_that_broke_down_is_not_praised() {
    let story = Story::new();
    story.write("huge.csv", "x,y\n1e99,1e99\n-1e99,1e98\n3e99,-4e99\n");
    let arguments: Vec<&str> =
        "fit linear huge.csv --target y --family gaussian --max-steps 1 --prior-precision 1".split(' ').collect();
    let ended = story.run(&arguments);
    assert_eq!(ended.code, Some(3));
    assert!(ended.stdout.contains("not known: the log density is too large to be compared"), "{}", ended.stdout);
    assert!(ended.stdout.contains("± unknown nats\n"), "{}", ended.stdout);
    let fit = story.json_good_or_not(&arguments);
    assert_eq!((&fit["elbo_se"], &fit["pareto_k"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_k_that_is_not_finite_is_not_known() {
    let story = Story::new();
    story.write("huge.csv", "x,n\n1e99,1\n2e99,2\n1e100,9007199254740992\n");
    let arguments = ["fit", "poisson", "huge.csv", "--target", "n", "--prior-precision", "1"];
    let page = story.run(&arguments).stdout;
    assert!(page.contains("not known: very few draws outweigh all others;"), "{page}");
    assert!(page.contains("\nNext: look for columns with very large values;"), "{page}");
    let fit = story.json_good_or_not(&[&arguments[..], &["--out", "run"]].concat());
    let diagnostics: Value = serde_json::from_str(&story.read("run/diagnostics.json")).unwrap();
    assert_eq!((fit.get("pareto_k"), diagnostics.get("pareto_k")), (Some(&Value::Null), Some(&Value::Null)));
}

#[test]
fn the_next_command_can_be_pasted() {
    let story = Story::new();
    let page = story.ok(&["fit", "--out", "my $run"]);
    assert!(page.ends_with("Next: elinvar sample 'my $run' --draws 4000 --out draws.csv\n"), "{page}");
    let gaussian =
        |more: &str| story.run(&["fit --family gaussian", more].join(" ").split_whitespace().collect::<Vec<_>>());
    let ended = gaussian("--minibatch 20");
    assert_eq!(ended.code, Some(3));
    let next = ended.stdout.lines().last().unwrap();
    assert!(next.contains("--minibatch 80, or without"), "{next}");
    assert!(ended.stdout.contains("; what is left to gain is hidden by noise (± "), "{}", ended.stdout);
    let ended = gaussian("--curvature hessian --max-steps 300 --tolerance 1e-7");
    assert!(ended.stdout.contains(" nats left to gain\n"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("Next: the same command with --max-steps 4000\n"), "{}", ended.stdout);
    let ended = gaussian("--covariance diagonal --curvature hessian --max-steps 60 --tolerance 1e-3");
    assert!(ended.stdout.contains("; what is left to gain is hidden by noise (± "), "{}", ended.stdout);
    let first_number = |after: &str| -> usize {
        let rest = ended.stdout.rsplit(after).next().unwrap();
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let taken = first_number("\ndraws        at most ");
    assert!(first_number("Next: the same command with --draws-per-step ") > taken, "{}", ended.stdout);
}

#[test]
fn large_numbers_are_short() {
    let page = Story::new().ok(&["fit", "--tolerance", "1e300"]);
    assert!(page.contains(": less than 1e300 nats are left to gain\n"), "{page}");
}

#[test]
fn help_begins_with_examples_and_the_version_is_told() {
    let story = Story::new();
    let help = story.ok(&["fit", "--help"]);
    assert!(help.find("Examples:").unwrap() < help.find("Usage:").unwrap());
    assert!(help.contains("[default: auto;") && help.contains("--restarts"), "{help}");
    for family in elinvar::Family::NAMES {
        assert!(help.contains(family), "{family}");
    }
    assert!(story.ok(&["--help"]).contains("elinvar sample run1"));
    assert!(story.ok(&["sample", "--help"]).contains("lp__, log_p__ and log_g__"));
    assert_eq!(story.ok(&["--version"]), format!("elinvar {}\n", env!("CARGO_PKG_VERSION")));
}
