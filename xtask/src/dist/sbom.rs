//! The bill of materials (SBOM) in the format `CycloneDX`: all crates and npm packages in the executable.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use serde_json::{Value, json};
use xtask::metadata::{Kind, Metadata, Package};

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

#[derive(Deserialize)]
struct PageLock {
    packages: BTreeMap<String, PagePackage>,
}

#[derive(Deserialize)]
struct PagePackage {
    version: Option<String>,
    license: Option<String>,
    #[serde(default)]
    dev: bool,
}

/// The runtime of the page, which is a development dependency because the compiler embeds it.
const EMBEDDED: &str = "svelte";

fn url(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

/// The bill of `readyok` for a target.
pub(super) fn bill(target: &str, version: &str) -> io::Result<String> {
    let metadata = Metadata::read(Path::new("."), &["--filter-platform", target])?;
    let lock: Lock =
        toml::from_str(&fs::read_to_string("Cargo.lock")?).map_err(io::Error::other)?;
    let page: PageLock = serde_json::from_str(&fs::read_to_string("web/package-lock.json")?)?;
    let bill = compose(&metadata, &lock, &page, version)?;
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

fn compose(metadata: &Metadata, lock: &Lock, page: &PageLock, version: &str) -> io::Result<Value> {
    let root = metadata.package_named("readyok").filter(|package| package.source.is_none());
    let root = root.ok_or_else(|| io::Error::other("no package `readyok`"))?;
    let checksums: BTreeMap<_, _> = lock
        .package
        .iter()
        .filter_map(|package| {
            Some(((package.name.as_str(), package.version.as_str()), package.checksum.as_deref()?))
        })
        .collect();
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for needed in metadata.needed_by(root, &[Kind::Normal]) {
        let package = needed.package;
        let mut urls: Vec<String> = needed.dependencies.into_iter().map(url).collect();
        urls.sort();
        dependencies.push(json!({ "ref": url(package), "dependsOn": urls }));
        if package.id != root.id {
            let checksum = checksums.get(&(package.name.as_str(), package.version.as_str()));
            components.push(component(
                &package.name,
                &package.version,
                &url(package),
                package.license.as_deref(),
                checksum.copied(),
            ));
        }
    }
    for (path, package) in &page.packages {
        let Some(name) = path.strip_prefix("node_modules/") else { continue };
        let Some(version) = package.version.as_deref().filter(|_| !package.dev || name == EMBEDDED)
        else {
            continue;
        };
        let url = format!("pkg:npm/{}@{version}", name.replace('@', "%40"));
        components.push(component(name, version, &url, package.license.as_deref(), None));
    }
    let order = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    components.sort_by_key(|component| order(component, "bom-ref"));
    dependencies.sort_by_key(|dependency| order(dependency, "ref"));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": url(root),
                "name": "readyok",
                "version": version,
                "purl": url(root),
                "licenses": [{ "expression": "GPL-3.0-or-later" }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(
    name: &str,
    version: &str,
    url: &str,
    licence: Option<&str>,
    checksum: Option<&str>,
) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
    });
    if let Some(licence) = licence {
        // Old crates use `/` for `OR`.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_shipped_packages_with_checksums() {
        let metadata = json!({
            "packages": [
                { "id": "r", "name": "readyok", "version": "1.0.0", "license": "GPL-3.0-or-later", "source": null },
                { "id": "a", "name": "a", "version": "2.0.0", "license": "MIT/Apache-2.0", "source": "registry" },
                { "id": "t", "name": "t", "version": "3.0.0", "license": "MIT", "source": "registry" },
            ],
            "resolve": { "nodes": [
                { "id": "r", "deps": [
                    { "pkg": "a", "dep_kinds": [{ "kind": null }, { "kind": "dev" }] },
                    { "pkg": "t", "dep_kinds": [{ "kind": "dev" }] },
                ] },
                { "id": "a", "deps": [] },
                { "id": "t", "deps": [] },
            ] },
        });
        let lock = json!({ "package": [{ "name": "a", "version": "2.0.0", "checksum": "00ff" }] });
        let page = json!({ "packages": {
            "": {},
            "node_modules/@x/board": { "version": "4.0.0", "license": "MIT" },
            "node_modules/svelte": { "version": "5.0.0", "license": "MIT", "dev": true },
            "node_modules/vite": { "version": "6.0.0", "license": "MIT", "dev": true },
        } });
        let bill = compose(
            &serde_json::from_value(metadata).expect("metadata"),
            &serde_json::from_value(lock).expect("a lock file"),
            &serde_json::from_value(page).expect("a lock file"),
            "1.0.0",
        );
        let bill = bill.expect("a bill");
        let components = bill["components"].as_array().expect("a list");
        let urls: Vec<_> =
            components.iter().filter_map(|component| component["purl"].as_str()).collect();
        assert_eq!(urls, ["pkg:cargo/a@2.0.0", "pkg:npm/%40x/board@4.0.0", "pkg:npm/svelte@5.0.0"]);
        assert_eq!(components[0]["hashes"][0]["content"], "00ff");
        assert_eq!(components[0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["dependencies"][1]["dependsOn"][0], "pkg:cargo/a@2.0.0");
    }
}
