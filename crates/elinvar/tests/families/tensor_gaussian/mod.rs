//! The family `matrix`: its formulas against others written independently, its theory, and what it recovers.

mod example;
mod formulas;
mod large;
mod moments;
mod network;
mod printed;
mod recovery;
mod runs;
mod theory;
