//! Generated pages are up to date.

use std::process::Command;

#[test]
fn generated_pages_are_up_to_date() {
    let check =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["docs", "--check"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
