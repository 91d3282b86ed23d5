//! Everything that the reference vectors say about the families, the steps and the functions they rest on: one module
//! per file of vectors, and what they share.
//!
//! The folder of vectors is named by `ELINVAR_VECTORS`; without it `tests/vectors` is read. Any other vectors of the
//! same shape serve as well: dimensions, ranks, numbers of components, draws and cases come from the files.

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
