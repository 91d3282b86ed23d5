//! The list of families in the tests against the lists in the library, and parameters as data.

use std::collections::BTreeSet;

use elinvar::Family;
use elinvar::family::{AnyApproximation, State};

use crate::members::Member;

#[test]
fn every_family_has_its_line() {
    fn note<Q: Member>(q: &Q, seen: &mut Vec<(String, String, std::mem::Discriminant<AnyApproximation>)>) {
        let any: AnyApproximation = q.clone().into();
        seen.push((q.family().to_string(), format!("{:?}", q.covariance_kind()), std::mem::discriminant(&any)));
    }
    let mut seen = Vec::new();
    every_member!(note(2, 1, &mut seen));
    let found: BTreeSet<(String, String)> = seen.iter().map(|(name, kind, _)| (name.clone(), kind.clone())).collect();
    let expected: BTreeSet<(String, String)> = Family::NAMES
        .iter()
        .flat_map(|name| ["Full", "Diagonal"].map(|kind| (name.to_string(), kind.to_string())))
        .collect();
    assert_eq!(found, expected);
    let variants: std::collections::HashSet<_> = seen.iter().map(|(_, _, variant)| variant).collect();
    assert_eq!(variants.len(), seen.len(), "two members share a variant of AnyApproximation");
}

/// State → JSON → state → member is the identity, bit by bit; data that do not fit are refused.
fn round_trip<Q: Member>(q: &Q) {
    let state = q.state();
    let read: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(read, state, "{}", q.name());
    assert_eq!(Q::from_state(&read).unwrap(), *q, "{}", q.name());
    let any: AnyApproximation = q.clone().into();
    let again = AnyApproximation::from_state(&read).unwrap();
    assert_eq!(again, any, "{}", q.name());
    let z: Vec<f64> = (0..q.dim()).map(|i| (1.0 + i as f64).sin()).collect();
    assert_eq!(again.log_density(&z).to_bits(), q.log_density(&z).to_bits());

    let spoilt = |change: &dyn Fn(&mut State)| {
        let mut state = q.state();
        change(&mut state);
        assert!(Q::from_state(&state).is_err() && AnyApproximation::from_state(&state).is_err(), "{}", q.name());
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
