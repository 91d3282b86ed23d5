//! What a table becomes: settings, a model by name, a judged fit, and its page, JSON object, report and run folder.
//!
//! [`Settings`] are plain data, as a file or flags have them. A [`Job`] is what they ask for, checked: the model over
//! its rows, the family and the plan. [`Job::fit`] makes an [`Analysis`], which has the posterior, the verdict and
//! everything that is shown of them. A [`RunFolder`] keeps it, a [`Kept`] fit is opened again.
//!
//! Nothing here prints, reads arguments or ends the process; what goes wrong is an [`Error`].

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod analysis;
mod answer_draws;
mod blame;
mod compare;
mod diagnose;
mod draws;
pub mod effects;
mod error;
mod fail_point;
mod family;
pub mod formula;
mod held_out;
mod job;
mod json;
mod kept;
mod left_to_prior;
mod loo;
mod model_check;
mod models;
pub mod number;
mod own;
mod page;
mod parameter_quantiles;
pub mod place;
pub mod predict;
mod prior;
mod quantiles;
mod report;
mod response;
mod rows;
mod run_folder;
pub mod settings;
pub mod shell;
mod size;
pub mod stan;
mod start;
pub mod stream;
mod table;
mod wide;
mod words;

pub use analysis::Analysis;
pub use compare::Ranking;
pub use diagnose::SecondOpinion;
pub use draws::DrawTable;
pub use error::Error;
pub use held_out::{Metric, Scores, Test};
pub use job::Job;
pub use kept::{Kept, folder_of};
pub use loo::{ElpdRanking, LeftOut, Loo};
pub use model_check::{Check, ModelCheck, RSquared};
pub use run_folder::RunFolder;
pub use settings::Settings;
pub use size::{check_draws, check_memory};
