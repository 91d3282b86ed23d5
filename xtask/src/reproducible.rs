//! The program that is given to others: the same commit, built in two folders, has the same bits.
//!
//! Sources that build scripts of dependencies write are compiled under their full path, which then stands in the
//! program (`target/release/build/nano-gemm-f64-…/out/codegen.rs`), and so do those of the registry. Cargo's own
//! remedy, `trim-paths`, is not stable; so the compiler is told what to write instead of the two folders. Cargo leaves
//! these flags out of what symbols are named by.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of different lengths, so that a path in the program moves everything behind it.
const FOLDERS: [&str; 2] = ["target/reproducible/one", "target/reproducible/another/place"];

/// Builds the program of the folder at `root` by this profile, and says where it is.
pub(crate) fn build(root: &Path, profile: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let home = std::env::home_dir().unwrap_or_default();
    let cargo_home = std::env::var_os("CARGO_HOME").map_or(home.join(".cargo"), PathBuf::from);
    let root = root.canonicalize().map_err(|e| format!("{}: {e}", root.display()))?;
    let flags = [(&root, "elinvar"), (&cargo_home, "cargo")]
        .map(|(folder, word)| format!("--remap-path-prefix={}={word}", folder.display()));
    let mut build = Command::new(cargo);
    build.args(["build", "--profile", profile, "--locked"]).current_dir(&root);
    // A folder with a blank in its name is one word.
    build.env_remove("CARGO_TARGET_DIR").env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    run(&mut build)?;
    Ok(root.join("target").join(profile).join("elinvar"))
}

/// Builds the last commit twice and compares the programs byte by byte.
pub(crate) fn check() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // One commit for both, even if another is made meanwhile.
    let commit = last_commit(&root)?;
    let programs = [built(&root, FOLDERS[0], &commit)?, built(&root, FOLDERS[1], &commit)?];
    let [one, other] = programs.each_ref().map(|path| fs::read(path).map_err(|e| format!("{}: {e}", path.display())));
    let (one, other) = (one?, other?);
    match difference(&one, &other) {
        Some(at) => Err(format!(
            "{} ({} bytes) and {} ({} bytes) differ from byte {at} on",
            programs[0].display(),
            one.len(),
            programs[1].display(),
            other.len()
        )),
        None => {
            eprintln!("both programs have {} bytes, and the same", one.len());
            Ok(())
        }
    }
}

fn last_commit(root: &Path) -> Result<String, String> {
    let mut git = Command::new("git");
    let head = git.arg("-C").arg(root).args(["rev-parse", "HEAD"]).output().map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&head.stdout).trim().to_string())
}

/// The program of this commit, built in a folder of its own.
fn built(root: &Path, folder: &str, commit: &str) -> Result<PathBuf, String> {
    let folder = root.join(folder);
    if !folder.exists() {
        run(Command::new("git").args(["clone", "--quiet", "--shared"]).arg(root).arg(&folder))?;
    }
    run(Command::new("git").arg("-C").arg(&folder).args(["checkout", "--quiet", "--detach", commit]))?;
    build(&folder, "release")
}

fn run(command: &mut Command) -> Result<(), String> {
    eprintln!("\n$ {command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?} could not be started: {error}")),
    }
}

/// The first byte in which the two differ, the end of the shorter one included.
fn difference(one: &[u8], other: &[u8]) -> Option<usize> {
    let differing = one.iter().zip(other).position(|(a, b)| a != b);
    differing.or((one.len() != other.len()).then(|| one.len().min(other.len())))
}

#[test]
fn programs_are_compared_to_their_ends() {
    assert_eq!(difference(b"abc", b"abc"), None);
    assert_eq!(difference(b"abc", b"abd"), Some(2));
    assert_eq!(difference(b"ab", b"abd"), Some(2));
    assert_eq!(difference(b"", b""), None);
}
