//! Fits that are interrupted, limited and continued: nothing is lost, and every bit is that of a fit left alone.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::story::{self, Ended, Story, Uniforms};

/// A table for logistic regression with two columns that are hard to tell apart.
pub(crate) fn table(n_rows: usize) -> String {
    let mut uniforms = Uniforms::new(7);
    let mut text = String::from("a,b,c,d,y\n");
    for _ in 0..n_rows {
        let (a, c, d) = (uniforms.normal(), uniforms.normal(), uniforms.normal());
        let b = a + 0.1 * uniforms.normal();
        let y = u8::from(0.8 * a - 0.5 * c + 2.0 * uniforms.normal() > 0.3);
        text += &format!("{a:.4},{b:.4},{c:.4},{d:.4},{y}\n");
    }
    text
}

/// Never converges.
pub(crate) const ENDLESS: &str =
    "fit logistic t.csv --target y --family mog --components 3 --restarts 2 --tolerance 1e-9";
/// The same with an end that is a thousand steps away.
pub(crate) fn long() -> String {
    format!("{ENDLESS} --max-steps 1000")
}

pub(crate) fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

/// Starts the program. A fit keeps its first state at once: tests that interrupt it do not depend on the machine's
/// speed.
pub(crate) fn spawn(story: &Story, command: &str) -> Child {
    let mut command = story.command(&words(command));
    command.env("ELINVAR_KEEP_AFTER_MS", "10");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Removes every member called `seconds` or `fit_seconds`, and the checksum, which knows them.
fn forget_seconds(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !name.ends_with("seconds") && name != "checksum");
            members.values_mut().for_each(forget_seconds);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_seconds),
        _ => {}
    }
}

/// Everything in a run directory but times.
pub(crate) fn results(story: &Story, run: &str) -> [String; 4] {
    let json = |name: &str| {
        let mut value: Value = serde_json::from_str(&story.read(&format!("{run}/{name}"))).unwrap();
        forget_seconds(&mut value);
        value.to_string()
    };
    let trace = story.read(&format!("{run}/trace.csv"));
    let without_seconds = |line: &str| {
        let cells: Vec<&str> = line.split(',').enumerate().filter(|(i, _)| *i != 2).map(|(_, cell)| cell).collect();
        cells.join(",")
    };
    let trace: Vec<String> = trace.lines().map(without_seconds).collect();
    [json("fit.json"), json("diagnostics.json"), trace.join("\n"), story.read(&format!("{run}/config.toml"))]
}

/// No file that is not complete, and nothing that says that the fit goes on.
pub(crate) fn check_tidy(story: &Story, run: &str) {
    let files: Vec<String> = story.files().iter().map(|path| path.display().to_string()).collect();
    assert!(!files.iter().any(|file| file.ends_with(".part") || file.contains(".elinvar-")), "{files:?}");
    assert!(!story.path(&format!("{run}/checkpoint/config.toml")).exists());
}

pub(crate) fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Waits until the fit of `run`, which `child` makes, has kept something.
pub(crate) fn wait_for_state(story: &Story, run: &str, child: &mut Child) {
    let begun = Instant::now();
    let folder = story.path(&format!("{run}/checkpoint"));
    let is_whole = |entry: &std::fs::DirEntry| entry.path().extension() == Some("json".as_ref());
    while !std::fs::read_dir(&folder).is_ok_and(|entries| entries.flatten().any(|entry| is_whole(&entry))) {
        assert_eq!(child.try_wait().unwrap(), None, "the fit has ended and kept nothing");
        assert!(begun.elapsed() < Duration::from_secs(300), "nothing is kept");
        sleep(Duration::from_millis(1));
    }
}

/// Waits until the program would not be ended by a signal, but asked by it to end; where the system does not tell, for
/// a while.
fn wait_for_handlers(child: &mut Child) {
    let caught = |status: String| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")?.trim().get(..).map(str::to_string));
        mask.and_then(|mask| u64::from_str_radix(&mask, 16).ok())
    };
    /// SIGINT and SIGTERM.
    const WANTED: u64 = 1 << 1 | 1 << 14;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(300) {
        assert_eq!(child.try_wait().unwrap(), None, "the fit has ended");
        match std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok().and_then(caught) {
            Some(mask) if mask & WANTED == WANTED => return,
            Some(_) => sleep(Duration::from_millis(1)),
            None => return sleep(Duration::from_secs(2)),
        }
    }
}

pub(crate) fn wait(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let stderr: String = text(output.stderr);
    let stderr = stderr.lines().filter(|line| !story::is_progress(line)).map(|line| format!("{line}\n")).collect();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr }
}

const ANSWER: &str = "\nstopping after this step; Ctrl-C again leaves at once\n";

#[test]
fn ctrl_c_says_how_to_go_on() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    story.run(&words(&format!("{} --out straight", long())));
    for (name, run) in [("-INT", "one"), ("-TERM", "two")] {
        let mut child = spawn(&story, &format!("{} --out {run}", long()));
        wait_for_state(&story, run, &mut child);
        signal(&child, name);
        let ended = wait(child);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""), "{}", ended.stderr);
        let sentence = format!("interrupted; nothing is lost: elinvar resume {run} continues\n");
        assert_eq!(ended.stderr.replace(ANSWER, ""), sentence);
        assert!(!story.path(&format!("{run}/fit.json")).exists());

        // Until then no other command takes it for a fit.
        let sentence = format!("the fit in this folder is not finished; elinvar resume {run} continues it");
        assert_eq!(story.run(&["sample", run]).stderr, format!("error: {run}: {sentence}\n"));
        let ended = story.run(&words(&format!("{} --out {run}", long())));
        let sentence = format!(
            "the folder has a fit that is not finished; elinvar resume {run} continues it, or remove the folder"
        );
        assert_eq!((ended.code, ended.stderr), (Some(2), format!("error: {run}: {sentence}\n")));

        // What a crash within a write has left behind is in nobody's way.
        story.write(&format!("{run}/.trace.csv.0123456789abcdef.part"), "step,eval");
        story.write(&format!("{run}/.fit.json.fedcba9876543210.part"), "{");
        let ended = story.run(&["resume", run]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(3), ""), "{}", ended.stdout);
        assert_eq!(results(&story, run), results(&story, "straight"));
        check_tidy(&story, run);
    }
}

/// The fit takes milliseconds and its verdict minutes: it is the verdict that the signal ends, within a batch of draws.
#[test]
fn a_verdict_can_be_interrupted() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    for name in ["-INT", "-TERM"] {
        let fit = "fit logistic t.csv --target y --family gaussian --diagnostic-draws 2000000";
        let mut child = spawn(&story, fit);
        wait_for_handlers(&mut child);
        sleep(Duration::from_millis(500));
        let begun = Instant::now();
        signal(&child, name);
        let ended = wait(child);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""), "{}", ended.stderr);
        // Alone on a machine it takes milliseconds; the verdict would take minutes.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

/// A signal that comes with a round of chains ends them; what is kept leads to the bits of a fit that was left alone,
/// also if that is interrupted again. The program sends the signal to itself, so that no clock decides when it comes.
#[test]
fn chains_can_be_interrupted_and_resumed() {
    let story = Story::new();
    story.write("t.csv", table(300));
    let fits = ["fit logistic t.csv --target y --family gaussian --correct", "fit --correct"];
    for (k, fit) in fits.into_iter().enumerate() {
        let straight = story.run(&words(&format!("{fit} --out straight{k}")));
        assert!(straight.stdout.contains("32 chains of"), "{}{}", straight.stdout, straight.stderr);
        for (signal, round) in [("2", "1"), ("15", if k == 0 { "1" } else { "2" })] {
            let run = format!("run{k}-{signal}");
            for command in [format!("{fit} --out {run}"), format!("resume {run}")] {
                let mut command = story.command(&words(&command));
                command.env("ELINVAR_SIGNAL_AT_ROUND", format!("{signal}:{round}"));
                let ended = wait(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
                assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""), "{}", ended.stderr);
                let sentence = format!("interrupted; nothing is lost: elinvar resume {run} continues\n");
                assert_eq!(ended.stderr.replace(ANSWER, ""), sentence);
                assert!(!story.path(&format!("{run}/fit.json")).exists());
            }
            let ended = story.run(&["resume", &run]);
            assert_eq!((ended.code, ended.stderr.as_str()), (straight.code, ""), "{}", ended.stdout);
            assert_eq!(results(&story, &run), results(&story, &format!("straight{k}")));
            check_tidy(&story, &run);
        }
    }
}

/// Settings that are edited while a fit is under way do not make another fit of it.
#[test]
fn a_prior_that_was_changed_under_way_is_found_out() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    let mut child = spawn(&story, &format!("{} --prior-precision 1 --out run", long()));
    wait_for_state(&story, "run", &mut child);
    signal(&child, "-INT");
    assert_eq!(wait(child).code, Some(130));
    let config = story.read("run/config.toml");
    assert!(config.contains("prior_precision = 1.0"), "{config}");
    story.write("run/config.toml", config.replace("prior_precision = 1.0", "prior_precision = 100.0"));
    let ended = story.run(&["resume", "run"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("another model, other data or another prior"), "{}", ended.stderr);
    story.write("run/config.toml", config);
    assert_eq!(story.run(&["resume", "run"]).code, Some(3));
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    let before = story.files();
    let mut child = spawn(&story, &format!("{ENDLESS} --max-steps 1000000"));
    wait_for_handlers(&mut child);
    signal(&child, "-INT");
    let ended = wait(child);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(130), ""));
    let sentence = "interrupted; nothing was kept: with --out DIR a fit can be resumed\n";
    assert_eq!(ended.stderr.replace(ANSWER, ""), sentence);
    assert_eq!(story.files(), before);
}

#[test]
fn a_limit_can_be_raised() {
    let story = Story::new();
    story.write("t.csv", table(300));
    let families = [
        "--family mog --components 3",
        "--family mog --components auto",
        "--family auto --curvature hessian",
        "--family skew",
    ];
    for (i, family) in families.iter().enumerate() {
        // Chains would make good what the limit has cut short.
        let fit = format!("fit logistic t.csv --target y --tolerance 1e-5 --uncorrected {family}");
        let (run, fresh) = (format!("run{i}"), format!("fresh{i}"));
        let ended = story.run(&words(&format!("{fit} --max-steps 60 --out {run}")));
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        let short = results(&story, &run);
        // Nothing new was asked for.
        let ended = story.run(&["resume", &run]);
        let said = format!("{run}: a limit has ended this fit: elinvar resume {run} --max-steps N continues it\n");
        assert_eq!((ended.code, ended.stderr), (Some(3), said));
        assert_eq!(results(&story, &run), short);

        story.run(&words(&format!("resume {run} --max-steps 130 --max-evals 1e5 --quiet")));
        story.run(&words(&format!("{fit} --max-steps 130 --max-evals 100000 --out {fresh} --quiet")));
        assert_eq!(results(&story, &run), results(&story, &fresh), "{family}");
        check_tidy(&story, &run);
    }
}

#[test]
fn a_finished_fit_is_shown_again() {
    let story = Story::new();
    let page = story.ok(&["fit", "--out", "run"]);
    let before = (story.files(), results(&story, "run"));
    let ended = story.run(&["resume", "run"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), "run: this fit is finished; here it is again\n"));
    let table = |page: &str| page.split_once("parameter").map(|(_, rest)| rest.to_owned()).unwrap();
    assert_eq!(table(&ended.stdout), table(&page));
    let mut again = story.json(&["resume", "run"]);
    forget_seconds(&mut again);
    assert_eq!((&again["converged"], &again["run_dir"]), (&true.into(), &"run".into()));
    assert_eq!((story.files(), results(&story, "run")), before);
    // Another tolerance is another fit, and so is made as one.
    story.run(&["resume", "run", "--tolerance", "0.001"]);
    story.run(&["fit", "--tolerance", "0.001", "--out", "fresh"]);
    assert_eq!(results(&story, "run"), results(&story, "fresh"));
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    std::fs::create_dir(story.path("empty")).unwrap();
    let refused = |command: &str, sentence: &str| {
        let ended = story.run(&words(command));
        assert_eq!((ended.code, ended.stderr), (Some(2), format!("error: {sentence}\n")), "{command}");
    };
    refused("resume gone", "gone: there is no such folder; name a folder written by elinvar fit --out");
    refused("resume t.csv", "t.csv: this is a file; name a folder written by elinvar fit --out");
    refused(
        "resume empty",
        "empty: there is no config.toml in this folder; name a folder written by elinvar fit --out",
    );

    let mut child = spawn(&story, &format!("{ENDLESS} --max-steps 1000000 --out run"));
    wait_for_state(&story, "run", &mut child);
    refused("resume run", "run: another elinvar is at work in this folder; wait for it, or end it and try again");
    child.kill().unwrap();
    child.wait().unwrap();
    let advice = "remove it: what it holds is then computed again";
    let is_entry = |path: &PathBuf| path.starts_with("run/checkpoint") && path.extension() == Some("json".as_ref());
    let file = story.files().into_iter().find(is_entry).unwrap();
    let file = file.display().to_string();
    let whole = story.read(&file);
    story.write(&file, &whole[..whole.len() - 20]);
    let cut = "the file ends too early (line 1); it was cut off while being copied or written";
    refused("resume run", &format!("{file}: {cut}; {advice}"));
    let digit = whole.rfind(|c: char| ('1'..='8').contains(&c)).unwrap();
    story.write(&file, format!("{}9{}", &whole[..digit], &whole[digit + 1..]));
    let damaged = "the file is damaged: its checksum does not fit; something has changed it since";
    refused("resume run", &format!("{file}: {damaged}; {advice}"));
    // The data are those of the beginning, or there is nothing to go on with.
    story.write(&file, whole).write("t.csv", table(5_999));
    let ended = story.run(&["resume", "run"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("t.csv"), "{}", ended.stderr);
}
