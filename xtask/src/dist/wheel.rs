//! Python wheels by maturin: the module, and the executable, which is also the guardian of its engines.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Dist, check, copy, install};

const PROJECT: &str = "crates/python";

/// Writes `readyok-<version>-cp39-abi3-<platform>.whl` for each platform tag of the target.
///
/// A debug build of the module for this machine follows an existing executable, as it is for tests.
pub(super) fn write(dist: &Dist) -> io::Result<()> {
    // Maturin installs the files of this directory next to the interpreter.
    let data = Path::new(PROJECT).join("readyok.data");
    install(&dist.binary, &data.join("scripts").join(dist.platform.executable()))?;
    copy(Path::new("LICENSE-GPL"), &Path::new(PROJECT).join("LICENSE-GPL"))?;
    let built = if dist.is_test {
        build(dist, &["--profile", "dev", "--compatibility", "linux"], &[])
    } else {
        dist.platform.wheels.iter().try_for_each(|(target, tag)| {
            let mut arguments =
                vec!["--profile", "dist", "--target", target, "--compatibility", tag];
            if target.contains("linux") {
                // Its linker has the versions of the C libraries that the tags promise.
                arguments.push("--zig");
            }
            // As for the executable.
            build(dist, &arguments, &["-Copt-level=3"])
        })
    };
    std::fs::remove_dir_all(&data)?;
    built
}

fn build(dist: &Dist, arguments: &[&str], flags: &[&str]) -> io::Result<()> {
    // Maturin finds Zig as a package of the first interpreter.
    let installed = std::path::absolute("target/python/bin")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(installed.clone()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(directories).map_err(io::Error::other)?;
    let program = Some(installed.join("maturin")).filter(|program| program.exists());
    let mut maturin = Command::new(program.unwrap_or_else(|| "maturin".into()));
    maturin.env("PATH", path);
    maturin.args(["build", "--locked", "--quiet", "--manifest-path"]);
    maturin.arg(Path::new(PROJECT).join("Cargo.toml")).arg("--out").arg(&dist.out);
    maturin.args(arguments);
    if !flags.is_empty() {
        maturin.arg("--").args(flags);
    }
    check(maturin.stdout(io::stderr()))
}
