//! Accepts connections, and limits the resources of unauthenticated clients.
//!
//! ```text
//!  accept ──> unauthenticated ──secret presented──> authenticated ──> closed by either side
//!                  │ too many: the oldest of the address with the most of them is closed
//!                  │ header, body or lifetime takes too long: closed
//! ```
//! A reverse proxy may use a connection for several clients. The address and the authentication of such a connection are
//! those of its last request.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::proxy::Origin;

/// Maximum size of the header of a request, in bytes. Browsers send cookies of all other ports along.
const MAX_HEADER: usize = 64 << 10;
/// An unauthenticated connection is closed after this number of request timeouts: a client that does not read
/// occupies it as well.
const MAX_LIFETIME: u32 = 6;
/// Pause after a failure of the system, which most likely has no file descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// The maximum numbers of concurrent connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Limits {
    authenticated: usize,
    unauthenticated: usize,
}

impl Limits {
    const MAX: Self = Self { authenticated: 256, unauthenticated: 64 };

    /// Limits that leave half of the file descriptors to engines and files.
    fn for_descriptors(descriptors: Option<u64>) -> Self {
        let Some(descriptors) = descriptors else { return Self::MAX };
        let half = usize::try_from(descriptors / 2).unwrap_or(usize::MAX);
        let unauthenticated = (half / 5).clamp(4, Self::MAX.unauthenticated);
        let authenticated = half.saturating_sub(unauthenticated).clamp(4, Self::MAX.authenticated);
        Self { authenticated, unauthenticated }
    }
}

/// The limit of open files of this process.
fn max_descriptors() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    None
}

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    /// The time limit for the header and the body of an unauthenticated client.
    timeout: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last: u64,
    /// By number, and therefore by age.
    all: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    /// The client, if it is known, or the proxy.
    address: IpAddr,
    is_authenticated: bool,
    evicted: Arc<Notify>,
}

impl Open {
    fn count(&self, is_authenticated: bool) -> usize {
        self.all.values().filter(|entry| entry.is_authenticated == is_authenticated).count()
    }

    /// Closes an unauthenticated connection: the oldest of the address that has the most.
    fn evict(&mut self) {
        let unauthenticated = || self.all.iter().filter(|(_, entry)| !entry.is_authenticated);
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for (_, entry) in unauthenticated() {
            *counts.entry(entry.address).or_default() += 1;
        }
        let most = counts.values().max().copied();
        let victim = unauthenticated()
            .find(|(_, entry)| counts.get(&entry.address).copied() == most)
            .map(|(number, _)| *number);
        if let Some(entry) = victim.and_then(|number| self.all.remove(&number)) {
            entry.evicted.notify_one();
        }
    }
}

impl Connections {
    pub(crate) fn new(timeout: Duration) -> Arc<Self> {
        let limits = Limits::for_descriptors(max_descriptors());
        Arc::new(Self { limits, timeout, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection. `None` if all places of authenticated clients are taken.
    fn admit(self: &Arc<Self>, address: IpAddr) -> Option<(Arc<Connection>, Arc<Notify>)> {
        let mut open = self.open();
        if self.limits.authenticated <= open.count(true) {
            return None;
        }
        // Requests of other clients may have made connections of a proxy unauthenticated again.
        for _ in self.limits.unauthenticated..=open.count(false) {
            open.evict();
        }
        open.last += 1;
        let (number, evicted) = (open.last, Arc::<Notify>::default());
        let entry =
            OpenConnection { address, is_authenticated: false, evicted: Arc::clone(&evicted) };
        open.all.insert(number, entry);
        let connection = Connection { number, peer: address, all: Arc::clone(self) };
        Some((Arc::new(connection), evicted))
    }

    /// Accepts connections until it is dropped, and all of them with it except sockets of tabs.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener, router: Router) {
        let mut tasks = JoinSet::new();
        loop {
            match listener.accept().await {
                Ok((stream, from)) => {
                    // Without it, the second of two messages waits up to 40 ms for an acknowledgement of the first. A
                    // failure means that the connection is closed.
                    let _ = stream.set_nodelay(true);
                    if let Some((connection, evicted)) = self.admit(from.ip()) {
                        let router = router.clone();
                        tasks.spawn(serve_connection(stream, connection, evicted, router));
                    }
                }
                Err(error) if is_of_one_connection(&error) => (),
                Err(_) => {
                    self.open().evict();
                    sleep(PAUSE).await;
                }
            }
            while tasks.try_join_next().is_some() {}
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

/// A connection, as an extension of each of its requests.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    peer: IpAddr,
    all: Arc<Connections>,
}

impl Connection {
    /// The other end: the client, or a proxy.
    pub(super) fn peer(&self) -> IpAddr {
        self.peer
    }

    /// The time limit for the body of an unauthenticated client.
    pub(super) fn timeout(&self) -> Duration {
        self.all.timeout
    }

    /// Records the client of a request, and whether it has presented the secret.
    pub(super) fn begin_request(&self, origin: Origin, is_authenticated: bool) {
        if let Some(entry) = self.all.open().all.get_mut(&self.number) {
            entry.address = origin.address;
            // Not each request of an authenticated client presents the secret.
            let stays = entry.is_authenticated && !origin.is_proxied;
            entry.is_authenticated = is_authenticated || stays;
        }
    }

    fn is_authenticated(&self) -> bool {
        self.all.open().all.get(&self.number).is_some_and(|entry| entry.is_authenticated)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.open().all.remove(&self.number);
    }
}

async fn serve_connection(
    stream: TcpStream,
    connection: Arc<Connection>,
    evicted: Arc<Notify>,
    router: Router,
) {
    let timeout = connection.timeout();
    let router = TowerToHyperService::new(router);
    let in_requests = Arc::clone(&connection);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&in_requests));
        router.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .max_buf_size(MAX_HEADER)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let expired = async {
        loop {
            sleep(timeout.saturating_mul(MAX_LIFETIME)).await;
            if !connection.is_authenticated() {
                return;
            }
        }
    };
    tokio::select! {
        _ = served => (),
        () = evicted.notified() => (),
        () = expired => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_leave_descriptors_to_engines() {
        for descriptors in [16, 64, 256, 1024, 1 << 20] {
            let limits = Limits::for_descriptors(Some(descriptors));
            let all = u64::try_from(limits.authenticated + limits.unauthenticated);
            assert!(all.expect("a small number") <= descriptors / 2, "{descriptors}: {limits:?}");
        }
        assert_eq!(Limits::for_descriptors(None), Limits::MAX);
    }

    fn connections(authenticated: usize, unauthenticated: usize) -> Arc<Connections> {
        let limits = Limits { authenticated, unauthenticated };
        Arc::new(Connections { limits, timeout: Duration::MAX, open: Mutex::default() })
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn is_open(connection: &Connection) -> bool {
        connection.all.open().all.contains_key(&connection.number)
    }

    #[test]
    fn the_oldest_connection_of_the_busiest_address_is_closed() {
        let all = connections(2, 4);
        let admit = |last| all.admit(address(last)).expect("a place").0;
        let first = admit(1);
        let busy = [admit(2), admit(2), admit(2)];
        let next = admit(3);
        assert!(is_open(&first) && is_open(&next));
        assert_eq!(busy.each_ref().map(|connection| is_open(connection)), [false, true, true]);
    }

    #[test]
    fn authenticated_connections_stay() {
        let all = connections(2, 2);
        let owner = all.admit(address(1)).expect("a place").0;
        let begin = |connection: &Connection| {
            let origin = Origin { address: connection.peer(), is_proxied: false };
            connection.begin_request(origin, true);
            // A request without the secret, such as that of an image.
            connection.begin_request(origin, false);
        };
        begin(&owner);
        let others: Vec<_> = (0..100).map(|_| all.admit(address(1)).expect("a place").0).collect();
        assert!(is_open(&owner) && owner.is_authenticated());
        assert_eq!(others.iter().filter(|connection| is_open(connection)).count(), 2);
        begin(others.last().expect("the last one"));
        assert!(all.admit(address(1)).is_none());
        drop(owner);
        assert!(all.admit(address(1)).is_some());
    }

    #[test]
    fn clients_behind_a_proxy_are_distinguished() {
        let all = connections(4, 4);
        let proxy = address(1);
        let request = |client, is_authenticated| {
            let connection = all.admit(proxy).expect("a place").0;
            let origin = Origin { address: address(client), is_proxied: true };
            connection.begin_request(origin, is_authenticated);
            connection
        };
        let visitor = request(2, false);
        let guesses = [request(3, false), request(3, false), request(3, false)];
        let (owner, late) = (request(4, true), request(5, false));
        assert!(is_open(&visitor) && is_open(&owner) && is_open(&late));
        assert_eq!(guesses.each_ref().map(|connection| is_open(connection)), [false, true, true]);
        // Others use the connection later.
        let origin = Origin { address: address(3), is_proxied: true };
        owner.begin_request(origin, false);
        assert!(!owner.is_authenticated());
        let last = request(2, false);
        assert!(is_open(&last) && is_open(&visitor));
        assert_eq!(all.open().count(false), 4);
    }
}
