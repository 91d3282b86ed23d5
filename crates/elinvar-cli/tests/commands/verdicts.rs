//! What the program says of a fit, and the exit code that says it to other programs; code 2 has a file of its own.

use crate::resume::words;
use crate::story::{Story, Uniforms};

#[test]
fn a_right_fit_is_trusted() {
    let story = Story::new();
    let page = story.ok(&["fit"]);
    assert!(
        page.lines().nth(2).unwrap().starts_with("Approximation: trust. Converged, and importance weights"),
        "{page}"
    );
    let fit = story.json(&["fit"]);
    assert_eq!(fit["verdict"], "trust");
    let reason = fit["reason"].as_str().unwrap();
    for part in
        ["k\u{302} is 0.", "(threshold 0.70 for 10,000 draws)", "the ELBO -34.", "log evidence -34.", " sd (", " % ("]
    {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[test]
fn a_fit_that_did_not_converge_is_shown_and_kept() {
    let story = Story::new();
    let ended = story.run(&words("fit --family gaussian --curvature hessian --max-steps 5 --out run"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(3), ""));
    let verdict = ended.stdout.lines().nth(2).unwrap();
    assert!(
        verdict.starts_with("Approximation: do not trust. Not converged: the limit of steps was reached"),
        "{verdict}"
    );
    let stopped = ended.stdout.lines().find(|line| line.starts_with("stopped ")).unwrap();
    assert!(
        stopped.starts_with("stopped      not converged after 5 steps: the limit of steps was reached"),
        "{stopped}"
    );
    assert!(ended.stdout.ends_with("\nNext: elinvar resume run --max-steps 4000\n"), "{}", ended.stdout);
    assert!(story.path("run/fit.json").is_file());
}

#[test]
fn a_poor_fit_is_called_unreliable() {
    let ended = Story::new().run(&["fit", "--family", "gaussian", "--covariance", "diagonal", "--tolerance", "0.3"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(4), ""));
    let page = ended.stdout;
    assert!(page.lines().nth(2).unwrap().starts_with("Approximation: do not trust. "), "{page}");
    let k = page.lines().find(|line| line.starts_with("Pareto k")).unwrap();
    assert!(
        k.contains(", above 0.70 for ") && k.ends_with(": importance sampling from this fit is not reliable"),
        "{page}"
    );
    assert!(page.ends_with("Next: the same command with --covariance full\n"), "{page}");
}

/// Two features of correlation 0.64 in a regression with much data: a mean-field Gaussian has the means and not the
/// sds.
#[test]
fn means_alone_may_be_trusted() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(3);
    let mut text = String::from("a,b,y\n");
    for _ in 0..400 {
        let (common, a, b) = (uniforms.normal(), uniforms.normal(), uniforms.normal());
        let (a, b) = (0.8 * common + 0.6 * a, 0.8 * common + 0.6 * b);
        text += &format!("{a},{b},{}\n", 1.0 + a - b + uniforms.normal());
    }
    story.write("data.csv", text);
    let arguments =
        "fit linear data.csv --target y --no-intercept --family gaussian --covariance diagonal --uncorrected";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let ended = story.run(&arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(4), ""), "{}", ended.stdout);
    let verdict = ended.stdout.lines().nth(2).unwrap();
    assert!(
        verdict.starts_with("Approximation: trust means only. The means hold, but an sd may be off by "),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.ends_with("\nNext: the same command with --covariance full\n"), "{}", ended.stdout);
    let fit = story.json_good_or_not(&[&arguments[..], &["--out", "run"]].concat());
    assert_eq!((&fit["verdict"], &fit["converged"]), (&"trust_means_only".into(), &true.into()));
    assert!(story.path("run/fit.json").is_file());
    assert_eq!(story.json(&arguments[..6])["verdict"], "trust");
}

/// With the smallest λ the variance of the scale is so large that no number of draws settles the gradients.
#[test]
fn a_fit_that_stagnates_says_so() {
    let story = Story::new();
    let ended = story.run(&["fit", "--family", "nig", "--lambda", "0.001", "--out", "run"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(3), ""));
    let stopped = ended.stdout.lines().find(|line| line.starts_with("stopped ")).unwrap();
    assert!(
        stopped.contains("the bound was no longer rising, and more draws did not help")
            && stopped.starts_with("stopped      not converged after "),
        "{stopped}"
    );
    assert!(ended.stdout.lines().last().unwrap().contains("with --draws-per-step "), "{}", ended.stdout);
    let diagnostics: serde_json::Value = serde_json::from_str(&story.read("run/diagnostics.json")).unwrap();
    assert_eq!((&diagnostics["stop_reason"], &diagnostics["converged"]), (&"stagnated".into(), &false.into()));
}

#[test]
fn a_model_that_cannot_be_evaluated_has_its_own_code() {
    let story = Story::new();
    story.write("huge.csv", "x,z,n\n1e99,1,1\n-1e99,2,2\n2e99,3,9007199254740992\n");
    let before = story.files();
    let ended = story.run(&["fit", "poisson", "huge.csv", "--target", "n", "--prior-precision", "1", "--out", "run"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(5), ""));
    assert!(ended.stderr.starts_with("error: ") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    assert_eq!(story.files(), before);
}
