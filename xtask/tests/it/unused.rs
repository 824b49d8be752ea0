//! Every declared dependency is used.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use xtask::metadata::Metadata;

use crate::workspace;

#[test]
fn every_dependency_is_used() {
    let metadata = Metadata::read(&workspace(), &["--no-deps"]).unwrap();
    assert!(metadata.packages.len() > 5);
    let mut unused = Vec::new();
    for package in &metadata.packages {
        let mut named = BTreeSet::new();
        collect_names(package.manifest_path.parent().unwrap(), &mut named);
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
            // A crate may depend on itself to enable features in its tests.
            if !named.contains(&name) && dependency.name != package.name {
                unused.push(format!("{} of {}", dependency.name, package.name));
            }
        }
    }
    assert!(unused.is_empty(), "unused: {}", unused.join(", "));
}

/// Collects all identifiers in the Rust files of a directory.
fn collect_names(directory: &Path, named: &mut BTreeSet<String>) {
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect_names(&path, named);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            named.extend(names.map(str::to_owned));
        }
    }
}
