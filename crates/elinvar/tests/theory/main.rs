//! The ten checks of mathematics §0.8: each theorem as a statement about numbers, for every family it speaks of.

#[path = "../state/mod.rs"]
mod state;
#[macro_use]
#[path = "../members/mod.rs"]
mod members;

#[allow(dead_code, reason = "the tests of vectors use the rest")]
#[path = "../numbers/vectors/dense.rs"]
mod dense;

mod bonnet_price;
mod charts;
mod ef_mixture;
mod exactness;
mod fisher;
mod invariance;
mod natural_gradient;
mod paper_map;
mod printed;
