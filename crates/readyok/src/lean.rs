//! The program beside this one that only plays matches, which takes less memory for them: it plays those of this one.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

/// What this program and the other one are made of. Only if it is the same do they do the same.
pub(crate) const SOURCES: &str = env!("READYOK_SOURCES");

/// The word before [`SOURCES`] and the arguments of a match, when the other program is given one.
pub(crate) const GIVEN: &str = "given";

/// The command with which it gives back one that it cannot play as this program would.
pub(crate) const BACK: &str = "match-here";

/// Its path, if it is there.
fn program() -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    // It would look for this program by its name.
    let is_named = own.file_stem() == Some(OsStr::new("readyok"));
    let beside = own.with_file_name(format!("readyok-match{}", env::consts::EXE_SUFFIX));
    (is_named && beside.is_file()).then_some(beside)
}

/// Whether these are the arguments of a match that was given back. If so, they are those of a match now.
pub(crate) fn take_back(arguments: &mut [OsString]) -> bool {
    let verb = arguments.get_mut(1).filter(|verb| *verb == BACK);
    verb.map(|verb| *verb = "match".into()).is_some()
}

/// Becomes the other program, with the arguments of `readyok match`. Returns if there is none.
#[cfg(unix)]
pub(crate) fn become_it(words: &[OsString]) {
    use std::os::unix::process::CommandExt;

    let become_program =
        |program| -> io::Error { Command::new(program).args([GIVEN, SOURCES]).args(words).exec() };
    // One that does not start is as good as none.
    let _ = program().map(become_program);
}

/// Does nothing: a program cannot become another one here, and two take more memory than one.
#[cfg(not(unix))]
pub(crate) fn become_it(_words: &[OsString]) {}
