//! A pass over rows that are not in memory, on stderr, where it takes long enough to be waited for.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use elinvar_analysis::number::{grouped, significant};
use elinvar_analysis::stream::Pass;

/// How often.
const PERIOD: Duration = Duration::from_secs(5);

/// Shows a pass now and then; never if `quiet`.
pub(crate) fn shown(quiet: bool) -> impl Fn(&Pass) + Send + Sync {
    let last = Mutex::new(Instant::now());
    move |pass| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet || last.elapsed() < PERIOD {
            return;
        }
        *last = Instant::now();
        // What cannot be shown is not worth an error.
        let _ = writeln!(io::stderr(), "{}", line(pass));
    }
}

fn line(pass: &Pass) -> String {
    let of = if pass.of > 0 { format!(" of {}", grouped(pass.of)) } else { String::new() };
    let rate = significant(pass.rows as f64 / pass.seconds.max(1e-9) / 1e6);
    format!("pass {}: {}{of} rows, {rate} million per second", pass.number, grouped(pass.rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_says_how_far_it_is() {
        let pass = Pass { number: 3, rows: 1_500_000, of: 4_000_000, seconds: 0.5 };
        assert_eq!(line(&pass), "pass 3: 1,500,000 of 4,000,000 rows, 3 million per second");
        assert_eq!(line(&Pass { of: 0, ..pass }), "pass 3: 1,500,000 rows, 3 million per second");
    }
}
