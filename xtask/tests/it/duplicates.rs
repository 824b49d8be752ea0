//! Crates with several versions are listed in `deny.toml`, as `cargo deny check bans` requires.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;

use crate::workspace;

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Deny {
    bans: Bans,
}

#[derive(Deserialize)]
struct Bans {
    skip: Vec<Skipped>,
}

/// An old version, as `name@version`.
#[derive(Deserialize)]
struct Skipped {
    #[serde(rename = "crate")]
    package: String,
    reason: String,
}

#[test]
fn every_duplicate_is_listed() {
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let lock: Lock = toml::from_str(&lock).unwrap();
    let mut versions: BTreeMap<&str, BTreeSet<(u64, u64, u64)>> = BTreeMap::new();
    for package in &lock.package {
        versions.entry(&package.name).or_default().insert(parts(&package.version));
    }
    // All versions but the newest one.
    let old: BTreeSet<String> = versions
        .iter()
        .flat_map(|(name, versions)| {
            let old = versions.iter().take(versions.len() - 1);
            old.map(move |(major, minor, patch)| format!("{name}@{major}.{minor}.{patch}"))
        })
        .collect();
    let deny = fs::read_to_string(workspace().join("deny.toml")).unwrap();
    let deny: Deny = toml::from_str(&deny).unwrap();
    let listed: BTreeSet<String> =
        deny.bans.skip.iter().map(|skipped| skipped.package.clone()).collect();
    assert_eq!(old, listed, "left: Cargo.lock, right: `skip` in deny.toml");
    assert!(deny.bans.skip.iter().all(|skipped| !skipped.reason.is_empty()));
}

fn parts(version: &str) -> (u64, u64, u64) {
    let version = version.split(['-', '+']).next().unwrap();
    let mut parts = version.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
}
