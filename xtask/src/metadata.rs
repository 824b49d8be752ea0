//! The output of `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The packages of the workspace and their dependencies.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// All packages, or those of the workspace with `--no-deps`.
    pub packages: Vec<Package>,
    #[serde(default)]
    resolve: Option<Resolve>,
}

/// A package, from its manifest.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Identifies the package in the dependency graph.
    pub id: String,
    /// The name of the crate.
    pub name: String,
    /// The version of the crate.
    pub version: String,
    /// The licence as an SPDX expression.
    pub license: Option<String>,
    /// The registry. Packages of the workspace have none.
    pub source: Option<String>,
    /// The path of `Cargo.toml`.
    #[serde(default)]
    pub manifest_path: PathBuf,
    /// Declared dependencies of all kinds and platforms.
    #[serde(default)]
    pub dependencies: Vec<Dependency>,
}

/// A declared dependency.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The name of the crate.
    pub name: String,
    /// The name in the dependent crate, if it differs.
    pub rename: Option<String>,
    /// The kind of the dependency.
    #[serde(default)]
    pub kind: Kind,
    /// Whether a feature enables it.
    #[serde(default)]
    pub optional: bool,
}

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case", from = "Option<NamedKind>")]
pub enum Kind {
    /// Linked with the crate.
    #[default]
    Normal,
    /// Used by the build script.
    Build,
    /// Used by tests, examples and benchmarks.
    Dev,
}

/// Cargo has no name for the normal kind.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NamedKind {
    Build,
    Dev,
}

impl From<Option<NamedKind>> for Kind {
    fn from(kind: Option<NamedKind>) -> Self {
        match kind {
            None => Self::Normal,
            Some(NamedKind::Build) => Self::Build,
            Some(NamedKind::Dev) => Self::Dev,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    #[serde(default)]
    kind: Kind,
}

impl Metadata {
    /// Runs `cargo metadata` in a directory. Cargo may download crates that no build on this machine has needed.
    ///
    /// # Errors
    /// Cargo fails or prints something else.
    pub fn read(directory: &Path, arguments: &[&str]) -> io::Result<Self> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["metadata", "--format-version=1", "--locked"]).args(arguments);
        let output = cargo.current_dir(directory).output()?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("`cargo metadata` failed: {errors}")));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// A package by its name; that of the workspace if there are several.
    pub fn package_named(&self, name: &str) -> Option<&Package> {
        let named = self.packages.iter().filter(|package| package.name == name);
        named.min_by_key(|package| package.source.is_some())
    }

    /// The packages that a package needs, including itself, with their own dependencies of these kinds.
    pub fn needed_by<'a>(&'a self, root: &'a Package, kinds: &[Kind]) -> Vec<Needed<'a>> {
        let packages: BTreeMap<&str, &Package> =
            self.packages.iter().map(|package| (package.id.as_str(), package)).collect();
        let nodes = self.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let nodes: BTreeMap<&str, &Node> = nodes.map(|node| (node.id.as_str(), node)).collect();
        let mut needed = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending = vec![root];
        while let Some(package) = pending.pop() {
            if !seen.insert(package.id.as_str()) {
                continue;
            }
            let edges = nodes.get(package.id.as_str()).into_iter().flat_map(|node| &node.deps);
            let of_kinds = edges
                .filter(|edge| edge.dep_kinds.iter().any(|EdgeKind { kind }| kinds.contains(kind)));
            let dependencies: Vec<&Package> =
                of_kinds.filter_map(|edge| packages.get(edge.pkg.as_str()).copied()).collect();
            pending.extend(&dependencies);
            needed.push(Needed { package, dependencies });
        }
        needed
    }
}

/// A package with its direct dependencies.
#[derive(Debug)]
pub struct Needed<'a> {
    /// The package.
    pub package: &'a Package,
    /// Its direct dependencies.
    pub dependencies: Vec<&'a Package>,
}
