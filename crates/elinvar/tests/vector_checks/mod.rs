//! One module per file of vectors, and what they share.

mod beyond;
mod compare;
mod dense;
mod experiments;
mod family;
mod json;
mod laws;
mod logistic;
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod mcef;
mod member;
mod models;
mod mog;
mod special;
mod step;
