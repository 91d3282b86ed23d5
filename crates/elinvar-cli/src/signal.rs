//! Ctrl-C and a polite request to end.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
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
        for signal in [SIGINT, SIGTERM] {
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

    fn answer(&self) {
        while !self.is_asked() {
            thread::sleep(Duration::from_millis(50));
        }
        let _ = writeln!(std::io::stderr(), "\nstopping after this step; Ctrl-C again leaves at once");
    }
}
