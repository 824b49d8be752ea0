//! A Python wheel that installs the executable.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use data_encoding::BASE64URL_NOPAD;

use super::{Dist, copy, install, pack_zip, sha256};

/// Writes `readyok-<version>-py3-none-<platform>.whl`.
pub(super) fn write(dist: &Dist) -> io::Result<()> {
    let root = dist.directory("wheel")?;
    let name = format!("readyok-{}", dist.version);
    let info = root.join(name.clone() + ".dist-info");
    let scripts = root.join(name.clone() + ".data/scripts");
    install(&dist.binary, &scripts.join(dist.platform.executable()))?;
    copy(Path::new("LICENSE-GPL"), &info.join("licenses/LICENSE-GPL"))?;
    fs::write(
        info.join("METADATA"),
        metadata(&dist.version, &fs::read_to_string("crates/readyok/README.md")?),
    )?;
    fs::write(info.join("WHEEL"), wheel(dist.platform.wheel_tags))?;
    let mut record = String::new();
    list(&root, &root, &mut record)?;
    _ = writeln!(record, "{name}.dist-info/RECORD,,");
    fs::write(info.join("RECORD"), record)?;
    let tags = dist.platform.wheel_tags.join(".");
    pack_zip(&root, &dist.out.join(format!("{name}-py3-none-{tags}.whl")))
}

fn metadata(version: &str, readme: &str) -> String {
    let readme = readme.replace("cargo install --locked readyok", "pip install readyok");
    format!(
        "Metadata-Version: 2.4\n\
        Name: readyok\n\
        Version: {version}\n\
        Summary: Check, match, analyse with and play against UCI and USI chess and shogi engines\n\
        Keywords: chess,shogi,uci,usi,sprt\n\
        License-Expression: GPL-3.0-or-later\n\
        License-File: LICENSE-GPL\n\
        Classifier: Topic :: Games/Entertainment :: Board Games\n\
        Requires-Python: >=3.8\n\
        Description-Content-Type: text/markdown\n\
        \n\
        {readme}"
    )
}

fn wheel(tags: &[&str]) -> String {
    let mut text =
        "Wheel-Version: 1.0\nGenerator: readyok-xtask\nRoot-Is-Purelib: false\n".to_owned();
    for tag in tags {
        _ = writeln!(text, "Tag: py3-none-{tag}");
    }
    text
}

/// Appends a line with path, hash and size for each file.
fn list(root: &Path, directory: &Path, record: &mut String) -> io::Result<()> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(root, &path, record)?;
            continue;
        }
        let bytes = fs::read(&path)?;
        let relative = path.strip_prefix(root).map_err(io::Error::other)?;
        let name = relative.to_string_lossy().replace('\\', "/");
        let line =
            format!("{name},sha256={},{}\n", BASE64URL_NOPAD.encode(&sha256(&bytes)), bytes.len());
        record.push_str(&line);
    }
    Ok(())
}
