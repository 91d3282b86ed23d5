//! One command for each thing a developer or CI needs.
fn main() {}
