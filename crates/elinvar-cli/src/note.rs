//! What is said beside a result, on stderr.

use std::io::{IsTerminal as _, Write as _};

use elinvar::posterior::Diagnostics;
use elinvar_analysis::Kept;
use elinvar_analysis::number::grouped;

/// One line; a closed stderr is no reason to fail.
pub(crate) fn note(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "note: {sentence}");
}

/// A line for somebody who is looking: nothing is wrong, and a script need not hear of it.
pub(crate) fn remark(sentence: &str) {
    if std::io::stderr().is_terminal() {
        note(sentence);
    }
}

/// Says which files beside a fit were changed since; a file that the command needs is refused by itself.
pub(crate) fn note_changes(kept: &Kept) {
    for path in kept.changed_files() {
        note(&format!("{}: the file is not as the fit has left it: its checksum does not fit", path.display()));
    }
}

/// Says so where importance weights cannot be relied on.
pub(crate) fn warn_of_weights(diagnostics: &Diagnostics) {
    let (draws, threshold) = (grouped(diagnostics.n_draws as u64), diagnostics.pareto_k_threshold);
    let share = 100.0 * diagnostics.effective_sample_size / diagnostics.n_draws as f64;
    match diagnostics.pareto_k {
        Some(k) if k <= threshold => {}
        Some(k) => note(&format!(
            "k\u{302} is {k:.2}, above {threshold:.2} for {draws} draws: few of them have most of the weight (they are worth \
             {share:.1} % of their number), and resampling does not mend this fit; try another family"
        )),
        None => note(&format!("the weights of {draws} draws have no tail that k\u{302} could be told from")),
    }
}
