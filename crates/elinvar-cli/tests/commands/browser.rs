//! The reports of real fits in a real browser: `cargo xtask browser`.

use crate::chromium;
use crate::story::Story;

#[test]
#[ignore = "needs a browser: cargo xtask browser"]
fn reports_of_fits_work_in_a_real_browser() {
    if !chromium::is_wanted() {
        return;
    }
    let story = Story::new();
    let fits: [(&str, &[&str]); 3] = [
        ("example", &["fit", "--quiet"]),
        ("mixture", &["fit", "--quiet", "--family", "mog", "--components", "3", "--max-steps", "300"]),
        ("stopped", &["fit", "--quiet", "--family", "gaussian", "--max-steps", "5"]),
    ];
    let pages = fits.map(|(name, words)| {
        let ended = story.run(&[words, &["--out", name]].concat());
        assert!(matches!(ended.code, Some(0 | 3 | 4)), "{}", ended.stderr);
        story.path(name).join("report.html")
    });
    // Named after the fit, for the screenshots.
    let named = [0, 1, 2].map(|i| {
        let path = story.path(&format!("{}.html", fits[i].0));
        std::fs::copy(&pages[i], &path).unwrap();
        path
    });
    chromium::check(&named);
}
