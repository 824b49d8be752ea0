//! The program that has everything in it: Narikin and the checks among it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, io};

use crate::address::in_path;
use crate::dirs::Env;

/// This program only plays matches, whatever its file is called.
static ONLY_MATCHES: AtomicBool = AtomicBool::new(false);

/// Takes note that this is the program that only plays matches.
pub(crate) fn is_elsewhere() {
    ONLY_MATCHES.store(true, Ordering::Relaxed);
}

/// Its path: that of this program. If this one only plays matches, `readyok` beside it or in `PATH`.
pub(crate) fn program(env: Env<'_>) -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    if !ONLY_MATCHES.load(Ordering::Relaxed) {
        return Ok(own);
    }
    let beside = own.with_file_name(format!("readyok{}", env::consts::EXE_SUFFIX));
    if beside.is_file() && !is_same(&beside, &own) {
        return Ok(beside);
    }
    let path = env("PATH").unwrap_or_default();
    in_path("readyok", &path).filter(|found| !is_same(found, &own)).ok_or_else(|| {
        let nowhere = "there is no `readyok` beside this program or in PATH";
        io::Error::new(io::ErrorKind::NotFound, nowhere)
    })
}

/// Whether two paths lead to one file: a program under another name would hand its work over to itself.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| Some(one) == real(other))
}
