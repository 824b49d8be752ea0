//! Python wheels by maturin: the module, and the executable, which is also the guardian of its engines.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io, iter, path};

use super::{Dist, check, copy, install};

const PROJECT: &str = "crates/python";

/// Writes `readyok-<version>-cp39-abi3-<platform>.whl` for each platform tag of the target.
///
/// With an existing executable, which is for tests, the module is a debug build for this machine; other targets have no wheel.
pub(super) fn write(dist: &Dist) -> io::Result<()> {
    if dist.is_test && !dist.platform.is_host() {
        return Ok(());
    }
    let stage = dist.directory("wheel")?;
    project(dist, &stage)?;
    if dist.is_test {
        return build(dist, &stage, &["--profile", "dev", "--compatibility", "linux"], &[]);
    }
    dist.platform.wheels.iter().try_for_each(|(target, tag)| {
        let mut arguments = vec!["--profile", "dist", "--target", target, "--compatibility", tag];
        if target.contains("linux") {
            // It has the versions of the C libraries that the tags promise.
            arguments.push("--zig");
        }
        // As for the executable.
        build(dist, &stage, &arguments, &["-Copt-level=3"])
    })
}

/// A copy of the project with the executable, which a build from source lacks.
fn project(dist: &Dist, stage: &Path) -> io::Result<()> {
    let source = Path::new(PROJECT);
    for entry in fs::read_dir(source.join("readyok"))? {
        let entry = entry?;
        let extension = entry.path().extension().map(ToOwned::to_owned);
        if extension
            .is_some_and(|extension| ["py", "pyi", "typed"].iter().any(|it| *it == extension))
        {
            copy(&entry.path(), &stage.join("readyok").join(entry.file_name()))?;
        }
    }
    copy(&source.join("README.md"), &stage.join("README.md"))?;
    copy(Path::new("LICENSE-GPL"), &stage.join("LICENSE-GPL"))?;
    let scripts = stage.join("readyok.data/scripts");
    install(&dist.binary, &scripts.join(dist.platform.executable()))?;
    let manifest = path::absolute(source.join("Cargo.toml"))?;
    let settings = fs::read_to_string(source.join("pyproject.toml"))?
        .replace("\nkeywords =", "\nlicense-files = [\"LICENSE-GPL\"]\nkeywords =");
    // The last table is that of maturin.
    let manifest = toml::Value::from(manifest.display().to_string());
    let settings = format!("{settings}data = \"readyok.data\"\nmanifest-path = {manifest}\n");
    fs::write(stage.join("pyproject.toml"), settings)
}

fn build(dist: &Dist, stage: &Path, arguments: &[&str], flags: &[&str]) -> io::Result<()> {
    // Maturin finds Zig as a package of the first interpreter.
    let installed = path::absolute("target/python/bin")?;
    let variable = env::var_os("PATH").unwrap_or_default();
    let directories = iter::once(installed.clone()).chain(env::split_paths(&variable));
    let variable = env::join_paths(directories).map_err(io::Error::other)?;
    let program = Some(installed.join("maturin")).filter(|program| program.exists());
    let mut maturin = Command::new(program.unwrap_or_else(|| "maturin".into()));
    maturin.current_dir(stage).env("PATH", variable);
    maturin.args(["build", "--locked", "--quiet", "--out"]).arg(path::absolute(&dist.out)?);
    maturin.args(arguments);
    if !flags.is_empty() {
        maturin.arg("--").args(flags);
    }
    check(maturin.stdout(io::stderr()))
}
