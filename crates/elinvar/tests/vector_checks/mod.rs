//! One module per file of vectors, and what they share.

mod compare;
mod dense;
mod family;
mod json;
mod laws;
mod logistic;
mod member;
mod special;
mod step;
