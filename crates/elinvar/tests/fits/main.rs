//! Whole fits: what they find and are worth, why they end, and that they give the same bits again.

#[path = "../state/mod.rs"]
mod state;
#[path = "../subjects/mod.rs"]
mod subjects;

mod counting;

mod accuracy;
mod answers;
mod believed;
#[cfg(feature = "theory")]
mod by_hand;
mod components;
mod correction;
mod determinism;
mod examples;
mod face;
mod faults;
mod files;
mod growth;
mod interrupted;
mod interrupts;
mod journal;
mod ladder;
mod modes;
mod own_component;
mod own_family;
mod own_law;
mod pathological;
mod pooled;
mod recovery;
mod restarts;
mod robust;
mod rules;
mod stops;
mod surroundings;
mod values_only;
mod verdict;
mod wide;
