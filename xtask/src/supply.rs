//! What the project depends on, held to the lists of `deny.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::tree::root;

/// The texts between quotes in the list that follows `key`.
fn list(text: &str, key: &str) -> Vec<String> {
    let start = text.find(&format!("\n{key} = [")).unwrap_or_else(|| panic!("deny.toml has no {key}"));
    let (inside, _) = text[start..].split_once("\n]").unwrap();
    inside.lines().filter_map(|line| line.split('"').nth(1)).map(str::to_string).collect()
}

fn deny() -> String {
    fs::read_to_string(root().join("deny.toml")).unwrap()
}

/// Whether one of the alternatives of an expression of licences is allowed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let words = expression.replace(['(', ')'], "").replace('/', " OR ");
    words.split(" AND ").all(|part| {
        part.split(" OR ").any(|licence| {
            let (licence, exception) = licence.split_once(" WITH ").unwrap_or((licence, ""));
            exception.is_empty() && allowed.iter().any(|known| known == licence.trim())
        })
    })
}

#[test]
fn licences_are_those_of_the_list() {
    let allowed = list(&deny(), "allow");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "tree --offline --locked --workspace --all-features -e normal,build,dev --prefix none --format";
    let output = Command::new(cargo).args(arguments.split(' ')).arg("{p}|{l}|").current_dir(root()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let packages: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.split('|').next().zip(line.split('|').nth(1))).collect();
    assert!(packages.len() > 100, "{}", String::from_utf8_lossy(&output.stderr));
    for (package, licence) in packages {
        assert!(is_allowed(licence, &allowed), "{package} has the licence {licence:?}, which deny.toml does not allow");
    }
}

/// Numbers of a version, such as 1.89.0.
fn version(text: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = text.split('.').map(|number| number.parse().unwrap()).collect();
    numbers.resize(3, 0);
    numbers
}

/// No dependency asks for a newer compiler than this project does.
#[test]
fn the_oldest_compiler_is_that_of_the_dependencies_too() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "metadata --offline --locked --format-version 1 --all-features --filter-platform";
    let (arguments, platform) = (arguments.split(' '), "x86_64-unknown-linux-gnu");
    let output = Command::new(cargo).args(arguments).arg(platform).current_dir(root()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let asked = text.split("\"rust_version\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let newest = asked.map(version).max().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let own = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).unwrap();
    assert_eq!(newest, version(own.trim_end_matches('"')));
}

#[test]
fn expressions_of_licences() {
    let allowed = ["MIT".to_string(), "Unicode-3.0".to_string()];
    for yes in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(yes, &allowed), "{yes}");
    }
    for no in ["", "GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0 WITH LLVM-exception"] {
        assert!(!is_allowed(no, &allowed), "{no}");
    }
}

/// Names, versions and sources of Cargo.lock.
fn locked() -> Vec<(String, String, String)> {
    let text = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.unwrap_or_default().trim_end_matches('"').to_string()
    };
    let packages = text.split("[[package]]").skip(1);
    packages.map(|package| (value(package, "name"), value(package, "version"), value(package, "source"))).collect()
}

#[test]
fn versions_beside_another_are_those_of_the_list() {
    let mut skipped = list(&deny(), "skip");
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, version, _) in locked() {
        versions.entry(name).or_default().push(version);
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        // Cargo lists them in order; all but the newest have to be known.
        let known = |version: &String| skipped.contains(&format!("{name}@{version}"));
        let n_unknown = versions.iter().filter(|version| !known(version)).count();
        assert_eq!(n_unknown, 1, "{name} comes in the versions {versions:?}");
    }
    skipped.retain(|listed| {
        let (name, version) = listed.split_once('@').unwrap();
        !versions.get(name).is_some_and(|found| found.len() > 1 && found.iter().any(|found| found == version))
    });
    assert!(skipped.is_empty(), "deny.toml lists {skipped:?} without need");
}

#[test]
fn sources_are_those_of_the_list() {
    let mut registries = Vec::new();
    for (name, version, source) in locked() {
        let is_own = name.starts_with("elinvar") || name == "xtask";
        assert!(if is_own { source.is_empty() } else { source.starts_with("registry+") }, "{name} {version}: {source}");
        registries.extend((!is_own).then_some(source));
    }
    registries.dedup();
    assert_eq!(registries.len(), 1, "crates come from one registry: {registries:?}");
}
