//! What a program that depends on the library takes to compile: processor seconds of each crate, by a wrapper around
//! rustc, since seconds on a clock are those of whatever else runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Names the file to which the wrapper adds its lines.
const LOG: &str = "ELINVAR_COMPILE_TIME";
const RECORD: &str = "docs/compile-time.csv";
const PAGE: &str = "docs/compile-time.md";
const BEGIN: &str = "<!-- table -->\n";
const END: &str = "<!-- end -->";
/// What the rows of the present sources are called.
const PRESENT: &str = "present";
/// Clock ticks in a second, which Linux shows to programs.
const TICKS: f64 = 100.0;

/// The program of somebody who has just found the library.
const PROGRAM: &str = r#"use elinvar::prelude::*;

fn main() -> elinvar::Result {
    let model = log_density(2, |x, gradient| {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
        -0.5 * (x[0] * x[0] + x[1] * x[1])
    });
    println!("{}", elinvar::fit(&model)?);
    Ok(())
}
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Stands in for rustc where cargo asks for that: runs it and notes what it took.
pub(crate) fn wrap(arguments: &[String]) -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let (rustc, rest) = arguments.split_first()?;
    let status = Command::new(rustc).args(rest).status().ok()?;
    let name = rest.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    if let (Some(name), Some(seconds)) = (name.filter(|name| *name != "___"), seconds_of_children()) {
        use std::io::Write as _;
        let file = fs::OpenOptions::new().create(true).append(true).open(log);
        // A record that cannot be written is missed at the end.
        let _ = file.and_then(|mut file| writeln!(file, "{PRESENT},{name},{seconds:.2}"));
    }
    Some(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}

/// Processor seconds of the programs that this one has run, by Linux.
fn seconds_of_children() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold blanks; after it cutime and cstime are the 14th and 15th.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let ticks: f64 = fields.get(13..15)?.iter().filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    Some(ticks / TICKS)
}

/// Writes the page anew from the record.
pub(crate) fn page() -> Result<(), String> {
    write_page(&root())
}

/// Builds the program in an empty folder, one job at a time, and writes record and page anew.
pub(crate) fn measure() -> Result<(), String> {
    let root = root();
    let folder = root.join("target/compile-time");
    let tell = |what: &str, error: std::io::Error| format!("{what}: {error}");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| tell("the folder of the last time", error))?;
    }
    fs::create_dir_all(folder.join("src")).map_err(|error| tell("a folder", error))?;
    let library = root.join("crates/elinvar");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         elinvar = {{ path = {library:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).map_err(|error| tell("a manifest", error))?;
    fs::write(folder.join("src/main.rs"), PROGRAM).map_err(|error| tell("a program", error))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).map_err(|error| tell("Cargo.lock", error))?;
    let log = folder.join("log.csv");
    let wrapper = std::env::current_exe().map_err(|error| tell("this program", error))?;
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release"])
        .current_dir(&folder)
        .env("RUSTC_WRAPPER", wrapper)
        .env("CARGO_BUILD_JOBS", "1")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env(LOG, &log)
        .status()
        .map_err(|error| tell("cargo", error))?;
    if !status.success() {
        return Err(format!("the program was not built: {status}"));
    }
    let fresh = fs::read_to_string(&log).map_err(|error| tell("what the wrapper wrote", error))?;
    let before = fs::read_to_string(root.join(RECORD)).unwrap_or_default();
    let kept = before.lines().filter(|line| !line.starts_with(PRESENT));
    let text: Vec<&str> = kept.chain(fresh.lines()).collect();
    fs::write(root.join(RECORD), text.join("\n") + "\n").map_err(|error| tell(RECORD, error))?;
    write_page(&root)
}

fn write_page(root: &Path) -> Result<(), String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let page = with_table(&read(PAGE)?, &table(&read(RECORD)?));
    fs::write(root.join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))
}

fn with_table(page: &str, table: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).unwrap_or((page, ""));
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    format!("{before}{BEGIN}{table}{END}{after}")
}

/// What a crate is there for.
fn purpose(name: &str) -> &'static str {
    let is_of_other_numbers = ["_c32", "_c64", "_f32"].iter().any(|end| name.ends_with(end));
    match name {
        "elinvar" => "elinvar",
        "program" => "the program itself",
        "faer" => "faer",
        _ if name.contains("gemm") && is_of_other_numbers => "products of complex and single numbers, never called",
        _ if name.contains("gemm") => "products of doubles",
        "pulp" | "qd" | "faer_traits" | "raw_cpuid" | "dyn_stack" | "reborrow" | "generativity" | "bytemuck" => {
            "what faer and its products stand on"
        }
        "serde" | "serde_core" | "serde_json" | "memchr" | "itoa" | "zmij" => "files",
        "syn" | "quote" | "proc_macro2" | "unicode_ident" | "build_script_build" => "macros and build scripts",
        _ if name.ends_with("_derive") || name.ends_with("_macro") || name.ends_with("_macros") => {
            "macros and build scripts"
        }
        "thiserror_impl" | "paste" | "seq_macro" | "autocfg" | "version_check" | "interpol" => {
            "macros and build scripts"
        }
        _ if name.starts_with("rayon") || name.starts_with("crossbeam") || name == "either" => "threads",
        _ if name.starts_with("rand") || name == "ppv_lite86" || name == "zerocopy" => "random numbers",
        _ if name.starts_with("num") || name == "errorfunctions" || name == "libm" => "special functions",
        _ => "others",
    }
}

/// Rows by purpose, largest first, beside what was measured of other commits.
fn table(record: &str) -> String {
    let rows = || {
        record.lines().filter_map(|line| line.split_once(',')).filter_map(|(of, rest)| {
            let (name, seconds) = rest.split_once(',')?;
            Some((of, name, seconds.parse::<f64>().ok()?))
        })
    };
    let mut sums: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for (_, name, seconds) in rows().filter(|(of, ..)| *of == PRESENT) {
        let sum = sums.entry(purpose(name)).or_default();
        *sum = (sum.0 + 1, sum.1 + seconds);
    }
    let all = sums.values().fold((0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let mut ordered: Vec<_> = sums.into_iter().collect();
    ordered.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    let mut text = String::from("| what | calls of rustc | processor seconds | share |\n|---|--:|--:|--:|\n");
    let mut line = |what: &str, (count, seconds): (usize, f64)| {
        let share = 100.0 * seconds / all.1;
        text += &format!("| {what} | {count} | {seconds:.1} | {share:.0} % |\n");
    };
    ordered.iter().for_each(|(what, sum)| line(what, *sum));
    line("all", all);
    let mut others: BTreeMap<(&str, &str), (usize, f64)> = BTreeMap::new();
    for (of, name, seconds) in rows().filter(|(of, ..)| *of != PRESENT) {
        let sum = others.entry((of, purpose(name))).or_default();
        *sum = (sum.0 + 1, sum.1 + seconds);
    }
    others.iter().for_each(|((of, what), sum)| line(&format!("{what}, {of}"), *sum));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_record_says() {
        let page = crate::tree::read(&root().join(PAGE));
        let record = crate::tree::read(&root().join(RECORD));
        assert_eq!(page, with_table(&page, &table(&record)), "write it anew by `cargo xtask compile-time --page`");
    }

    #[test]
    fn crates_are_added_up_by_what_they_are_for() {
        let record = "before,elinvar,9.0\npresent,elinvar,6.0\npresent,nano_gemm_c32,1.5\npresent,gemm_f32,0.5\n";
        let rows: Vec<String> = table(record).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(rows[0], "| elinvar | 1 | 6.0 | 75 % |");
        assert_eq!(rows[1], "| products of complex and single numbers, never called | 2 | 2.0 | 25 % |");
        assert_eq!(rows[2..], ["| all | 3 | 8.0 | 100 % |", "| elinvar, before | 1 | 9.0 | 112 % |"]);
    }

    /// A program that computes for some ticks is seen to.
    #[test]
    fn seconds_of_a_child_are_those_of_its_processor() {
        let before = seconds_of_children().unwrap();
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", busy]).status().unwrap().success());
        assert!(seconds_of_children().unwrap() > before);
    }
}
