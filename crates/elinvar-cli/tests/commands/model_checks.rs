//! What the page says of the model, beside the approximation.

use crate::resume::words;
use crate::story::{Story, Uniforms, number};

/// Counts whose variance is far above their mean.
fn overdispersed() -> String {
    let mut uniforms = Uniforms::new(4);
    let mut text = String::from("n,x\n");
    for _ in 0..200 {
        let (x, noise) = (uniforms.normal(), uniforms.normal());
        text += &format!("{},{x}\n", (4.0 + 0.3 * x + noise).exp().round());
    }
    text
}

#[test]
fn an_overdispersed_poisson_is_told() {
    let story = Story::new();
    story.write("n.csv", overdispersed());
    // The exit code is that of the approximation.
    let page = story.ok(&words("fit poisson n.csv --target n"));
    assert!(page.contains("\nApproximation: trust. "), "{page}");
    let model = page.split("\nModel: ").nth(1).unwrap().replace('\n', " ");
    assert!(model.starts_with("does not fit. The responses vary ") && model.contains("times too small"), "{page}");
    let found = story.json(&words("fit poisson n.csv --target n"));
    assert_eq!((&found["verdict"], &found["model_check"]["fits"]), (&"trust".into(), &false.into()));
    let checks = found["model_check"]["checks"].as_array().unwrap();
    let dispersion = checks.iter().find(|check| check["name"] == "dispersion").unwrap();
    assert!(number(&dispersion["observed"]) > 20.0 && number(&dispersion["p"]) < 0.005, "{dispersion}");
}

#[test]
fn a_model_that_fits_is_left_alone() {
    let story = Story::new();
    let page = story.ok(&["fit"]);
    assert!(page.contains("\nModel: no misfit seen. ") && page.contains("\nR²           0."), "{page}");
    let found = story.json(&["fit"]);
    assert_eq!(found["model_check"]["fits"], true);
    let r2 = &found["model_check"]["r_squared"];
    assert!(number(&r2["q5"]) < number(&r2["median"]) && number(&r2["median"]) < number(&r2["q95"]), "{r2}");
    // What has no rows with a law of their own is not checked.
    story.write("coin.csv", "y\n1\n0\n1\n1\n");
    let coin = story.run(&words("fit proportion coin.csv --target y")).stdout;
    assert!(coin.contains("\nModel: not checked; checks are made of regressions with coefficients.\n"), "{coin}");
}
