//! Data as users have them: several formats, missing cells, categories, scales, test rows.

use serde_json::Value;

use crate::story::{Story, Uniforms, number};

fn means(fit: &Value) -> Vec<(String, f64, f64)> {
    let row = |p: &Value| (p["name"].as_str().unwrap().to_string(), number(&p["mean"]), number(&p["sd"]));
    fit["parameters"].as_array().unwrap().iter().map(row).collect()
}

/// y = 2 + 0.03·(income − 30 000)/1000·… with columns of very different sizes.
fn incomes(n: usize) -> Vec<[f64; 3]> {
    let mut uniforms = Uniforms::new(5);
    (0..n)
        .map(|_| {
            let (income, age) = (20_000.0 + 60_000.0 * uniforms.next(), 20.0 + 50.0 * uniforms.next());
            [income, age, 1.0 + 2e-5 * income - 0.04 * age + 0.5 * uniforms.normal()]
        })
        .collect()
}

fn csv(rows: &[[f64; 3]]) -> String {
    let lines = rows.iter().map(|[income, age, y]| format!("{income},{age},{y}\n"));
    String::from("income,age,y\n") + &lines.collect::<String>()
}

#[test]
fn coefficients_of_scaled_columns_are_in_the_units_of_the_file() {
    let story = Story::new();
    story.write("t.csv", csv(&incomes(400)));
    let fit = ["fit", "linear", "t.csv", "--target", "y", "--prior-sd", "100", "--family", "gaussian"];
    let plain = means(&story.json(&fit));
    for flag in ["--standardize", "--scale"] {
        let scaled = means(&story.json(&[&fit[..], &[flag]].concat()));
        // The prior is wide, so that the posterior is that of the likelihood in either unit.
        for ((name, mean, sd), (_, expected, width)) in scaled.iter().zip(&plain) {
            assert!((mean - expected).abs() < 0.05 * width, "{flag} {name}: {mean} against {expected} ± {width}");
            assert!((sd / width - 1.0).abs() < 0.03, "{flag} {name}: {sd} against {width}");
        }
    }
    story.ok(&[&fit[..], &["--standardize", "--out", "run1"]].concat());
    let kept: Value = serde_json::from_str(&story.read("run1/fit.json")).unwrap();
    assert!(kept.to_string().contains("\"columns\":[{\"scale\":1.0,\"shift\":0.0}"), "{kept}");
    let draws = story.ok(&["sample", "run1", "--draws", "4000"]);
    let ages: Vec<f64> = draws.lines().skip(1).map(|l| l.split(',').nth(5).unwrap().parse().unwrap()).collect();
    let mean = ages.iter().sum::<f64>() / ages.len() as f64;
    // The mean of 4000 draws is within 5 of its standard errors.
    assert!((mean - plain[2].1).abs() < 5.0 * plain[2].2 / 4000f64.sqrt() + 0.05 * plain[2].2, "{mean}");
}

#[test]
fn a_file_is_the_same_in_every_format() {
    let story = Story::new();
    let rows = incomes(60);
    story.write("t.csv", csv(&rows)).write("t.tsv", csv(&rows).replace(',', "\t"));
    let lines = rows.iter().map(|[income, age, y]| format!("{y} 1:{income} 2:{age}\n"));
    story.write("t.svm", lines.collect::<String>());
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (60, 3), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    npy.extend((padded.len() as u16).to_le_bytes());
    npy.extend(padded.as_bytes());
    npy.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    story.write("t.npy", npy);
    let fit = |file: &str, target: &str| {
        let fit = story.json(&["fit", "linear", file, "--target", target, "--scale", "--family", "gaussian"]);
        means(&fit).into_iter().map(|(_, mean, sd)| (mean, sd)).collect::<Vec<_>>()
    };
    let expected = fit("t.csv", "y");
    for (file, target) in [("t.tsv", "y"), ("t.svm", "y"), ("t.npy", "x3")] {
        assert_eq!(fit(file, target), expected, "{file}");
    }
}

#[test]
fn test_rows_are_scored() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(9);
    let mut text = String::from("x,y\n");
    for _ in 0..600 {
        let x = uniforms.normal();
        text += &format!("{x},{}\n", u8::from(uniforms.next() < 1.0 / (1.0 + (-2.0 * x).exp())));
    }
    story.write("t.csv", &text).write("rows.txt", (0..200).map(|i| format!("{i}\n")).collect::<String>());
    let fit = story.json(&["fit", "logistic", "t.csv", "--target", "y", "--test-fraction", "0.25"]);
    assert_eq!(fit["test"]["n_rows"], 150);
    let metric = |fit: &Value, name: &str| {
        let all = fit["test"]["metrics"].as_array().unwrap();
        number(&all.iter().find(|m| m["name"] == name).unwrap()["value"])
    };
    // The entropy of the classes given x is 0.46 nats, and 150 rows have an error of 0.04.
    assert!((metric(&fit, "log_loss") - 0.46).abs() < 0.16, "{}", fit["test"]);
    assert!(metric(&fit, "accuracy") > 0.65 && metric(&fit, "brier") < 0.25, "{}", fit["test"]);
    assert!(fit["test"]["calibration"].as_array().unwrap().len() > 5);
    let by_file = story.json(&["fit", "logistic", "t.csv", "--target", "y", "--test-rows", "rows.txt"]);
    assert_eq!(by_file["test"]["n_rows"], 200);
    let page = story.ok(&["fit", "logistic", "t.csv", "--target", "y", "--train-rows", "rows.txt"]);
    assert!(
        page.contains("200 rows (400 held out)") && page.contains("\nTest on 400 held-out rows\n  log loss "),
        "{page}"
    );
}

#[test]
fn linear_counts_and_networks_are_scored() {
    let story = Story::new();
    story.write("t.csv", csv(&incomes(200)));
    let base = ["--target", "y", "--standardize", "--test-fraction", "0.3"];
    let linear = story.json(&[&["fit", "linear", "t.csv"], &base[..]].concat());
    let names = |fit: &Value| -> Vec<String> {
        let all = fit["test"]["metrics"].as_array().unwrap();
        all.iter().map(|m| m["name"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(names(&linear), ["log_predictive_density", "rmse"]);
    let rmse = number(&linear["test"]["metrics"][1]["value"]);
    // The noise has standard deviation 0.5, and 60 rows an error of 9 %.
    assert!((rmse / 0.5 - 1.0).abs() < 0.4, "{rmse}");
    let network = story
        .json_good_or_not(&[&["fit", "network", "t.csv", "--hidden", "4", "--max-steps", "300"], &base[..]].concat());
    assert_eq!(names(&network), names(&linear));
    assert!(number(&network["test"]["metrics"][1]["value"]) < 1.0, "{}", network["test"]);
}

#[test]
fn missing_cells_and_categories() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(3);
    let mut text = String::from("dose,city,y\n");
    for i in 0..60 {
        let dose = uniforms.normal();
        let city = ["Oslo", "Bergen", "Tromsø"][i % 3];
        text +=
            &format!("{},{city},{}\n", if i == 7 { "NA".into() } else { dose.to_string() }, dose + uniforms.normal());
    }
    story.write("t.csv", text);
    let fit = ["fit", "linear", "t.csv", "--target", "y"];
    let ended = story.run(&fit);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: t.csv, line "), "{}", ended.stderr);
    let flags = ["--missing", "drop", "--categorical", "indicators"];
    let names: Vec<String> =
        means(&story.json(&[&fit[..], &flags].concat())).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["intercept", "dose", "city=Oslo", "city=Tromsø", "sigma"]);
    let page = story.ok(&[&fit[..], &flags].concat());
    assert!(page.contains("59 rows (1 dropped for missing cells)"), "{page}");
    let described = story.ok(&["data", "t.csv"]);
    assert!(described.starts_with("t.csv: CSV, separated by commas; 60 rows, 3 columns\n"), "{described}");
    assert!(described.contains("Bergen (20), Oslo (20), Tromsø (20)"), "{described}");
    assert!(described.contains("Problems:\n  dose: 1 of 60 cells is missing, the first in line 9; "), "{described}");
    let object: Value = serde_json::from_str(&story.ok(&["data", "t.csv", "--json"])).unwrap();
    assert_eq!((&object["n_rows"], &object["columns"][1]["kind"]), (&60.into(), &"category".into()));
}
