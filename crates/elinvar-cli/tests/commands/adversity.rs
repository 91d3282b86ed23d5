//! What happens to a machine while a fit runs: nothing is lost, and the exit code is the documented one.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use crate::resume::{ENDLESS, check_tidy, long, results, signal, spawn, table, wait, wait_for_state, words};
use crate::story::Story;

/// Ends after some steps, at a limit.
const SHORT: &str = "fit --family mog --components 2 --tolerance 1e-9 --max-steps 12 --diagnostic-draws 1000";

/// A shell that gives this up before it becomes the program.
fn under(story: &Story, before: &str, command: &str) -> Command {
    let mut shell = Command::new("sh");
    let line = format!("{before}; exec {} {command}", env!("CARGO_BIN_EXE_elinvar"));
    shell.args(["-c", &line]).current_dir(story.path(""));
    shell
}

fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Every named point in the life of a run folder, and whether a full disk is tried there.
const POINTS: [(&str, bool); 11] = [
    ("folder made", true),
    ("checkpoint made", true),
    ("settings kept", true),
    ("trace.csv", true),
    ("diagnostics.json", true),
    ("config.toml", true),
    ("recipe.json", true),
    ("report.html", true),
    ("checksums.txt", true),
    ("fit.json", false),
    ("settings moved", false),
];

#[test]
fn there_is_a_way_on_from_every_point_of_a_folder() {
    let story = Story::new();
    assert_eq!(story.run(&words(&format!("{SHORT} --out straight"))).code, Some(3));
    let expected = results(&story, "straight");
    for (point, can_be_full) in POINTS {
        let ways: &[&str] = if can_be_full { &["abort", "panic", "full"] } else { &["abort", "panic"] };
        for way in ways {
            let mut command = story.command(&words(&format!("{SHORT} --out run")));
            let (code, stdout, stderr) = ended({
                command.env("ELINVAR_FAIL_AT", format!("{point}:{way}"));
                command
            });
            let what = format!("{way} at {point}: {stderr}");
            match *way {
                "abort" => assert_eq!(code, None, "{what}"),
                "panic" => {
                    assert_eq!(code, Some(70), "{what}");
                    assert!(stderr.contains("error: elinvar made a mistake of its own and stopped"), "{what}");
                }
                _ => assert_eq!(code, Some(2), "{what}"),
            }
            // A fit that could not be kept is shown all the same.
            assert_eq!(stdout.contains("parameter"), *way == "full" && point.contains('.'), "{what}");
            let is_begun = story.path("run/config.toml").exists();
            let again = if is_begun { "resume run".into() } else { format!("{SHORT} --out run") };
            assert_eq!(story.run(&words(&again)).code, Some(3), "{what}");
            assert_eq!(results(&story, "run"), expected, "{what}");
            check_tidy(&story, "run");
            fs::remove_dir_all(story.path("run")).unwrap();
        }
    }
}

/// A fit that was killed when its results stood, and before it had cleared up, is cleared up by whoever looks next.
#[test]
fn what_a_kill_has_left_beside_results_is_cleared_up() {
    let story = Story::new();
    assert_eq!(story.run(&words(&format!("{SHORT} --out run"))).code, Some(3));
    let expected = results(&story, "run");
    for left in ["run/checkpoint/.restart-0-part-0.json.0123456789abcdef.part", "run/.fit.json.0123456789abcdef.part"] {
        fs::create_dir_all(story.path("run/checkpoint")).unwrap();
        story.write(left, "half a file");
        assert_eq!(story.run(&words("resume run")).code, Some(3));
        check_tidy(&story, "run");
    }
    assert_eq!(results(&story, "run"), expected);
}

/// The results of a fit that goes on after its end stay until there are new ones.
#[test]
fn there_is_a_way_on_from_every_point_of_a_continuation() {
    let story = Story::new();
    story.run(&words(&format!("{SHORT} --out straight")));
    story.run(&words("resume straight --max-steps 20"));
    let expected = results(&story, "straight");
    for point in ["continued", "trace.csv", "config.toml", "checksums.txt", "fit.json", "settings moved"] {
        for way in ["abort", "panic"] {
            story.run(&words(&format!("{SHORT} --out run")));
            let mut command = story.command(&words("resume run --max-steps 20"));
            command.env("ELINVAR_FAIL_AT", format!("{point}:{way}"));
            assert_ne!(ended(command).0, Some(3), "{way} at {point}");
            assert!(story.path("run/fit.json").exists());
            assert_eq!(story.run(&words("resume run --max-steps 20")).code, Some(3), "{way} at {point}");
            assert_eq!(results(&story, "run"), expected, "{way} at {point}");
            check_tidy(&story, "run");
            fs::remove_dir_all(story.path("run")).unwrap();
        }
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let story = Story::new();
    story.run(&words(&format!("{SHORT} --out straight")));
    // Files of up to two kilobytes: settings, but neither state nor results.
    let (code, stdout, stderr) = ended(under(&story, "trap '' XFSZ; ulimit -f 4", &format!("{SHORT} --out run")));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stdout.contains("parameter"), "the fit is shown: {stdout}");
    assert!(stderr.contains("run") && stderr.contains("error: "), "{stderr}");
    assert!(!story.path("run/fit.json").exists());
    assert_eq!(story.run(&words("resume run")).code, Some(3));
    assert_eq!(results(&story, "run"), results(&story, "straight"));
    check_tidy(&story, "run");
    // A kept fit outlives a continuation that cannot be written.
    let before = results(&story, "run");
    let (code, ..) = ended(under(&story, "trap '' XFSZ; ulimit -f 0", "resume run --max-steps 20"));
    assert_eq!(code, Some(2));
    assert_eq!(results(&story, "run"), before);
}

/// Nobody makes folders in /sys, and nobody but the owner of the machine writes where it is forbidden.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_must_not_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let story = Story::new();
    let ended = story.run(&words("fit --out /sys/kernel/run"));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.starts_with("error: /sys/kernel/run: "), "{}", ended.stderr);
    story.run(&words(&format!("{SHORT} --out run")));
    let before = results(&story, "run");
    let allow = |mode| fs::set_permissions(story.path("run"), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    if File::create(story.path("run/probe")).is_err() {
        let ended = story.run(&words("resume run --max-steps 20"));
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    }
    allow(0o755);
    assert_eq!(results(&story, "run"), before);
}

#[test]
fn a_folder_that_vanishes() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    story.run(&words(&format!("{} --out straight", long())));
    let mut child = spawn(&story, &format!("{} --out run", long()));
    wait_for_state(&story, "run", &mut child);
    fs::rename(story.path("run"), story.path("moved")).unwrap();
    let ended = wait(child);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stdout.contains("parameter"), "the fit is shown");
    assert!(!story.path("run").exists());
    // What was kept until then goes on under its new name.
    assert_eq!(story.run(&["resume", "moved"]).code, Some(3));
    assert_eq!(results(&story, "moved"), results(&story, "straight"));
}

#[test]
fn one_of_several_processes_has_the_folder() {
    let story = Story::new();
    let fits: Vec<_> = (0..4).map(|_| spawn(&story, &format!("{SHORT} --out run"))).collect();
    let ended: Vec<_> = fits.into_iter().map(wait).collect();
    let mut codes: Vec<_> = ended.iter().map(|ended| ended.code).collect();
    codes.sort();
    let what: String = ended.iter().map(|ended| ended.stderr.clone()).collect();
    // One makes the fit; the others find the folder taken, a fit that is not finished, or one that is.
    assert_eq!(codes, [Some(2), Some(2), Some(2), Some(3)], "{what}");
    story.run(&words(&format!("{SHORT} --out straight")));
    assert_eq!(results(&story, "run"), results(&story, "straight"));
    check_tidy(&story, "run");
}

/// Times of files lie in the past and in the future, as after a clock that jumped; fits ask for durations only, of a
/// clock that does not jump.
#[test]
fn a_clock_that_jumps() {
    let story = Story::new();
    story.run(&words(&format!("{SHORT} --out straight")));
    story.run(&words(&format!("{SHORT} --out run")));
    for seconds in [0, 4_000_000_000] {
        for file in
            story.files().iter().map(|name| story.path(&name.display().to_string())).filter(|path| path.is_file())
        {
            File::open(file).unwrap().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        let steps = if seconds == 0 { "16" } else { "20" };
        assert_eq!(story.run(&["resume", "run", "--max-steps", steps]).code, Some(3));
    }
    story.run(&words("resume straight --max-steps 20"));
    assert_eq!(results(&story, "run"), results(&story, "straight"));
}

/// `elinvar sample run | head`.
#[test]
fn a_reader_that_has_read_enough() {
    let story = Story::new();
    story.run(&words(&format!("{SHORT} --out run")));
    for command in ["sample run --draws 200000", "sample run --draws 200000 --out /dev/stdout"] {
        let mut child = spawn(&story, command);
        let mut begun = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut begun).unwrap();
        assert!(begun.starts_with(b"lp__,"));
        let ended = wait(child);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
    }
}

#[test]
fn a_terminal_that_closes() {
    let story = Story::new();
    story.write("t.csv", table(6_000));
    story.run(&words(&format!("{} --out straight", long())));
    let mut child = spawn(&story, &format!("{} --out run", long()));
    wait_for_state(&story, "run", &mut child);
    // Nobody listens any more.
    drop((child.stdout.take(), child.stderr.take()));
    signal(&child, "-HUP");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(story.run(&["resume", "run"]).code, Some(3));
    assert_eq!(results(&story, "run"), results(&story, "straight"));

    // What nohup began goes on.
    let endless = format!("{ENDLESS} --max-steps 1000000 --out on");
    let mut shell = under(&story, "trap '' HUP", &endless);
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_state(&story, "on", &mut child);
    signal(&child, "-HUP");
    sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Settings of a finished fit that were changed are not those of its model.
#[test]
fn files_that_were_changed_are_named() {
    let story = Story::new();
    story.write("t.csv", table(300));
    story.ok(&words("fit logistic t.csv --target y --family gaussian --prior-precision 1 --out run"));
    for name in ["config.toml", "trace.csv", "diagnostics.json", "fit.json"] {
        let whole = story.read(&format!("run/{name}"));
        for digit in whole.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).step_by(97) {
            let other = if &whole[digit..=digit] == "7" { "3" } else { "7" };
            story.write(&format!("run/{name}"), format!("{}{other}{}", &whole[..digit], &whole[digit + 1..]));
            let ended = story.run(&words("diagnose run --draws 100"));
            assert!(ended.stderr.contains(&format!("run/{name}")), "{name}, {digit}: {}", ended.stderr);
            if ["config.toml", "fit.json"].contains(&name) {
                assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{name}, {digit}");
                assert_eq!(story.run(&words("resume run")).code, Some(2), "{name}, {digit}");
            }
        }
        story.write(&format!("run/{name}"), whole);
    }
    let ended = story.run(&words("diagnose run --draws 100"));
    assert!(!ended.stderr.contains("checksum"), "{}", ended.stderr);
}

/// A fit whose checksum holds may claim anything; a report takes no more draws for it than the settings allow.
#[test]
fn claims_of_a_fit_file_take_no_memory() {
    let story = Story::new();
    story.ok(&words("fit --family gaussian --diagnostic-draws 500 --out run"));
    let whole = story.read("run/fit.json");
    let (content, _) = whole.split_once(",\n  \"checksum\"").unwrap();
    let honest = "\"n_draws\": 500";
    assert!(content.contains(honest), "{content}");
    for (claimed, code) in [(1_u64 << 30, 0), (1 << 40, 2), (u64::MAX, 2)] {
        let forged = content.replace(honest, &format!("\"n_draws\": {claimed}"));
        let checksum = elinvar::file::fingerprint(forged.as_bytes());
        story.write("run/fit.json", format!("{forged},\n  \"checksum\": \"{checksum}\"\n}}\n"));
        let (found, _, stderr) = ended(under(&story, "ulimit -v 4000000", "report run"));
        assert_eq!(found, Some(code), "{claimed}: {stderr}");
    }
}

/// What does not fit into memory is refused by the name of what was given.
#[test]
fn sizes_are_checked_before_memory_is_taken() {
    let story = Story::new();
    story.write("t.csv", table(10)).write("classes.csv", "a,y\n1,0\n2,1\n3,9007199254740992\n");
    let names: Vec<String> = (0..12_000).map(|k| format!("c{k}")).collect();
    let row = |i: usize| (0..12_000).map(|k| format!(",{}", (k * 7 + i * i) % 10)).collect::<String>();
    let rows: String = (0..4).map(|i| format!("{}{}\n", i % 2, row(i))).collect();
    story.write("wide.csv", format!("y,{}\n{rows}", names.join(",")));
    let network = "fit network t.csv --target y --hidden";
    for (command, sentence) in [
        (
            "fit --family mog --components 100000".into(),
            "--components 100000 does not fit into memory; give at most 362",
        ),
        (
            format!("{network} 100000,100000"),
            "--hidden 100000,100000 makes a model of 10000700001 parameters: at most 2684354 fit into memory; give fewer",
        ),
        (
            format!("{network} 300,300"),
            "--hidden 300,300 makes a model of 92102 parameters: 10000 draws of them for a verdict do not fit into memory; \
             give fewer, or --diagnostic-draws 2914",
        ),
        (
            format!("{network} 100000,2 --family matrix --diagnostic-draws 200"),
            "--hidden 100000,2 makes a model of 700006 parameters: the matrices over its layers do not fit into memory; \
             use --family gaussian --covariance diagonal, or fewer of them",
        ),
        (
            "fit network classes.csv --target y --likelihood multiclass".into(),
            "the target \"y\", with classes up to 9007199254740992, makes a model of 459367161991790743 parameters: \
             at most 2684354 fit into memory; give fewer",
        ),
        (
            // Under normal priors four rows make it small; coefficients that share a scale are all there.
            "fit logistic wide.csv --target y --prior student_t --family gaussian".into(),
            "the table, with its columns, makes a model of 12001 parameters: a full covariance of them does not fit into \
             memory; use --covariance diagonal, or fewer of them",
        ),
    ] {
        let ended = story.run(&words(&command));
        assert_eq!((ended.code, ended.stderr), (Some(2), format!("error: {sentence}\n")), "{command}");
    }
}
