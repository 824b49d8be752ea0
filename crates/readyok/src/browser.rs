//! Windows of Chromium browsers without their controls, for `readyok --app`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use readyok_client::unstable::{find_in_path, is_executable};

use crate::http::escaped;

/// The programs of Chromium browsers in PATH.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "brave-browser",
    "brave",
];
/// Below `/Applications` and that of the user.
const MAC_APPLICATIONS: &[&str] = &["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"];
/// Below the directories of programs of Windows.
const WINDOWS_PROGRAMS: &[&str] = &[
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
];

/// The first installed Chromium browser.
pub(crate) fn chromium(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    let in_path = NAMES.iter().find_map(|name| find_in_path(name, &path));
    in_path.or_else(|| installed(variable).into_iter().find(|path| is_executable(path)))
}

/// Where browsers are installed on macOS and Windows, which have them not in PATH.
fn installed(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let directory = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(target_os = "macos") {
        let home = directory("HOME").map(|home| home.join("Applications"));
        let roots = home.into_iter().chain([PathBuf::from("/Applications")]);
        let below = |root: PathBuf| {
            MAC_APPLICATIONS
                .iter()
                .map(move |name| root.join(format!("{name}.app/Contents/MacOS/{name}")))
        };
        return roots.flat_map(below).collect();
    }
    if cfg!(windows) {
        let roots = ["ProgramFiles", "ProgramFiles(x86)", "LocalAppData"];
        let roots = roots.into_iter().filter_map(directory);
        let below = |root: PathBuf| WINDOWS_PROGRAMS.iter().map(move |program| root.join(program));
        return roots.flat_map(below).collect();
    }
    Vec::new()
}

/// Opens a file in a window without the controls of the browser.
pub(crate) fn open_window(browser: &Path, file: &Path) -> io::Result<()> {
    let address = file_address(file).ok_or(io::ErrorKind::InvalidFilename)?;
    let mut child = Command::new(browser)
        .arg(format!("--app={address}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // A browser that runs already gets the address, and this process exits.
    thread::Builder::new().name("browser".to_owned()).spawn(move || child.wait())?;
    Ok(())
}

/// The `file:` address of an absolute path.
fn file_address(path: &Path) -> Option<String> {
    let text = path.to_str()?.replace('\\', "/");
    let root = if text.starts_with('/') { "" } else { "/" };
    Some(format!("file://{root}{}", escaped(&text, "/:-._~")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_encoded() {
        let address = |path| file_address(Path::new(path));
        assert_eq!(
            address("/home/A b/駒#1.html").as_deref(),
            Some("file:///home/A%20b/%E9%A7%92%231.html")
        );
        assert_eq!(
            address(r"C:\Users\me\readyok-1.html").as_deref(),
            Some("file:///C:/Users/me/readyok-1.html")
        );
    }
}
