//! Determines the commit of the sources for `readyok --version`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Number of digits of the commit.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=READYOK_COMMIT");
    if let Some(commit) = given().or_else(packaged).or_else(checked_out) {
        println!("cargo::rustc-env=READYOK_COMMIT={commit}");
    }
}

/// The commit that a packager states.
fn given() -> Option<String> {
    commit(&env::var("READYOK_COMMIT").ok()?)
}

/// The commit that `cargo package` stores in a package.
fn packaged() -> Option<String> {
    let info = fs::read_to_string(root()?.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = info.split_once("\"sha1\"")?;
    commit(rest.trim_start_matches([' ', ':', '"']))
}

/// The commit of the repository. Debug builds omit it: each commit would rebuild them.
fn checked_out() -> Option<String> {
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return None;
    }
    let root = root()?;
    let repository = root.join("../../.git");
    repository.exists().then_some(())?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(&root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    for file in ["HEAD", "logs/HEAD"] {
        let file = root.join(git(&["rev-parse", "--git-path", file])?);
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    commit(&git(&["rev-parse", "HEAD"])?)
}

fn root() -> Option<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR").map(|root| Path::new(&root).to_owned())
}

/// The first digits of a commit.
fn commit(text: &str) -> Option<String> {
    let digits: String = text.chars().take_while(char::is_ascii_hexdigit).take(DIGITS).collect();
    (7 <= digits.len()).then_some(digits)
}
