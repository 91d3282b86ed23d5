//! Tables with more columns than rows.

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

const ROWS: usize = 25;
const COLUMNS: usize = 60;

/// Labels, counts and numbers that follow the first column.
fn table() -> String {
    let mut uniforms = Uniforms::new(5);
    let names: Vec<String> = (1..=COLUMNS).map(|j| format!("g{j}")).collect();
    let mut text = format!("label,count,number,{}\n", names.join(","));
    for _ in 0..ROWS {
        let x: Vec<f64> = (0..COLUMNS).map(|_| 3.0 + uniforms.normal()).collect();
        let lean = 2.0 * (x[0] - 3.0) + 0.5 * uniforms.normal();
        let cells: Vec<String> = x.iter().map(f64::to_string).collect();
        text += &format!("{},{},{lean},{}\n", usize::from(lean > 0.0), (2.0 + lean).max(0.0).floor(), cells.join(","));
    }
    text
}

/// A command with statements of priors, in which there are spaces.
fn with_priors<'a>(line: &'a str, priors: &[&'a str]) -> Vec<&'a str> {
    let mut all = words(line);
    priors.iter().for_each(|prior| all.extend(["--prior", prior]));
    all
}

const INTERCEPT: &str = "intercept ~ normal(0, 2.5)";

#[test]
fn a_wide_table_is_fitted_in_its_rows_and_answers_for_all_of_its_columns() {
    let story = Story::new();
    story.write("t.csv", table());
    let line = "fit logistic t.csv --target label --exclude count,number --standardize --prior-sd 0.3 --out run";
    let fit = story.json(&with_priors(line, &[INTERCEPT]));
    let parameters = fit["parameters"].as_array().unwrap();
    assert_eq!((parameters.len(), &fit["verdict"]), (COLUMNS + 1, &"trust".into()), "{fit}");
    let of = |name: &str| parameters.iter().find(|p| p["name"] == name).unwrap();
    // The column that matters leans one way; of the others most is the prior, on the scale of the file.
    assert!(number(&of("g1")["mean"]) > 0.5 * number(&of("g1")["sd"]));
    assert!((0.15..0.5).contains(&number(&of("g60")["sd"])));
    let page = story.ok(&words("report run"));
    assert!(page.contains("report.html"), "{page}");
    let said = format!("{} coefficients, {ROWS} rows: fitted in the {ROWS} directions", COLUMNS + 1);
    assert!(fit["warnings"][0].as_str().unwrap().starts_with(&said), "{fit}");

    let draws = story.ok(&words("sample run --draws 2000 --out draws.csv"));
    assert_eq!(draws, "");
    let rows: Vec<Vec<f64>> = story
        .read("draws.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    // The last column, whose draws are mostly those of the prior: its mean and sd are those of the table, to 4.5
    // errors of 2 000 draws and what chains repeat.
    let last: Vec<f64> = rows.iter().map(|row| row[row.len() - 1]).collect();
    let n = last.len() as f64;
    let mean = last.iter().sum::<f64>() / n;
    let sd = (last.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let (told, spread) = (number(&of("g60")["mean"]), number(&of("g60")["sd"]));
    assert!((mean - told).abs() < 0.2 * spread && (sd / spread - 1.0).abs() < 0.2, "{mean} {told} {sd} {spread}");

    // Rows of the table itself, as new ones: the linear predictor has the sign of the label.
    let new = story.ok(&words("predict run t.csv --link --quantiles 50"));
    let links: Vec<f64> = new.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    let labels = story.read("t.csv");
    let right = links.iter().zip(labels.lines().skip(1)).filter(|(eta, row)| (**eta > 0.0) == row.starts_with('1'));
    assert!(links.len() == ROWS && right.count() >= ROWS - 3, "{new}");
    let loo = story.ok(&words("loo run"));
    assert!(loo.contains("elpd_loo"), "{loo}");
    let again = story.ok(&words("diagnose run"));
    assert!(again.contains("direction "), "{again}");
}

#[test]
fn other_likelihoods_do_so_too_and_held_out_rows_are_predicted() {
    let story = Story::new();
    story.write("t.csv", table());
    let poisson = "fit poisson t.csv --target count --exclude label,number --test-fraction 0.2";
    let linear = "fit linear t.csv --target number --exclude label,count";
    for (line, priors) in [(poisson, &[INTERCEPT][..]), (linear, &[INTERCEPT, "sigma ~ gamma(20, 40)"])] {
        let line = format!("{line} --standardize --prior-sd 0.3");
        let fit = story.json_good_or_not(&with_priors(&line, priors));
        let said = fit["warnings"][0].as_str().unwrap();
        assert!(said.contains("directions that the rows can see"), "{line}: {said}");
        assert!(fit["parameters"].as_array().unwrap().len() > COLUMNS, "{line}");
    }
}

#[test]
fn a_prior_that_is_not_normal_is_named() {
    let story = Story::new();
    story.write("t.csv", table());
    let line = "fit logistic t.csv --target label --exclude count,number";
    let page = story.run(&with_priors(line, &["b ~ student_t(4, 0, 0.5)"])).stdout;
    assert!(page.replace('\n', " ").contains("only independent normal priors"), "{page}");
    // One coefficient with such a prior is a direction of its own.
    let page = story.run(&with_priors(line, &["b[g2] ~ student_t(4, 0, 0.5)"])).stdout;
    assert!(page.replace('\n', " ").contains("fitted in the 26 directions"), "{page}");
    // Many of them would take a matrix that is too large for what is known of it.
    let names: Vec<String> = (1..=1_100).map(|j| format!("g{j}")).collect();
    let row = |i: usize| (0..1_100).map(|j| ((i * 7 + j * j) % 11).to_string()).collect::<Vec<_>>().join(",");
    let rows: String = (0..6).map(|i| format!("{},{}\n", i % 2, row(i))).collect();
    story.write("wide.csv", format!("y,{}\n{rows}", names.join(",")));
    let refused = story.run(&with_priors("fit logistic wide.csv --target y", &["b ~ student_t(4, 0, 0.5)"]));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.replace('\n', " ").contains("--covariance diagonal"), "{}", refused.stderr);
}
