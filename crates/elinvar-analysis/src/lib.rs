//! What a table becomes: settings, a model by name, a judged fit, and its page, JSON object, report and run folder.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![allow(missing_docs)]

pub mod analysis;
pub mod compare;
pub mod diagnose;
pub mod draws;
pub mod error;
pub mod family;
pub mod held_out;
pub mod job;
pub mod json;
pub mod kept;
pub mod models;
pub mod number;
pub mod page;
pub mod place;
pub mod prior;
pub mod report;
pub mod rows;
pub mod run_folder;
pub mod settings;
pub mod shell;
pub mod stan;
pub mod table;
