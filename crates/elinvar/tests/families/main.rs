//! What every family must satisfy, full and diagonal; a family is registered by its line in `every_member!`.

#[macro_use]
#[path = "../members/mod.rs"]
mod members;

mod averages;
mod density;
mod draws;
mod estimators;
mod registered;
