//! Results on the screen.

use std::io::{self, Write};

use crate::error::Failure;

/// Prints all of it.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// Prints what `write` makes; whoever has read enough may close the pipe.
pub(crate) fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("the result could not be printed ({error})")))
        }
        _ => Ok(()),
    }
}
