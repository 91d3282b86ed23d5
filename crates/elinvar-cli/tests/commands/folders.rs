//! Folders that hold something before a fit is kept there.

use crate::story::Story;

#[test]
fn a_folder_of_somebody_else_stays_as_it_is() {
    let story = Story::new();
    let not_empty = "error: films: the folder is not empty; remove it or name another with --out\n";
    // Names that end like our own unfinished files, and names that are our own.
    for strangers in [&["movie.mkv.part"][..], &["config.toml.part"], &["fit.json.part", "trace.csv.part"]] {
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
    story.write("run/notes.part", "precious").write("run/trace.csv.part", "step");
    story.run(&["resume", "run", "--tolerance", "0.001"]);
    assert_eq!(story.read("run/notes.part"), "precious");
    assert!(!story.path("run/trace.csv.part").exists());
}

#[test]
fn a_folder_in_which_a_fit_died_at_once_is_taken_again() {
    let story = Story::new();
    for leftovers in [&[][..], &["run/config.toml.part"]] {
        std::fs::create_dir_all(story.path("run/checkpoint")).unwrap();
        for name in leftovers {
            story.write(name, "[mod");
        }
        story.ok(&["fit", "--out", "run"]);
        assert!(story.path("run/fit.json").exists() && !story.path("run/config.toml.part").exists());
        std::fs::remove_dir_all(story.path("run")).unwrap();
    }
}
