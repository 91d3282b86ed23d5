//! The default: a ladder of families, and restarts.

use serde_json::Value;

use crate::story::{Story, Uniforms};

/// Two classes that a line divides: the likelihood does not end the coefficients, only the prior does.
fn divided(story: &Story) {
    let mut uniforms = Uniforms::new(4);
    let mut text = String::from("a,y\n");
    for i in 0..12 {
        let y = i % 2;
        text += &format!("{},{y}\n", f64::from(2 * y - 1) * (0.5 + 2.0 * uniforms.next()));
    }
    story.write("divided.csv", text);
}

fn read(story: &Story, file: &str) -> Value {
    serde_json::from_str(&story.read(file)).unwrap()
}

#[test]
fn a_gaussian_that_is_trusted_is_left_alone() {
    let story = Story::new();
    let without_seconds = |arguments: &[&str]| {
        let mut fit = story.json(arguments);
        fit.as_object_mut().unwrap().remove("seconds");
        fit
    };
    let (default, auto) = (without_seconds(&["fit"]), without_seconds(&["fit", "--family", "auto"]));
    assert_eq!(default, auto);
    let gaussian = story.json(&["fit", "--family", "gaussian"]);
    assert_eq!((&auto["family"], &auto["elbo"]), (&"gaussian".into(), &gaussian["elbo"]));
    let page = story.ok(&["fit", "--out", "run"]);
    assert!(!page.contains("\nLadder"), "{page}");
    let config: toml::Table = story.read("run/config.toml").parse().unwrap();
    assert_eq!(config["family"]["name"].as_str(), Some("auto"));
    let rungs = &read(&story, "run/diagnostics.json")["rungs"];
    assert_eq!((rungs.as_array().map(Vec::len), &rungs[0]["kept"]), (Some(1), &true.into()));
}

#[test]
fn the_ladder_is_climbed_where_a_gaussian_does_not_do_and_nothing_is_corrected() {
    let story = Story::new();
    divided(&story);
    let arguments = "fit logistic divided.csv --target y --prior-sd 5 --uncorrected --out run";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let plain = story.json_good_or_not(&[&arguments[..8], &["--family", "gaussian"]].concat());
    assert_ne!(plain["verdict"], "trust", "{plain}");
    let page = story.ok(&arguments);
    assert!(page.contains("\nApproximation: trust. "), "{page}");
    let at = page.lines().position(|line| line.starts_with("Ladder ")).unwrap_or_else(|| panic!("no ladder\n{page}"));
    let table: Vec<&str> = page.lines().skip(at).take_while(|line| !line.is_empty()).collect();
    assert!(table[0].ends_with("gradients") && table[1].starts_with("gaussian ") && table.len() > 2, "{page}");
    assert_eq!(table.iter().filter(|line| line.ends_with("   kept")).count(), 1, "{page}");
    assert!(!table[1].ends_with("kept") && table[2..].iter().all(|line| line.matches('±').count() == 2), "{page}");
    assert!(page.contains(&format!(" steps of {} families: less than 0.01 nats", table.len() - 1)), "{page}");

    let fit = story.json(&arguments[..8]);
    let keys = fit.as_object().unwrap().len();
    assert_eq!(keys, plain.as_object().unwrap().len());
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(number(&fit["elbo"]) > number(&plain["elbo"]) + 0.1, "{fit}\n{plain}");

    let diagnostics = read(&story, "run/diagnostics.json");
    let rungs = diagnostics["rungs"].as_array().unwrap();
    assert_eq!(rungs.len(), table.len() - 1);
    let kept = rungs.iter().find(|rung| rung["kept"] == true).unwrap();
    let name = fit["family"].as_str().unwrap();
    assert!(kept["family"].as_object().unwrap().contains_key(name), "{kept} is not {name}");
    let kept_state = &read(&story, "run/fit.json")["state"]["family"];
    assert_eq!(kept_state, &kept["family"]);
    let gradients: u64 = rungs.iter().map(|rung| rung["counts"]["gradient"].as_u64().unwrap()).sum();
    let total = fit["evaluations"]["gradient"].as_u64().unwrap();
    assert!(gradients <= total && gradients > total / 2, "{gradients} of {total}");
    let config: toml::Table = story.read("run/config.toml").parse().unwrap();
    assert_eq!(config["family"]["name"].as_str(), Some("auto"), "what was asked for");
    assert_eq!(config["plan"]["seed"].as_integer(), Some(1), "not that of a rung");
    assert_eq!(config["plan"]["stop"]["max_steps"].as_integer(), Some(3000));
    let trace = story.read("run/trace.csv");
    assert!(trace.lines().skip(1).enumerate().all(|(i, line)| line.starts_with(&format!("{i},"))));
    assert!(story.ok(&["sample", "run", "--draws", "3"]).starts_with("lp__,log_p__,log_g__,intercept,a\n"));
}

#[test]
fn chains_correct_what_a_gaussian_does_not_do() {
    let story = Story::new();
    divided(&story);
    let arguments: Vec<&str> = "fit logistic divided.csv --target y --prior-sd 5 --out run".split(' ').collect();
    let page = story.ok(&arguments);
    assert!(page.contains("\nApproximation: trust. ") && page.contains("\ngiven by     32 chains of "), "{page}");
    assert!(!page.contains("\nLadder") && page.contains("a Gaussian, from which the chains start"), "{page}");
    let fit = story.json(&arguments[..7]);
    assert_eq!((&fit["given_by"], &fit["family"]), (&"chains".into(), &"gaussian".into()));
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{fit}"));
    assert!(number(&fit["log_evidence"]) > number(&fit["elbo"]), "{fit}");
    // What the uncorrected ladder ends at, by another family: the same answer for many more gradients.
    let ladder = story.json(&[&arguments[..7], &["--uncorrected"]].concat());
    for (ours, theirs) in fit["parameters"].as_array().unwrap().iter().zip(ladder["parameters"].as_array().unwrap()) {
        let away = (number(&ours["mean"]) - number(&theirs["mean"])).abs();
        // Two answers within 0.1 sd each.
        assert!(away < 0.2 * number(&ours["sd"]), "{ours} {theirs}");
    }
    let gradients = |fit: &Value| fit["evaluations"]["gradient"].as_u64().unwrap();
    assert!(gradients(&fit) < gradients(&ladder), "{} and {}", gradients(&fit), gradients(&ladder));
}

#[test]
fn restarts_are_reported_and_the_best_is_kept() {
    let story = Story::new();
    let page = story.ok(&["fit", "--restarts", "3", "--out", "run"]);
    let line = page.lines().find(|line| line.starts_with("restarts     ")).unwrap_or_else(|| panic!("{page}"));
    assert!(line.starts_with("restarts     3, bounds -34.") && line.matches(" ± 0.00").count() == 3, "{line}");
    assert!(page.contains("\nrestarts that agree   3 of 3 within 0.1 nats\n"), "{page}");
    let config: toml::Table = story.read("run/config.toml").parse().unwrap();
    assert_eq!(config["plan"]["restarts"].as_integer(), Some(3));
    assert_eq!(config["plan"]["seed"].as_integer(), Some(1));
    let agreement = &read(&story, "run/diagnostics.json")["agreement"];
    assert_eq!(agreement["restarts"].as_array().unwrap().len(), 3);
    let gradients = |arguments: &[&str]| story.json(arguments)["evaluations"]["gradient"].as_u64().unwrap();
    assert!(gradients(&["fit", "--restarts", "3"]) > 2 * gradients(&["fit"]), "every restart is counted");
    assert!(!story.ok(&["fit"]).contains("\nrestarts     "));
}
