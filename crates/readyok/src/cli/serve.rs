//! `readyok serve`, which is also what `readyok` alone does.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::thread;

use readyok_server::{Options, ServeError, Server, Setup, serve};

use super::secret::read_secret;
use super::{complain, print};
use crate::browser::{self, Page};
use crate::exit::{Code, Failure};
use crate::{dirs, guardian};

/// Minimum length of a password for visitors, in characters.
const MIN_PASSWORD: usize = 8;

const HELP: &str = "\
Prints a link that lets one browser in, once, and opens it. Start the program again for another one:
it finds the server that runs. Ctrl-C ends it; games go on where they were with the next start.";

/// Serve the app: boards, play, analysis, engines and a library in the browser
#[derive(Debug, Default, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Listen on this port [default: that of the last time, or any if it is taken]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen on this address instead of this machine alone; needs --password-file and --allow-host
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// A file with the password for visitors, which nobody else may be able to read
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// A name that visitors may call this server by, with or without a port
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// Keep the library here [default: the folder for data of this user]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Listen beyond this machine even as root; engines run as root, too
    #[arg(long)]
    allow_root: bool,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let data = args.data.or_else(|| dirs::data(&dirs::env));
    let data = data.ok_or_else(|| {
        Failure::usage("there is no folder for data of this user: give one with --data")
    })?;
    let data = std::path::absolute(data).map_err(Failure::failed)?;
    let password = args.password_file.as_deref().map(password).transpose()?;
    let options = Options {
        port: args.port.unwrap_or(0),
        listen: args.listen,
        password,
        hosts: args.allow_host,
        allow_root: args.allow_root,
        roots: roots(),
        reload: Options::RELOAD,
        request_timeout: Options::REQUEST_TIMEOUT,
        setup: Setup {
            data,
            built_in: (own_program()?, vec!["engine".to_owned()]),
            translation: narikin::TRANSLATION.as_bytes().to_vec(),
            guard: Some(guardian::start().map_err(Failure::failed)?),
            checks: Vec::new(),
        },
    };
    let opens = !args.no_open;
    let mut page = None;
    let ready = |server: &Server| {
        for warning in server.warnings() {
            complain(&warning.to_string());
        }
        match server.link() {
            Ok(link) => page = show(&link, opens),
            Err(error) => print(&format!("http://{}: {error}", server.address())),
        }
    };
    match serve(options, ready) {
        Ok(()) => Ok(Code::Done),
        Err(ServeError::Running(Some(link))) => {
            print("readyok runs already");
            if show(&link, opens).is_some() {
                thread::sleep(browser::READS);
            }
            Ok(Code::Done)
        }
        Err(error @ (ServeError::Unprotected | ServeError::Root)) => Err(Failure::usage(error)),
        Err(error) => Err(Failure::failed(error)),
    }
}

fn show(link: &str, opens: bool) -> Option<Page> {
    print(&format!("readyok: {link}"));
    // Whoever has no browser here has the link.
    opens.then(|| Page::open(link).ok()).flatten()
}

/// This program, to be started as Narikin.
fn own_program() -> Result<PathBuf, Failure> {
    // The file may be replaced while the server runs, as by a build.
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe().map_err(Failure::failed)
}

/// Folders where engines and games are.
fn roots() -> Vec<PathBuf> {
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = dirs::env(home).map(PathBuf::from).filter(|home| home.is_absolute());
    let path: OsString = dirs::env("PATH").unwrap_or_default();
    let mut roots: Vec<PathBuf> = home.into_iter().chain(std::env::split_paths(&path)).collect();
    roots.retain(|root| root.is_absolute() && root.is_dir());
    roots
}

/// The password for visitors, from a file.
fn password(file: &Path) -> Result<String, Failure> {
    let text = read_secret(file)?;
    if text.chars().count() < MIN_PASSWORD {
        let why = format!("a password has at least {MIN_PASSWORD} letters");
        return Err(Failure::usage(format!("`{}`: {why}", file.display())));
    }
    Ok(text)
}
