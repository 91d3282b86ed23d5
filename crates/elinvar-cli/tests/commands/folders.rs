//! Folders that hold something before a fit is kept there.

use crate::story::Story;

#[cfg(unix)]
use crate::resume::{spawn, words};

/// What a crash leaves of the settings.
const UNFINISHED: &str = ".config.toml.0123456789abcdef.part";

#[test]
fn a_folder_of_somebody_else_stays_as_it_is() {
    let story = Story::new();
    let not_empty = "error: films: the folder is not empty; name a new folder with --out\n";
    // Names that end like our own unfinished files, and names that are our own.
    for strangers in [&["movie.mkv.part"][..], &[UNFINISHED], &["fit.json.part", "trace.csv.part"]] {
        std::fs::create_dir(story.path("films")).unwrap();
        for name in strangers {
            story.write(&format!("films/{name}"), "precious");
        }
        let before = story.files();
        let ended = story.run(&["fit", "--out", "films"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), not_empty), "{strangers:?}");
        assert_eq!(story.files(), before);
        strangers.iter().for_each(|name| assert_eq!(story.read(&format!("films/{name}")), "precious"));
        std::fs::remove_dir_all(story.path("films")).unwrap();
    }
    // A finished fit removes its own unfinished files and no other.
    story.ok(&["fit", "--out", "run"]);
    let (stranger, own) = ("run/trace.csv.part", "run/.trace.csv.0123456789abcdef.part");
    story.write("run/notes.part", "precious").write(stranger, "precious").write(own, "step");
    std::fs::create_dir_all(story.path("run/checkpoint")).unwrap();
    story.write("run/checkpoint/notes.json", "precious");
    story.run(&["resume", "run", "--tolerance", "0.001"]);
    for name in ["run/notes.part", stranger, "run/checkpoint/notes.json"] {
        assert_eq!(story.read(name), "precious", "{name}");
    }
    assert!(!story.path(own).exists());
}

/// A folder that was unpacked from somewhere may hold links to anything.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let story = Story::new();
    story.run(&["fit", "--out", "run", "--max-steps", "10"]);
    story.write("victim", "precious");
    for name in ["trace.csv", "fit.json", "report.html", "diagnostics.json", "config.toml"] {
        std::os::unix::fs::symlink(story.path("victim"), story.path(&format!("run/{name}.part"))).unwrap();
    }
    story.ok(&["resume", "run", "--max-steps", "400"]);
    assert_eq!(story.read("victim"), "precious");
    // Nor does a state go where a link leads.
    std::fs::create_dir(story.path("elsewhere")).unwrap();
    let _ = std::fs::remove_dir_all(story.path("run/checkpoint"));
    std::os::unix::fs::symlink(story.path("elsewhere"), story.path("run/checkpoint")).unwrap();
    let ended = story.run(&["resume", "run", "--tolerance", "0.0001"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(std::fs::read_dir(story.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_folder_in_which_a_fit_died_at_once_is_taken_again() {
    let story = Story::new();
    for leftovers in [&[][..], &[UNFINISHED]] {
        std::fs::create_dir_all(story.path("run/checkpoint")).unwrap();
        for name in leftovers {
            story.write(&format!("run/{name}"), "[mod");
        }
        story.ok(&["fit", "--out", "run"]);
        assert!(story.path("run/fit.json").exists() && !story.path("run").join(UNFINISHED).exists());
        std::fs::remove_dir_all(story.path("run")).unwrap();
    }
}

/// A project has settings written by hand, and files whose names are also those of a run.
#[test]
fn a_project_is_no_run() {
    let story = Story::new();
    std::fs::create_dir_all(story.path("project/checkpoint")).unwrap();
    let by_hand = "# what we agreed on\n[model]\nname = \"logistic\"\n[data]\nexample = \"breast_cancer\"\n";
    story.write("project/config.toml", by_hand);
    let strangers = ["trace.csv", "diagnostics.json", "report.html", "checksums.txt"];
    for name in strangers {
        story.write(&format!("project/{name}"), "precious");
    }
    let refused = |command: &[&str], sentence: &str| {
        let before = story.files();
        let ended = story.run(command);
        assert_eq!((ended.code, ended.stderr), (Some(2), format!("error: {sentence}\n")), "{command:?}");
        assert_eq!(story.files(), before);
        strangers.iter().for_each(|name| assert_eq!(story.read(&format!("project/{name}")), "precious"));
    };
    let not_ours = "project: elinvar fit has not written the config.toml in this folder, or not the comments in it, and \
                    would replace it; elinvar fit --config project/config.toml --out DIR fits by it";
    refused(&["resume", "project"], not_ours);
    refused(&["resume", "project", "--max-steps", "7"], not_ours);
    refused(&["fit", "--out", "project"], "project: the folder is not empty; name a new folder with --out");
    assert_eq!(story.read("project/config.toml"), by_hand);
    // Settings of a run that were copied there, even with its fit, make no run of it.
    story.run(&["fit", "--out", "run", "--max-steps", "10"]);
    std::fs::copy(story.path("run/config.toml"), story.path("project/config.toml")).unwrap();
    let foreign = "project/trace.csv: this is not what a fit has left here, and the results would take its place; move it \
                   away, or bring back what was there";
    refused(&["resume", "project"], foreign);
    std::fs::copy(story.path("run/fit.json"), story.path("project/fit.json")).unwrap();
    refused(&["resume", "project", "--max-steps", "20"], foreign);
    let exists = "project/report.html exists already; name another file with --html or remove it";
    refused(&["report", "project"], exists);
    refused(&["report", "project/fit.json"], exists);
    // A result of our own that somebody has worked on is not replaced either.
    let trace = story.read("run/trace.csv") + "a note\n";
    story.write("run/trace.csv", &trace);
    let ended = story.run(&["resume", "run", "--max-steps", "20"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("run/trace.csv: this is not what"), "{}", ended.stderr);
    assert_eq!(story.read("run/trace.csv"), trace);
}

#[cfg(unix)]
const SHORT: &str = "fit --family mog --components 2 --tolerance 1e-9 --max-steps 12 --diagnostic-draws 1000";

/// Runs a fit that keeps its state at every step.
#[cfg(unix)]
fn keep(story: &Story, fit: &str) {
    let ended = story.command(&words(fit)).env("ELINVAR_KEEP_AFTER_MS", "0").output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// Runs what must come to an end soon, whatever stands in a folder.
#[cfg(unix)]
fn ends(story: &Story, command: &str) -> Option<i32> {
    let mut child = spawn(story, command);
    let begun = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > std::time::Duration::from_secs(300) {
            child.kill().unwrap();
            panic!("{command} does not end");
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Pipes, folders and links under every name: nothing is waited for, followed or replaced.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_stays_and_is_in_nobodys_way_for_long() {
    use std::os::unix::fs::{FileTypeExt as _, symlink};
    let story = Story::new();
    keep(&story, &format!("{SHORT} --out made"));
    story.write("victim", "precious");
    let state = std::fs::read_dir(story.path("made/checkpoint")).unwrap().next().unwrap().unwrap().file_name();
    let state = format!("checkpoint/{}", state.to_string_lossy());
    let names = [
        "trace.csv",
        "diagnostics.json",
        "config.toml",
        "report.html",
        "checksums.txt",
        "fit.json",
        "checkpoint",
        &state,
    ];
    for name in names {
        for kind in ["pipe", "folder", "link", "dangling", "endless"] {
            let copied =
                std::process::Command::new("cp").args(["-r", "made", "run"]).current_dir(story.path("")).status();
            assert!(copied.unwrap().success());
            let path = story.path(&format!("run/{name}"));
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) }.unwrap();
            match kind {
                "pipe" => assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success()),
                "folder" => std::fs::create_dir(&path).unwrap(),
                "link" => symlink(story.path("victim"), &path).unwrap(),
                "dangling" => symlink(story.path("nowhere"), &path).unwrap(),
                _ => symlink("/dev/zero", &path).unwrap(),
            }
            for command in ["diagnose run --draws 100", "report run", "resume run --max-steps 14"] {
                let code = ends(&story, command);
                let is_own_folder = (name, kind) == ("checkpoint", "folder");
                assert!([0, 2, 3, 4].map(Some).contains(&code), "{command}, {name}, {kind}: {code:?}");
                assert!(code == Some(2) || !command.starts_with("resume") || is_own_folder, "{name}, {kind}: {code:?}");
                if is_own_folder {
                    continue;
                }
                let kept = path.symlink_metadata().unwrap().file_type();
                let is_as_made = match kind {
                    "pipe" => kept.is_fifo(),
                    "folder" => kept.is_dir(),
                    _ => kept.is_symlink(),
                };
                assert!(is_as_made, "{command}, {name}, {kind}");
            }
            assert_eq!(story.read("victim"), "precious");
            assert!(!story.path("nowhere").exists());
            std::fs::remove_dir_all(story.path("run")).unwrap();
        }
    }
    // Another name of a file keeps what it had.
    for name in ["trace.csv", "fit.json", "config.toml"] {
        std::fs::hard_link(story.path(&format!("made/{name}")), story.path(name)).unwrap();
    }
    let before = ["trace.csv", "fit.json", "config.toml"].map(|name| story.read(name));
    assert_eq!(ends(&story, "resume made --max-steps 14"), Some(3));
    assert_eq!(["trace.csv", "fit.json", "config.toml"].map(|name| story.read(name)), before);
    assert_ne!(story.read("made/trace.csv"), before[0]);
}

/// The state of another fit does not become a part of this one.
#[cfg(unix)]
#[test]
fn a_journal_of_another_model_is_refused() {
    let story = Story::new();
    keep(&story, &format!("{SHORT} --out one"));
    keep(&story, &format!("{SHORT} --prior-precision 9 --out other"));
    for entry in std::fs::read_dir(story.path("other/checkpoint")).unwrap().flatten() {
        std::fs::copy(entry.path(), story.path("one/checkpoint").join(entry.file_name())).unwrap();
    }
    let before = story.read("one/fit.json");
    let ended = story.run(&words("resume one --max-steps 14"));
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("another model, other data or another prior"), "{}", ended.stderr);
    assert_eq!(story.read("one/fit.json"), before);
}
