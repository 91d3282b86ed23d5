//! Whole fits, bit for bit: the net under every change that is meant to leave the numbers as they are.
//!
//! `cargo xtask bits` runs some hundred short fits through the public interface and compares each with its line in
//! `bits.txt`: hashes of the bits of the final state, of every step of the trace and of the judgement, the numbers of
//! evaluations, the reason to stop and the verdict. `cargo xtask bits mog` runs those whose names contain `mog`; `cargo
//! xtask bits --write` records anew, in a commit that says why the numbers are other ones.
//!
//! The bits depend neither on the run nor on the number of threads, but on the machine: the kernels of the library, its
//! linear algebra and the mathematical functions of the system choose their instructions by the processor (AVX-512, or
//! AVX2 with FMA, or neither), and a compiler or a system library of another version may round differently. On a
//! machine other than that of the recording: check out the commit before the change, record there, and compare the
//! change with that recording.

mod cases;
mod line;
mod record;
mod targets;

use cases::Case;
use line::Line;

use crate::threads;

const USAGE: &str = "bits takes --write, or part of the names of the fits to run";

/// The recording, from the root of the repository, where tasks are run.
const PATH: &str = "crates/elinvar-checks/bits.txt";

/// The instructions that decide about bits, as far as this processor has them.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    let features = [
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512dq", std::is_x86_feature_detected!("avx512dq")),
        ("avx512vl", std::is_x86_feature_detected!("avx512vl")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("fma", std::is_x86_feature_detected!("fma")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let features: [(&str, bool); 0] = [];
    let found = features.iter().filter(|(_, has)| *has).map(|(name, _)| format!(" {name}"));
    format!("# processor: {}{}", std::env::consts::ARCH, found.collect::<String>())
}

fn head() -> String {
    format!(
        "\
# Whole fits, bit for bit; `cargo xtask bits` compares, `cargo xtask bits --write` records anew.
# ELBO of the judgement's draws; hashes of the final state, of the trace, of what searches, restarts and rungs found and of the
# judgement; evaluations of (log density, gradient, Hessian) and dropped draws; steps, why they ended, verdict.
# The bits depend on the processor's instructions, the system's mathematical functions and the compiler. On another machine, record
# with the commit before a change and compare the change with that.
{}
",
        processor()
    )
}

/// Runs the check.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (write, part) = match arguments {
        [] => (false, ""),
        [word] if word == "--write" => (true, ""),
        [word] if !word.starts_with('-') => (false, word.as_str()),
        _ => return Err(USAGE.to_string()),
    };
    let mut cases = cases::all();
    cases.retain(|case| case.name.contains(part));
    cases.sort_by(|one, two| one.name.cmp(&two.name));
    if cases.is_empty() {
        return Err(format!("no fit has \"{part}\" in its name"));
    }
    let results = threads::for_each(cases.len(), |i| record::line(&cases[i]));
    let failures: Vec<&str> = results.iter().filter_map(|result| result.as_ref().err()).map(String::as_str).collect();
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let lines: Vec<Line> = results.into_iter().flatten().collect();
    if write {
        let text = head() + &lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        return std::fs::write(PATH, text).map_err(|problem| format!("{PATH}: {problem}"));
    }
    let text = std::fs::read_to_string(PATH).map_err(|problem| format!("{PATH}: {problem}"))?;
    compare(&text, &cases, part, &lines)
}

/// Prints every fit that is not as recorded; an error if there is one.
fn compare(text: &str, cases: &[Case], part: &str, lines: &[Line]) -> Result<(), String> {
    if !text.lines().any(|line| line == processor()) {
        println!(
            "the recording is of another processor, so that most bits differ: record with the commit before the change first"
        );
    }
    let mut recorded = line::parse(text)?;
    recorded.retain(|line| line.name.contains(part));
    let mut failed = 0;
    for new in lines {
        let Some(old) = recorded.iter().find(|old| old.name == new.name) else {
            println!("{}: not recorded", new.name);
            failed += 1;
            continue;
        };
        let differing = old.differences(new);
        if differing.is_empty() {
            continue;
        }
        failed += 1;
        println!("{}: {} differ", new.name, differing.join(", "));
        for part in ["elbo", "counts", "steps", "stop", "verdict"] {
            if part == "elbo" || differing.contains(&part) {
                println!("    {part:<8} {} → {}", old.part(part), new.part(part));
            }
        }
    }
    for old in recorded.iter().filter(|old| cases.iter().all(|case| case.name != old.name)) {
        println!("{}: recorded, but there is no such fit", old.name);
        failed += 1;
    }
    println!("{} fits, {failed} not as recorded", lines.len());
    if failed == 0 { Ok(()) } else { Err("numbers have changed".to_string()) }
}

#[cfg(test)]
mod tests;
