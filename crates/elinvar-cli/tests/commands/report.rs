//! `elinvar report`, and the page that `elinvar fit --out` leaves.

use crate::resume::words;
use crate::story::Story;

const QUICK: [&str; 8] = ["fit", "--quiet", "--family", "gaussian", "--diagnostic-draws", "2000", "--out", "run1"];

#[test]
fn a_kept_fit_has_a_page_that_needs_nothing_else() {
    let story = Story::new();
    story.run(&words("fit --quiet --family skew --diagnostic-draws 2000 --out run1"));
    let page = story.read("run1/report.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n") && page.len() < 3_000_000);
    for part in
        ["id=\"marginals\"", "id=\"pairs\"", "id=\"bound\"", "id=\"steps\"", "id=\"weights\"", "id=\"parameters\""]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("elinvar fit --quiet --family skew --diagnostic-draws 2000 --out run1"));
    assert!(page.contains("Logistic regression on the embedded breast-cancer data"));
    assert!(page.contains("corrected by importance weights") && page.contains("KL of the step"));
    let trace = story.read("run1/trace.csv");
    let header: Vec<&str> = trace.lines().next().unwrap().split(',').collect();
    let kl = header.iter().position(|name| *name == "kl").unwrap();
    let steps = trace.lines().skip(1).filter(|line| line.split(',').nth(kl).unwrap().parse::<f64>().unwrap() > 0.0);
    assert!(steps.count() > 10);
}

#[test]
fn the_page_can_be_made_again_and_says_the_same() {
    let story = Story::new();
    story.run(&QUICK);
    let at_fit = story.read("run1/report.html");
    let said = story.ok(&["report", "run1"]);
    assert!(said.starts_with("run1/report.html, "), "{said}");
    let again = story.read("run1/report.html");
    let body = |page: &str| {
        let start = page.find("<main").unwrap();
        page[start..page.find("id=\"configuration\"").unwrap()].to_string()
    };
    assert_eq!(body(&at_fit), body(&again));
    assert!(again.contains("elinvar fit --config run1/config.toml"));
    story.ok(&["report", "run1/fit.json", "--html", "page.html"]);
    assert_eq!(body(&story.read("page.html")), body(&again));
}

#[test]
fn held_out_rows_are_on_the_page() {
    let story = Story::new();
    story.run(&[&QUICK[..], &["--test-fraction", "0.3"]].concat());
    let page = story.read("run1/report.html");
    for part in ["Rows that were held out", "log-loss", "id=\"calibration\""] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn figures_stand_alone() {
    let story = Story::new();
    story.run(&QUICK);
    story.ok(&["report", "run1", "--svg", "elbo", "--out", "f.svg"]);
    assert!(story.read("f.svg").starts_with("<svg"));
    story.ok(&["report", "run1", "--svg", "pair:x1:x2"]);
    assert!(story.read("pair-x1-x2.svg").contains("x2 against x1"));
    story.ok(&["report", "run1", "--png", "tail"]);
    assert_eq!(&std::fs::read(story.path("tail.png")).unwrap()[1..4], b"PNG");
    let list = story.ok(&["report", "run1", "--list"]);
    assert!(list.contains("\n  elbo            the ELBO against evaluations\n"), "{list}");
    assert!(!list.contains("ladder") && list.contains("Parameters: intercept, x1, x2,"), "{list}");
}

#[test]
fn what_cannot_be_made_is_said() {
    let story = Story::new();
    story.run(&QUICK);
    story.write("there.svg", "mine");
    let refused = |arguments: &[&str]| {
        let ended = story.run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        ended.stderr
    };
    for (arguments, sentence) in [
        (&["report", "run1", "--svg", "elbow"][..], "--svg elbow: there is no such figure; did you mean \"elbo\"?"),
        (
            &["report", "run1", "--png", "marginal:x11"],
            "marginal:x11: there is no parameter \"x11\"; did you mean \"x1\"?",
        ),
        (
            &["report", "run1", "--svg", "ladder"],
            "ladder: this fit has nothing to show in the figure; elinvar report DIR --list shows those it has",
        ),
        (
            &["report", "run1", "--svg", "elbo", "--out", "there.svg"],
            "there.svg exists already; name another file with --out or remove it",
        ),
        (
            &["report", "run1", "--html", "there.svg"],
            "there.svg exists already; name another file with --html or remove it",
        ),
        (
            &["report", "run1", "--svg", "elbo", "--out", "no/such/f.svg"],
            "no/such/f.svg: it cannot be written (entity not found); name another place with --out",
        ),
        (
            &["report", "run1", "--out", "f.svg"],
            "--out names the file of a figure: add --svg FIGURE or --png FIGURE, or use --html",
        ),
        (
            &["report", "nowhere"],
            "nowhere: there is no such folder or file; name a folder written by elinvar fit --out",
        ),
    ] {
        assert_eq!(refused(arguments), format!("error: {sentence}\n"));
    }
    assert_eq!(story.read("there.svg"), "mine");
}

#[test]
fn a_report_of_a_kept_fit_says_what_to_do_with_it() {
    let story = Story::new();
    story.ok(&["fit", "--quiet", "--out", "run1"]);
    assert!(story.read("run1/report.html").contains("elinvar sample run1 --draws 4000 --out draws.csv"));
}
