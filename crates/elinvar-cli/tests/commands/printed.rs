//! The updates of the paper as printed: every command of docs/printed.md runs, and starts are where they are said to
//! be.

use std::path::Path;

use crate::story::Story;

/// The commands in the table of the page, without the name of the program.
fn commands() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/printed.md");
    let page = std::fs::read_to_string(page).unwrap();
    let cells = page.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(3));
    cells.filter_map(|cell| cell.trim().trim_matches('`').strip_prefix("elinvar ").map(String::from)).collect()
}

/// Words as a shell would see them: 'normal(0, 10)' is one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in command.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.into()),
        }
    }
    words
}

#[test]
fn every_command_of_the_page_runs() {
    let story = Story::new();
    story.write("counts.csv", "n\n3\n5\n4\n2\n6\n");
    story.write("answers.csv", "party\nred\nblue\nred\ngreen\nred\nblue\n");
    let rows: Vec<String> =
        (0..30).map(|i| format!("{},{}", f64::from(i) / 10.0, (f64::from(i) / 5.0).sin())).collect();
    story.write("rows.csv", format!("x,y\n{}\n", rows.join("\n")));
    let commands = commands();
    assert!(commands.len() >= 34, "{commands:?}");
    for command in commands {
        let mut words = words(&command);
        if let Some(at) = words.iter().position(|word| word == "--max-steps") {
            words[at + 1] = "5".into();
        } else {
            words.extend(["--max-steps".into(), "5".into()]);
        }
        words.extend(["--diagnostic-draws".into(), "200".into()]);
        let fit = story.json_good_or_not(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(fit["stop_reason"], "max_steps", "{command}\n{fit}");
    }
}

/// Leaving the domain ends the program with the sentence; on request the step is halved instead.
#[test]
fn leaving_the_domain_is_said() {
    let story = Story::new();
    let command = "fit --rule printed --family mog --components 2 --step-size 3 --max-steps 50 --diagnostic-draws 200";
    let words: Vec<&str> = command.split(' ').collect();
    let ended = story.run(&words);
    assert!(ended.stderr.contains("leaves the domain: the smallest eigenvalue of the precision"), "{}", ended.stderr);
    let halved = story.json_good_or_not(&[&words[..], &["--printed", "on_leaving=halve"]].concat());
    assert_eq!(halved["stop_reason"], "max_steps", "{halved}");
}

/// A fit can start from another, whose family it takes.
#[test]
fn a_fit_starts_where_another_has_ended() {
    let story = Story::new();
    story.json_good_or_not(&["fit", "--family", "skew", "--out", "first", "--diagnostic-draws", "200"]);
    let again = ["fit", "--rule", "printed", "--start", "first", "--max-steps", "1", "--step-size", "1e-9"];
    let again = story.json_good_or_not(&[&again[..], &["--out", "second", "--diagnostic-draws", "200"]].concat());
    assert_eq!(again["family"], "skew", "{again}");
    let mean = |fit: &str| -> f64 {
        let fit: serde_json::Value = serde_json::from_str(&story.read(&format!("{fit}/fit.json"))).unwrap();
        let text = fit.to_string();
        let at = text.find("\"b\":[").expect("a block has B") + 5;
        text[at..].split(',').next().unwrap().parse().unwrap()
    };
    assert!((mean("first") - mean("second")).abs() < 1e-6);
    let other = story.run(&["fit", "--family", "nig", "--start", "first"]);
    assert!(other.stderr.contains("it holds `skew`"), "{}", other.stderr);
}

/// A network with a learned sigma has no Gaussian prior on it: the Adam-like rule says what it does about that.
#[test]
fn the_adam_like_rule_fits_a_regression_by_a_network() {
    let story = Story::new();
    let rows: Vec<String> =
        (0..20).map(|i| format!("{},{}", f64::from(i) / 10.0, (f64::from(i) / 5.0).sin())).collect();
    story.write("t.csv", format!("x,y\n{}\n", rows.join("\n")));
    let words = "fit network t.csv --target y --hidden 3 --rule adam_like --max-steps 20 --diagnostic-draws 200";
    let fit = story.json_good_or_not(&words.split(' ').collect::<Vec<_>>());
    assert!(fit["warnings"].to_string().contains("bias_correction = momentum_only"), "{fit}");
    // With known noise all parameters have a Gaussian prior, and the box starts as it is printed.
    let known = format!("{words} --noise-precision 25");
    let fit = story.json_good_or_not(&known.split(' ').collect::<Vec<_>>());
    assert!(!fit["warnings"].to_string().contains("bias_correction"), "{fit}");
    assert!(!fit["parameters"].to_string().contains("log_sigma"), "{fit}");
    // A mixture, from mini-batches: every component starts as the box does.
    let mixture = format!("{known} --family mog --components 2 --minibatch 10");
    let fit = story.json_good_or_not(&mixture.split(' ').collect::<Vec<_>>());
    assert!(fit["family"] == "mog" && !fit["warnings"].to_string().contains("bias_correction"), "{fit}");
    assert!(fit["elbo"].as_f64().is_some_and(f64::is_finite), "{fit}");
    let rows: Vec<String> = (0..20).map(|i| format!("{i},{}", i % 2)).collect();
    story.write("classes.csv", format!("x,y\n{}\n", rows.join("\n")));
    let words = "fit network classes.csv --target y --likelihood binary --noise-precision 25";
    let classes = story.run(&words.split(' ').collect::<Vec<_>>());
    // What was asked for is at fault, not the model.
    assert_eq!(classes.code, Some(2), "{}", classes.stderr);
    assert!(classes.stderr.contains("--noise-precision for"), "{}", classes.stderr);
}
