//! Numbers against numbers: reference vectors, committed traces, and laws and components against quadrature.

#[path = "../state/mod.rs"]
mod state;
#[path = "../subjects/mod.rs"]
mod subjects;

mod exponential_families;
mod golden;
mod laws;
mod orthant;
mod vectors;
