//! What can be done with fits that were kept: draws, a second verdict, a comparison, start points for Stan.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::story::{Ended, Story, Uniforms, number};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A table of draws: names and rows.
fn table(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let names = lines.next().unwrap().split(',').map(String::from).collect();
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    (names, lines.map(row).collect())
}

fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (mean, (values.map(|v| (v - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt())
}

/// One coefficient and a posterior that no Gaussian has: seven rows that a threshold separates.
const STEEP: &str = "x,y\n-2,0\n-1.5,0\n-1,0\n0.5,1\n1,1\n1.5,1\n3,1\n";
const FIT_STEEP: &str = "fit logistic steep.csv --target y --no-intercept --prior-sd 5 --family gaussian --out steep";

/// Mean and standard deviation of the coefficient of the steep table, by quadrature.
fn steep_moments(prior_sd: f64) -> (f64, f64) {
    let rows: Vec<(f64, f64)> = STEEP
        .lines()
        .skip(1)
        .map(|line| {
            line.split_once(',').map(|(x, y)| (x.parse().unwrap(), 2.0 * y.parse::<f64>().unwrap() - 1.0)).unwrap()
        })
        .collect();
    let log_density = |beta: f64| {
        let likelihood: f64 = rows.iter().map(|(x, y): &(f64, f64)| -(-y * x * beta).exp().ln_1p()).sum();
        likelihood - 0.5 * (beta / prior_sd).powi(2)
    };
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    for i in -20_000..60_000 {
        let beta = f64::from(i) * 1e-3;
        let density = log_density(beta).exp();
        mass += density;
        first += beta * density;
        second += beta * beta * density;
    }
    let mean = first / mass;
    (mean, (second / mass - mean * mean).sqrt())
}

#[test]
fn draws_have_the_log_densities_of_model_and_approximation() {
    let story = Story::new();
    let fit = story.json(&words("fit --out run"));
    let (names, rows) = table(&story.ok(&words("sample run --draws 20000 --seed 3 --uncorrected")));
    assert_eq!(names[..4], ["lp__", "log_p__", "log_g__", "intercept"]);
    let (elbo, error) = mean_and_error(rows.iter().map(|row| row[1] - row[2]));
    // False alarm: 7e−6.
    let both = error.hypot(number(&fit["elbo_se"]));
    assert!((elbo - number(&fit["elbo"])).abs() < 4.5 * both, "{elbo} ± {error}, {fit}");

    let (_, without) = table(&story.ok(&words("sample run --draws 100 --seed 3 --no-model")));
    let (_, with) = table(&story.ok(&words("sample run --draws 100 --seed 3 --uncorrected")));
    for (without, with) in without.iter().zip(&with) {
        assert!(without[1].is_nan() && without[2..] == with[2..], "the same draws\n{without:?}\n{with:?}");
    }
    std::fs::remove_file(story.path("run/config.toml")).unwrap();
    let Ended { code, stdout, stderr } = story.run(&words("sample run --draws 2"));
    assert_eq!((code, stdout.lines().count()), (Some(0), 3));
    assert!(stdout.lines().skip(1).all(|line| line.starts_with("0,nan,-")), "{stdout}");
    assert_eq!(
        stderr,
        "note: log_p__ is nan, since the model is not at hand: run: there is no config.toml beside the fit, and so no model; \
         name a folder written by elinvar fit --out\n"
    );
}

#[test]
fn resampled_draws_are_those_of_the_posterior() {
    let story = Story::new();
    story.write("steep.csv", STEEP);
    story.run(&words(FIT_STEEP));
    // The fit in the folder of one with another prior: it is wrong, but wider than the posterior, so that weights
    // correct it.
    let wide = story.read("steep/fit.json");
    let other = FIT_STEEP.replace("--prior-sd 5", "--prior-sd 2").replace("--out steep", "--out narrow");
    story.run(&words(&other));
    story.write("narrow/fit.json", wide);
    let draws = |more: &str| table(&story.ok(&words(&format!("sample narrow --draws 40000 {more}")))).1;
    let (exact, sd) = steep_moments(2.0);
    let moments = |rows: &[Vec<f64>]| {
        let n = rows.len() as f64;
        let mean = rows.iter().map(|row| row[3]).sum::<f64>() / n;
        (mean, (rows.iter().map(|row| (row[3] - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let resampled = draws("--resample psis");
    let (plain, (mean, spread)) = (moments(&draws("")), moments(&resampled));
    // 160,000 draws with an effective share of 0.24, of which systematic resampling loses next to nothing: 4.5 standard
    // errors are 0.023 sd for the mean and 0.016 for the logarithm of the sd (false alarm 7e−6 each).
    assert!((mean - exact).abs() < 0.023 * sd && (spread / sd).ln().abs() < 0.016, "{mean} {spread}, {exact} {sd}");
    assert!((plain.0 - exact).abs() > sd && plain.1 > 1.5 * sd, "{plain:?}, {exact} {sd}");
    assert!(resampled.iter().all(|row| row[1].is_finite() && row[2].is_finite()));
    assert_eq!(draws("--resample psis"), resampled, "the same seed");
    assert_ne!(draws("--resample psis --seed 2"), resampled);

    let ended = story.run(&words("sample steep --draws 10 --resample psis"));
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 11));
    assert!(ended.stderr.starts_with("note: k\u{302} is ") && ended.stderr.contains(", above 0.70 for 10,000 draws:"));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_same_draws() {
    let story = Story::new();
    story.json(&words("fit --out run"));
    let (names, rows) = table(&story.ok(&words("sample run --draws 500")));
    assert_eq!(story.ok(&words("sample run --draws 500 --out draws.parquet")), "");
    assert_eq!(story.ok(&words("sample run --draws 500 --format parquet --out plain")), "");
    assert_eq!(story.ok(&words("sample run --draws 500 --format csv --out text.parquet")), "");
    assert!(story.read("text.parquet").starts_with("lp__,"));
    for file in ["draws.parquet", "plain"] {
        let read = elinvar_data::Table::read(story.path(file), &elinvar_data::Columns::All).unwrap();
        assert_eq!(read.names(), names);
        assert_eq!(read.n_rows(), 500);
        assert!(rows.iter().enumerate().all(|(i, row)| read.row(i) == row), "{file}");
    }
}

#[test]
fn a_second_verdict_comes_from_fresh_draws() {
    let story = Story::new();
    let fit = story.json(&words("fit --seed 5 --out run"));
    let before = story.files();
    let again = story.json(&words("diagnose run --seed 5"));
    for key in ["family", "converged", "stop_reason", "elbo", "elbo_se", "pareto_k", "verdict", "reason"] {
        assert_eq!(again[key], fit[key], "the same seed, the same {key}");
    }
    let fresh = story.json(&words("diagnose run"));
    assert_eq!((&fresh["seed"], &fresh["verdict"]), (&6.into(), &fit["verdict"]));
    assert_ne!(fresh["elbo"], fit["elbo"]);
    let error = number(&fresh["elbo_se"]).hypot(number(&fit["elbo_se"]));
    // False alarm: 7e−6.
    assert!((number(&fresh["elbo"]) - number(&fit["elbo"])).abs() < 4.5 * error, "{fresh}");
    assert_eq!(fresh["shifts"].as_array().unwrap().len(), 11);
    assert!(number(&fresh["log_normaliser"]) > number(&fresh["elbo"]), "{fresh}");
    let few = story.json(&words("diagnose run --draws 1000"));
    assert!(number(&few["elbo_se"]) > 2.0 * number(&fresh["elbo_se"]) && number(&few["n_draws"]) >= 1000.0);

    let page = story.ok(&words("diagnose run"));
    for part in [
        "Logistic regression on",
        "\n\nApproximation: trust. ",
        "\nShifts ",
        "mean, sd",
        "sd, factor",
        "\nELBO ",
        "\nlog evidence ",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(page.contains(" nats when it was fitted; the verdict was: trust\n"), "{page}");
    assert_eq!(story.files(), before, "nothing is written");

    story.write("steep.csv", STEEP);
    let fitted = story.run(&words(FIT_STEEP));
    let judged = story.run(&words("diagnose steep"));
    assert_eq!((judged.code, judged.stderr.as_str()), (fitted.code, ""), "{}", judged.stdout);
    assert_eq!(judged.code, Some(4));
}

#[test]
fn fits_of_one_model_are_put_in_order() {
    let story = Story::new();
    story.write("steep.csv", STEEP);
    story.run(&words(FIT_STEEP));
    let other = |family: &str, out: &str| {
        let line = FIT_STEEP.replace("gaussian", family).replace("--out steep", &format!("--out {out}"));
        story.run(&words(&line));
    };
    other("skew", "bent");
    other("mog --components 2", "parts");
    let found = story.json(&["compare", "steep", "bent"]);
    assert_eq!((&found["best"], &found["n_draws"]), (&"bent".into(), &10_000.into()));
    let [first, second] = [&found["runs"][0], &found["runs"][1]];
    assert_eq!((&first["family"], &second["family"]), (&"skew".into(), &"gaussian".into()));
    assert_eq!((number(&first["difference"]), number(&first["difference_se"])), (0.0, 0.0));
    let (gap, error) = (number(&second["difference"]), number(&second["difference_se"]));
    assert!(gap < -4.5 * error && error < number(&second["elbo_se"]).hypot(number(&first["elbo_se"])), "{found}");
    assert!((number(&second["elbo"]) - number(&first["elbo"]) - gap).abs() < 1e-9);
    let alone = story.json_good_or_not(&words("diagnose bent --seed 9"));
    let apart = number(&first["elbo_se"]).hypot(number(&alone["elbo_se"]));
    assert!((number(&first["elbo"]) - number(&alone["elbo"])).abs() < 4.5 * apart, "{found}\n{alone}");

    let page = story.ok(&["compare", "steep", "parts", "bent", "--seed", "2"]);
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines[0].starts_with("Run ") && lines[0].ends_with(" verdict"), "{page}");
    assert!(lines[1].contains(" best ") && lines[3].starts_with("steep "), "{page}");
    assert!(page.contains("mog, 2 components") && page.contains("10,000 draws of each fit"), "{page}");
    let same = story.ok(&words("compare bent bent"));
    assert!(same.contains("cannot be told from it"), "{same}");
}

#[test]
fn start_points_are_what_stan_reads() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(3);
    let mut text = String::from("a,b,y\n");
    for _ in 0..200 {
        let (a, b) = (uniforms.normal(), uniforms.normal());
        text += &format!("{a},{b},{}\n", 1.0 + 2.0 * a - b + 0.5 * uniforms.normal());
    }
    story.write("data.csv", text);
    // The metric is the covariance of the approximation.
    let fit = story.json(&words("fit linear data.csv --target y --uncorrected --out run"));
    let told = story.ok(&words("inits run"));
    assert_eq!(
        told,
        "4 start points and an inverse metric in run/inits; the Stan program must declare beta, sigma in this order\n\n\
         Next: ./model sample num_chains=4 algorithm=hmc metric=dense_e metric_file=run/inits/inverse_metric.json \
         data file=data.json init=run/inits/init.json\n"
    );
    let read = |name: &str| -> Value { serde_json::from_str(&story.read(name)).unwrap() };
    let mut seen = BTreeSet::new();
    for chain in 1..=4 {
        let start = read(&format!("run/inits/init_{chain}.json"));
        let beta = start["beta"].as_array().unwrap();
        assert_eq!((beta.len(), start.as_object().unwrap().len()), (3, 2));
        for (value, parameter) in beta.iter().chain([&start["sigma"]]).zip(fit["parameters"].as_array().unwrap()) {
            // False alarm of each of the 16: 3e−7.
            let z = (number(value) - number(&parameter["mean"])) / number(&parameter["sd"]);
            assert!(z.abs() < 5.2, "{parameter} {value}");
        }
        seen.insert(start.to_string());
    }
    assert_eq!(seen.len(), 4);
    let metric = read("run/inits/inverse_metric.json");
    let entry = |i: usize, j: usize| number(&metric["inv_metric"][i][j]);
    let parameters = &fit["parameters"];
    for i in 0..4 {
        assert!((0..4).all(|j| entry(i, j) == entry(j, i)));
        // The last one is log sigma: sd(log σ) ≈ sd(σ)/σ.
        let scale = if i == 3 { number(&parameters[3]["mean"]) } else { 1.0 };
        let sd = number(&parameters[i]["sd"]) / scale;
        assert!((entry(i, i).sqrt() / sd - 1.0).abs() < 0.02, "{i} {metric}");
    }

    story.ok(&words("fit linear data.csv --target y --standardize --prior-sd 100 --out scaled"));
    story.ok(&words("inits scaled"));
    let scaled = read("scaled/inits/inverse_metric.json");
    for (i, j) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 3)] {
        let size = (entry(i, i) * entry(j, j)).sqrt();
        // In the units of the file too; the prior is another one and hardly matters.
        assert!((number(&scaled["inv_metric"][i][j]) - entry(i, j)).abs() < 0.05 * size, "{scaled}");
    }

    story.ok(&words("inits run --chains 2 --metric diag --intercept alpha --vector b --resample psis --out start"));
    let start = read("start/init_2.json");
    assert!(start["alpha"].is_number() && start["b"].as_array().unwrap().len() == 2 && start["sigma"].is_number());
    assert_eq!(read("start/inverse_metric.json")["inv_metric"].as_array().unwrap().len(), 4);
    assert!(!story.path("start/init_3.json").exists());
    story.ok(&words("inits run/fit.json --by-name --out named"));
    let start = read("named/init_1.json");
    assert_eq!(start.as_object().unwrap().keys().collect::<Vec<_>>(), ["a", "b", "intercept", "sigma"]);
    assert!(!story.files().iter().any(|file| file.to_string_lossy().contains(".elinvar-")));
}

#[test]
fn a_parameter_with_bounds_has_its_metric_on_stans_scale() {
    let story = Story::new();
    let rows: String = (0..40).map(|i| format!("{}\n", u8::from(i % 4 == 0))).collect();
    story.write("coin.csv", format!("y\n{rows}"));
    story.json_good_or_not(&words("fit proportion coin.csv --target y --family ef_mixture --out run"));
    story.ok(&words("inits run --metric diag"));
    let start: Value = serde_json::from_str(&story.read("run/inits/init_1.json")).unwrap();
    assert!((0.0..1.0).contains(&number(&start["proportion"])), "{start}");
    let metric: Value = serde_json::from_str(&story.read("run/inits/inverse_metric.json")).unwrap();
    // 10 of 40: the logit has about the variance 1/10 + 1/30, a little less with the prior.
    let variance = number(&metric["inv_metric"][0]);
    assert!((0.10..0.15).contains(&variance), "{variance}");
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let story = Story::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = story.ok(&["completions", shell]);
        for word in ["diagnose", "compare", "inits", "draws", "parquet"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let page = story.ok(&["man"]);
    assert_eq!(page.matches(".ds Aq").count(), 2, "{page}");
    assert!(
        page.contains(".TH elinvar 1") && page.contains(".SH EXAMPLES") && page.contains(".SH \"EXIT STATUS\""),
        "{page}"
    );
    assert_eq!(story.ok(&words("man --out pages/man1")), "");
    let pages: Vec<String> = std::fs::read_dir(story.path("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for command in ["elinvar", "elinvar-fit", "elinvar-sample", "elinvar-compare", "elinvar-inits"] {
        assert!(pages.contains(&format!("{command}.1")), "{pages:?}");
    }
    let sample = story.read("pages/man1/elinvar-sample.1");
    assert!(sample.contains("elinvar sample run1") && sample.contains("resample"), "{sample}");
}
