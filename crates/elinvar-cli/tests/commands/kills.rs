//! Programs that are killed at random moments: nothing is lost, and every bit is that of a program left alone.
//!
//! Five kills of each kind, or as many as the environment variable ELINVAR_KILLS says; what was done is then written to
//! `docs/kills.md`.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::ExitStatus;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::resume::{ENDLESS, check_tidy, long, results, spawn, table, words};
use crate::story::{Story, Uniforms};

/// How many kills were asked for, and whether by name.
fn wanted() -> (usize, bool) {
    std::env::var("ELINVAR_KILLS").map_or((5, false), |text| (text.parse().unwrap(), true))
}

/// What came of the kills of a command.
struct Tally {
    what: &'static str,
    kills: usize,
    /// How often the command was started, kills included.
    starts: usize,
    whole: Duration,
    found: String,
}

impl Tally {
    /// Says it, and replaces the row of the page if the kills were asked for by name.
    fn record(&self) {
        let Self { what, kills, starts, whole, found } = self;
        let row = format!("| {what} | {kills} | {starts} | {:.1} | {found} |", whole.as_secs_f64());
        println!("{row}");
        if !wanted().1 {
            return;
        }
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kills.md");
        let text = fs::read_to_string(&page).unwrap();
        let is_same = |line: &str| line.starts_with(&format!("| {what} |"));
        assert_eq!(text.lines().filter(|line| is_same(line)).count(), 1, "docs/kills.md has one row for: {what}");
        let lines = text.lines().map(|line| if is_same(line) { row.as_str() } else { line });
        fs::write(&page, lines.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
}

/// Lets a command run for so long and kills it; `None` if it was killed.
fn run_for(story: &Story, command: &str, time: Duration) -> Option<ExitStatus> {
    let mut child = spawn(story, command);
    let begun = Instant::now();
    while begun.elapsed() < time {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    // It may have come to its end in the meantime.
    status.code().map(|_| status)
}

const END: Duration = Duration::from_secs(3_600);

/// Kills fits by `command`, which end with `code`, and what goes on with them; each has to come to what a fit comes to
/// that is left alone.
fn kill_fits(what: &'static str, story: &Story, command: &str, code: i32) {
    let wanted = wanted().0;
    let begun = Instant::now();
    let ended = story.run(&words(&format!("{command} --out straight")));
    let whole = begun.elapsed();
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    let expected = results(story, "straight");
    let mut uniforms = Uniforms::new(99);
    let (mut kills, mut runs, mut starts, mut with_state) = (0, 0, 0, 0);
    while kills < wanted {
        runs += 1;
        let run = format!("killed{runs}");
        // A run is killed up to four times before it may come to its end.
        let mut left = 4.min(wanted - kills);
        loop {
            starts += 1;
            let begun = story.path(&format!("{run}/config.toml")).exists();
            let command = if begun { format!("resume {run}") } else { format!("{command} --out {run}") };
            let time = if left > 0 { whole.mul_f64(uniforms.next()) } else { END };
            if let Some(status) = run_for(story, &command, time) {
                assert_eq!(status.code(), Some(code), "{command}");
                break;
            }
            (kills, left) = (kills + 1, left - 1);
            let folder = fs::read_dir(story.path(&format!("{run}/checkpoint")));
            let is_state = |name: &str| name.starts_with("restart-") && name.ends_with(".json");
            let names = folder.into_iter().flatten().flatten().map(|entry| entry.file_name());
            with_state += usize::from(names.into_iter().any(|name| is_state(&name.to_string_lossy())));
        }
        assert_eq!(results(story, &run), expected, "after {starts} starts");
        check_tidy(story, &run);
        fs::remove_dir_all(story.path(&run)).unwrap();
    }
    let found = format!("{runs} fits, all with the bits of one left alone; {with_state} kills left a state");
    Tally { what, kills, starts, whole, found }.record();
}

#[test]
fn kills_of_fits_lose_nothing() {
    let story = Story::new();
    story.write("t.csv", table(1_500));
    kill_fits("`fit`, a mixture with two restarts", &story, &long(), 3);
}

/// Chains are not kept but begun anew from the state of the fit.
#[test]
fn kills_of_corrections_lose_nothing() {
    let story = Story::new();
    let mut uniforms = Uniforms::new(11);
    let (n_columns, n_rows) = (60, 240);
    let names: Vec<String> = (0..n_columns).map(|k| format!("x{k}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..n_rows {
        let row: Vec<f64> = (0..n_columns).map(|_| uniforms.normal()).collect();
        let y = u8::from(row[0] - row[1] + uniforms.normal() > 0.0);
        text += &row.iter().map(|x| format!("{x:.3},")).collect::<String>();
        text += &format!("{y}\n");
    }
    story.write("t.csv", text);
    let fit = "fit logistic t.csv --target y";
    assert_eq!(story.json(&words(fit))["given_by"], "chains");
    kill_fits("`fit`, corrected by chains", &story, fit, 0);
}

/// A continuation that is killed leaves the results of before, or has brought its own.
#[test]
fn kills_of_continuations_lose_nothing() {
    let wanted = wanted().0;
    let story = Story::new();
    story.write("t.csv", table(1_000));
    let fit = format!("{ENDLESS} --max-steps 60 --diagnostic-draws 1000");
    story.run(&words(&format!("{fit} --out straight")));
    let before = results(&story, "straight");
    let begun = Instant::now();
    story.run(&words("resume straight --max-steps 400"));
    let (whole, after) = (begun.elapsed(), results(&story, "straight"));
    let mut uniforms = Uniforms::new(321);
    let (mut kills, mut runs, mut starts) = (0, 0, 0);
    while kills < wanted {
        runs += 1;
        let run = format!("run{runs}");
        story.run(&words(&format!("{fit} --out {run}")));
        let mut left = 4.min(wanted - kills);
        loop {
            starts += 1;
            let time = if left > 0 { whole.mul_f64(uniforms.next()) } else { END };
            if run_for(&story, &format!("resume {run} --max-steps 400"), time).is_some() {
                break;
            }
            (kills, left) = (kills + 1, left - 1);
            // There is a fit at every moment: the old one, or the new one.
            let fit_file = |results: &[String; 4]| results[0].clone();
            let now = fit_file(&results(&story, &run));
            assert!(now == fit_file(&before) || now == fit_file(&after), "neither the old fit nor the new one");
        }
        assert_eq!(results(&story, &run), after);
        check_tidy(&story, &run);
        fs::remove_dir_all(story.path(&run)).unwrap();
    }
    let found = format!("{runs} fits, each the old one until it was the new one, bit for bit");
    Tally { what: "`resume` of a finished fit", kills, starts, whole, found }.record();
}

/// Reports and samples that are killed are there as a whole or not at all, and the fit stays what it was.
#[test]
fn kills_of_reports_and_samples_leave_whole_files() {
    let wanted = wanted().0;
    let story = Story::new();
    story.ok(&["fit", "--out", "run"]);
    let fit = results(&story, "run");
    let mut uniforms = Uniforms::new(123);
    for (what, command, file) in [
        ("`sample`, 20 000 draws into a file", "sample run --draws 20000 --out out.csv", "out.csv"),
        ("`report` into a new file", "report run --html out.html", "out.html"),
        ("`report` in place of the old one", "report run", "run/report.html"),
    ] {
        let in_place = file.starts_with("run/");
        let begun = Instant::now();
        story.run(&words(command));
        let (whole, expected) = (begun.elapsed(), story.read(file));
        let (mut kills, mut n_whole, mut starts) = (0, 0, 0);
        while kills < wanted {
            starts += 1;
            assert!(starts < 20 * wanted, "{command} cannot be killed");
            if !in_place {
                let _ = fs::remove_file(story.path(file));
            }
            let killed = run_for(&story, command, whole.mul_f64(1.1 * uniforms.next())).is_none();
            kills += usize::from(killed);
            if story.path(file).exists() {
                assert!(story.read(file) == expected, "{command}: the file is not whole");
                n_whole += usize::from(killed);
            } else {
                assert!(killed && !in_place, "{command}: the file is gone");
            }
        }
        assert_eq!(results(&story, "run"), fit);
        let found = if in_place {
            "a whole report after each, and the fit as it was".into()
        } else {
            format!("{n_whole} kills left the whole file, the others none; the fit as it was")
        };
        Tally { what, kills, starts, whole, found }.record();
    }
}
