//! A fit that is stopped from another thread and goes on later, to the same bits.
//!
//! `cargo run --release -p elinvar --example stop_and_resume`

use std::ops::ControlFlow;

use elinvar::model::BetaBinomial;
use elinvar::prelude::*;
use elinvar::research::run::Folder;

pub(crate) fn main() -> elinvar::Result {
    let model = BetaBinomial::cancer_mortality();
    let family = Family::mog(3);
    let place = std::env::temp_dir().join(format!("elinvar-stop-and-resume-{}", std::process::id()));
    let journal = Folder::new(&place)?;

    // Any thread may hold the handle: that of a user interface, a timer, a handler of signals.
    let handle = StopHandle::new();
    let other = handle.clone();
    let (reached, waits) = std::sync::mpsc::channel();
    let timer = std::thread::spawn(move || {
        let _ = waits.recv();
        other.stop();
    });
    let stopped = Fit::new(&model)
        .family(family)
        .journal(&journal)
        .stop_with(&handle)
        .observe(|step| {
            if step.index == 10 {
                let _ = reached.send(());
            }
            // An observer may stop the fit, too.
            if step.index < 1_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .run();
    drop(reached);
    timer.join().expect("the timer ends");
    match stopped {
        Err(Error::Interrupted) => println!("stopped; going on"),
        other => println!("it was faster than the timer: {}", other?.stop_reason()),
    }
    let resumed = Fit::new(&model).family(family).journal(&journal).run()?;
    let straight = Fit::new(&model).family(family).run()?;
    assert_eq!(resumed.approximation(), straight.approximation());
    println!("{resumed}");
    std::fs::remove_dir_all(&place).map_err(|source| Error::Io { path: place, source })
}
