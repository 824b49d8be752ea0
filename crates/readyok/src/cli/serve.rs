//! `readyok serve`, which is also the default command.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{env, thread};

use readyok_arena::plan::source::check_repository;
use readyok_client::EngineProgram;
use readyok_server::{
    Account, OnlineSetup, Options, Password, QueueDashboard, ServeError, Server, ServerSettings,
    TrustedProxy, serve,
};
use tempfile::TempPath;

use crate::browser;
use crate::cli::matches::read_test;
use crate::cli::worker::{AccessArgs, check_private, queue_failure, read_secret};
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::matches::Dashboard;
use crate::terminal::{print, print_error};

/// Minimum length of a password for visitors, in characters.
const MIN_PASSWORD: usize = 8;

const HELP: &str = "\
Prints a link with a one-time token and opens it in the browser. If the app is already running, the command prints another link to it. Ctrl-C ends the app; the next start continues its games.";

/// Serve the app: boards, play, analysis, engines and a library in the browser
#[derive(Debug, Default, clap::Args)]
#[command(after_help = HELP)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct Args {
    /// Listen on this port [default: the port of the last start, or any free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen on this address instead of localhost; needs --password-file and --allow-host
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Read the password for visitors, or its Argon2 hash, from this file, which only its owner can access
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Print the Argon2 hash of the password in --password-file, which can replace it there, and exit
    #[arg(long, requires = "password_file")]
    print_hash: bool,
    /// Accept this host name in requests, with or without a port
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Believe X-Forwarded-For and Forwarded of reverse proxies with these addresses or networks
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    trusted_proxy: Vec<TrustedProxy>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Open a window without browser controls, if a Chromium browser is installed
    #[arg(long, conflicts_with = "no_open")]
    app: bool,
    /// Store the library in this directory [default: the data directory of the user]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// Listen on other addresses than localhost even as root; engines then run as root
    #[arg(long)]
    allow_root: bool,
    /// Show a dashboard of the matches and workers of this NATS server
    #[arg(long, value_name = "URL", help_heading = "Dashboard")]
    queue: Option<String>,
    /// Read the password for visitors who see only the dashboard, without changes, from this file
    #[arg(long, value_name = "FILE", requires = "queue", help_heading = "Dashboard")]
    reader_password_file: Option<PathBuf>,
    /// Read the accounts of authors, approvers and readers of the dashboard from this file
    #[arg(long, value_name = "FILE.toml", requires = "queue", help_heading = "Dashboard")]
    accounts: Option<PathBuf>,
    /// Allow authors to test commits of this Git repository
    #[arg(long, value_name = "URL", requires = "queue", help_heading = "Dashboard")]
    author_repository: Vec<String>,
    #[command(flatten)]
    access: QueueAccess,
    /// Send the requests to online services to this loopback address: for tests
    #[arg(long, value_name = "ADDRESS", hide = true)]
    online_substitute: Option<SocketAddr>,
}

/// Credentials of the queue. Those of visitors have the usual names.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Dashboard")]
#[expect(clippy::struct_field_names, reason = "the names of the arguments")]
struct QueueAccess {
    #[arg(long, value_name = "NAME", requires = "queue", conflicts_with_all = ["queue_creds", "queue_nkey"])]
    #[arg(help = "Log in to the queue as this user [env: NATS_USER]")]
    queue_user: Option<String>,
    #[arg(long, value_name = "FILE", requires = "queue", conflicts_with_all = ["queue_creds", "queue_nkey"])]
    #[arg(
        help = "Read the password of --queue-user, or a token, from this file [env: NATS_PASSWORD, NATS_TOKEN]"
    )]
    queue_password_file: Option<PathBuf>,
    /// Read NATS credentials from this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    queue_creds: Option<PathBuf>,
    /// Read the seed of an NKey from this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    queue_nkey: Option<PathBuf>,
    /// Trust the TLS certificates in this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    queue_tls_ca: Option<PathBuf>,
}

impl QueueAccess {
    fn arguments(self) -> AccessArgs {
        AccessArgs {
            user: self.queue_user,
            password_file: self.queue_password_file,
            creds: self.queue_creds,
            nkey: self.queue_nkey,
            tls_ca: self.queue_tls_ca,
        }
    }
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let reader_password = args.reader_password_file.as_deref().map(password).transpose()?;
    let accounts = args.accounts.as_deref().map_or(Ok(Vec::new()), accounts)?;
    for repository in &args.author_repository {
        check_repository(repository).map_err(Failure::usage)?;
    }
    let password = args.password_file.as_deref().map(password).transpose()?;
    if let Some(password) = password.as_ref().filter(|_| args.print_hash) {
        print(password.hash());
        return Ok(Code::Done);
    }
    let data = args.data.or_else(|| dirs::data(&dirs::env));
    let data = data.ok_or_else(|| Failure::usage("no data directory: set one with --data"))?;
    let data = std::path::absolute(data).map_err(Failure::failed)?;
    let queue = match args.queue {
        Some(server) => {
            let access = args.access.arguments().access(server, &dirs::env)?;
            let dashboard =
                Dashboard::open(&access, data.join("queue"), read_test).map_err(queue_failure)?;
            Some(Arc::new(dashboard) as Arc<dyn QueueDashboard>)
        }
        None => None,
    };
    let options = Options {
        port: args.port.unwrap_or(0),
        listen: args.listen,
        password,
        hosts: args.allow_host,
        trusted_proxies: args.trusted_proxy,
        allow_root: args.allow_root,
        roots: roots(),
        reload: Options::RELOAD,
        request_timeout: Options::REQUEST_TIMEOUT,
        queue,
        reader_password,
        accounts,
        repositories: args.author_repository.into_iter().collect(),
        setup: ServerSettings {
            built_in: EngineProgram {
                dir: Some(data.clone()),
                ..EngineProgram::new(own_program()?, ["engine"])
            },
            data,
            translation: narikin::TRANSLATION.as_bytes().to_vec(),
            guard: Some(start_guard().map_err(Failure::failed)?),
            checks: Vec::new(),
            online: OnlineSetup { substitute: args.online_substitute, ..OnlineSetup::default() },
        },
    };
    let view = match (args.app, args.no_open) {
        (_, true) => View::None,
        (true, false) => View::Window,
        (false, false) => View::Browser,
    };
    let mut page = None;
    let ready = |server: &Server| {
        for warning in server.warnings() {
            print_error(&warning.to_string());
        }
        match server.link() {
            Ok(link) => page = print_link(&link, view),
            Err(error) => print(&format!("http://{}: {error}", server.address())),
        }
    };
    match serve(options, ready) {
        Ok(()) => Ok(Code::Done),
        Err(ServeError::Running(Some(link))) => {
            print("readyok is already running");
            if print_link(&link, view).is_some() {
                thread::sleep(MAX_OPEN_TIME);
            }
            Ok(Code::Done)
        }
        Err(error @ (ServeError::Unprotected | ServeError::Root)) => Err(Failure::usage(error)),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// Where the app is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum View {
    None,
    Browser,
    /// Without the controls of the browser.
    Window,
}

fn print_link(link: &str, view: View) -> Option<Page> {
    print(&format!("readyok: {link}"));
    // Without a browser the printed link is sufficient.
    match view {
        View::None => None,
        View::Browser => Page::open(link, None).ok(),
        View::Window => {
            let browser = browser::chromium(&dirs::env);
            if browser.is_none() {
                print_error(
                    "--app needs Chromium, Chrome, Edge or Brave, and none was found: \
                     the default browser opens the app",
                );
            }
            Page::open(link, browser.as_deref()).ok()
        }
    }
}

/// Path of this executable, which the app starts as Narikin.
fn own_program() -> Result<PathBuf, Failure> {
    // A build may replace the file while the server runs.
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    env::current_exe().map_err(Failure::failed)
}

/// Directories of the file dialog.
fn roots() -> Vec<PathBuf> {
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = dirs::env(home).map(PathBuf::from).filter(|home| home.is_absolute());
    let path: OsString = dirs::env("PATH").unwrap_or_default();
    let mut roots: Vec<PathBuf> = home.into_iter().chain(env::split_paths(&path)).collect();
    roots.retain(|root| root.is_absolute() && root.is_dir());
    roots
}

/// Reads the password for visitors, or its hash.
fn password(file: &Path) -> Result<Password, Failure> {
    let text = read_secret(file)?;
    let wrong = |why: &dyn Display| Failure::usage(format!("`{}`: {why}", file.display()));
    if Password::is_hash(&text) {
        return Password::from_hash(&text).map_err(|error| wrong(&error));
    }
    if text.chars().count() < MIN_PASSWORD {
        return Err(wrong(&format_args!("a password has at least {MIN_PASSWORD} characters")));
    }
    Password::new(&text).map_err(|error| wrong(&error))
}

/// Reads accounts, of which other users must not be able to read the hashes.
fn accounts(file: &Path) -> Result<Vec<Account>, Failure> {
    let wrong = |why: &dyn Display| Failure::usage(format!("`{}`: {why}", file.display()));
    check_private(file)?;
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
    Account::read_all(&text).map_err(|error| wrong(&error))
}

/// Maximum time of a browser to start and read the page.
const MAX_START_TIME: Duration = Duration::from_secs(30);
/// Maximum time of a running browser to read the page.
const MAX_OPEN_TIME: Duration = Duration::from_secs(5);

/// A temporary file that redirects to the link, readable for this user only.
///
/// The link has a one-time token, and other users can read the arguments of processes: so the browser gets
/// the path of this file.
#[derive(Debug)]
struct Page(TempPath);

impl Page {
    /// Opens a link of the app in the default browser, or in a window of a Chromium browser.
    fn open(link: &str, chromium: Option<&Path>) -> io::Result<Self> {
        let page = Self::write(link, &directory())?;
        let path = page.0.to_path_buf();
        match chromium {
            Some(browser) => browser::open_window(browser, &path)?,
            None => webbrowser::open(path.to_str().ok_or(io::ErrorKind::InvalidFilename)?)?,
        }
        thread::spawn(move || {
            thread::sleep(MAX_START_TIME);
            // `Page` may already have removed the file.
            let _ = std::fs::remove_file(path);
        });
        Ok(page)
    }

    fn write(link: &str, directory: &Path) -> io::Result<Self> {
        let mut file =
            tempfile::Builder::new().prefix("readyok-").suffix(".html").tempfile_in(directory)?;
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

/// A directory that browsers can read. Sandboxed browsers can read only visible files in the home directory.
fn directory() -> PathBuf {
    let home = dirs::env("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    home.filter(|home| cfg!(target_os = "linux") && home.is_dir()).unwrap_or_else(env::temp_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_private_and_removed_with_its_owner() {
        let directory = tempfile::tempdir().expect("a directory");
        let page =
            Page::write("http://127.0.0.1:1/?token=secret", directory.path()).expect("a page");
        let text = std::fs::read_to_string(&page.0).expect("the page is readable");
        assert!(text.contains("url=http://127.0.0.1:1/?token=secret\""), "{text}");
        #[cfg(unix)]
        {
            let metadata = page.0.metadata().expect("the page exists");
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            assert_eq!(mode & 0o077, 0);
        }
        let path = page.0.to_path_buf();
        drop(page);
        assert!(!path.exists());
    }
}
