//! Licences: permissive crates have permissive dependencies only, and all crates comply with `deny.toml`.

use std::collections::BTreeSet;

use serde::Deserialize;
use xtask::metadata::{Kind, Metadata, Package};

use crate::workspace;

#[test]
fn protocol_has_permissive_dependencies_only() {
    check_permissive("readyok-protocol");
}

#[test]
fn engine_has_permissive_dependencies_only() {
    check_permissive("readyok-engine");
}

#[test]
fn client_has_permissive_dependencies_only() {
    check_permissive("readyok-client");
}

#[test]
fn finds_a_gpl_dependency() {
    let found = not_permissive("readyok-rules");
    assert!(found.iter().any(|line| line.starts_with("shakmaty ")), "{found:?}");
}

#[test]
fn every_licence_is_allowed() {
    let deny = Deny::read();
    let metadata = metadata();
    let rejected: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| !is_allowed(package, &deny.licenses.allowed_to(&package.name)))
        .map(describe)
        .collect();
    assert!(rejected.is_empty(), "`deny.toml` does not allow {}", rejected.join(", "));
    for exception in &deny.licenses.exceptions {
        assert!(
            !is_allowed(named(&metadata, &exception.name), &deny.licenses.allow),
            "`{}` needs no exception",
            exception.name,
        );
    }
}

#[test]
fn protocol_has_no_required_dependency() {
    let metadata = metadata();
    let required: Vec<&str> = named(&metadata, "readyok-protocol")
        .dependencies
        .iter()
        .filter(|dependency| !dependency.optional && dependency.kind != Kind::Dev)
        .map(|dependency| dependency.name.as_str())
        .collect();
    assert!(required.is_empty(), "{required:?}");
}

#[test]
fn evaluates_licence_expressions() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
    let allowed = allowed.map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0-or-later", false),
        ("MIT OR GPL-3.0-or-later", true),
        ("MIT AND GPL-3.0-or-later", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND MPL-2.0", false),
        ("MIT OR Apache-2.0 AND MPL-2.0", true),
        ("MPL-2.0 AND Apache-2.0 OR LGPL-2.1-only", false),
        ("Apache-2.0 WITH LLVM-exception OR LGPL-3.0", true),
        ("Apache-2.0 WITH Other-exception", false),
        ("MIT/GPL-2.0", true),
        ("LGPL-3.0/MPL-2.0", false),
    ] {
        assert_eq!(spdx::is_permissive(expression, &allowed), Some(expected), "{expression}");
    }
    for broken in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "OR MIT", "MIT WITH"] {
        assert_eq!(spdx::is_permissive(broken, &allowed), None, "{broken}");
    }
}

fn check_permissive(name: &str) {
    let found = not_permissive(name);
    assert!(found.is_empty(), "`{name}` depends on {}", found.join(", "));
}

/// The dependencies of `name`, including itself, whose licence is not permissive.
fn not_permissive(name: &str) -> Vec<String> {
    let metadata = metadata();
    let allowed = Deny::read().licenses.allow;
    let needed = metadata.needed_by(named(&metadata, name), &[Kind::Normal, Kind::Build]);
    let packages = needed.into_iter().map(|needed| needed.package);
    packages.filter(|package| !is_allowed(package, &allowed)).map(describe).collect()
}

/// The licences in `deny.toml`.
#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

/// Additional licences of a crate.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

impl Deny {
    fn read() -> Self {
        toml::from_str(&std::fs::read_to_string(workspace().join("deny.toml")).unwrap()).unwrap()
    }
}

impl Licences {
    fn allowed_to(&self, name: &str) -> BTreeSet<String> {
        let own = self.exceptions.iter().filter(|exception| exception.name == name);
        self.allow.iter().chain(own.flat_map(|exception| &exception.allow)).cloned().collect()
    }
}

/// Reads the metadata for all features and platforms.
fn metadata() -> Metadata {
    Metadata::read(&workspace(), &["--all-features"]).unwrap()
}

fn named<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    metadata.package_named(name).unwrap()
}

fn is_allowed(package: &Package, licences: &BTreeSet<String>) -> bool {
    let declared = package.license.as_deref().unwrap_or_default();
    spdx::is_permissive(declared, licences) == Some(true)
}

fn describe(package: &Package) -> String {
    format!("{} ({})", package.name, package.license.as_deref().unwrap_or("?"))
}

/// Licence expressions of crates.
mod spdx {
    use std::collections::BTreeSet;
    use std::iter::Peekable;
    use std::vec::IntoIter;

    /// Whether the allowed licences suffice. `None` for an invalid expression.
    pub(super) fn is_permissive(expression: &str, allowed: &BTreeSet<String>) -> Option<bool> {
        // Old crates use `/` for `OR`.
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let tokens: Vec<&str> = spaced.split_whitespace().collect();
        let mut tokens = tokens.into_iter().peekable();
        let is_permissive = any(&mut tokens, allowed)?;
        tokens.next().is_none().then_some(is_permissive)
    }

    type Tokens<'a> = Peekable<IntoIter<&'a str>>;

    fn any(tokens: &mut Tokens<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
        let mut is_permissive = all(tokens, allowed)?;
        while tokens.next_if_eq(&"OR").is_some() {
            is_permissive |= all(tokens, allowed)?;
        }
        Some(is_permissive)
    }

    fn all(tokens: &mut Tokens<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
        let mut is_permissive = one(tokens, allowed)?;
        while tokens.next_if_eq(&"AND").is_some() {
            is_permissive &= one(tokens, allowed)?;
        }
        Some(is_permissive)
    }

    fn one(tokens: &mut Tokens<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
        match tokens.next()? {
            "(" => {
                let is_permissive = any(tokens, allowed)?;
                tokens.next_if_eq(&")").map(|_| is_permissive)
            }
            ")" | "OR" | "AND" | "WITH" => None,
            licence if tokens.next_if_eq(&"WITH").is_some() => {
                let exception = tokens.next()?;
                Some(allowed.contains(&format!("{licence} WITH {exception}")))
            }
            licence => Some(allowed.contains(licence)),
        }
    }
}
