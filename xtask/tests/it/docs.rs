//! Generated pages are as fresh as the code.

use std::process::Command;

#[test]
fn the_generated_pages_are_fresh() {
    let check =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["docs", "--check"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
