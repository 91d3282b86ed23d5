//! One module per file of vectors, and what they share.

mod adam_like;
mod beyond;
mod compare;
mod dense;
mod ef_mixture;
mod experiments;
mod family;
mod implicit;
mod json;
mod laws;
mod logistic;
mod matrix_variate;
mod mcef;
mod member;
mod models;
mod mog;
mod special;
mod step;
