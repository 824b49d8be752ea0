//! Directories and environment variables of the user.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Looks up an environment variable.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The configuration directory: `READYOK_CONFIG_DIR` if it is set, or `readyok` in
/// `XDG_CONFIG_HOME`, in `~/.config`, or (Windows) in `APPDATA`. `None` without any of them.
pub fn config(env: Env<'_>) -> Option<PathBuf> {
    let own = env("READYOK_CONFIG_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    own.or_else(|| user_dir(env, "XDG_CONFIG_HOME", ".config", "APPDATA"))
}

/// The state directory, for example of logs: `readyok` in `XDG_STATE_HOME`, in
/// `~/.local/state`, or (Windows) in `LOCALAPPDATA`. `None` without any of them.
pub fn state(env: Env<'_>) -> Option<PathBuf> {
    user_dir(env, "XDG_STATE_HOME", ".local/state", "LOCALAPPDATA")
}

/// The data directory, for example of the library: `readyok` in `XDG_DATA_HOME`, in
/// `~/.local/share`, or (Windows) in `LOCALAPPDATA`. `None` without any of them.
pub fn data(env: Env<'_>) -> Option<PathBuf> {
    user_dir(env, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA")
}

fn user_dir(env: Env<'_>, xdg: &str, below_home: &str, windows: &str) -> Option<PathBuf> {
    // The XDG specification requires to ignore relative paths.
    let dir = |name: &str| env(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || dir("HOME").map(|home| home.join(below_home));
    let base = dir(xdg).or_else(|| if cfg!(windows) { dir(windows) } else { home() });
    base.map(|base| base.join("readyok"))
}

/// Looks up an environment variable of this process.
pub fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The file name of a program without its extension.
pub fn stem(program: &Path) -> String {
    program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}
