//! What is said to a flag that is not there.

use crate::story::Story;

#[test]
fn a_tip_means_what_was_typed_and_not_what_has_the_same_letters() {
    let story = Story::new();
    for (typed, meant) in [("--iter", "--max-steps"), ("--sed", "--seed"), ("--output", "--out")] {
        let said = story.run(&["fit", typed, "3"]).stderr;
        assert!(said.contains(&format!("a similar argument exists: '{meant}'")), "{said}");
        assert!(said.contains("Usage: elinvar fit [OPTIONS]") && !said.contains("--no-intercept"), "{said}");
    }
    let said = story.run(&["fit", "--zzzzzz"]).stderr;
    assert!(said.contains("unexpected argument '--zzzzzz'") && !said.contains("similar"), "{said}");
}
