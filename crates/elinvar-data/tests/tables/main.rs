//! Tables: every format and every sentence about a file that cannot be read.

mod problem;
#[cfg(feature = "parquet")]
mod written;

mod arrays;
mod describe;
mod errors;
mod formats;
mod parquet;
mod robust;
mod sharded;
mod story;
