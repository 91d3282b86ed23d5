//! Numbers against numbers: reference vectors, committed traces, and laws and components against quadrature.

#[path = "../subjects/mod.rs"]
mod subjects;

mod exponential_families;
mod golden;
mod laws;
mod vectors;
