//! The examples, as people copy them.

#[path = "../../examples/closure.rs"]
mod closure;
#[cfg(feature = "dual")]
#[path = "../../examples/dual_numbers.rs"]
mod dual_numbers;
#[path = "../../examples/eight_schools.rs"]
mod eight_schools;
#[path = "../../examples/hierarchy.rs"]
mod hierarchy;
#[path = "../../examples/logistic_by_hand.rs"]
mod logistic_by_hand;
#[path = "../../examples/mini_batches.rs"]
mod mini_batches;
#[path = "../../examples/mixture_posterior.rs"]
mod mixture_posterior;
#[path = "../../examples/own_component.rs"]
mod own_component;
#[path = "../../examples/own_family.rs"]
mod own_family;
#[path = "../../examples/own_law.rs"]
mod own_law;
#[cfg(feature = "theory")]
#[path = "../../examples/own_rule.rs"]
mod own_rule;
#[path = "../../examples/researchers_loop.rs"]
mod researchers_loop;
#[path = "../../examples/save_and_load.rs"]
mod save_and_load;
#[path = "../../examples/stop_and_resume.rs"]
mod stop_and_resume;

#[test]
fn all_of_them_run() -> elinvar::Result {
    closure::main()?;
    #[cfg(feature = "dual")]
    dual_numbers::main()?;
    eight_schools::main()?;
    hierarchy::main()?;
    logistic_by_hand::main()?;
    mini_batches::main()?;
    mixture_posterior::main()?;
    own_component::main()?;
    own_family::main()?;
    own_law::main()?;
    #[cfg(feature = "theory")]
    own_rule::main()?;
    researchers_loop::main()?;
    save_and_load::main()?;
    stop_and_resume::main()
}
