//! The exact view of the families against the reference vectors.

#[path = "vector_checks/mcef.rs"]
mod mcef;
