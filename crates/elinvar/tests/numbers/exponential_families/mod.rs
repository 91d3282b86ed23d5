//! What every component must satisfy: densities, parameters, derivatives and samplers against quadrature and
//! differences.
//!
//! Runs over the whole list of components; the members that stand for a family are in `members.rs`.

mod density;
mod extremes;
mod measure;
mod members;
mod parameters;
mod paths;
mod samplers;
