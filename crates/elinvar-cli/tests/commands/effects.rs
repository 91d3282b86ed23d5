//! Effects of single columns.

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

fn table() -> String {
    let mut uniforms = Uniforms::new(31);
    let mut text = String::from("y,age,site,n,events,rank\n");
    for i in 0..150 {
        let age = 20.0 + 60.0 * uniforms.next();
        let site = ["Aarhus", "Bergen", "Uppsala"][i % 3];
        let y = 3.0 + 0.5 * age + if site == "Bergen" { 4.0 } else { 0.0 } + uniforms.normal();
        let n = 5 + i % 7;
        let events = (0..n).filter(|_| uniforms.next() < 1.0 / (1.0 + (2.0 - 0.04 * age).exp())).count();
        let rank = ["high", "low", "middle"][(age / 27.0) as usize % 3];
        text += &format!("{y},{age},{site},{n},{events},{rank}\n");
    }
    text
}

#[test]
fn a_linear_effect_is_the_line_of_its_coefficients() {
    let story = Story::new();
    story.write("t.csv", table());
    let fit = story.json(&["fit", "linear", "t.csv", "y ~ age + site", "--out", "run"]);
    let mean = |k: usize| number(&fit["parameters"][k]["mean"]);
    let page = story.ok(&words("effects run --by age --csv age.csv --svg age.svg --png age.png"));
    assert!(page.starts_with("Effect of age on the mean of y: Linear regression on t.csv"), "{page}");
    assert!(page.contains("\nHeld: site Aarhus.\n"), "{page}");
    let effects = story.json(&words("effects run --by age"));
    let of = |k: &str, i: usize| number(&effects["curves"][0][k][i]);
    let n = effects["values"].as_array().unwrap().len();
    assert_eq!((n, story.read("age.csv").lines().count()), (41, 42));
    assert!(story.read("age.csv").starts_with("age,mean,sd,q2.5,q97.5\n"));
    for i in [0, 20, 40] {
        let line = mean(0) + mean(1) * number(&effects["values"][i]);
        assert!((of("mean", i) - line).abs() < 0.05, "{} {line}", of("mean", i));
        // A line of 150 rows with noise 1: its error is about 2/√150 at the ends.
        assert!((0.05..0.4).contains(&of("sd", i)), "{}", of("sd", i));
        let width = (of("high", i) - of("low", i)) / (2.0 * 1.96 * of("sd", i));
        assert!((width - 1.0).abs() < 0.1, "{width}");
    }
    assert!(of("sd", 20) < of("sd", 0) && of("sd", 20) < of("sd", 40));
    assert!(story.read("age.svg").starts_with("<svg"));
    assert_eq!(&std::fs::read(story.path("age.png")).unwrap()[1..4], b"PNG");
    let again = story.run(&words("effects run --by age --csv age.csv"));
    assert_eq!((again.code, again.stderr.contains("age.csv exists already")), (Some(2), true), "{}", again.stderr);

    let sites = story.json(&words("effects run --by site --at age=50 --interval 50"));
    assert_eq!(sites["values"], serde_json::json!(["Aarhus", "Bergen", "Uppsala"]));
    let of = |k: &str, i: usize| number(&sites["curves"][0][k][i]);
    assert!((of("mean", 1) - of("mean", 0) - mean(2)).abs() < 0.05);
    assert!((of("mean", 0) - mean(0) - 50.0 * mean(1)).abs() < 0.05);
    // Half of a normal law is within 0.674 sd.
    assert!(((of("high", 1) - of("low", 1)) / (2.0 * 0.674 * of("sd", 1)) - 1.0).abs() < 0.15);
}

#[test]
fn classes_trials_and_few_numbers_have_effects() {
    let story = Story::new();
    story.write("t.csv", table());
    story.run(&["fit", "ordinal", "t.csv", "rank ~ site + n", "--out", "ordered"]);
    let effects = story.json(&words("effects ordered --by site"));
    let curves = effects["curves"].as_array().unwrap();
    assert_eq!(curves.iter().map(|curve| &curve["class"]).collect::<Vec<_>>(), ["high", "low", "middle"]);
    for i in 0..3 {
        let sum: f64 = curves.iter().map(|curve| number(&curve["mean"][i])).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
    story.run(&["fit", "binomial", "t.csv", "events | trials(n) ~ age", "--out", "shares"]);
    let shares = story.json(&words("effects shares --by age"));
    let share = |i: usize| number(&shares["curves"][0]["mean"][i]);
    assert!(0.0 < share(0) && share(0) < share(40) && share(40) < 1.0, "{shares}");
    story.write("few.csv", "y,x\n1,0\n2,1\n1.5,0\n2.5,1\n3.5,2\n3,2\n");
    story.run(&["fit", "linear", "few.csv", "y ~ x", "--out", "few"]);
    let few = story.json(&words("effects few --by x"));
    assert_eq!(few["values"], serde_json::json!([0.0, 1.0, 2.0]));
}

#[test]
fn what_has_no_effect_is_named() {
    let story = Story::new();
    story.write("t.csv", table());
    story.ok(&["fit", "linear", "t.csv", "y ~ age + site", "--out", "run"]);
    for (line, said) in [
        ("effects run --by agee", "--by agee: the fit has no such column; it has site, age"),
        ("effects run --by y", "--by y: the fit has no such column"),
        ("effects run --by age --at town=1", "--at town: the fit has no such column"),
        ("effects run --by site --at age=old", "--at age: \"old\" is not a number"),
        ("effects run --by age --at site=Oslo", "--at site: \"Oslo\" is not among its levels, Aarhus, Bergen, Uppsala"),
        ("effects run --by age --at site", "a column is held by COLUMN=VALUE"),
    ] {
        let ended = story.run(&words(line));
        assert_eq!(ended.code, Some(2), "{line}");
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
    }
}
