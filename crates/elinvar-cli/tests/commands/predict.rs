//! New rows, and tables that come from elsewhere than a plain file.

use std::io::Write as _;
use std::process::Stdio;

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

fn table() -> String {
    let mut uniforms = Uniforms::new(21);
    let mut text = String::from("y,a,site,n\n");
    for i in 0..120 {
        let (a, noise) = (10.0 + 3.0 * uniforms.normal(), uniforms.normal());
        let site = ["Aarhus", "Bergen", "Uppsala"][i % 3];
        let y = 100.0 + 2.0 * a + if site == "Bergen" { 5.0 } else { 0.0 } + noise;
        text += &format!("{y},{a},{site},{}\n", i % 5);
    }
    text
}

/// The numbers of CSV text, without its header.
fn numbers(text: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    text.lines().skip(1).map(row).collect()
}

#[test]
fn new_rows_are_predicted_in_the_units_of_the_file() {
    let story = Story::new();
    story.write("t.csv", table());
    let line = "fit linear t.csv --target y --features a,site --categorical indicators --standardize --out run --json";
    let fit = story.json(&words(line.strip_suffix(" --json").unwrap()));
    let mean = |name: &str| {
        let all = fit["parameters"].as_array().unwrap();
        number(&all.iter().find(|p| p["name"] == name).unwrap()["mean"])
    };
    // Other columns, in another order, with levels of its own.
    story.write("new.csv", "site,junk,a\nBergen,x,10\nBergen,y,13\nAarhus,z,7\n");
    let text = story.ok(&words("predict run new.csv"));
    assert!(text.starts_with("mean,sd,q2.5,q50,q97.5\n"), "{text}");
    let truth = |a: f64, bergen: f64| mean("intercept") + mean("a") * a + bergen * mean("site=Bergen");
    for (row, truth) in numbers(&text).iter().zip([truth(10.0, 1.0), truth(13.0, 1.0), truth(7.0, 0.0)]) {
        let &[mean, sd, low, middle, high] = row.as_slice() else { panic!("{text}") };
        // Noise of sd 1, and a posterior of 120 rows.
        assert!((mean - truth).abs() < 0.05 && (0.8..1.3).contains(&sd), "{text}");
        assert!((middle - mean).abs() < 0.15 && ((high - low) / (2.0 * 1.96 * sd) - 1.0).abs() < 0.1, "{text}");
    }
    let link = numbers(&story.ok(&words("predict run new.csv --link --quantiles 50")));
    let expected = numbers(&story.ok(&words("predict run new.csv --expectation --quantiles 50")));
    assert_eq!(link, expected);
    assert!(link[0].len() == 3 && link[0][1] < 0.3, "{link:?}");
    assert_eq!(story.ok(&words("predict run new.csv -o out.csv")), "");
    assert_eq!(story.read("out.csv"), text);
    let again = story.run(&words("predict run new.csv -o out.csv"));
    assert_eq!((again.code, again.stderr.contains("out.csv exists already")), (Some(2), true), "{}", again.stderr);
}

#[test]
fn a_formula_is_applied_to_new_rows() {
    let story = Story::new();
    story.write("t.csv", table());
    let fit = story.json(&["fit", "linear", "t.csv", "y ~ scale(a) * site + offset(n)", "--out", "run"]);
    let mean = |k: usize| number(&fit["parameters"][k]["mean"]);
    let names: Vec<&str> = fit["parameters"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    story.write("new.csv", "n,site,a\n0,Aarhus,10\n3,Aarhus,10\n0,Bergen,10\n");
    let found = numbers(&story.ok(&words("predict run new.csv --link")));
    // The offset is added as it is, and a level as its coefficients say.
    assert!((found[1][0] - found[0][0] - 3.0).abs() < 1e-9, "{found:?}");
    let at = |name: &str| mean(names.iter().position(|known| *known == name).unwrap());
    let scaled = (found[0][0] - at("intercept")) / at("scale(a)");
    let bergen = at("site=Bergen") + scaled * at("scale(a):site=Bergen");
    assert!((found[2][0] - found[0][0] - bergen).abs() < 0.05, "{found:?} {bergen} {names:?}");
    story.write("labels.csv", "y,x\nno,1\nyes,2\nno,3\nyes,4\nyes,5\nno,1.5\n");
    story.run(&["fit", "logistic", "labels.csv", "y ~ x", "--out", "labels"]);
    assert!(story.ok(&words("predict labels labels.csv")).starts_with("p_no,p_yes,sd,"));
}

#[test]
fn trials_of_new_rows_are_counted() {
    let story = Story::new();
    let rows: String = (0..40).map(|i| format!("{},{},{}\n", i % 5, 20, 4 + 2 * (i % 5) + i % 3)).collect();
    story.write("t.csv", format!("x,n,events\n{rows}"));
    story.ok(&["fit", "binomial", "t.csv", "events | trials(n) ~ x", "--out", "run"]);
    story.write("new.csv", "x,n\n2,10\n2,1000\n").write("bare.csv", "x\n2\n").write("bad.csv", "x,n\n2,1.5\n");
    let found = numbers(&story.ok(&words("predict run new.csv")));
    let share = numbers(&story.ok(&words("predict run bare.csv --expectation")))[0][0];
    assert!((0.3..0.7).contains(&share), "{share}");
    for (row, n) in found.iter().zip([10.0, 1000.0]) {
        assert!((row[0] / n - share).abs() < 1e-12, "{row:?}");
        assert!(row[2..].iter().all(|events| (0.0..=n).contains(events)), "{row:?}");
        // Scatter of trials, and little of the parameters.
        assert!(row[1] > (n * share * (1.0 - share)).sqrt(), "{row:?}");
    }
    let bad = story.run(&words("predict run bad.csv"));
    assert!(bad.code == Some(2) && bad.stderr.contains("1.5 is not a number of trials"), "{}", bad.stderr);
}

#[test]
fn rows_that_cannot_be_predicted_are_named() {
    let story = Story::new();
    story.write("t.csv", table());
    story.ok(&words("fit linear t.csv --target y --features a,site --categorical indicators --out run"));
    for (text, said) in [
        ("site,a\nBergen,1\nOslo,2\n", "line 3"),
        ("site,a\nBergen,1\nBergen,\n", "line 3"),
        ("site,a\nBergen,one\n", "line 2"),
        ("site,b\nBergen,1\n", "there is no column \"a\""),
    ] {
        story.write("new.csv", text);
        let ended = story.run(&words("predict run new.csv"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{text}");
        assert!(ended.stderr.contains(said) && ended.stderr.contains("new.csv"), "{text}: {}", ended.stderr);
    }
    for quantile in ["0", "100", "x"] {
        let ended = story.run(&["predict", "run", "new.csv", "--quantiles", quantile]);
        assert!(ended.stderr.contains("a quantile is a percentage between 0 and 100"), "{}", ended.stderr);
    }
}

#[test]
fn classes_have_probabilities() {
    let story = Story::new();
    story.ok(&words("fit --out run"));
    let header: Vec<String> = (1..=10).map(|k| format!("x{k}")).collect();
    story.write("new.csv", format!("{}\n{}\n", header.join(","), ["0.1"; 10].join(",")));
    let text = story.ok(&words("predict run new.csv --quantiles 5,95"));
    assert!(text.starts_with("p_0,p_1,sd,q5,q95\n"), "{text}");
    let row = &numbers(&text)[0];
    assert!((row[0] + row[1] - 1.0).abs() < 1e-12 && row[3] < row[1] && row[1] < row[4], "{text}");
}

#[test]
fn tables_come_from_pipes_and_packed() {
    let story = Story::new();
    story.write("t.csv", table());
    let plain = story.json(&words("fit linear t.csv --target y --features a"));
    let piped = |line: &str, input: &str| {
        let mut child = story
            .command(&words(line))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap())
    };
    let (code, text, said) = piped("fit linear - --target y --features a --out run --json", &table());
    assert_eq!(code, Some(0), "{said}");
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["parameters"][0]["mean"], plain["parameters"][0]["mean"]);
    let (code, _, said) = piped("loo run", "");
    assert_eq!(code, Some(2));
    assert!(said.contains("came from the standard input, which is not kept"), "{said}");

    story.ok(&words("fit linear t.csv --target y --features a --out kept"));
    let (code, text, said) = piped("predict kept -", "a\n1\n2\n");
    assert_eq!((code, text.lines().count()), (Some(0), 3), "{said}");
    let (_, text, _) = piped("data - --json", "a,b\n1,2\n");
    assert!(text.contains("\"n_rows\":1") || text.contains("\"rows\":1"), "{text}");
}
