//! One module per file of vectors, and what they share.

mod beyond;
mod compare;
mod dense;
mod experiments;
mod family;
mod json;
mod laws;
mod logistic;
mod mcef;
mod member;
mod models;
mod mog;
mod special;
mod step;
