//! npm packages: one with the executable for each platform, `readyok`, which selects one of them, and `@readyok/rules`,
//! which is the same for all platforms.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde_json::{Map, Value, json};

use super::platform::Platform;
use super::{Dist, check, copy, install};

/// Builds `@readyok/rules`.
pub(super) fn rules(dist: &Dist) -> io::Result<()> {
    let mut build = Command::new("scripts/build-js.sh");
    check(build.arg(std::path::absolute(&dist.out)?).stdout(io::stderr()))
}

/// Writes the package of the platform and the package `readyok`.
pub(super) fn write(dist: &Dist) -> io::Result<()> {
    let platform = dist.platform;
    let program = dist.directory("npm-program")?;
    let executable = platform.executable();
    install(&dist.binary, &program.join("bin").join(executable))?;
    let (system, architecture) = platform.node;
    let mut manifest = manifest(&platform.npm_package(), &dist.version);
    manifest["description"] =
        json!(format!("The executable of readyok for {system} {architecture}"));
    manifest["os"] = json!([system]);
    manifest["cpu"] = json!([architecture]);
    manifest["files"] = json!([format!("bin/{executable}")]);
    pack(dist, &program, &manifest)?;

    let launcher = dist.directory("npm-launcher")?;
    install(Path::new("packaging/npm/readyok.js"), &launcher.join("bin/readyok.js"))?;
    copy(Path::new("crates/readyok/README.md"), &launcher.join("README.md"))?;
    let programs: Map<String, Value> =
        Platform::npm_packages().into_iter().map(|name| (name, json!(dist.version))).collect();
    let mut manifest = self::manifest("readyok", &dist.version);
    manifest["bin"] = json!({ "readyok": "bin/readyok.js" });
    manifest["files"] = json!(["bin/readyok.js"]);
    manifest["engines"] = json!({ "node": ">=18" });
    manifest["optionalDependencies"] = Value::Object(programs);
    pack(dist, &launcher, &manifest)
}

fn manifest(name: &str, version: &str) -> Value {
    json!({
        "name": name,
        "version": version,
        "description": "Check, match, analyse with and play against UCI and USI engines",
        "keywords": ["chess", "shogi", "uci", "usi"],
        "license": "GPL-3.0-or-later",
    })
}

fn pack(dist: &Dist, directory: &Path, manifest: &Value) -> io::Result<()> {
    copy(Path::new("LICENSE-GPL"), &directory.join("LICENSE"))?;
    let text = serde_json::to_string_pretty(manifest)?;
    fs::write(directory.join("package.json"), text + "\n")?;
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.args(["pack", "--silent", "--pack-destination"]).arg(std::path::absolute(&dist.out)?);
    check(npm.current_dir(directory).stdout(io::stderr()))
}
