//! Licences: permissive crates have permissive dependencies only, and all crates comply with `deny.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::Command;

use serde::Deserialize;

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
    assert!(found.iter().any(|it| it.starts_with("shakmaty ")), "{found:?}");
}

#[test]
fn every_licence_is_allowed() {
    let deny = Deny::read();
    let metadata = Metadata::read();
    let rejected: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| !package.is_allowed(&deny.licenses.allowed_to(&package.name)))
        .map(Package::to_string)
        .collect();
    assert!(rejected.is_empty(), "`deny.toml` does not allow {}", rejected.join(", "));
    for exception in &deny.licenses.exceptions {
        assert!(
            !metadata.package_named(&exception.name).is_allowed(&deny.licenses.allow),
            "`{}` needs no exception",
            exception.name,
        );
    }
}

#[test]
fn protocol_has_no_required_dependency() {
    let metadata = Metadata::read();
    let required: Vec<&str> = metadata
        .package_named("readyok-protocol")
        .dependencies
        .iter()
        .filter(|dependency| !dependency.optional && is_shipped(dependency.kind.as_deref()))
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
    let metadata = Metadata::read();
    let allowed = Deny::read().licenses.allow;
    metadata
        .needed_by(&metadata.package_named(name).id)
        .into_iter()
        .map(|id| metadata.package(id))
        .filter(|package| !package.is_allowed(&allowed))
        .map(Package::to_string)
        .collect()
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

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    dependencies: Vec<Dependency>,
}

impl Package {
    fn is_allowed(&self, licences: &BTreeSet<String>) -> bool {
        let declared = self.license.as_deref().unwrap_or_default();
        spdx::is_permissive(declared, licences) == Some(true)
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.license.as_deref().unwrap_or("?"))
    }
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    optional: bool,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

impl Metadata {
    /// Reads the metadata for all features and platforms, for which Cargo may fetch more crates.
    fn read() -> Self {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--locked", "--all-features"])
            .current_dir(workspace())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "`cargo metadata` failed; `cargo fetch` may help: {errors}"
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn package_named(&self, name: &str) -> &Package {
        self.packages.iter().find(|package| package.name == name).unwrap()
    }

    fn package(&self, id: &str) -> &Package {
        self.packages.iter().find(|package| package.id == id).unwrap()
    }

    /// The ids of all dependencies of `root`, including `root`.
    fn needed_by<'a>(&'a self, root: &'a str) -> BTreeSet<&'a str> {
        let nodes: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let mut needed = BTreeSet::new();
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            if needed.insert(id) {
                let edges = nodes[id].deps.iter();
                let shipped = edges.filter(|edge| {
                    edge.dep_kinds.iter().any(|edge| is_shipped(edge.kind.as_deref()))
                });
                pending.extend(shipped.map(|edge| edge.pkg.as_str()));
            }
        }
        needed
    }
}

/// Whether users of the crate build a dependency of this kind. The normal kind has no name.
fn is_shipped(kind: Option<&str>) -> bool {
    kind != Some("dev")
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
