//! The exact view of the families against the reference vectors.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "vector_checks/mcef.rs"]
mod mcef;
