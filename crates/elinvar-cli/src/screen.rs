//! The screen that results are printed on.

/// Its width in places; `None` where stdout is no screen, or does not say.
#[cfg(unix)]
pub(crate) fn width() -> Option<usize> {
    use std::io::IsTerminal as _;
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// Nobody is asked elsewhere.
#[cfg(not(unix))]
pub(crate) fn width() -> Option<usize> {
    None
}
