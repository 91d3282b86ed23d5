//! `--correct`: chains give the table, and everything says so.

use serde_json::Value;

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
    assert_eq!(row.matches(" ± ").count(), 2, "{row}");

    let fit = story.json(&["fit", "--family", "gaussian", "--correct"]);
    assert_eq!((fit["given_by"].as_str(), fit["verdict"].as_str()), (Some("chains"), Some("trust")));
    let first = &fit["parameters"][0];
    assert!(first["mean_se"].as_f64().unwrap() < 0.1 * first["sd"].as_f64().unwrap(), "{first}");
    assert!(fit["correction"]["gradients"].as_u64().unwrap() < 5_000, "{}", fit["correction"]);
    // Where weights suffice they give the answer, with errors of their own.
    let plain = story.json(&["fit", "--family", "gaussian"]);
    assert_eq!(plain["given_by"].as_str(), Some("weights"));
    let error = |fit: &Value| fit["parameters"][0]["mean_se"].as_f64().unwrap();
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

#[test]
fn json_is_one_object_with_these_keys() {
    let story = Story::new();
    let text = story.ok(&["fit", "--json"]);
    assert_eq!(text.lines().count(), 1);
    let fit: Value = serde_json::from_str(&text).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    // The order is that of the text; a parsed object is sorted.
    let order = [
        "family",
        "converged",
        "stop_reason",
        "elbo",
        "elbo_se",
        "pareto_k",
        "verdict",
        "reason",
        "evaluations",
        "seconds",
        "given_by",
        "effective_draws",
        "log_evidence",
        "log_evidence_se",
        "parameters",
        "model_check",
        "run_dir",
    ];
    let places: Vec<usize> = order.iter().map(|key| text.find(&format!("\"{key}\":")).expect(key)).collect();
    assert!(places.is_sorted() && fit.as_object().unwrap().len() == order.len(), "{text}");
    assert_eq!(fit["verdict"], "trust");
    assert!(
        fit["reason"].as_str().unwrap().starts_with("Converged, and importance weights confirm every mean and sd. ")
    );
    assert_eq!(keys(&fit["evaluations"]), ["gradient", "hessian", "log_density"]);
    let errors = [
        "mean",
        "mean_se",
        "name",
        "p_positive",
        "q5",
        "q50",
        "q50_se",
        "q5_se",
        "q95",
        "q95_se",
        "quantiles",
        "sd",
        "sd_se",
    ];
    assert_eq!(keys(&fit["parameters"][0]["quantiles"]), ["2.5", "50", "97.5"]);
    assert_eq!(keys(&fit["parameters"][0]), errors);
    assert_eq!(fit["given_by"], "weights");
    let bare = story.json(&["fit", "--uncorrected"]);
    assert_eq!(keys(&bare["parameters"][0]), ["mean", "name", "p_positive", "q5", "q95", "quantiles", "sd"]);
    assert_eq!((&fit["family"], &fit["stop_reason"]), (&"gaussian".into(), &"converged".into()));
    assert_eq!((&fit["converged"], &fit["run_dir"]), (&true.into(), &Value::Null));
    assert!((number(&fit["elbo"]) + 34.30).abs() < 0.02, "{fit}");
    assert!(number(&fit["elbo_se"]) < 0.01 && number(&fit["pareto_k"]) < 0.7);
    assert_eq!(fit["parameters"].as_array().unwrap().len(), 11);
    assert!(number(&fit["evaluations"]["gradient"]) > 100.0 && number(&fit["seconds"]) > 0.0);
}
