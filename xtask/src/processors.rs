//! The same fits on other processors, which QEMU plays; writes docs/processors.md.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Processors with AVX2 and FMA but without AVX-512, and with none of them.
const PROCESSORS: [(&str, &str); 2] = [("Haswell", "AVX2 and FMA"), ("Nehalem", "neither AVX nor FMA")];

/// Fits that end soon on a processor that is played: up to 16 coordinates products are plain loops, above they are
/// those of the linear algebra.
const FITS: [&str; 6] = [
    "fit",
    "fit --family mog --components 3 --max-steps 40",
    "fit --family skew --max-steps 40",
    "fit --family gaussian --correct",
    "fit logistic wide.csv --target y",
    "fit linear wide.csv --target y --family gaussian --curvature stein",
];

/// Runs the fits on this processor and on those that `qemu`, a program such as `qemu-x86_64`, plays.
pub(crate) fn compare(qemu: &str) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("target/processors");
    fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("wide.csv"), wide())).map_err(|e| e.to_string())?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?.with_file_name("elinvar");
    let said = |command: &mut Command, fit: &str| -> Result<String, String> {
        let fit = fit.split(' ').chain(["--json", "--quiet"]);
        let output = command.args(fit).current_dir(&folder).output().map_err(|e| format!("{command:?}: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.is_empty() {
            Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
        } else {
            Ok(text)
        }
    };
    let mut rows = String::new();
    for fit in FITS {
        let own = said(&mut Command::new(&program), fit)?;
        for (processor, has) in PROCESSORS {
            eprintln!("{fit} on {processor}");
            let other = said(Command::new(qemu).args(["-cpu", processor]).arg(&program), fit)?;
            let found = difference(&own, &other)?;
            let largest = if found.differ == 0 { "0".into() } else { format!("{:.0e}", found.largest) };
            let _ = writeln!(rows, "| `{fit}` | {has} | {} | {} | {largest} |", found.numbers, found.differ);
        }
    }
    let head = HEAD.replace("AT HAND", if has_avx512() { "which had AVX-512" } else { "which had no AVX-512" });
    fs::write(root.join("docs/processors.md"), head + &rows).map_err(|e| e.to_string())
}

const HEAD: &str = "\
# The same fits on other processors

`cargo xtask processors QEMU` runs fits on the processor at hand, AT HAND, and on others that QEMU plays
(`qemu-x86_64 -cpu Haswell` and `Nehalem`), and writes this table: numbers in the JSON of the fit, times aside, how many
of them have other bits, and by how much the most different one differs, relatively. Words and verdicts were the same in
all. What is promised stands in [design](design.md#the-same-bits). `wide.csv` is made by the command: 60 columns of
normal numbers.

| fit | processor has | numbers | other bits | largest difference |
|---|---|---|---|---|
";

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

/// 60 columns and 240 rows, the same in every run.
fn wide() -> String {
    let mut state = 1_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text: String = (0..60).map(|k| format!("x{k},")).collect::<String>() + "y\n";
    for _ in 0..240 {
        let row: Vec<f64> = (0..60).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect();
        let y = u8::from(row[0] - row[1] + 4.0 * (uniform() - 0.5) > 0.0);
        text += &row.iter().map(|x| format!("{x:.3},")).collect::<String>();
        text += &format!("{y}\n");
    }
    text
}

#[derive(Debug, PartialEq)]
struct Difference {
    numbers: usize,
    differ: usize,
    largest: f64,
}

/// How the numbers of two texts differ whose other words are the same; times are left out.
fn difference(one: &str, other: &str) -> Result<Difference, String> {
    let words = |text: &str| -> Vec<String> {
        let lines = text.split(|c: char| ",{}[]\n".contains(c)).map(str::trim);
        lines.filter(|word| !word.is_empty() && !word.contains("seconds")).map(str::to_string).collect()
    };
    let (one, other) = (words(one), words(other));
    let mut found = Difference { numbers: 0, differ: 0, largest: 0.0 };
    if one.len() != other.len() {
        return Err(format!("{} words, and {} on the other processor", one.len(), other.len()));
    }
    for (a, b) in one.iter().zip(&other) {
        let number = |word: &str| word.rsplit(':').next().unwrap_or(word).trim().parse::<f64>().ok();
        match (number(a), number(b)) {
            (Some(x), Some(y)) => {
                found.numbers += 1;
                found.differ += usize::from(x.to_bits() != y.to_bits());
                found.largest = found.largest.max((x - y).abs() / x.abs().max(f64::MIN_POSITIVE));
            }
            _ if a == b => {}
            _ => return Err(format!("{a:?}, and {b:?} on the other processor")),
        }
    }
    Ok(found)
}

#[test]
fn numbers_are_compared_and_words_must_be_the_same() {
    let found =
        difference("{\"a\": 1.0, \"seconds\": 2, \"b\": [2.0, 3]}", "{\"a\": 1.0, \"seconds\": 9, \"b\": [2.5, 3]}");
    assert_eq!(found, Ok(Difference { numbers: 3, differ: 1, largest: 0.25 }));
    assert!(difference("{\"v\": \"trust\"}", "{\"v\": \"no\"}").is_err() && difference("1", "1, 2").is_err());
    assert_eq!(wide().lines().count(), 241);
}
