//! Pages in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const CHROMIUM: [&str; 4] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

/// Whether the tests with a browser were asked for.
pub(crate) fn is_wanted() -> bool {
    let wanted = env::var("ELINVAR_BROWSER_TESTS").as_deref() == Ok("1");
    if !wanted {
        eprintln!("not run: ELINVAR_BROWSER_TESTS is not 1; cargo xtask browser sets it");
    }
    wanted
}

/// Opens the pages in every look, and fails with the list of what a person would miss.
pub(crate) fn check(pages: &[PathBuf]) {
    let folder = tempfile::tempdir().unwrap();
    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("../elinvar-report/browser");
    for file in ["package.json", "check.mjs"] {
        fs::copy(browser.join(file), folder.path().join(file)).unwrap();
    }
    let chromium = chromium();
    run(Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder.path()));
    let shots = env::var("ELINVAR_BROWSER_SHOTS").map_or_else(|_| folder.path().join("shots"), PathBuf::from);
    run(Command::new("node").arg("check.mjs").arg(chromium).arg(shots).args(pages).current_dir(folder.path()));
}

fn chromium() -> PathBuf {
    let named = env::var_os("ELINVAR_CHROMIUM").map(PathBuf::from);
    let found = named.or_else(|| CHROMIUM.iter().map(PathBuf::from).find(|path| path.exists()));
    found.unwrap_or_else(|| {
        panic!(
            "there is no Chromium in {}: install it, on Debian with apt-get install chromium, or name it with ELINVAR_CHROMIUM",
            CHROMIUM.join(", ")
        )
    })
}

fn run(command: &mut Command) {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|error| {
        panic!("{program} could not be started ({error}); the browser tests need node and npm")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{program} failed:\n{}{}", text(&output.stdout), text(&output.stderr));
}
