//! Leave-one-out, and models of the same rows beside each other.

use serde_json::Value;

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

/// y = 1 + 2a + noise; b is nothing, and the last row an outlier if there is to be one.
fn table(outlier: bool) -> String {
    let mut uniforms = Uniforms::new(11);
    let mut text = String::from("y,a,b\n");
    for i in 0..80 {
        let (a, b, noise) = (uniforms.normal(), uniforms.normal(), uniforms.normal());
        let far = if outlier && i == 79 { 60.0 } else { 0.0 };
        text += &format!("{},{a},{b}\n", 1.0 + 2.0 * a + 0.5 * noise + far);
    }
    text
}

#[test]
fn a_regression_says_how_it_predicts() {
    let story = Story::new();
    story.write("t.csv", table(false));
    story.ok(&words("fit linear t.csv --target y --out run"));
    let found = story.json(&["loo", "run"]);
    let (elpd, se, p) = (number(&found["elpd_loo"]), number(&found["elpd_loo_se"]), number(&found["p_loo"]));
    // N(0, 0.5²) noise: 80 rows have −80 (log 0.5 + ½ log 2πe) = −58.06 nats in expectation, and the error of their
    // sum is √(80/2) = 6.3.
    assert!((elpd + 58.06 + p).abs() < 3.0 * 6.3 && (3.0..12.0).contains(&se), "{found}");
    // Four parameters.
    assert!((2.5..6.0).contains(&p), "{found}");
    assert_eq!((&found["n_rows"], &found["unreliable"]), (&80.into(), &Value::Array(vec![])));
    let page = story.ok(&["loo", "run", "--rows", "rows.csv"]);
    assert!(page.contains("80 of 80 rows below 0.70: all are reliable") && page.contains("\nelpd_loo "), "{page}");
    let rows = story.read("rows.csv");
    assert!(rows.starts_with("row,elpd,lpd,pareto_k\n1,-") && rows.lines().count() == 81, "{rows}");
    let sum: f64 = rows.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<f64>().unwrap()).sum();
    assert!((sum - elpd).abs() < 1e-9, "{sum} {elpd}");
    let again = story.run(&["loo", "run", "--rows", "rows.csv"]);
    assert_eq!((again.code, again.stderr.contains("rows.csv exists already")), (Some(2), true));
}

#[test]
fn rows_that_are_not_to_be_relied_on_have_the_numbers_of_the_file() {
    let story = Story::new();
    // The first row is dropped: numbers are still those of the file.
    story.write("t.csv", table(true).replacen("\n", "\n1,,2\n", 1));
    story.run(&words("fit linear t.csv --target y --missing drop --out run"));
    let page = story.ok(&["loo", "run"]);
    assert!(page.contains("\nRow 81 (") && page.contains(") has k\u{302} above 0.70: "), "{page}");
}

#[test]
fn the_model_that_made_the_rows_is_found() {
    let story = Story::new();
    story.write("t.csv", table(false));
    for (columns, out) in [("a", "right"), ("b", "wrong"), ("a,b", "both")] {
        story.ok(&words(&format!("fit linear t.csv --target y --features {columns} --out {out}")));
    }
    let page = story.ok(&words("compare wrong right"));
    assert!(page.contains("\nright predicts best, by "), "{page}");
    let found = story.json(&words("compare wrong right both"));
    assert_eq!((&found["by"], &found["runs"][2]["run_dir"]), (&"elpd_loo".into(), &"wrong".into()));
    let (gap, error) = (number(&found["runs"][2]["difference"]), number(&found["runs"][2]["difference_se"]));
    assert!(gap < -4.5 * error, "{found}");
    // A column that says nothing hardly costs anything, and the error of the difference is that of the pair.
    let near = number(&found["runs"][1]["difference"]);
    assert!((-4.0..=0.0).contains(&near), "{found}");
    assert!(3.0 * number(&found["runs"][1]["difference_se"]) < number(&found["runs"][1]["elpd_loo_se"]), "{found}");

    let counts = story.run(&words("fit rate t.csv --target y"));
    assert_eq!(counts.code, Some(2));
    story.write("coin.csv", "y\n1\n0\n1\n1\n");
    story.run(&words("fit proportion coin.csv --target y --out coin"));
    let ended = story.run(&words("loo coin"));
    assert_eq!(ended.stderr, "error: elinvar loo works on regressions with coefficients, and proportion is none\n");
}
