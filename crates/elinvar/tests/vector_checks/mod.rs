//! One module per file of vectors, and what they share.

mod beyond;
mod compare;
mod dense;
mod experiments;
mod family;
mod json;
mod laws;
mod logistic;
mod member;
mod mog;
mod special;
mod step;
