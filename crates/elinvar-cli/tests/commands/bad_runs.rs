//! Everything that can be wrong with a kept fit or with what is asked of it: the sentence, the exit code, and that
//! nothing is left behind.

use std::fs;

use crate::story::Story;

const HINT: &str = "\n\nFor more information, try '--help'.\n";
const GOOD: &str = "a,b,y\n1,2.5,0\n2,1.5,1\n3,0.5,0\n4,3.5,1\n5,1.5,1\n6,2.5,0\n";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs each line and compares what it says; nothing may be printed or written.
fn refused(story: &Story, cases: &[(&str, String)]) {
    for (line, sentence) in cases {
        let before = story.files();
        let ended = story.run(&words(line));
        assert_eq!((ended.stderr, ended.code), (format!("error: {sentence}"), Some(2)), "{line}");
        assert_eq!(ended.stdout, "", "{line}");
        assert_eq!(story.files(), before, "{line}");
    }
}

fn said(sentence: &str) -> String {
    format!("{sentence}\n")
}

fn value(value: &str, argument: &str, sentence: &str) -> String {
    format!("invalid value '{value}' for '{argument}': {sentence}{HINT}")
}

/// A story with a table and a fit of it in `run`.
fn fitted() -> Story {
    let story = Story::new();
    story.write("good.csv", GOOD);
    story.run(&words("fit logistic good.csv --target y --family gaussian --diagnostic-draws 1000 --out run"));
    assert!(story.path("run/fit.json").is_file());
    story
}

#[test]
fn values() {
    let whole = "give a whole number, at least 1";
    let least = "give a whole number, at least 100";
    refused(
        &Story::new(),
        &[
            ("sample run --format parqet", value("parqet", "--format <WORD>", "did you mean parquet?")),
            ("sample run --format xlsx", value("xlsx", "--format <WORD>", "the formats are csv, parquet")),
            ("sample run --resample psi", value("psi", "--resample <WORD>", "did you mean psis?")),
            ("sample run --resample all", value("all", "--resample <WORD>", "the ways to resample are none, psis")),
            ("sample run --seed x", value("x", "--seed <S>", "give a whole number from 0 to 9223372036854775807")),
            ("diagnose run --draws 99", value("99", "--draws <N>", least)),
            ("compare a b --draws 0", value("0", "--draws <N>", least)),
            ("inits run --chains 0", value("0", "--chains <N>", whole)),
            ("inits run --metric dens", value("dens", "--metric <WORD>", "did you mean dense?")),
            (
                "inits run --vector 2b",
                value("2b", "--vector <NAME>", "a name in Stan has letters, digits and _, and begins with a letter"),
            ),
            ("completions bsh", value("bsh", "<SHELL>", "did you mean bash?")),
            ("completions cmd", value("cmd", "<SHELL>", "the shells are bash, elvish, fish, powershell, zsh")),
            ("compare run1", said("a comparison needs two fits at least: elinvar compare run1 DIR")),
        ],
    );
}

#[test]
fn wrong_folders() {
    let story = Story::new();
    story.write("good.csv", GOOD);
    fs::create_dir(story.path("empty")).unwrap();
    let remedy = "name a folder written by elinvar fit --out";
    for command in ["sample", "diagnose", "compare empty", "inits"] {
        let gone = if command.starts_with("compare") {
            ("compare gone gone".to_owned(), format!("gone: there is no such folder or file; {remedy}"))
        } else {
            (format!("{command} gone"), format!("gone: there is no such folder or file; {remedy}"))
        };
        let empty = (format!("{command} empty"), format!("empty: there is no fit.json in this folder; {remedy}"));
        for (line, sentence) in [gone, empty] {
            refused(&story, &[(line.as_str(), said(&sentence))]);
        }
    }
}

#[test]
fn damaged_files() {
    let story = fitted();
    let fit = story.read("run/fit.json");
    let schema = fit.replacen("\"schema\": 2", "\"schema\": 7", 1).replacen("\"elinvar\": \"", "\"elinvar\": \"9.", 1);
    let version = env!("CARGO_PKG_VERSION");
    let lines = fit.lines().take(20).collect::<Vec<_>>().join("\n");
    let not_finite = fit.replacen("\"b\": [\n", "\"b\": [\n 1e999,\n", 1);
    let forged = fit.replacen("\"verdict\": \"trust\"", "\"verdict\": \"do_not_trust\"", 1);
    assert_ne!(forged, fit);
    let cases = [
        (forged, "run/fit.json: the file is damaged: its checksum does not fit; something has changed it since".into()),
        (
            lines.clone(),
            "run/fit.json: the file ends too early (line 20); it was cut off while being copied or written".into(),
        ),
        (
            schema,
            format!(
                "run/fit.json: the file has schema 7, written by elinvar 9.{version}; this version reads up to 2: update elinvar"
            ),
        ),
        ("{\"format\": \"elinvar-fit\", \"schema\": 1}".into(), {
            "run/fit.json: the file is damaged: missing field `state`".into()
        }),
        ("garbage".into(), "run/fit.json: this is not an elinvar-fit file (line 1, column 1: not JSON)".into()),
    ];
    for (text, sentence) in cases {
        story.write("run/fit.json", text);
        for command in ["sample", "diagnose", "compare run", "inits"] {
            refused(&story, &[(&format!("{command} run"), said(&sentence))]);
        }
    }
    story.write("run/fit.json", not_finite);
    let ended = story.run(&words("sample run"));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.starts_with("error: run/fit.json: "), "{}", ended.stderr);

    story.write("run/fit.json", fit);
    let config = story.read("run/config.toml");
    story.write("run/config.toml", config.replace("[model]", "[model]\nprior_ds = 2"));
    let ended = story.run(&words("diagnose run"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: run/config.toml, line "), "{}", ended.stderr);
    assert!(
        ended.stderr.ends_with(": there is no key \"prior_ds\" here; did you mean \"prior_sd\"?\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn data_that_are_gone_or_changed() {
    let story = fitted();
    let gone = "good.csv: there is no such file";
    fs::rename(story.path("good.csv"), story.path("away.csv")).unwrap();
    for (line, before) in [
        ("diagnose run", ""),
        ("compare run run", ""),
        ("sample run --resample psis", "--resample psis needs the model and its data: "),
        ("inits run --resample psis", "--resample psis needs the model and its data: "),
    ] {
        let ended = story.run(&words(line));
        assert_eq!(ended.code, Some(2), "{line}");
        assert!(ended.stderr.starts_with(&format!("error: {before}{gone}")), "{line}: {}", ended.stderr);
    }
    let ended = story.run(&words("sample run --draws 3"));
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.starts_with(&format!("note: log_p__ is nan, since the model is not at hand: {gone}")));
    assert_eq!(story.run(&words("inits run --out start")).code, Some(0), "a metric needs no data");

    story.write("good.csv", GOOD.replace("2.5", "2.25"));
    for line in ["diagnose run", "compare run run"] {
        let ended = story.run(&words(line));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{line}");
        let start = "error: good.csv: the data are not those of the settings: their fingerprint is ";
        assert!(ended.stderr.starts_with(start) && ended.stderr.contains("restore the file"), "{}", ended.stderr);
    }
}

#[test]
fn fits_that_have_no_common_zero() {
    let story = fitted();
    story.write("other.csv", GOOD.replace("2.5", "2.25"));
    let lines: Vec<&str> = GOOD.lines().collect();
    story.write("shorter.csv", lines[..lines.len() - 1].join("\n"));
    let reversed = [lines[0]].into_iter().chain(lines[1..].iter().rev().copied());
    story.write("reversed.csv", reversed.collect::<Vec<_>>().join("\n"));
    let fit = |rest: &str| {
        let line = format!("fit logistic good.csv --target y --family gaussian --diagnostic-draws 1000 {rest}");
        story.run(&words(&line));
    };
    fit("--prior-sd 2 --out wide");
    fit("--features a --out narrow");
    fit("--no-intercept --out through");
    for (file, rest) in [
        ("other.csv", "--target y --out other"),
        ("shorter.csv", "--target y --out shorter"),
        ("reversed.csv", "--target y --out reversed"),
    ] {
        story.run(&words(&format!("fit logistic {file} --family gaussian --diagnostic-draws 1000 {rest}")));
    }
    for rest in ["--target a --features b --out of_a", "--target y --out numbers"] {
        story.run(&words(&format!("fit linear good.csv --family gaussian --diagnostic-draws 1000 {rest}")));
    }
    // Different models of the same rows are compared by their predictions.
    for other in ["wide", "narrow", "through", "other"] {
        let page = story.ok(&["compare", "run", other]);
        assert!(page.starts_with("These are different models of the same "), "{page}");
    }
    let sentence = |other: &str, what: &str| {
        said(&format!(
            "run and {other} are fits of different models to different rows: {what}; compare fits of the same rows, or of \
             the same model"
        ))
    };
    refused(
        &story,
        &[
            ("compare run shorter", sentence("shorter", "one has 6 rows, the other 5")),
            ("compare run reversed", sentence("reversed", "their rows have other responses")),
            ("compare run of_a", sentence("of_a", "one explains y, the other a")),
            (
                "compare run numbers",
                sentence("numbers", "one has a density of numbers, the other probabilities of counts or classes"),
            ),
        ],
    );
}

#[test]
fn places() {
    let story = fitted();
    let parquet = if cfg!(feature = "parquet") {
        "parquet is no text for a screen: name a file with --out draws.parquet"
    } else {
        "this elinvar was built without parquet; write csv, or build it with --features parquet"
    };
    story.write("kept", "mine");
    story.ok(&words("inits run"));
    refused(
        &story,
        &[
            ("sample run --format parquet", said(parquet)),
            ("sample run --out kept", said("kept exists already; choose another name or remove it")),
            (
                "sample run --resample psis --draws 100000000000",
                said("--draws 100000000000 does not fit into memory; give at most 6100805"),
            ),
            (
                "compare run run --draws 100000000000",
                said("--draws 100000000000 does not fit into memory; give at most 24403223"),
            ),
            (
                "inits run --chains 60000000 --out start",
                said("--chains 60000000 does not fit into memory; give at most 3355443"),
            ),
            ("inits run", said("run/inits: the folder is not empty; name a new folder with --out")),
            ("inits run --out kept", said("kept: this is a file; name a new folder with --out")),
            ("inits run/fit.json", said("run/fit.json: this is a file; name a new folder with --out")),
            ("inits run --intercept beta --out start", said("two parameters would be named beta: choose another name")),
            (
                "man --out kept",
                said("kept: it cannot be written (entity already exists); name another place with --out"),
            ),
        ],
    );
    assert_eq!(story.read("kept"), "mine");
    story.ok(&words("man --out pages"));
    refused(&story, &[("man --out pages", said("pages/elinvar.1 exists already; choose another name or remove it"))]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let story = fitted();
    let before = story.files();
    let formats = if cfg!(feature = "parquet") { &["csv", "parquet"][..] } else { &["csv"] };
    for format in formats {
        let line = format!("sample run --draws 20000 --out /dev/full --format {format}");
        let ended = story.run(&words(&line));
        let sentence = "error: /dev/full: it cannot be written (no storage space); name another place with --out\n";
        assert_eq!((ended.code, ended.stderr.as_str(), ended.stdout.as_str()), (Some(2), sentence, ""), "{line}");
    }
    for line in ["sample run --draws 20000", "diagnose run", "compare run run", "completions bash", "man"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = story.command(&words(line)).stdout(full).output().unwrap();
        let sentence = "error: the result could not be printed (No space left on device (os error 28))\n";
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()),
            (Some(2), sentence),
            "{line}"
        );
    }
    assert_eq!(story.files(), before);
}

#[test]
fn names_that_stan_does_not_take() {
    let story = Story::new();
    story.write("good.csv", GOOD.replacen("a,b", "a,home value", 1));
    story.run(&words("fit logistic good.csv --target y --family gaussian --diagnostic-draws 1000 --out run"));
    refused(
        &story,
        &[
            ("inits run --by-name", said("Stan has no parameter named \"home value\": leave out --by-name")),
            ("inits run --by-name --intercept a", {
                "the argument '--by-name' cannot be used with '--intercept <NAME>'\n\nUsage: elinvar inits --by-name <DIR>".to_owned()
                    + HINT
            }),
        ],
    );
    story.run(&words(
        "fit logistic good.csv --target y --family gaussian --no-intercept --diagnostic-draws 1000 --out through",
    ));
    refused(
        &story,
        &[(
            "inits through --intercept a",
            said("--intercept names a parameter that this fit does not have: leave it out"),
        )],
    );
}

/// Nobody makes files in /sys, not even the owner of the machine.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written() {
    let story = fitted();
    for (line, out) in
        [("sample run --out", "/sys/draws.csv"), ("inits run --out", "/sys/kernel/start"), ("man --out", "/sys/pages")]
    {
        let ended = story.run(&words(&format!("{line} {out}")));
        let sentence =
            |why: &str| format!("error: {out}: it cannot be written ({why}); name another place with --out\n");
        let expected = [sentence("permission denied"), sentence("read-only filesystem or storage medium")];
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(expected.contains(&ended.stderr), "{}", ended.stderr);
    }
}
