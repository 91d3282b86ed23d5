//! The key above several panels.

use super::svg::{Anchor, Marks};

/// What the two kinds of draws look like.
pub(crate) fn of_draws(is_corrected: bool) -> Marks {
    let mut marks = Marks::default();
    marks.rect("q-area", (8.0, 6.0), (18.0, 11.0));
    marks.line("q-line", (8.0, 6.0), (26.0, 6.0));
    marks.text("q-text", (32.0, 16.0), Anchor::Start, "approximation q");
    if is_corrected {
        marks.line("p-line", (132.0, 12.0), (150.0, 12.0));
        marks.text("p-text", (156.0, 16.0), Anchor::Start, "corrected by importance weights");
    }
    marks
}
