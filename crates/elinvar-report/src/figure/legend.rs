//! The key above several panels.

use crate::content::Correction;
use elinvar_figure::svg::{Anchor, Legend, Marks};

/// What the two kinds of draws look like.
pub(crate) fn of_draws(correction: Option<Correction>) -> Legend {
    let mut marks = Marks::default();
    marks.rect("q-area", (0.0, 6.0), (18.0, 11.0));
    marks.line("q-line", (0.0, 6.0), (18.0, 6.0));
    marks.text("q-text", (24.0, 16.0), Anchor::Start, "approximation q");
    if let Some(correction) = correction {
        marks.line("p-line", (130.0, 12.0), (148.0, 12.0));
        marks.text("p-text", (154.0, 16.0), Anchor::Start, &format!("corrected by {}", correction.words()));
    }
    Legend { width: 350.0, height: 30.0, marks }
}
