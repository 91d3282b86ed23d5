//! What every family must satisfy, full and diagonal, and what each adds; a family is registered by its line in
//! `every_member!`.

#[path = "../state/mod.rs"]
mod state;
#[macro_use]
#[path = "../members/mod.rs"]
mod members;
#[path = "../subjects/mod.rs"]
mod subjects;

mod averages;
mod density;
mod dirichlet;
mod draws;
mod ef_mixture;
mod estimators;
mod learned_lambda;
mod learned_shape;
mod registered;
mod scale_mixtures;
mod tensor_gaussian;
