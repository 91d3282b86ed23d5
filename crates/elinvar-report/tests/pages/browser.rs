//! The pages of made-up fits in a real browser.
//!
//! `cargo xtask browser` runs it. It needs node, npm and Chromium (`ELINVAR_CHROMIUM` names one that is elsewhere);
//! playwright-core is installed by npm into a temporary folder. `ELINVAR_BROWSER_SHOTS` names a folder for the
//! screenshots.

use std::fs;

use elinvar_report::html;

use crate::{chromium, sample};

#[test]
#[ignore = "needs a browser: cargo xtask browser"]
fn pages_work_in_a_real_browser() {
    if !chromium::is_wanted() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
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
    chromium::check(&pages);
}
