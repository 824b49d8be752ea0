//! The server: options, start, listening, shutdown.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{File, TryLockError};
use std::future::Future;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout_at};

use crate::app::{App, AppState, ServerSettings};
use crate::data_dir;
use crate::http::{
    Account, Auth, Connections, DownloadAddresses, OwnHosts, Password, QueueDashboard, Service,
    TrustedProxy, router, sending, uploads,
};
use crate::proposals::Proposals;
use crate::store::StoreError;
use crate::time::{drift, instant, now};

/// Interval of heartbeats and of the publishing of logs.
const BEAT: Duration = Duration::from_millis(100);
/// Maximum time for engines to quit at shutdown.
const LEAVING: Duration = Duration::from_secs(3);
/// Maximum time for the running server to answer another start of the program.
const ANSWER: Duration = Duration::from_secs(20);

/// The options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port; 0 for the port of the last run, or another one if that is in use.
    pub port: u16,
    /// The address to listen on instead of loopback. It requires a password and a host.
    pub listen: Option<IpAddr>,
    /// The password for visitors without a link.
    pub password: Option<Password>,
    /// Host names of the server in addition to those of loopback.
    pub hosts: Vec<String>,
    /// Reverse proxies that are believed about the addresses of their clients.
    pub trusted_proxies: Vec<TrustedProxy>,
    /// Whether root may listen beyond loopback. Engines run as root, too.
    pub allow_root: bool,
    /// Directories that the file picker shows in addition to the data directory.
    pub roots: Vec<PathBuf>,
    /// The time for a reload after the last tab was closed, usually [`RELOAD`](Self::RELOAD).
    pub reload: Duration,
    /// The time limit for the header and the body of an unauthenticated client, usually
    /// [`REQUEST_TIMEOUT`](Self::REQUEST_TIMEOUT).
    pub request_timeout: Duration,
    /// The match queue of the dashboard.
    pub queue: Option<Arc<dyn QueueDashboard>>,
    /// The password of visitors who see the dashboard only.
    pub reader_password: Option<Password>,
    /// The accounts of users of the dashboard.
    pub accounts: Vec<Account>,
    /// The repositories whose commits authors may test on the queue.
    pub repositories: BTreeSet<String>,
    /// The settings of the app.
    pub setup: ServerSettings,
}

impl Options {
    /// Enough to reload a page.
    pub const RELOAD: Duration = Duration::from_secs(10);
    /// Enough for a slow network, and for a browser on a busy machine between connection and request.
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
}

/// A risk that does not prevent serving.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// Engines run as root.
    Root,
    /// The file system cannot protect the data directory from other users.
    UnprotectedData(PathBuf),
    /// A damaged database, and where it was moved, unless it is still used.
    Damaged(PathBuf, Option<PathBuf>),
    /// The last changes of an open game are damaged, and where they were moved.
    DamagedGame(u32, PathBuf),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("warning: engines run as root, like this program"),
            Self::UnprotectedData(path) => write!(
                f,
                "warning: other users can access `{}`, because its file system has no permissions",
                path.display()
            ),
            Self::Damaged(path, Some(to)) => write!(
                f,
                "warning: `{}` was damaged and is now `{}`; its content is missing until it is repaired",
                path.display(),
                to.display()
            ),
            Self::DamagedGame(game, to) => write!(
                f,
                "warning: the last changes of game {game} were damaged and are now in `{}`",
                to.display()
            ),
            Self::Damaged(path, None) => {
                write!(f, "warning: `{}` is damaged in part", path.display())
            }
        }
    }
}

/// The reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Listening beyond loopback requires a password and a host.
    #[error(
        "listening beyond this machine needs a password and the name of a host (--password-file, --allow-host)"
    )]
    Unprotected,
    /// Root must not listen beyond loopback.
    #[error(
        "listening beyond this machine as root, with engines that run as root, needs --allow-root"
    )]
    Root,
    /// Another server uses the data directory; its link, if it has sent one.
    #[error("it runs already with this data")]
    Running(Option<String>),
    /// The address cannot be used.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// A file cannot be used.
    #[error("cannot use `{}`: {}", .0.display(), .1)]
    File(PathBuf, #[source] io::Error),
    /// The library cannot be used.
    #[error(transparent)]
    Store(StoreError),
    /// The system has failed.
    #[error(transparent)]
    System(io::Error),
}

/// A server that listens, but does not respond yet.
pub struct Server {
    listeners: Vec<TcpListener>,
    address: SocketAddr,
    service: Service,
    connections: Arc<Connections>,
    reload: Duration,
    warnings: Vec<Warning>,
    /// Held until the server ends.
    lock: Lock,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The lock of the data directory.
struct Lock {
    file: File,
    note: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The next start writes it again.
        let _ = std::fs::remove_file(&self.note);
        // A child process holds the open files of this program until it executes its own program.
        let _ = self.file.unlock();
    }
}

/// Whether an app uses a data directory.
pub fn is_running(data: &Path) -> bool {
    let file = File::options().read(true).write(true).open(data.join("lock"));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

impl Server {
    /// Locks the data directory and listens.
    ///
    /// # Errors
    /// The options are unsafe, another server runs, or a file or address cannot be used.
    pub async fn bind(options: Options) -> Result<Self, ServeError> {
        let beyond = options.listen.filter(|address| !address.is_loopback());
        if beyond.is_some() && (options.password.is_none() || options.hosts.is_empty()) {
            return Err(ServeError::Unprotected);
        }
        let is_root = is_root();
        if is_root && beyond.is_some() && !options.allow_root {
            return Err(ServeError::Root);
        }
        let data = &options.setup.data;
        let file_error = |path: &Path| {
            let path = path.to_owned();
            move |error| ServeError::File(path, error)
        };
        let is_protected =
            data_dir::prepare(data).map_err(|(path, error)| ServeError::File(path, error))?;
        let mut warnings = Vec::new();
        warnings.extend(is_root.then_some(Warning::Root));
        warnings.extend((!is_protected).then(|| Warning::UnprotectedData(data.clone())));
        let (path, note) = (data.join("lock"), data.join("running"));
        let file = data_dir::open(&path).map_err(file_error(&path))?;
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => return Err(ServeError::Running(link_of(&note))),
            Err(TryLockError::Error(error)) => return Err(ServeError::File(path, error)),
        }
        let lock = Lock { file, note: note.clone() };
        let app = App::open(options.setup.clone()).map_err(ServeError::Store)?;
        warnings.extend(app.damaged().iter().cloned().map(|file| {
            let moved = file.moved_to.map(PathBuf::from);
            match (file.game, moved) {
                (Some(game), Some(moved)) => Warning::DamagedGame(game, moved),
                (_, moved) => Warning::Damaged(file.path.into(), moved),
            }
        }));

        let ip = options.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let last = app.writer.call(|store| Ok(store.last_port())).await.ok().flatten();
        let (listener, address) = listen(SocketAddr::new(ip, options.port), last).await?;
        drop(app.writer.run(move |store| store.save_port(address.port())));
        let mut listeners = vec![listener];
        let mut addresses = vec![ip];
        let mut has_localhost = ip.is_unspecified() || ip == IpAddr::V4(Ipv4Addr::LOCALHOST);
        if options.listen.is_none() {
            // Some browsers resolve `localhost` to this address, which not every system has.
            let other = IpAddr::V6(Ipv6Addr::LOCALHOST);
            match TcpListener::bind(SocketAddr::new(other, address.port())).await {
                Ok(listener) => {
                    listeners.push(listener);
                    addresses.push(other);
                }
                Err(error) => has_localhost = error.kind() != io::ErrorKind::AddrInUse,
            }
        }
        let hosts = OwnHosts::new(&addresses, has_localhost);
        let auth = Auth::new(address.port(), &hosts, &options.hosts, options.password);
        let auth = auth.map_err(ServeError::System)?.with_readers(options.reader_password);
        let auth = auth.with_accounts(options.accounts).map_err(ServeError::System)?;
        let auth = Arc::new(auth.behind(options.trusted_proxies));
        let shown = SocketAddr::new(reachable(ip), address.port());
        write_note(&note, shown, &auth).map_err(file_error(&note))?;
        let mut roots = options.roots;
        roots.push(data.clone());
        let (roots, uploads) = (roots.into(), uploads());
        let queue = options.queue;
        let proposals = data.join("queue").join("proposals.json");
        let opened = Proposals::open(proposals.clone(), options.repositories);
        let proposals = Arc::new(opened.map_err(file_error(&proposals))?);
        let (downloads, sending) = (DownloadAddresses::default(), sending());
        let service = Service { app, auth, roots, uploads, downloads, sending, queue, proposals };
        let connections = Connections::new(options.request_timeout);
        let reload = options.reload;
        Ok(Self { listeners, address: shown, service, connections, reload, warnings, lock })
    }

    /// Risks to report to the user.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A link with a token that is valid once.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn link(&self) -> io::Result<String> {
        Ok(format!("http://{}/?token={}", self.address, self.service.auth.new_link()?))
    }

    /// Serves until `stop` completes, or until the app has nothing left to do, if the user has set that. Then
    /// games are saved, and all engines exit.
    ///
    /// # Errors
    /// The listener has failed.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let app = Arc::clone(&self.service.app);
        let router = router(self.service);
        let mut tasks = tokio::task::JoinSet::new();
        for listener in self.listeners {
            let router = router.clone();
            tasks.spawn(Arc::clone(&self.connections).serve(listener, router));
        }
        tasks.spawn(run_clocks(Arc::clone(&app)));
        tasks.spawn(pass_on(Arc::clone(&app)));
        app.update(AppState::probe_engines);
        tokio::select! {
            () = stop => (),
            () = until_idle(&app, self.reload) => (),
        }
        app.update(AppState::shut_down);
        let matches = Arc::clone(&app);
        // It blocks until the engines of matches have exited, with its own time limit.
        let _ = tokio::task::spawn_blocking(move || matches.end_matches()).await;
        let deadline = Instant::from_std(instant()) + LEAVING;
        while !app.state().have_engines_exited() {
            // Engines that do not exit are killed below.
            if timeout_at(deadline, app.idle.notified()).await.is_err() {
                break;
            }
        }
        app.update(AppState::kill_engines);
        tasks.shutdown().await;
        app.close_library().await;
        drop(self.lock);
        Ok(())
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// The local address of a server that listens on an address.
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        _ => address,
    }
}

/// Checks the clocks of games when a flag falls.
async fn run_clocks(app: Arc<App>) {
    loop {
        let due = app.state().next_deadline();
        match due {
            Some(due) => {
                let wait = Duration::from_millis(due.saturating_sub(now()));
                tokio::select! {
                    () = sleep_until(Instant::from_std(instant()) + wait) => (),
                    () = app.clocks.notified() => (),
                }
            }
            None => app.clocks.notified().await,
        }
        app.update(AppState::on_tick);
        // A game may have ended.
        app.idle.notify_one();
    }
}

/// Publishes log lines and progress regularly, and clocks after the host was suspended.
async fn pass_on(app: Arc<App>) {
    let mut ticks = interval(BEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut latest = drift();
    loop {
        ticks.tick().await;
        let drift = drift();
        let has_jumped = 1000 < drift.abs_diff(latest);
        if has_jumped {
            latest = drift;
        }
        app.update(|state| {
            if has_jumped {
                // Clocks in browsers may have advanced.
                state.publish_clocks();
            }
            state.publish_progress();
        });
    }
}

/// Waits until the last tab is closed, if the server is to exit then, and until all work that needs no tab ends.
async fn until_idle(app: &App, reload: Duration) {
    // Even a short visit counts.
    let mut seen = 0;
    loop {
        app.idle.notified().await;
        let (tabs, visits) = app.state().hub.tabs_and_visits();
        if 0 < tabs {
            continue;
        }
        if visits != seen {
            if came_back(app, reload).await {
                continue;
            }
            (_, seen) = app.update(|state| {
                state.on_last_tab_closed();
                state.hub.tabs_and_visits()
            });
        }
        if seen != 0 && app.state().may_exit() {
            return;
        }
    }
}

/// Whether a tab reconnects in time.
async fn came_back(app: &App, reload: Duration) -> bool {
    let deadline = Instant::from_std(instant()) + reload;
    while timeout_at(deadline, app.idle.notified()).await.is_ok() {
        if 0 < app.state().hub.tabs_and_visits().0 {
            return true;
        }
    }
    0 < app.state().hub.tabs_and_visits().0
}

/// Listens. Without a wanted port it uses the previous one, which bookmarks and open pages refer to. Clients have
/// to authenticate again.
async fn listen(
    wanted: SocketAddr,
    last: Option<u16>,
) -> Result<(TcpListener, SocketAddr), ServeError> {
    let error = |error| ServeError::Listen(wanted, error);
    let known = last.filter(|_| wanted.port() == 0);
    let kept = match known {
        Some(port) => TcpListener::bind(SocketAddr::new(wanted.ip(), port)).await.ok(),
        None => None,
    };
    let listener = match kept {
        Some(listener) => listener,
        // Another program uses the port, or it is reserved.
        None => TcpListener::bind(wanted).await.map_err(error)?,
    };
    let address = listener.local_addr().map_err(error)?;
    Ok((listener, address))
}

/// The file with the address of this server for the next start of the program, readable by the user only.
fn write_note(path: &Path, address: SocketAddr, auth: &Auth) -> io::Result<()> {
    writeln!(data_dir::replace(path)?, "{address} {}", auth.session())
}

/// Requests a link from the running server.
fn link_of(note: &Path) -> Option<String> {
    let text = std::fs::read_to_string(note).ok()?;
    let (address, session) = text.trim().split_once(' ')?;
    let address: SocketAddr = address.parse().ok()?;
    let mut stream = TcpStream::connect_timeout(&address, ANSWER).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    stream.set_write_timeout(Some(ANSWER)).ok()?;
    write!(
        stream,
        "POST /api/link HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {session}\r\n\
        Content-Type: application/json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.take(1 << 16).read_to_string(&mut answer).ok()?;
    let json = answer.split_once("\r\n\r\n")?.1;
    let body: serde_json::Value = serde_json::from_str(json.trim()).ok()?;
    Some(format!("http://{address}/?token={}", body.get("token")?.as_str()?))
}

/// Serves until Ctrl-C; `ready` is called before the server answers.
///
/// # Errors
/// As [`Server::bind`] and [`Server::run`].
pub fn serve(options: Options, ready: impl FnOnce(&Server)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("server")
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    let done = runtime.block_on(async {
        let end = asked_to_end();
        let server = Server::bind(options).await?;
        ready(&server);
        server.run(end).await
    });
    runtime.shutdown_timeout(LEAVING);
    done
}

/// Completes at the first termination signal after this call.
#[cfg(unix)]
fn asked_to_end() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    async move {
        let waits = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        if waits.len() == 0 {
            std::future::pending::<()>().await;
        }
        futures_util::future::select_all(waits).await;
    }
}

/// Completes when Ctrl-C or Ctrl-Break is pressed, the console is closed, or the user logs off.
#[cfg(windows)]
async fn asked_to_end() {
    use tokio::signal::windows;

    let signals = (
        windows::ctrl_c(),
        windows::ctrl_break(),
        windows::ctrl_close(),
        windows::ctrl_logoff(),
        windows::ctrl_shutdown(),
    );
    let (Ok(mut c), Ok(mut pause), Ok(mut close), Ok(mut logoff), Ok(mut shutdown)) = signals
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = c.recv() => (),
        _ = pause.recv() => (),
        _ = close.recv() => (),
        _ = logoff.recv() => (),
        _ = shutdown.recv() => (),
    }
}
