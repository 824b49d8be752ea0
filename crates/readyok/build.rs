//! Names the sources that a match runner is made of, so that the two programs of this package know whether they
//! belong together.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Beside this package. Where they are not, as in a registry, the version stands for them.
const CRATES: [&str; 5] = ["arena", "client", "protocol", "readyok", "rules"];

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    for name in CRATES {
        let sources = Path::new("..").join(name).join("src");
        if sources.is_dir() {
            println!("cargo::rerun-if-changed={}", sources.display());
            add(&sources, &mut hasher)?;
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=READYOK_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// Adds the names of all files in a folder, and what they hold.
fn add(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        path.hash(hasher);
        if path.is_dir() {
            add(&path, hasher)?;
        } else {
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
