//! Ctrl-C, a polite request to end, and a terminal that closes.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::code;

/// Whether the user has asked the program to end. The second request ends it at once, whatever it does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on; answers the request unless `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let interrupt = Self::default();
        let hang_up = (!ignores_hang_up()).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
            // The first request finds the flag down, raises it, and so arms the second. A system that does not let us
            // listen ends the program by itself, which leaves files whole as well.
            let _ = flag::register_conditional_shutdown(signal, code::INTERRUPTED.into(), Arc::clone(&interrupt.asked));
            let _ = flag::register(signal, Arc::clone(&interrupt.asked));
        }
        if !quiet {
            let listener = interrupt.clone();
            // A step may take long, the answer should not.
            thread::spawn(move || listener.answer());
        }
        interrupt
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Says it once, as soon as it is known.
    fn answer(&self) {
        while !self.is_asked() {
            thread::sleep(Duration::from_millis(50));
        }
        let _ = writeln!(std::io::stderr(), "\nstopping after this step; Ctrl-C again leaves at once");
    }
}

/// Sends the program a signal after so many rounds of chains, where a test says so by `ELINVAR_SIGNAL_AT_ROUND="15:2"`:
/// signals of another process come when the machine lets them. Builds without debug assertions know nothing of it.
#[cfg(debug_assertions)]
pub(crate) fn send_after_round(round: u64) {
    let asked = std::env::var("ELINVAR_SIGNAL_AT_ROUND").unwrap_or_default();
    let asked = asked.split_once(':').and_then(|(signal, at)| Some((signal.parse().ok()?, at.parse().ok()?)));
    if let Some((signal, at)) = asked
        && round == at
    {
        let _ = signal_hook::low_level::raise(signal);
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn send_after_round(_: u64) {}

/// Whether the program was begun by `nohup` or the like, to outlive its terminal; where that cannot be known, a hang-up
/// is left to the system, which ends the program with its state kept.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 << (SIGHUP - 1) != 0)
}
