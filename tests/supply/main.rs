//! What comes into the build, held against deny.toml: the rules of `cargo deny check bans licenses sources` where there is no
//! cargo-deny and no network.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

mod licence;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use licence::Expression;

/// The packages of the repository, each with a `Cargo.lock` of its own.
const PACKAGES: [&str; 6] = [".", "python", "stores", "fuzz", "tests/browser", "tests/mutants"];

/// The one place that crates come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn toml<T: for<'de> Deserialize<'de>>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Bans {
    multiple_versions: String,
    deny: Vec<Named>,
    skip: Vec<Named>,
}

/// `name` or `name@version`.
#[derive(Deserialize)]
struct Named {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

fn rules() -> Rules {
    toml(&root().join("deny.toml"))
}

fn locks() -> impl Iterator<Item = (&'static str, Lock)> {
    PACKAGES.into_iter().map(|package| (package, toml(&root().join(package).join("Cargo.lock"))))
}

#[test]
fn every_crate_comes_from_the_registry_with_its_checksum() {
    let mut crates = 0;
    for (package, lock) in locks() {
        for locked in lock.package {
            let Some(source) = &locked.source else {
                assert!(locked.name.starts_with("accsim"), "{package}: {} lies on a path", locked.name);
                continue;
            };
            assert_eq!(source, REGISTRY, "{package}: {}", locked.name);
            assert_eq!(locked.checksum.map(|sum| sum.len()), Some(64), "{package}: {}", locked.name);
            crates += 1;
        }
    }
    assert!(crates > 500, "{crates}");
}

#[test]
fn no_banned_crate_is_locked() {
    let rules = rules();
    for (package, lock) in locks() {
        for locked in lock.package {
            if let Some(ban) = rules.bans.deny.iter().find(|ban| ban.name == locked.name) {
                panic!("{package}: {} is banned: {}", ban.name, ban.reason);
            }
        }
    }
}

/// A second version of a crate was weighed, or it does not come in; and what was weighed is still there.
#[test]
fn second_versions_are_those_that_were_weighed() {
    let rules = rules();
    assert_eq!(rules.bans.multiple_versions, "deny");
    // What is built here: Cargo.lock also names what no build has.
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let words = ["tree", "--locked", "--all-features", "--prefix", "none", "--format", "{p}"];
    let tree = Command::new(env!("CARGO")).current_dir(root()).args(words).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    for line in String::from_utf8(tree.stdout).unwrap().lines() {
        if let Some((name, rest)) = line.split_once(" v") {
            let version = rest.split(' ').next().unwrap();
            versions.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let is_weighed = |version: &&String| rules.bans.skip.iter().any(|skip| skips(skip, name, version));
        let left: Vec<_> = versions.iter().filter(|version| !is_weighed(version)).collect();
        assert!(left.len() <= 1, "{name} is there as {left:?}: weigh it in deny.toml");
    }
    let lock: Lock = toml(&root().join("Cargo.lock"));
    for skip in &rules.bans.skip {
        let is_there = lock.package.iter().any(|locked| skips(skip, &locked.name, &locked.version));
        assert!(is_there, "{} is no second version any more", skip.name);
        assert!(!skip.reason.is_empty());
    }
}

fn skips(skip: &Named, name: &str, version: &str) -> bool {
    let (skipped, prefix) = skip.name.split_once('@').unwrap();
    skipped == name
        && version.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    root: String,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    source: Option<String>,
    rust_version: Option<String>,
}

/// What cargo knows of the crates of this machine's target, all features on: those of other systems are not downloaded.
fn metadata() -> Vec<Package> {
    let version = Command::new(env!("CARGO")).args(["-vV"]).output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--locked", "--all-features", "--format-version", "1", "--filter-platform", host])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Metadata { mut packages, resolve } = serde_json::from_slice(&output.stdout).unwrap();
    // What the package leads to: what is named and asked for by nobody is no part of it.
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![resolve.root]);
    while let Some(id) = waiting.pop() {
        let node = resolve.nodes.iter().find(|node| node.id == id).unwrap();
        waiting.extend(node.dependencies.iter().filter(|next| !reached.contains(*next)).cloned());
        reached.insert(id);
    }
    packages.retain(|package| reached.contains(&package.id));
    packages
}

#[test]
fn every_licence_is_allowed() {
    let rules = rules();
    let packages = metadata();
    assert!(packages.len() > 150, "{}", packages.len());
    for package in packages.iter().filter(|package| package.source.is_some()) {
        let exception = rules.licenses.exceptions.iter().find(|exception| exception.name == package.name);
        let is_allowed = |name: &str| {
            rules.licenses.allow.contains(name)
                || exception.is_some_and(|exception| exception.allow.contains(name))
        };
        let licence = package.license.as_deref().unwrap_or_else(|| panic!("{} names none", package.name));
        let holds = Expression::parse(licence).unwrap_or_else(|fault| panic!("{}: {fault}", package.name));
        assert!(holds.is_met(&is_allowed), "{}: {licence}", package.name);
    }
}

/// No crate asks for a newer compiler than `rust-version`, which is the one that continuous integration installs.
#[test]
fn the_oldest_compiler_suffices_for_every_crate_and_is_the_tested_one() {
    let packages = metadata();
    let number =
        |version: &str| -> Vec<u32> { version.split('.').map(|part| part.parse().unwrap()).collect() };
    let own = packages.iter().find(|package| package.name == "accsim").unwrap().rust_version.clone().unwrap();
    for package in &packages {
        if let Some(asked) = &package.rust_version {
            assert!(number(asked) <= number(&format!("{own}.0")), "{} asks for {asked}", package.name);
        }
    }
    for workflow in ["ci.yml", "release.yml"] {
        let text = std::fs::read_to_string(root().join(".github/workflows").join(workflow)).unwrap();
        assert!(text.contains(&format!("{own}.0")), "{workflow} installs another compiler than {own}");
    }
}
