//! Settings in files: a run's own file makes the same run again.

use serde_json::Value;

use crate::story::{Story, Uniforms};

/// A table of 80 rows with numbers, classes, counts, texts and holes.
fn table() -> String {
    let mut uniforms = Uniforms::new(17);
    let mut text = String::from("dose,age,site,responded,visits,loss\n");
    for i in 0..80 {
        let (dose, age) = (3.0 * uniforms.next(), 20.0 + 50.0 * uniforms.next());
        let site = ["north", "south", "west"][(3.0 * uniforms.next()) as usize];
        let eta = dose - 1.5 + f64::from(u8::from(site == "west"));
        let responded = u8::from(uniforms.next() < 1.0 / (1.0 + (-eta).exp()));
        let visits = (2.0 * uniforms.next() * (1.0 + dose)).floor();
        let loss = 2.0 * dose - 0.05 * age + 0.3 * uniforms.normal();
        let age = if i == 30 { "NA".into() } else { format!("{age:.1}") };
        text += &format!("{dose:.3},{age},{site},{responded},{visits},{loss:.3}\n");
    }
    text
}

/// The kept fit without what depends on the clock.
fn bits(story: &Story, folder: &str) -> Value {
    let mut fit: Value = serde_json::from_str(&story.read(&format!("{folder}/fit.json"))).unwrap();
    forget_seconds(&mut fit);
    fit
}

fn forget_seconds(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("seconds");
            // It knows the seconds.
            map.remove("checksum");
            map.values_mut().for_each(forget_seconds);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_seconds),
        _ => {}
    }
}

#[test]
fn the_config_of_a_run_makes_the_same_bits() {
    let story = Story::new();
    story.write("trial.csv", table());
    let trial = |model, target| vec!["fit", model, "trial.csv", "--target", target, "--exclude", "site,age"];
    let runs: Vec<Vec<&str>> = vec![
        vec!["fit"],
        [trial("linear", "loss"), vec!["--prior-sd", "3", "--family", "mog", "--components", "2"]].concat(),
        [trial("poisson", "visits"), vec!["--family", "student_t", "--shape", "learn", "--seed", "4"]].concat(),
        [trial("logistic", "responded"), vec!["--family", "scale_mixture", "--law", "variance_gamma"]].concat(),
        [trial("logistic", "responded"), vec!["--family", "rank_k", "--rank", "2", "--rule", "natural_gradient"]]
            .concat(),
        [trial("logistic", "responded"), vec!["--minibatch", "40", "--max-steps", "50", "--restarts", "2"]].concat(),
        vec!["fit", "rate", "trial.csv", "--target", "visits", "--component", "log_normal", "--components", "2"],
        vec![
            "fit",
            "logistic",
            "trial.csv",
            "--target",
            "responded",
            "--features",
            "site,age,dose",
            "--missing",
            "drop",
            "--categorical",
            "indicators",
            "--standardize",
            "--test-fraction",
            "0.25",
            "--split-seed",
            "3",
        ],
        vec![
            "fit",
            "network",
            "trial.csv",
            "--target",
            "loss",
            "--features",
            "dose,age",
            "--missing",
            "drop",
            "--standardize",
            "--hidden",
            "3",
            "--activation",
            "tanh",
            "--max-steps",
            "30",
        ],
    ];
    for (i, run) in runs.iter().enumerate() {
        let (first, second) = (format!("a{i}"), format!("b{i}"));
        let ended = story.run(&[run, &["--quiet", "--out", &first][..]].concat());
        assert!(matches!(ended.code, Some(0 | 3 | 4)), "{run:?}\n{}", ended.stderr);
        let config = format!("{first}/config.toml");
        let again = story.run(&["fit", "--config", &config, "--quiet", "--out", &second]);
        assert_eq!(again.code, ended.code, "{run:?}\n{}", again.stderr);
        assert_eq!(story.read(&config), story.read(&format!("{second}/config.toml")), "{run:?}");
        assert!(bits(&story, &first) == bits(&story, &second), "{run:?}");
    }
}

#[test]
fn a_file_written_by_hand_needs_what_a_command_needs() {
    let story = Story::new();
    story.write("trial.csv", table()).write(
        "run.toml",
        "[data]\nfile = \"trial.csv\"\ntarget = \"loss\"\nfeatures = [\"dose\"]\n[model]\nname = \"linear\"\n[output]\njson = true\n",
    );
    let by_file: Value = serde_json::from_str(&story.ok(&["fit", "--config", "run.toml"])).unwrap();
    let by_flags = story.json(&["fit", "linear", "trial.csv", "--target", "loss", "--features", "dose"]);
    assert_eq!(by_file["parameters"], by_flags["parameters"]);
}

#[test]
fn data_are_found_beside_the_file_and_recognised() {
    let story = Story::new();
    story.write("trial.csv", table());
    story.ok(&["fit", "linear", "trial.csv", "--target", "loss", "--features", "dose", "--out", "run1"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let config = story.path("run1/config.toml");
    let output =
        story.command(&["fit", "--json", "--config", config.to_str().unwrap()]).current_dir(elsewhere.path()).output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    story.write("trial.csv", table().replace("north", "south").replacen("1.", "2.", 1));
    let ended = story.run(&["fit", "--config", "run1/config.toml"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: trial.csv: the data are not those of the settings: "), "{}", ended.stderr);
}

#[test]
fn mistakes_in_a_file_have_a_place() {
    let story = Story::new();
    for (text, expected) in [
        ("[modle]\n", "run.toml, line 1, column 2: there is no key \"modle\" here; did you mean \"model\"?"),
        ("[plan]\nseeed = 3\n", "run.toml, line 2, column 1: there is no key \"seeed\" here; did you mean \"seed\"?"),
        (
            "[model]\nname = \"logistik\"\n",
            "run.toml, line 2, column 8: \"logistik\" will not do: did you mean logistic?",
        ),
        (
            "[data]\ntest_fraction = 2\n",
            "run.toml, line 2, column 17: \"2\" will not do: give a part of the rows, a number between 0 and 1",
        ),
        ("[data]\nfeatures = 3\n", "run.toml, line 2, column 12: invalid type: integer `3`, expected a sequence"),
        ("[model]\nname = \"linear\"\n", "linear needs a table: elinvar fit linear FILE.csv --target COLUMN"),
    ] {
        story.write("run.toml", text);
        let ended = story.run(&["fit", "--config", "run.toml"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), format!("error: {expected}\n").as_str()), "{text}");
    }
    let ended = story.run(&["fit", "--config", "none.toml"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), "error: none.toml: there is no such file\n"));
}
