//! The pages of made-up fits in a real browser.
//!
//! `ELINVAR_BROWSER_TESTS=1 cargo test -p elinvar-report --test browser -- --include-ignored` runs it. It needs node and npm;
//! Chromium is looked for, and installed with apt-get where it is missing and that is possible; playwright-core is installed by npm.
//! `ELINVAR_BROWSER_SHOTS` names a folder for the screenshots.

mod sample;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use elinvar_report::html;

const CHROMIUM: [&str; 4] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

#[test]
#[ignore = "needs a browser: set ELINVAR_BROWSER_TESTS=1 and run with --include-ignored"]
fn pages_work_in_a_real_browser() {
    if env::var("ELINVAR_BROWSER_TESTS").as_deref() != Ok("1") {
        eprintln!("not run: ELINVAR_BROWSER_TESTS is not 1");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser");
    for file in ["package.json", "check.mjs"] {
        fs::copy(browser.join(file), folder.path().join(file)).unwrap();
    }
    run(Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder.path()));
    let contents = [
        ("logistic-11", sample::logistic_11()),
        ("logistic-61", sample::logistic_61()),
        ("mixture-10", sample::mixture_10()),
        ("hostile", sample::hostile()),
    ];
    let pages = contents.map(|(name, content)| {
        let path = folder.path().join(format!("{name}.html"));
        fs::write(&path, html(&content)).unwrap();
        path
    });
    let shots = env::var("ELINVAR_BROWSER_SHOTS").map_or_else(|_| folder.path().join("shots"), PathBuf::from);
    run(Command::new("node").arg("check.mjs").arg(chromium()).arg(shots).args(pages).current_dir(folder.path()));
}

fn chromium() -> PathBuf {
    let find = || CHROMIUM.iter().map(PathBuf::from).find(|path| path.exists());
    find().unwrap_or_else(|| {
        run(Command::new("apt-get").args(["install", "-y", "chromium"]));
        find().expect("chromium is not where apt-get puts it")
    })
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?} failed:\n{}{}", text(&output.stdout), text(&output.stderr));
}
