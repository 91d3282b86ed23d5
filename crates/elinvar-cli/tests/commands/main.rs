//! The program from outside: what is typed, what is printed, what is kept, and how it ends.

#[path = "../../../elinvar-report/tests/pages/chromium.rs"]
mod chromium;
mod story;

mod adversity;
mod bad_input;
mod bad_runs;
mod browser;
mod categorical;
mod cli;
mod config;
mod correction;
mod data_in;
mod effects;
mod families;
mod folders;
mod formulas;
mod kills;
mod ladder;
mod loo;
mod model_checks;
mod predict;
mod printed;
mod priors;
mod references;
mod report;
mod reproduce;
mod resume;
mod runs;
mod streams;
mod tips;
mod tutorial;
mod verdicts;
mod wide;
