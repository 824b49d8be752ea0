//! Opens the browser. The link has a token that lets in whoever comes first, and others see the
//! arguments of programs: so the browser is given a page that only this user can read, which leads on.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, thread};

use tempfile::TempPath;

use crate::dirs;

/// How long a browser may take to start and read the page.
const STARTS: Duration = Duration::from_secs(30);
/// How long one may take that runs, as it most likely does where the program runs already.
pub(crate) const READS: Duration = Duration::from_secs(5);

/// A page that leads on, for as long as it is held and a browser may need it.
#[derive(Debug)]
pub(crate) struct Page(TempPath);

impl Page {
    /// Opens the browser at a link of ours.
    ///
    /// # Errors
    /// There is no place for the page, or no browser.
    pub(crate) fn open(link: &str) -> io::Result<Self> {
        let page = Self::write(link, &folder())?;
        let path = page.0.to_path_buf();
        let name = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        webbrowser::open(name)?;
        thread::spawn(move || {
            thread::sleep(STARTS);
            // It may be gone with the program by now.
            let _ = std::fs::remove_file(path);
        });
        Ok(page)
    }

    fn write(link: &str, folder: &Path) -> io::Result<Self> {
        let mut file =
            tempfile::Builder::new().prefix("readyok-").suffix(".html").tempfile_in(folder)?;
        write!(
            file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Readyok</title>\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n\
             <a href=\"{link}\">Readyok</a>\n"
        )?;
        Ok(Self(file.into_temp_path()))
    }
}

/// Where browsers may read. Those of some systems see nothing but what lies openly at home.
fn folder() -> PathBuf {
    let home = dirs::env("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    home.filter(|home| cfg!(target_os = "linux") && home.is_dir()).unwrap_or_else(env::temp_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_for_this_user_alone_and_goes_with_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = Page::write("http://127.0.0.1:1/?token=secret", folder.path()).expect("a page");
        let text = std::fs::read_to_string(&page.0).expect("it is ours");
        assert!(text.contains("url=http://127.0.0.1:1/?token=secret\""), "{text}");
        #[cfg(unix)]
        {
            let about = page.0.metadata().expect("it is there");
            let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions());
            assert_eq!(mode & 0o077, 0);
        }
        let path = page.0.to_path_buf();
        drop(page);
        assert!(!path.exists());
    }
}
