//! Compiles the library that is loaded into the programs under test.
#![expect(clippy::expect_used, reason = "a build that fails shows the message")]

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=src/inject.c");
    println!("cargo:rustc-check-cfg=cfg(faults)");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // Other systems have no seccomp, and musl programs without a dynamic linker cannot be changed.
    let is_known = matches!(target("ARCH").as_str(), "x86_64" | "aarch64");
    if !is_known || target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    println!("cargo:rustc-cfg=faults");
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("a directory")).join("inject.so");
    let mut compiler = cc::Build::new().warnings_into_errors(true).get_compiler().to_command();
    compiler
        .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg("src/inject.c");
    assert!(compiler.status().expect("a C compiler").success(), "inject.c is not compiled");
    println!("cargo:rustc-env=READYOK_INJECT={}", library.display());
}
