//! Priors of regressions: scaled to the data unless they are given, and what is said when they contradict the data.

use crate::story::Story;

/// Noise without a generator: the fractional parts of multiples of an irrational number, centred.
fn noise(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_895).fract() - 0.5
}

/// House prices over floor areas in square metres and years, in units in which nobody's coefficients are near 1.
fn houses(area_unit: f64) -> (String, Vec<[f64; 3]>) {
    let rows: Vec<[f64; 3]> = (0..120)
        .map(|i| {
            let (area, year) = (60.0 + 1.1 * ((i * 37) % 101) as f64, 1950.0 + ((i * 53) % 71) as f64);
            [area * area_unit, year, 40_000.0 + 3_100.0 * area + 900.0 * (year - 1985.0) + 90_000.0 * noise(i)]
        })
        .collect();
    let lines: Vec<String> = rows.iter().map(|[area, year, price]| format!("{area:?},{year},{price:?}")).collect();
    (format!("area,year,price\n{}\n", lines.join("\n")), rows)
}

/// Least squares of price on area and year: the two slopes and the residual standard deviation.
fn least_squares(rows: &[[f64; 3]]) -> [f64; 3] {
    let n = rows.len() as f64;
    let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / n;
    let means = [mean(0), mean(1), mean(2)];
    let product = |a: usize, b: usize| rows.iter().map(|r| (r[a] - means[a]) * (r[b] - means[b])).sum::<f64>();
    let determinant = product(0, 0) * product(1, 1) - product(0, 1).powi(2);
    let area = (product(0, 2) * product(1, 1) - product(1, 2) * product(0, 1)) / determinant;
    let year = (product(1, 2) * product(0, 0) - product(0, 2) * product(0, 1)) / determinant;
    let residual = |r: &[f64; 3]| r[2] - means[2] - area * (r[0] - means[0]) - year * (r[1] - means[1]);
    let squares: f64 = rows.iter().map(|row| residual(row).powi(2)).sum();
    [area, year, (squares / (n - 3.0)).sqrt()]
}

fn mean_and_sd(fit: &serde_json::Value, name: &str) -> (f64, f64) {
    let rows = fit["parameters"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap();
    (row["mean"].as_f64().unwrap(), row["sd"].as_f64().unwrap())
}

#[test]
fn raw_units_are_no_trap() {
    let story = Story::new();
    let (text, rows) = houses(1.0);
    story.write("houses.csv", text);
    let expected = least_squares(&rows);
    for scaling in [&[][..], &["--standardize"], &["--scale"]] {
        let fit = story.json(&[&["fit", "linear", "houses.csv", "--target", "price"][..], scaling].concat());
        for (name, expected) in ["area", "year", "sigma"].iter().zip(expected) {
            let (mean, sd) = mean_and_sd(&fit, name);
            assert!((mean - expected).abs() < 0.2 * sd, "{scaling:?} {name}: {mean} ± {sd}, least squares {expected}");
        }
        assert!(fit.get("warnings").is_none(), "{fit}");
    }
    let page = story.ok(&["fit", "linear", "houses.csv", "--target", "price"]);
    for part in ["prior scaled to the data", "intercept N(", "all columns at their means; area N(0, ", "; year N(0, "] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("columns scaled"), "{page}");
}

#[test]
fn the_unit_of_a_column_changes_its_coefficient_and_nothing_else() {
    let story = Story::new();
    story.write("metres.csv", houses(1.0).0).write("feet.csv", houses(10.763_910_4).0);
    let fits = ["metres.csv", "feet.csv"].map(|file| story.json(&["fit", "linear", file, "--target", "price"]));
    let [metres, feet] = fits.each_ref().map(|fit| mean_and_sd(fit, "area"));
    assert!((metres.0 / feet.0 - 10.763_910_4).abs() < 1e-6 && (metres.1 / feet.1 - 10.763_910_4).abs() < 1e-6);
    let [metres, feet] = fits.map(|fit| fit["elbo"].as_f64().unwrap());
    assert!((metres - feet).abs() < 1e-6, "{metres} {feet}");
}

#[test]
fn a_prior_against_the_data_is_named() {
    let story = Story::new();
    story.write("houses.csv", houses(1.0).0);
    let command = ["fit", "linear", "houses.csv", "--target", "price", "--prior-precision", "1"];
    let page = story.run(&command).stdout;
    let (before, _) = page.split_once("parameter ").unwrap();
    assert!(before.contains("Prior against data: the noise sigma, "), "{page}");
    let fit = story.json_good_or_not(&command);
    assert_eq!(fit["warnings"].as_array().map(Vec::len), Some(1), "{fit}");

    // Counts around e¹² under N(0, 1).
    let lines: Vec<String> = (0..60).map(|i| format!("{},{}", i % 7, 160_000 + 100 * ((i * 29) % 53))).collect();
    story.write("counts.csv", format!("x,n\n{}\n", lines.join("\n")));
    let command = ["fit", "poisson", "counts.csv", "--target", "n", "--prior-sd", "1"];
    let fit = story.json_good_or_not(&command);
    let sentence = fit["warnings"][0].as_str().unwrap();
    assert!(sentence.starts_with("Prior against data: the data put intercept 1"), "{sentence}");
}

#[test]
fn the_embedded_example_keeps_its_prior_and_a_run_keeps_the_rule() {
    let story = Story::new();
    assert!(story.ok(&["fit"]).contains("prior N(0, 1); full Gaussian"));
    story.write("houses.csv", houses(1.0).0);
    let first = story.json(&["fit", "linear", "houses.csv", "--target", "price", "--out", "run"]);
    assert!(!story.read("run/config.toml").contains("prior_precision"));
    let again = story.json(&["fit", "--config", "run/config.toml"]);
    assert_eq!(first["parameters"], again["parameters"]);
    assert!(story.read("run/report.html").contains("all columns at their means"));
}

/// A linear regression of the houses under these priors.
fn with<'a>(statements: &[&'a str]) -> Vec<&'a str> {
    let flags = statements.iter().flat_map(|statement| ["--prior", *statement]);
    ["fit", "linear", "houses.csv", "price ~ area + year"].into_iter().chain(flags).collect()
}

/// A slow trend over years, as files have them.
fn years() -> String {
    let rows: Vec<String> =
        (0..60).map(|i| format!("{},{:.4}", 1960 + i, 0.127 * f64::from(i) + 9.0 + 2.0 * noise(i as usize))).collect();
    format!("year,level\n{}\n", rows.join("\n"))
}

#[test]
fn a_prior_that_keeps_a_slope_from_least_squares_is_named() {
    let story = Story::new();
    story.write("years.csv", years());
    let narrow = story.json_good_or_not(&["fit", "linear", "years.csv", "level ~ year", "--prior-sd", "1"]);
    let sentence = narrow["warnings"][0].as_str().unwrap_or_else(|| panic!("{narrow}"));
    assert!(sentence.contains("Prior against data: the prior keeps year at 0.0"), "{sentence}");
    assert!(sentence.contains("from 0.12"), "{sentence}");
    let usual = story.json(&["fit", "linear", "years.csv", "level ~ year"]);
    assert!(usual.get("warnings").is_none(), "{usual}");
    assert!((mean_and_sd(&usual, "year").0 - 0.127).abs() < 0.02);
}

#[test]
fn statements_about_priors_are_followed_and_printed_in_units_of_the_file() {
    let story = Story::new();
    story.write("houses.csv", houses(1.0).0);
    // A prior that fixes a coefficient, in the unit of the file.
    let fixed = story.json_good_or_not(&with(&["b[area] ~ normal(5000, 0.01)"]));
    let (mean, sd) = mean_and_sd(&fixed, "area");
    assert!((mean - 5000.0).abs() < 0.1 && (sd - 0.01).abs() < 0.002, "{mean} {sd}");
    // Flat priors give least squares: σ is known from the residuals alone.
    let flat = story.json(&with(&["flat"]));
    let expected = least_squares(&houses(1.0).1);
    for (name, truth) in ["area", "year"].iter().zip(expected) {
        let (mean, sd) = mean_and_sd(&flat, name);
        assert!((mean - truth).abs() < 0.02 * sd, "{name}: {mean} {truth}");
    }
    let constant = "up to a constant: a flat prior has no integral";
    assert!(story.ok(&with(&["flat"])).contains(constant));
    assert!(!story.ok(&with(&["b ~ normal(0, 500)"])).contains(constant));
    // A t prior of many degrees of freedom is a normal one.
    let normal = story.json(&with(&["b ~ normal(0, 500)", "sigma ~ half_normal(1e5)"]));
    let tail = story.json(&with(&["b ~ student_t(1e6, 0, 500)", "sigma ~ half_normal(1e5)"]));
    for name in ["intercept", "area", "year", "sigma"] {
        let ((a, sd), (b, _)) = (mean_and_sd(&normal, name), mean_and_sd(&tail, name));
        assert!((a - b).abs() < 0.05 * sd, "{name}: {a} {b} {sd}");
    }
    let page = story.run(&with(&["b[area] ~ student_t(4, 0, 1e4)", "sigma ~ exponential(1e-5)"])).stdout;
    for part in
        ["area student_t(4.0, 0.0, 10000.0); year N(0, ", "sigma exponential with mean 100", "as given, others scaled"]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // A run keeps them.
    let first = story
        .json(&[&with(&["b[year] ~ cauchy(0, 100)", "intercept ~ normal(3e5, 1e5)"])[..], &["--out", "run"]].concat());
    assert!(story.read("run/config.toml").contains("b[year] ~ student_t(1.0, 0.0, 100.0)"));
    assert_eq!(first["parameters"], story.json(&["fit", "--config", "run/config.toml"])["parameters"]);
    for (statement, sentence) in [
        ("b[aera] ~ normal(0, 1)", "has no column \"aera\"; did you mean area?"),
        ("shape ~ exponential(1)", "has no parameter shape; there are sigma, b, intercept"),
        ("b ~ norml(0, 1)", "did you mean normal?"),
    ] {
        let refused = story.run(&with(&[statement]));
        assert!(refused.code == Some(2) && refused.stderr.contains(sentence), "{statement}: {}", refused.stderr);
    }
}

/// Counts with an exposure: as many as their rates say, without noise.
fn exposed(unit: f64) -> String {
    let row = |i: usize| {
        let (x, exposure) = ((i % 9) as f64, 4_000.0 + 700.0 * ((i * 31) % 23) as f64);
        format!("{x},{},{}", exposure * unit, (exposure * 0.000_9 * (0.05 * x).exp()).round())
    };
    format!("x,km,n\n{}\n", (0..80).map(row).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_default_prior_against_the_data_does_not_advise_the_default() {
    let story = Story::new();
    story.write("km.csv", exposed(1.0)).write("thousands.csv", exposed(0.001));
    let formula = "n ~ x + offset(log(km))";
    let fit = story.json(&["fit", "poisson", "km.csv", formula]);
    let sentence = fit["warnings"][0].as_str().unwrap();
    assert!(
        sentence.contains("intercept ~ normal(M, S)") && sentence.contains("unit of the response or of an exposure"),
        "{sentence}"
    );
    assert!(!sentence.contains("or none, which scales"), "{sentence}");
    assert!(story.json(&["fit", "poisson", "thousands.csv", formula]).get("warnings").is_none());
}

#[test]
fn t_priors_are_held_against_the_data_too() {
    let story = Story::new();
    story.write("houses.csv", houses(1.0).0);
    let own = story.json_good_or_not(&with(&["b[area] ~ student_t(30, 0, 100)", "sigma ~ half_normal(1e5)"]));
    let sentence = own["warnings"][0].as_str().unwrap_or_else(|| panic!("{own}"));
    assert!(sentence.contains("area") && sentence.contains("scales of its t prior with 30 degrees"), "{sentence}");
    // The same distance in the tail of a Cauchy law is nothing.
    let heavy = story.json_good_or_not(&with(&["b[area] ~ cauchy(0, 100)", "sigma ~ half_normal(1e5)"]));
    assert!(heavy.get("warnings").is_none(), "{heavy}");
    let shared = ["fit", "linear", "houses.csv", "--target", "price", "--prior", "student_t", "--prior-sd", "1"];
    let shared = story.json_good_or_not(&shared);
    assert!(shared["warnings"][0].as_str().unwrap().contains("Prior against data: "), "{shared}");
}

#[test]
fn responses_that_the_prior_never_makes_are_named() {
    let story = Story::new();
    // Twelve columns that rise together: no coefficient is far from 0, but their sum is farther than the prior knows.
    let rows: Vec<String> = (0..90)
        .map(|i| {
            let x: Vec<f64> = (0..12).map(|j| noise(i) + 0.1 * noise(i * 13 + j * 7)).collect();
            let y: f64 = x.iter().map(|x| 2.4 * x).sum::<f64>() + 60.0 + 0.1 * noise(i + 5);
            let cells: Vec<String> = x.iter().map(|x| format!("{x:.4}")).collect();
            format!("{},{y:.4}", cells.join(","))
        })
        .collect();
    let names: Vec<String> = (0..12).map(|j| format!("x{j}")).collect();
    story.write("t.csv", format!("{},y\n{}\n", names.join(","), rows.join("\n")));
    let command = |slopes: &'static str| {
        let others = ["--prior", "intercept ~ normal(60, 10)", "--prior", "sigma ~ half_normal(1)"];
        [&["fit", "linear", "t.csv", "y ~ .", "--prior", slopes][..], &others].concat()
    };
    let far = story.json_good_or_not(&command("b ~ normal(0, 1)"));
    let sentence = far["warnings"][0].as_str().unwrap_or_else(|| panic!("{far}"));
    assert!(sentence.contains("the standard deviation of the responses, 8.") && sentence.contains("512"), "{sentence}");
    let near = story.json_good_or_not(&command("b ~ normal(0, 10)"));
    // Columns that rise together are named; the prior is not blamed.
    assert!(near["warnings"].as_array().is_none_or(|all| all.len() == 1), "{near}");
    assert!(!near["warnings"].to_string().contains("Prior against data"), "{near}");
}
