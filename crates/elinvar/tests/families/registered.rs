//! The list of families in the tests against the lists in the library, and parameters as data.

use elinvar::internals::family::Stepping;
use std::collections::BTreeSet;

use crate::state::{State, Stated};
use elinvar::Family;
use elinvar::family::Approximation;

use crate::members::Member;

#[test]
fn every_family_has_its_line() {
    fn note(q: &Approximation, seen: &mut Vec<(String, String)>) {
        seen.push((q.family().to_string(), format!("{:?}", q.family().covariance)));
    }
    let mut seen = Vec::new();
    every_member!(note(2, 1, &mut seen));
    let found: BTreeSet<(String, String)> = seen.iter().cloned().collect();
    assert_eq!(found.len(), seen.len(), "a family has two members");
    // Mixtures of exponential families have no scale matrix, and `matrix` has several: ef_mixture, dirichlet,
    // tests/theory/ef_mixture.rs and tensor_gaussian are theirs.
    let expected: BTreeSet<(String, String)> = Family::NAMES
        .iter()
        .filter(|name| !["ef_mixture", "birnbaum_saunders", "dirichlet", "matrix"].contains(name))
        .flat_map(|name| ["Full", "Diagonal"].map(|kind| (name.to_string(), kind.to_string())))
        .collect();
    assert_eq!(found, expected);
}

/// Member → JSON → member is the identity, bit by bit; data that do not fit are refused.
fn round_trip(q: &Approximation) {
    let again: Approximation = serde_json::from_str(&serde_json::to_string(q).unwrap()).unwrap();
    assert_eq!(again, *q, "{}", q.name());
    assert_eq!(Approximation::from_state(&q.state()).unwrap(), *q, "{}", q.name());
    let z: Vec<f64> = (0..q.dim()).map(|i| (1.0 + i as f64).sin()).collect();
    assert_eq!(again.log_density(&z).to_bits(), q.log_density(&z).to_bits());

    let spoilt = |change: &dyn Fn(&mut State)| {
        let mut state = q.state();
        change(&mut state);
        let text = serde_json::to_string(&state).unwrap();
        assert!(Approximation::from_state(&state).is_err(), "{}", q.name());
        assert!(serde_json::from_str::<Approximation>(&text).is_err(), "{}", q.name());
    };
    spoilt(&|state| state.blocks[0].precision[0] = -1.0);
    spoilt(&|state| state.blocks[0].b[0] = f64::NAN);
    spoilt(&|state| state.dim += 1);
    spoilt(&|state| {
        state.blocks[0].b.pop();
    });
    spoilt(&|state| state.blocks.clear());
}

#[test]
fn parameters_survive_json_bit_by_bit() {
    for seed in 0..30 {
        every_member!(round_trip(1 + (seed % 4) as usize, 300 + seed));
    }
}

/// Sums of natural parameters, relative to any other member, give the parameters back.
fn there_and_back(q: &Approximation) {
    let state = q.state();
    let shifted = q.with(|state| {
        state.blocks.iter_mut().for_each(|block| block.b.iter_mut().for_each(|b| *b += 0.7));
        state.blocks.iter_mut().for_each(|block| block.precision.iter_mut().for_each(|p| *p *= 1.9));
    });
    for reference in [q, &shifted] {
        let (mut offset, mut sum) = (vec![0.0; q.dim()], vec![0.0; q.natural_len()]);
        (0..3).for_each(|_| q.add_natural(reference, &mut offset, &mut sum));
        let again = Approximation::from_natural(reference, &sum, 1.0 / 3.0).unwrap().state();
        assert_eq!((again.family, again.dim), (state.family, state.dim));
        let near = |what: &str, found: &[f64], expected: &[f64]| {
            let scale = expected.iter().fold(1.0f64, |most, v| most.max(v.abs()));
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-12 * scale, "{}, {what}: {a} and {b}", q.name());
            }
        };
        near("weights", &again.log_weights, &state.log_weights);
        for (found, expected) in again.blocks.iter().zip(&state.blocks) {
            near("B", &found.b, &expected.b);
            near("P", &found.precision, &expected.precision);
        }
        // A sum of precisions that is none has no member.
        assert!(Approximation::from_natural(reference, &sum, -1.0).is_none(), "{}", q.name());
    }
}

#[test]
fn natural_parameters_give_the_parameters_back() {
    for seed in 0..10 {
        every_member!(there_and_back(1 + (seed % 4) as usize, 380 + seed));
    }
}
