//! What is done with a fitted approximation: judging it, correcting it, drawing from it.

mod pareto;

pub use pareto::{LogMeanExp, Smoothed, log_mean_exp, pareto_k_threshold, pareto_smooth, resample, resample_distinct};
