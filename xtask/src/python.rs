//! The Python package: a virtual environment, a wheel, its tests.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Interpreters to look for, the one that people type first.
const INTERPRETERS: [&str; 4] = ["python3", "python3.13", "python3.12", "python3.11"];
/// What the peers of elinvar come in.
const PEERS: [&str; 6] = ["numpy>=2", "scipy", "jax", "nutpie", "blackjax", "gsmvi"];
/// Says whether an interpreter can make an environment for the package.
const SUITS: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
/// What the core tests need.
const CORE: [&str; 4] = ["maturin>=1.9,<2", "numpy>=2", "pytest>=8", "arviz-base>=0.7"];
/// What the tests of all front ends need.
///
/// Where the newest PyMC is one that imports the old ArviZ, the newest matplotlib does not go with it.
/// Stan's compiler and headers come with httpstan.
const ALL: [&str; 19] = [
    "jax",
    "numpyro",
    "pymc",
    "numba",
    "bambi",
    "torch",
    "scikit-learn>=1.6",
    "pandas",
    "matplotlib<3.10",
    "bridgestan",
    "httpstan",
    "nutpie",
    "blackjax",
    "mypy",
    "arviz-stats",
    "dask[dataframe]>=2025.1",
    "distributed>=2025.1",
    "pyarrow",
    "mpi4py>=4",
];

/// Why there are no Python tests.
pub(crate) const MISSING: &str = "no python3 of version 3.11 or newer with venv was found";

/// How the Python tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tested {
    /// They passed.
    Passed,
    /// There is no Python to run them with.
    NoPython,
}

/// Makes an environment with the package in it and runs its tests; with `all`, those of every front end.
pub(crate) fn test(all: bool) -> Result<Tested, String> {
    let Some(python) = installed(all)? else { return Ok(Tested::NoPython) };
    // The numbers of the package are compared with those of the program.
    let target = root().join("target");
    call(
        cargo()
            .args(["build", "--workspace", "--all-features", "--bin", "elinvar", "--target-dir"])
            .arg(&target)
            .current_dir(root()),
    )?;
    let program = target.join("debug").join("elinvar");
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "--import-mode=append"]).current_dir(root()).env("ELINVAR_PROGRAM", program);
    call(&mut tests)?;
    Ok(Tested::Passed)
}

/// Times what the package adds to a user's own function; with `all`, also the way to a first verdict and second
/// derivatives, and writes docs/python-speed.md.
pub(crate) fn bench(all: bool) -> Result<(), String> {
    let python = installed(all)?.ok_or(MISSING)?;
    let benches = root().join("python").join("benches");
    if !all {
        return call(Command::new(&python).arg(benches.join("overhead.py")));
    }
    ["overhead.py", "first_verdict.py", "hessians.py"]
        .into_iter()
        .try_for_each(|bench| call(Command::new(&python).arg(benches.join(bench)).arg("--write")))
}

/// Fits every model of python/gallery, beside a sampler, and writes docs/gallery.md.
pub(crate) fn gallery() -> Result<(), String> {
    let python = installed(true)?.ok_or(MISSING)?;
    let found = root().join("target").join("python").join("gallery.jsonl");
    // What an earlier wheel has found is not what this one finds.
    let _ = std::fs::remove_file(&found);
    call(Command::new(&python).arg(root().join("python").join("gallery").join("run.py")).arg("--out").arg(&found))
}

/// Runs elinvar and its peers on the posteriordb of `collection` and the tables of `tables`; writes docs/peers.md.
pub(crate) fn peers(collection: &str, tables: &str) -> Result<(), String> {
    let python = environment("venv-peers")?.ok_or(MISSING)?;
    call(&mut pip(&python, &PEERS))?;
    let folder = root().join("target").join("peers");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (told, found) = (folder.join("told.json"), folder.join("found.jsonl"));
    // What an earlier run has found is not what this one finds.
    let _ = std::fs::remove_file(&found);
    let target = root().join("target");
    let build = ["build", "--workspace", "--all-features", "--bin", "elinvar-checks", "--target-dir"];
    call(cargo().args(build).arg(&target).current_dir(root()))?;
    let mut checks = Command::new(target.join("debug").join("elinvar-checks"));
    call(checks.args(["peers", collection, tables]).arg(&told))?;
    let script = root().join("crates").join("elinvar-checks").join("peers").join("run.py");
    let page = root().join("docs").join("peers.md");
    let mut run = Command::new(&python);
    run.arg(script).arg(&told).args([collection, tables, "--page"]).arg(page).arg("--record").arg(found);
    call(&mut run)
}

/// Fits rows that do not fit into memory, by the program and on Dask, and writes docs/scale.md; with `short`, few rows
/// and no page.
pub(crate) fn scale(short: bool) -> Result<(), String> {
    let python = installed(true)?.ok_or(MISSING)?;
    let target = root().join("target");
    let mut build = cargo();
    build.args(["build", "--release", "-p", "elinvar-cli", "--target-dir"]).arg(&target).current_dir(root());
    call(&mut build)?;
    let mut bench = Command::new(&python);
    bench.arg(root().join("python").join("benches").join("scale.py"));
    bench.arg(target.join("release").join("elinvar")).arg(target.join("scale"));
    call(bench.args(short.then_some("--short")))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The interpreter of an environment in which the package is installed from a wheel; `None` where there is no Python.
fn installed(all: bool) -> Result<Option<PathBuf>, String> {
    let Some(python) = environment(if all { "venv-all" } else { "venv" })? else { return Ok(None) };
    let built = root().join("target").join("python");
    call(&mut pip(&python, &CORE))?;
    if all {
        call(&mut pip(&python, &ALL))?;
    }
    let manifest = root().join("crates").join("elinvar-python").join("Cargo.toml");
    call(cargo().args(["fmt", "--check", "--manifest-path"]).arg(&manifest))?;
    let wheels = built.join("wheels");
    // A wheel of an earlier version would be found beside the new one.
    let _ = std::fs::remove_dir_all(&wheels);
    let mut build = Command::new(&python);
    build.args(["-m", "maturin", "build", "--quiet", "--release", "--locked", "--out"]).arg(&wheels);
    call(
        build
            .current_dir(root())
            .env("CARGO_TARGET_DIR", &built)
            .env("VIRTUAL_ENV", python.ancestors().nth(2).expect("python is in bin of its environment")),
    )?;
    call(pip(&python, &["--force-reinstall", "--no-deps"]).arg(wheel_in(&wheels)?))?;
    Ok(Some(python))
}

/// The interpreter of the environment of this name, which is made where there is none; `None` where there is no Python.
fn environment(name: &str) -> Result<Option<PathBuf>, String> {
    let Some(python) = INTERPRETERS.into_iter().find(|python| suits(python)) else { return Ok(None) };
    let environment = root().join("target").join("python").join(name);
    if !environment.join("bin").join("python").exists() {
        call(Command::new(python).args(["-m", "venv"]).arg(&environment))?;
    }
    Ok(Some(environment.join("bin").join("python")))
}

/// Installs packages in the environment of `python`.
fn pip(python: &Path, arguments: &[&str]) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "install"]).args(arguments);
    pip
}

fn suits(python: &str) -> bool {
    Command::new(python).args(["-c", SUITS]).output().is_ok_and(|done| done.status.success())
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn wheel_in(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut wheels =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "whl"));
    wheels.next().ok_or_else(|| format!("{} has no wheel after the build", folder.display()))
}

/// Prints a command and runs it.
fn call(command: &mut Command) -> Result<(), String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let line = line.join(" ");
    eprintln!("\n$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{line} ({status})")),
        Err(error) => Err(format!("{line} could not be started: {error}")),
    }
}
