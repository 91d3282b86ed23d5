//! The family `matrix`: its formulas against others written independently, its theory, and what it recovers.

#[path = "../members/differences.rs"]
#[allow(dead_code, reason = "a part is used")]
mod differences;
#[path = "../subjects/mod.rs"]
mod subjects;

mod example;
mod formulas;
mod large;
mod moments;
mod network;
mod recovery;
mod runs;
mod theory;
