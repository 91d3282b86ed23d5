//! Formulas: every command of docs/formulas.md, and what a formula keeps and says.

use std::path::Path;

use crate::story::Story;

/// Between −½ and ½, without a generator.
fn noise(i: usize, k: usize) -> f64 {
    (((i * 7919 + k * 104_729) % 100_003) as f64 * 0.618_033_988_749_895).fract() - 0.5
}

/// The table of docs/formulas.md.
fn trial() -> String {
    let mut text = String::from("cured,age,dose,sex,site,visits,exposure,events,n,weight,score,share,size m\n");
    for i in 0..200 {
        let age = 20 + (i * 37) % 61;
        let dose = [0.5, 1.0, 2.0, 4.0][(i * 11 + i / 7) % 4];
        let (sex, site) = (["f", "m"][(i / 3) % 2], ["Oslo", "Bergen", "Tromsø"][(i * 5 + i / 11) % 3]);
        let male = f64::from(u8::from(sex == "m"));
        let eta = 0.04 * (age as f64 - 50.0) - 0.8 * f64::ln(dose) + 0.7 * male;
        let cured = if noise(i, 1) + 0.5 < 1.0 / (1.0 + (-eta).exp()) { "yes" } else { "no" };
        let exposure = 0.5 + 4.0 * (noise(i, 2) + 0.5);
        let spread = (2.4 * noise(i, 3)).exp();
        let visits = (exposure * (0.2 + 0.015 * age as f64).exp() * spread).round();
        let n = 3 + (i * 13) % 9;
        let events = (n as f64 / (1.0 + (-eta - noise(i, 4)).exp())).round();
        let score = 2000.0 + 0.3 * age as f64 + 4.0 * noise(i, 5) + if i % 40 == 3 { 30.0 } else { 0.0 };
        let share = 1.0 / (1.0 + (-0.02 * (age as f64 - 50.0) - 2.0 * noise(i, 6)).exp());
        let (weight, size) = (1 + i % 3, 3.0 + 2.0 * noise(i, 7));
        text += &format!(
            "{cured},{age},{dose},{sex},{site},{visits},{exposure:.3},{events},{n},{weight},{score:.3},{share:.4},{size:.3}\n"
        );
    }
    text
}

/// The words of a command: in double quotes, or without spaces.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in command.split('"').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
        }
    }
    words
}

#[test]
fn every_command_of_the_page_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formulas.md");
    let page = std::fs::read_to_string(page).unwrap();
    let story = Story::new();
    story.write("trial.csv", trial());
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    elinvar ")).collect();
    assert!(commands.len() >= 18, "{}", commands.len());
    for command in commands {
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = story.run(&words);
        assert!(
            ended.stderr.is_empty() && ended.code == Some(0),
            "{command}: {:?} {}\n{}",
            ended.code,
            ended.stderr,
            ended.stdout
        );
    }
    let said = story.run(&["fit", "logistic", "trial.csv", "cured ~ log(agee) + dose"]);
    let shown: String = page
        .lines()
        .skip_while(|line| !line.starts_with("    error:"))
        .take(3)
        .fold(String::new(), |all, line| all + line.strip_prefix("    ").unwrap() + "\n");
    assert_eq!((said.code, said.stderr), (Some(2), shown));
}

fn parameter<'a>(fit: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    fit["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == name)
        .unwrap_or_else(|| panic!("{name}: {fit}"))
}

fn mean(fit: &serde_json::Value, name: &str) -> f64 {
    parameter(fit, name)["mean"].as_f64().unwrap()
}

#[test]
fn columns_alone_are_a_formula_with_the_same_bits() {
    let story = Story::new();
    story.write("trial.csv", trial());
    let formula = story.json(&["fit", "linear", "trial.csv", "score ~ age + dose", "--out", "a"]);
    let columns = ["fit", "linear", "trial.csv", "--target", "score", "--features", "age,dose", "--out", "b"];
    assert_eq!(formula["parameters"], story.json(&columns)["parameters"]);
    let recipes = ["a/recipe.json", "b/recipe.json"].map(|name| {
        let mut recipe: serde_json::Value = serde_json::from_str(&story.read(name)).unwrap();
        recipe.as_object_mut().unwrap().remove("formula");
        recipe
    });
    assert_eq!(recipes[0], recipes[1]);
    // The settings of the run make the same fit, and a finished one is shown again.
    let again = story.json(&["fit", "--config", "a/config.toml"]);
    assert_eq!(formula["parameters"], again["parameters"]);
    assert!(story.run(&["resume", "a"]).stdout.starts_with("Linear regression on trial.csv"));
    // Flags have the last word: a target in place of the formula, and the other way round.
    let other = story.json(&["fit", "--config", "a/config.toml", "--target", "score", "--features", "dose"]);
    assert_eq!(other["parameters"].as_array().unwrap().len(), 3);
    let both = story.run(&["fit", "linear", "trial.csv", "score ~ age", "--target", "score"]);
    assert_eq!(both.code, Some(2));
}

#[test]
fn two_texts_are_classes_and_the_page_names_the_event() {
    let story = Story::new();
    story.write("trial.csv", trial());
    let page = story.ok(&["fit", "logistic", "trial.csv", "cured ~ age + sex"]);
    assert!(page.contains("\nevent        cured = yes, against no\n") && page.contains("sex with f"), "{page}");
    let by_target = story.json(&["fit", "logistic", "trial.csv", "--target", "cured", "--features", "age"]);
    let by_formula = story.json(&["fit", "logistic", "trial.csv", "cured ~ age"]);
    assert_eq!(by_target["parameters"], by_formula["parameters"]);
    story.write("numbers.csv", trial().replace("yes,", "1,").replace("no,", "0,"));
    let numbers = story.json(&["fit", "logistic", "numbers.csv", "cured ~ age"]);
    assert_eq!(numbers["parameters"], by_formula["parameters"]);
    let three = story.run(&["fit", "logistic", "trial.csv", "site ~ age"]);
    assert!(
        three.code == Some(2) && three.stderr.contains("two classes are needed and there are 3"),
        "{}",
        three.stderr
    );
}

#[test]
fn a_weight_of_two_is_a_row_twice_and_an_offset_a_known_part() {
    let story = Story::new();
    let table = trial();
    let (header, rows) = table.split_once('\n').unwrap();
    let weight_of = |row: &str| row.split(',').nth(9).unwrap().parse::<usize>().unwrap();
    let repeated: String = rows.lines().map(|row| format!("{row}\n").repeat(weight_of(row))).collect();
    story.write("trial.csv", &table).write("repeated.csv", format!("{header}\n{repeated}"));
    for (model, y, right) in [
        ("poisson", "visits", "age + offset(log(exposure))"),
        ("negative_binomial", "visits", "age + offset(log(exposure))"),
        ("gamma", "exposure", "age"),
        ("linear", "score", "age + offset(0.2 * age)"),
    ] {
        let prior = ["--prior", "b ~ normal(0, 1)", "--prior", "intercept ~ normal(0, 3000)"];
        let weighed = format!("{y} | weights(weight) ~ {right}");
        let plain = format!("{y} ~ {right}");
        let sigma = if model == "linear" { &["--prior", "sigma ~ exponential(0.1)"][..] } else { &[] };
        let [a, b] = [("trial.csv", &weighed), ("repeated.csv", &plain)]
            .map(|(file, formula)| story.json(&[&["fit", model, file, formula.as_str()], &prior[..], sigma].concat()));
        for row in a["parameters"].as_array().unwrap() {
            let (name, sd) = (row["name"].as_str().unwrap(), row["sd"].as_f64().unwrap());
            // Errors of importance weights of either fit.
            let gap = (row["mean"].as_f64().unwrap() - mean(&b, name)).abs();
            assert!(gap < 0.05 * sd, "{model} {name}: {gap} of {sd}");
        }
    }
    let known = story.json(&["fit", "linear", "trial.csv", "score ~ age + offset(0.2 * age)"]);
    let whole = story.json(&["fit", "linear", "trial.csv", "score ~ age"]);
    assert!((mean(&known, "age") + 0.2 - mean(&whole, "age")).abs() < 2e-3, "{known} {whole}");
}

#[test]
fn held_out_rows_teach_nothing_and_trials_are_asked_for() {
    let story = Story::new();
    story.write("trial.csv", trial());
    let formula = "score ~ scale(age) + poly(dose, 2)";
    story.json(&["fit", "linear", "trial.csv", formula, "--test-fraction", "0.5", "--out", "half"]);
    story.json(&["fit", "linear", "trial.csv", formula, "--out", "whole"]);
    assert_ne!(story.read("half/recipe.json"), story.read("whole/recipe.json"));
    let without = story.run(&["fit", "binomial", "trial.csv", "events ~ age"]);
    assert!(without.code == Some(2) && without.stderr.contains("needs the number of trials"), "{}", without.stderr);
    let strange = story.run(&["fit", "poisson", "trial.csv", "visits | trials(n) ~ age"]);
    assert!(strange.code == Some(2) && strange.stderr.contains("has no trials"), "{}", strange.stderr);
    let network = story.run(&["fit", "network", "trial.csv", "score ~ age"]);
    assert!(network.code == Some(2) && network.stderr.contains("a model with coefficients"), "{}", network.stderr);
}

#[test]
fn a_text_where_a_number_is_needed_is_marked() {
    let story = Story::new();
    story.write("t.csv", "y,a,site\n1,2,Oslo\n2,3,Bergen\n3,5,Oslo\n");
    let said = story.run(&["fit", "linear", "t.csv", "y ~ a + log(site)"]);
    let expected = "error: t.csv, line 2, column 3 (site): \"Oslo\" is a text and log(site) needs numbers; correct the \
                    cell, or use the column as it is\n  y ~ a + log(site)\n              ^^^^\n";
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), expected));
}
