//! Files, resumed runs and damaged states.

use elinvar::model::CategoryShares;
use elinvar::{Plan, Posterior};

use super::*;
use crate::ef_mixture::kept::resumed_runs_keep_every_bit;
use crate::state::{State, Stated};

fn target() -> CategoryShares {
    CategoryShares::new(vec![4.0, 1.0, 7.0]).unwrap().with_partial(&[0, 1], 9.0).unwrap()
}

#[test]
fn files_and_resumed_runs_keep_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    let (target, family) = (target(), Family::dirichlet(2));
    let mut plan = Plan::default();
    (plan.stop.max_steps, plan.stop.remaining_nats) = (60, 0.0);
    let posterior = elinvar::run::fit(&target, family, &plan).unwrap();
    posterior.save(&path).unwrap();
    let read = Posterior::load(&path).unwrap();
    assert_eq!(read.approximation(), posterior.approximation());
    assert_eq!((read.family(), read.names()), (family, posterior.names()));
    let (one, two) = (posterior.sample_z(50, 3), read.sample_z(50, 3));
    assert_eq!(one.view().as_slice(), two.view().as_slice());

    let from = elinvar::run::start(&target, family, &plan).unwrap().approximation;
    resumed_runs_keep_every_bit(&target, &from, &plan, &path);
}

#[test]
fn damaged_states_are_refused() {
    let good = mixture(&[0.4, 0.6], &[&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0]]).state();
    assert!(Approximation::from_state(&good).is_ok());
    let spoilt = |change: &dyn Fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        assert!(Approximation::from_state(&state).is_err(), "{state:?}");
        assert!(serde_json::from_str::<Approximation>(&serde_json::to_string(&state).unwrap()).is_err());
    };
    spoilt(&|state| state.blocks[0].b[1] = 0.0);
    spoilt(&|state| state.blocks[1].b[2] = f64::NAN);
    spoilt(&|state| _ = state.blocks[1].b.pop());
    spoilt(&|state| state.blocks[0].precision.push(1.0));
    spoilt(&|state| state.dim = 4);
    spoilt(&|state| _ = state.blocks.pop());
    spoilt(&|state| state.log_weights = vec![0.0]);
}
