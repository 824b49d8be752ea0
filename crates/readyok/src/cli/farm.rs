//! `readyok farm`: the server of a farm, and the credentials of its workers.

use std::net::SocketAddr;
use std::path::{self, Path, PathBuf};

use readyok_client::unstable::join_command_line;
use serde::Serialize;

use crate::exit::{Code, Failure};
use crate::farm::{
    self, CONFIGURATION, Farm, FarmError, KEYS, Listener, OWNER_CREDENTIALS, Reload, Tls, Worker,
};
use crate::terminal::{print, print_error, printable};

const HELP: &str = "\
The server recognizes a worker by its credentials, and permits it to use subjects with its own name only. An invitation needs no connection to the server and no change of it.

Examples:
  readyok farm init farm --tls-cert cert.pem --tls-key key.pem
  nats-server -c farm/farm.conf
  readyok farm invite box7 --dir farm
  readyok farm invite alice/box1 --dir farm --output /tmp/box1.creds
  readyok farm revoke box7 --dir farm
  readyok farm list --dir farm";

/// Set up the NATS server of a farm, and invite and revoke workers
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write the configuration of the server, the keys, and the credentials of the owner
    Init {
        /// Directory of the farm, which is created if needed
        directory: PathBuf,
        /// Let the server listen on this address
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:4222", value_parser = parse_listen)]
        listen: SocketAddr,
        /// Let the server use this TLS certificate (PEM)
        #[arg(long, value_name = "FILE", requires = "tls_key")]
        tls_cert: Option<PathBuf>,
        /// Let the server use the private key of the certificate (PEM)
        #[arg(long, value_name = "FILE", requires = "tls_cert")]
        tls_key: Option<PathBuf>,
    },
    /// Write the credentials of a new worker; the server needs no change
    Invite {
        /// Name of the worker, such as box7, or alice/box7 for a worker of the owner alice
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        farm: Directory,
        /// Write the credentials to this file [default: NAME.creds in the directory of the farm]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Disconnect a worker, and reject its credentials from now on
    Revoke {
        /// Name of the worker
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        farm: Directory,
    },
    /// List the invited and revoked workers
    List {
        #[command(flatten)]
        farm: Directory,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct Directory {
    /// Directory of the farm
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    dir: PathBuf,
}

impl Directory {
    fn open(&self) -> Result<Farm, Failure> {
        Farm::open(&self.dir).map_err(failure)
    }
}

fn failure(error: FarmError) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::failed(error) }
}

/// Parses an address. The server would replace the port 0 by its default.
fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse().ok().filter(|address: &SocketAddr| address.port() != 0);
    address.ok_or_else(|| "an IP address with a port is expected, such as 10.0.0.1:4222".to_owned())
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    match args.command {
        Command::Init { directory, listen, tls_cert, tls_key } => {
            let tls = match tls_cert.zip(tls_key) {
                Some((certificate, key)) => {
                    Some(Tls { certificate: tls_file(&certificate)?, key: tls_file(&key)? })
                }
                None => None,
            };
            init(&directory, &Listener { address: listen, tls })?;
        }
        Command::Invite { name, farm, output } => {
            let file = farm.open()?.invite(&name, output.as_deref()).map_err(failure)?;
            print(&format!("credentials of {name}: {}", printable(&file.to_string_lossy())));
        }
        Command::Revoke { name, farm } => {
            let revoked = farm.open()?.revoke(&name).map_err(failure)?;
            report_revocation(&name, &revoked.configuration, &revoked.reload);
        }
        Command::List { farm, json } => list(farm.open()?.workers(), json)?,
    }
    Ok(Code::Done)
}

/// The absolute path of a file that the server reads.
fn tls_file(file: &Path) -> Result<PathBuf, Failure> {
    let wrong = |error| Failure::usage(format!("cannot read `{}`: {error}", file.display()));
    std::fs::File::open(file).map_err(wrong)?;
    path::absolute(file).map_err(wrong)
}

const NOT_ENCRYPTED: &str = "warning: connections to this server are not encrypted; \
    use --tls-cert and --tls-key outside a trusted network";

fn init(directory: &Path, listener: &Listener) -> Result<(), Failure> {
    let dir = farm::create(directory, listener).map_err(failure)?;
    let address = listener.address;
    if listener.tls.is_none() && !address.ip().is_loopback() {
        print_error(NOT_ENCRYPTED);
    }
    let scheme = if listener.tls.is_some() { "tls" } else { "nats" };
    let queue = if address.ip().is_unspecified() {
        format!("{scheme}://HOST:{}", address.port())
    } else {
        format!("{scheme}://{address}")
    };
    let file = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let (configuration, owner) = (file(CONFIGURATION), file(OWNER_CREDENTIALS));
    print(&format!("{}: keep it secret, and keep a copy", printable(&file(KEYS))));
    print("\nNext commands:");
    let commands: [(&[&str], &str); 4] = [
        (&["nats-server", "-c", &configuration], ""),
        (&["readyok", "farm", "invite", "NAME", "--dir", &dir.to_string_lossy()], ""),
        (&["readyok", "worker", "--queue", &queue, "--creds", "NAME.creds"], " …"),
        (&["readyok", "match", "--queue", &queue, "--creds", &owner], " …"),
    ];
    for (command, more) in commands {
        print(&format!("  {}{more}", printable(&command_line(command))));
    }
    Ok(())
}

fn command_line(tokens: &[&str]) -> String {
    // A path contains no NUL character.
    join_command_line(tokens.iter().copied()).unwrap_or_default()
}

fn report_revocation(name: &str, configuration: &Path, reload: &Reload) {
    let configuration = printable(&configuration.to_string_lossy());
    match reload {
        Reload::Signalled(pid) => print(&format!(
            "{name} is revoked in {configuration}; nats-server (process {pid}) reads it now"
        )),
        Reload::NotRunning { pid_file } => {
            print(&format!(
                "{name} is revoked in {configuration}, but no nats-server runs here. \
                 Where it runs, replace its configuration and reload it:"
            ));
            let signal = match pid_file {
                Some(file) => format!("reload={}", file.display()),
                None => "reload".to_owned(),
            };
            let command = command_line(&["nats-server", "--signal", &signal]);
            print(&format!("  {}", printable(&command)));
        }
        Reload::Failed { pid, why } => {
            print(&format!(
                "{name} is revoked in {configuration}, but nats-server (process {pid}) cannot be \
                 signalled: {why}. Reload it:"
            ));
            print(&format!("  nats-server --signal reload={pid}"));
        }
    }
}

/// A worker in JSON.
#[derive(Serialize)]
struct Row<'a> {
    owner: &'a str,
    #[serde(flatten)]
    worker: &'a Worker,
}

fn list(workers: &[Worker], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<Row<'_>> =
            workers.iter().map(|worker| Row { owner: worker.owner(), worker }).collect();
        print(&serde_json::to_string_pretty(&rows).map_err(Failure::failed)?);
        return Ok(());
    }
    if workers.is_empty() {
        print("no workers");
        return Ok(());
    }
    let width = |of: fn(&Worker) -> &str| workers.iter().map(|worker| of(worker).len()).max();
    let names = width(|worker| &worker.name).unwrap_or(0).max(4);
    let owners = width(Worker::owner).unwrap_or(0).max(5);
    print(&format!("{:names$}  {:owners$}  {:20}  REVOKED", "NAME", "OWNER", "INVITED"));
    for worker in workers {
        let (name, owner) = (printable(&worker.name), printable(worker.owner()));
        let (invited, revoked) =
            (time(worker.invited), worker.revoked.map_or_else(|| "–".to_owned(), time));
        print(&format!("{name:names$}  {owner:owners$}  {invited:20}  {revoked}"));
    }
    Ok(())
}

fn time(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|time| jiff::Timestamp::from_second(time).ok());
    time.map_or_else(|| seconds.to_string(), |time| time.to_string())
}
