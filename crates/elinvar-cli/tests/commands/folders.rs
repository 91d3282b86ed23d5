//! Folders that hold something before a fit is kept there.

use crate::story::Story;

/// What a crash leaves of the settings.
const UNFINISHED: &str = ".config.toml.0123456789abcdef.part";

#[test]
fn a_folder_of_somebody_else_stays_as_it_is() {
    let story = Story::new();
    let not_empty = "error: films: the folder is not empty; remove it or name another with --out\n";
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
    // The results take the place of links, too.
    std::fs::remove_file(story.path("run/report.html")).unwrap();
    std::os::unix::fs::symlink(story.path("victim"), story.path("run/report.html")).unwrap();
    story.run(&["resume", "run", "--tolerance", "0.001"]);
    assert_eq!(story.read("victim"), "precious");
    assert!(!story.path("run/report.html").is_symlink());
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
