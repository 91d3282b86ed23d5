//! `--correct`: chains give the table, and everything says so.

use crate::story::Story;

#[test]
fn a_corrected_fit_prints_errors_keeps_states_and_can_be_asked_for_the_bare_approximation() {
    let story = Story::new();
    let page = story.ok(&["fit", "--family", "gaussian", "--correct", "--out", "run"]);
    assert!(
        page.contains("\ngiven by     32 chains of ") && page.replace('\n', " ").contains("by the errors of chains"),
        "{page}"
    );
    let row = page.lines().find(|line| line.starts_with("intercept")).unwrap_or_else(|| panic!("{page}"));
    assert_eq!(row.matches(" ± ").count(), 4, "{row}");

    let fit = story.json(&["fit", "--family", "gaussian", "--correct"]);
    assert_eq!((fit["given_by"].as_str(), fit["verdict"].as_str()), (Some("chains"), Some("trust")));
    let first = &fit["parameters"][0];
    assert!(first["mean_se"].as_f64().unwrap() < 0.1 * first["sd"].as_f64().unwrap(), "{first}");
    assert!(fit["correction"]["gradients"].as_u64().unwrap() < 5_000, "{}", fit["correction"]);
    // Where weights suffice they give the answer, with errors of their own.
    let plain = story.json(&["fit", "--family", "gaussian"]);
    assert_eq!(plain["given_by"].as_str(), Some("weights"));
    let error = |fit: &serde_json::Value| fit["parameters"][0]["mean_se"].as_f64().unwrap();
    assert!(error(&plain) < error(&fit) && plain.get("correction").is_none(), "{plain}");
    let bare = story.json(&["fit", "--family", "gaussian", "--uncorrected"]);
    assert_eq!(bare["given_by"].as_str(), Some("approximation"));
    assert!(bare["parameters"][0].get("mean_se").is_none() && bare.get("log_evidence").is_none(), "{bare}");

    let config: toml::Table = story.read("run/config.toml").parse().unwrap();
    assert_eq!(config["plan"]["correct"].as_str(), Some("always"));
    let again = story.json(&["fit", "--config", "run/config.toml"]);
    assert_eq!(again["parameters"], fit["parameters"]);

    let sampled = story.run(&["sample", "run", "--draws", "5"]);
    assert!(sampled.code == Some(0) && sampled.stderr.contains("states of chains"), "{}", sampled.stderr);
    let bare = story.ok(&["sample", "run", "--draws", "5", "--uncorrected"]);
    assert_eq!((bare.lines().count(), sampled.stdout.lines().count()), (6, 6));
    assert_ne!(bare, sampled.stdout);
    // Draws of the approximation are those of a fit that was never corrected.
    story.ok(&["fit", "--family", "gaussian", "--uncorrected", "--out", "bare"]);
    assert_eq!(story.ok(&["sample", "bare", "--draws", "5"]), bare);
    // Those of an answer by weights are chosen by them.
    story.ok(&["fit", "--family", "gaussian", "--out", "weighed"]);
    let weighed = story.ok(&["sample", "weighed", "--draws", "5"]);
    assert_eq!(weighed, story.ok(&["sample", "weighed", "--draws", "5", "--resample", "psis"]));
    assert_eq!(story.ok(&["sample", "weighed", "--draws", "5", "--resample", "none"]), bare);
    let compared = story.ok(&["compare", "run", "weighed", "bare"]);
    assert!(compared.contains(" chains ") && compared.contains(" importance weights "), "{compared}");
}

#[test]
fn what_chains_cannot_correct_is_said() {
    let story = Story::new();
    story.write("t.csv", "n\n3\n4\n2\n5\n");
    let ended = story.run(&["fit", "rate", "t.csv", "--target", "n", "--correct"]);
    assert!(ended.code != Some(0) && ended.stderr.contains("chains move on the whole"), "{}", ended.stderr);
}
