//! A temporary folder in which the program is run.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) struct Story {
    folder: TempDir,
}

/// How the program ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Story {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_elinvar"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let mut stderr = text(stderr);
        // On a busy machine a fit may take so long that its progress is shown.
        if stderr.lines().any(is_progress) {
            stderr = stderr.lines().filter(|line| !is_progress(line)).map(|line| format!("{line}\n")).collect();
        }
        Ended { code: status.code(), stdout: text(stdout), stderr }
    }

    /// Runs what must end with code 0 and say nothing on stderr.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}\n{}", ended.stdout);
        ended.stdout
    }

    /// Runs with `--json` what must end with code 0.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap()
    }

    /// Runs with `--json` what may need more steps or another family: the exit code says whether it converged and is
    /// trusted.
    pub(crate) fn json_good_or_not(&self, arguments: &[&str]) -> serde_json::Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        let fit: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        // Chains do not need a fit that has converged.
        let ended_well = fit["converged"].as_bool().unwrap() || fit["given_by"] == "chains";
        let code = match (ended_well, fit["verdict"].as_str().unwrap()) {
            (false, "do_not_trust") => 3,
            (true, "trust") => 0,
            (true, "trust_means_only" | "do_not_trust") => 4,
            (converged, verdict) => panic!("{converged} and {verdict}"),
        };
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(code), ""), "{arguments:?}\n{fit}");
        fit
    }

    /// Everything in the folder, hidden files included.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        collect(self.folder.path(), self.folder.path(), &mut found);
        found
    }
}

/// A number of a JSON object.
pub(crate) fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Whether a line on stderr says how far a fit is.
pub(crate) fn is_progress(line: &str) -> bool {
    line.starts_with("step ") && line.contains(" evaluations/s")
        || line.starts_with("chains   ")
        || line.starts_with("pass ") && line.ends_with(" million per second")
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.insert(path.strip_prefix(root).unwrap().into());
        if path.is_dir() {
            collect(root, &path, found);
        }
    }
}

/// Uniform numbers in (0, 1), the same ones in every run.
pub(crate) struct Uniforms(u64);

impl Uniforms {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }
}
