//! Text on the screen.

use std::io::{self, Write as _};

use crate::error::Failure;

/// Prints all of it; whoever has read enough may close the pipe.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("the result could not be printed ({error})")))
        }
        _ => Ok(()),
    }
}
