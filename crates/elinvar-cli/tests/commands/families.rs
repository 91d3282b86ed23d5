//! Every family by its word, on a model that it can approximate.

use crate::story::{Story, Uniforms};

/// Thirty rows with two features, counts with exposures, outcomes and angles.
fn tables(story: &Story) {
    let mut uniforms = Uniforms::new(9);
    let mut text = String::from("a,b,y,count,hours,angle\n");
    for _ in 0..30 {
        let (a, b) = (uniforms.normal(), uniforms.normal());
        let y = u8::from(a - 0.5 * b + uniforms.normal() > 0.0);
        let hours = 0.5 + uniforms.next();
        let count = (4.0 * hours * (0.5 + uniforms.next())).round();
        text += &format!("{a},{b},{y},{count},{hours},{}\n", 1.0 + 0.8 * uniforms.normal());
    }
    story.write("t.csv", text);
}

/// Fits, keeps, and draws from what was kept; the fit says which family it is.
fn kept_and_sampled(story: &Story, name: &str, arguments: &str, n_parameters: usize) {
    let folder = format!("run-{}", arguments.replace(' ', "").replace("--", "-"));
    let words: Vec<&str> = arguments.split(' ').chain(["--out", &folder, "--diagnostic-draws", "2000"]).collect();
    let fit = story.json_good_or_not(&words);
    assert_eq!((&fit["family"], &fit["converged"]), (&name.into(), &true.into()), "{arguments}\n{fit}");
    let draws = story.ok(&["sample", &folder, "--draws", "7"]);
    assert_eq!(draws.lines().count(), 8, "{arguments}");
    assert_eq!(draws.lines().nth(3).unwrap().split(',').count(), 3 + n_parameters, "{arguments}");
    let config: toml::Table = story.read(&format!("{folder}/config.toml")).parse().unwrap();
    assert_eq!(config["family"]["name"].as_str(), Some(name), "{arguments}");
    let page = story.run(&words[..words.len() - 4]);
    let has_tail =
        page.stdout.lines().any(|line| line.starts_with("tail ") && line.ends_with("degrees of freedom, learned"));
    assert_eq!(has_tail, name == "student_t", "{arguments}\n{}", page.stdout);
    let has_lambda = page.stdout.lines().next().is_some_and(|line| line.contains(", learned)"));
    assert_eq!(has_lambda, name.ends_with("nig"), "{arguments}\n{}", page.stdout);
    let bound = if arguments.contains("--prior student_t") { "joint_elbo" } else { "elbo" };
    let trace = story.read(&format!("{folder}/trace.csv"));
    assert!(trace.lines().skip(1).all(|line| line.ends_with(&format!(",{bound}"))), "{arguments}\n{trace}");
    assert!(
        page.stdout.starts_with("Logistic") || n_parameters == 1 || name == "dirichlet",
        "{arguments}\n{}",
        page.stdout
    );
}

#[test]
fn families_on_the_real_line() {
    let story = Story::new();
    tables(&story);
    for (name, rest) in [
        ("student_t", "--family student_t --max-steps 20000"),
        ("student_t", "--prior student_t --prior-shape 3 --prior-sd 2"),
        ("nig", "--family nig"),
        ("snig", "--family snig --lambda learn"),
        ("scale_mixture", "--family scale_mixture"),
        ("scale_mixture", "--family scale_mixture --law variance_gamma --constant k=3 --covariance diagonal"),
        ("scale_mixture", "--family scale_mixture --law student_t --product"),
        ("matrix", "--family matrix --dims 3x1"),
        ("matrix", "--family matrix --dims 1x2,1 --covariance diagonal"),
    ] {
        let arguments = format!("fit logistic t.csv --target y --exclude count,hours,angle {rest}");
        kept_and_sampled(&story, name, &arguments, 3);
    }
}

/// Every regression and network: the sigma of the second and of the last keeps its own prior, and the default prior of
/// the second is not centred at zero.
#[test]
fn a_t_prior_is_a_setting_of_every_regression_and_network() {
    let story = Story::new();
    tables(&story);
    for (arguments, prior) in [
        ("fit poisson t.csv --target count --exclude angle", "t with 5 degrees of freedom, scale 2.5"),
        ("fit linear t.csv --target hours --exclude angle", "t with 5 degrees of freedom, scaled to the data"),
        ("fit linear t.csv --target hours --exclude angle --prior-sd 2", "t with 5 degrees of freedom, scale 2"),
        ("fit network t.csv --target y --likelihood binary --hidden 2 --exclude angle,hours,count", "scale 1"),
        ("fit network t.csv --target hours --hidden 2 --exclude angle,y,count", "scale 1"),
    ] {
        for shape in ["learn", "4"] {
            let folder = format!("t-{}-{shape}", arguments.replace([' ', ','], ""));
            let rest = ["--prior", "student_t", "--shape", shape, "--max-steps", "60", "--diagnostic-draws", "500"];
            let words: Vec<&str> = arguments.split(' ').chain(rest).collect();
            let fit = story.json_good_or_not(&[&words[..], &["--out", &folder]].concat());
            assert_eq!(fit["family"], "student_t", "{arguments}\n{fit}");
            assert!(fit["elbo"].as_f64().is_some_and(f64::is_finite), "{arguments}\n{fit}");
            let trace = story.read(&format!("{folder}/trace.csv"));
            assert!(trace.lines().skip(1).all(|line| line.ends_with(",joint_elbo")), "{arguments}\n{trace}");
            let page = story.run(&words).stdout;
            assert!(page.contains(prior), "{arguments}: {prior}\n{page}");
        }
    }
}

/// A t prior is that of a regression, and of a Student-t approximation.
#[test]
fn where_a_t_prior_means_nothing() {
    let story = Story::new();
    tables(&story);
    let said = |arguments: &str| {
        let ended = story.run(&arguments.split(' ').collect::<Vec<_>>());
        assert!(!ended.stderr.is_empty(), "{arguments}");
        ended.stderr
    };
    let skew = said("fit logistic t.csv --target y --exclude angle --prior student_t --family skew");
    assert!(skew.contains("use `student_t`"), "{skew}");
    let rate = said("fit rate t.csv --target count --prior student_t");
    assert!(rate.contains("belongs to a regression"), "{rate}");
}

#[test]
fn families_on_other_supports() {
    let story = Story::new();
    tables(&story);
    for (name, rest) in [
        ("ef_mixture", "rate t.csv --target count"),
        ("ef_mixture", "rate t.csv --target count --exposure hours --family ef_mixture --component log_normal"),
        ("ef_mixture", "rate t.csv --target count --family ef_mixture --component weibull --constant shape=12"),
        ("birnbaum_saunders", "rate t.csv --target count --family birnbaum_saunders"),
        ("ef_mixture", "proportion t.csv --target y"),
        ("ef_mixture", "proportion t.csv --target y --family ef_mixture --components 2"),
        ("ef_mixture", "direction t.csv --target angle --concentration 1.5"),
    ] {
        kept_and_sampled(&story, name, &format!("fit {rest}"), 1);
    }
}

/// The posterior of shares is known: Dirichlet(1 + n).
#[test]
fn shares_of_a_column_of_categories() {
    let story = Story::new();
    story.write("t.csv", "town\nsouth\nnorth\nsouth\nwest\nsouth\nnorth\nsouth\n");
    kept_and_sampled(&story, "dirichlet", "fit shares t.csv --target town --family dirichlet --components 2", 3);
    kept_and_sampled(&story, "dirichlet", "fit shares t.csv --target town", 3);
    let fit = story.json_good_or_not(&["fit", "shares", "t.csv", "--target", "town"]);
    for (row, (name, n)) in [("north", 2.0), ("south", 4.0), ("west", 1.0)].into_iter().enumerate() {
        let parameter = &fit["parameters"][row];
        assert_eq!(parameter["name"], name, "{fit}");
        let mean = parameter["mean"].as_f64().unwrap();
        assert!((mean - (1.0 + n) / 10.0).abs() < 1e-6, "{fit}");
    }
    let page = story.ok(&["fit", "shares", "t.csv", "--target", "town"]);
    assert!(page.starts_with("Shares of categories") && page.contains("Dirichlet distribution"), "{page}");
    let one = story.run(&["fit", "shares", "t.csv", "--target", "town", "--family", "gaussian"]);
    assert!(one.stderr.contains("`dirichlet`"), "{}", one.stderr);
}

#[test]
fn rules_by_their_words() {
    let story = Story::new();
    let fit = |rest: &str| story.json_good_or_not(&rest.split(' ').collect::<Vec<_>>())["elbo"].as_f64().unwrap();
    let full = fit("fit --family gaussian");
    let diagonal = fit("fit --family gaussian --covariance diagonal");
    for rest in [
        "--rule natural_gradient",
        "--rule natural_momentum --step-size 0.3",
        "--rule euclidean_adam --step-size 0.03 --max-steps 4000",
        "--rule adam_like --covariance diagonal --step-size 0.01 --max-steps 3000",
        "--curvature gauss_newton",
        "--curvature stein",
    ] {
        let elbo = fit(&format!("fit --family gaussian {rest}"));
        // Squared gradients of items are not the curvature of the model that made them: 0.3 nats here.
        let (best, most) = if rest.contains("diagonal") { (diagonal, 0.5) } else { (full, 0.1) };
        assert!((best - elbo) < most, "{rest}: {elbo}, not {best}");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let story = Story::new();
    tables(&story);
    let said = |arguments: &str| {
        let ended = story.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments}");
        ended.stderr
    };
    for (arguments, sentence) in [
        (
            "fit logistic t.csv --target y --family ef_mixture --component gamma",
            "error: `ef_mixture`, which lives on positive numbers, for a target on all real numbers",
        ),
        ("fit rate t.csv --target count --family gaussian", "for a target on positive numbers"),
        ("fit --family scale_mixture --law laplace", "infinite"),
        ("fit --family scale_mixture --law logistc", "did you mean logistic?"),
        ("fit --family matrix", "needs the shape of the parameters, such as --dims 3x4"),
        ("fit --family matrix --dims 3x4", "--dims 3x4 has 12 parameters; the model has 11"),
        ("fit --family matrix --dims 3y4", "give lengths such as 3x4"),
        ("fit --law logistic", "--law belongs to --family scale_mixture and means nothing for auto"),
        ("fit rate t.csv --target a", "t.csv, line 2, column 1 (a): "),
        ("fit rate t.csv", "rate needs a table and a column"),
        ("fit rate t.csv --target count --prior-sd 2", "means nothing for rate: leave it out"),
        ("fit --family ef_mixture --component gama", "did you mean gamma?"),
        ("fit rate t.csv --target count --family ef_mixture --constant shape=2", "constant"),
        ("fit --rule adam", "the rules are retraction, natural_gradient"),
    ] {
        let found = said(arguments);
        assert!(found.contains(sentence), "{arguments}: {found}");
    }
}
