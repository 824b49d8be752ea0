//! The program that has everything in it: Narikin and the checks among it.

use std::path::PathBuf;
use std::{env, io};

use crate::address::in_path;
use crate::dirs::Env;

/// The program that only plays matches.
pub(crate) const MATCH: &str = "readyok-match";

/// Its path: that of this program. If this one only plays matches, `readyok` beside it or in `PATH`.
pub(crate) fn program(env: Env<'_>) -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    if own.file_stem().is_none_or(|name| name != MATCH) {
        return Ok(own);
    }
    let beside = own.with_file_name(format!("readyok{}", env::consts::EXE_SUFFIX));
    if beside.is_file() {
        return Ok(beside);
    }
    in_path("readyok", &env("PATH").unwrap_or_default()).ok_or_else(|| {
        let nowhere = "there is no `readyok` beside this program or in PATH";
        io::Error::new(io::ErrorKind::NotFound, nowhere)
    })
}
