//! The `elinvar` command.
fn main() {}
