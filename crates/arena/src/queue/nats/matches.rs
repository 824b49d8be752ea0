//! The open matches of a server, as a worker knows them, and those that it rejects.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::queue::nats::announcements::Announcements;
use crate::queue::nats::connection::{Connection, Outage};
use crate::queue::nats::messages::{
    Announcement, Names, Note, PROTOCOL, STATES, hello_subject, last_token, read,
};
use crate::queue::nats::worker::{Served, publish_note};
use crate::queue::status::RejectedMatch;
use crate::queue::{MatchSpec, QueueError, Rejection};

/// First and longest delay before a match is prepared again whose rejection may be temporary. Delays double.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_secs(2), Duration::from_mins(10)];

/// Maximum outage of the server.
const MAX_OUTAGE: Duration = Duration::from_mins(10);

/// The time in which all coordinators respond to a new worker.
const HELLO_TIMEOUT: Duration = Duration::from_millis(500);

/// The interval in which coordinators are reminded of a rejection.
const REMINDER: Duration = Duration::from_secs(10);

/// The open matches of a server.
pub(super) struct Matches {
    connection: Connection,
    name: String,
    announcements: Arc<Announcements>,
    specs: BTreeMap<String, KnownSpec>,
    rejected: BTreeMap<String, RejectedSpec>,
    /// When the coordinators of rejected matches were last reminded.
    reminded: Option<Instant>,
    /// Start of an outage of the server.
    outage_since: Option<Instant>,
    /// When coordinators were asked for their announcements.
    requested_at: Instant,
    /// Where coordinators respond to a new worker.
    inbox: String,
    listener: JoinHandle<()>,
}

struct KnownSpec {
    revision: u64,
    spec: MatchSpec,
}

/// A match that this worker rejects.
struct RejectedSpec {
    /// The specification at that time.
    spec: MatchSpec,
    why: Rejection,
    retry: Retry,
    /// Number of rejections of this specification.
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    Never,
    At(Instant),
    /// The match is prepared or played again.
    Started,
}

/// Whether the reason may disappear without a change of the match or of the worker's permissions, for example a timeout
/// of an engine on an overloaded host.
fn may_be_temporary(why: &Rejection) -> bool {
    match why {
        Rejection::NotFetched { .. }
        | Rejection::MissingResource { .. }
        | Rejection::Engine(_)
        | Rejection::Denied { .. } => true,
        Rejection::Build { failure, .. } => failure.is_temporary(),
        Rejection::UnknownContent { .. }
        | Rejection::NotAllowed { .. }
        | Rejection::Repository { .. }
        | Rejection::Environment { .. }
        | Rejection::Arguments { .. }
        | Rejection::Option { .. } => false,
    }
}

/// An open match that this worker does not reject.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) spec: MatchSpec,
    pub(super) priority: i32,
    /// Whether workers may take jobs.
    pub(super) is_open: bool,
    pub(super) lease: Duration,
}

impl Matches {
    /// The open matches of a server, for a worker with this name.
    pub(super) fn new(connection: &Connection, name: &str) -> Result<Self, QueueError> {
        let client = &connection.client;
        let inbox = client.new_inbox();
        let mut states = connection.request(client.subscribe(STATES))?;
        let mut responses = connection.request(client.subscribe(inbox.clone()))?;
        let announcements = Arc::new(Announcements::default());
        let announced = Arc::clone(&announcements);
        let listener = connection.spawn(async move {
            loop {
                tokio::select! {
                    Some(message) = states.next() => {
                        if let Some(announcement) = read(&message.payload) {
                            announced.add(last_token(&message.subject), announcement);
                        }
                    }
                    Some(message) = responses.next() => {
                        if let Some((id, announcement)) = read::<(String, _)>(&message.payload) {
                            announced.add(&id, announcement);
                        }
                    }
                    else => break,
                }
            }
        });
        let this = Self {
            connection: connection.clone(),
            name: name.to_owned(),
            announcements,
            specs: BTreeMap::new(),
            rejected: BTreeMap::new(),
            reminded: None,
            outage_since: None,
            requested_at: Instant::now(),
            inbox,
            listener,
        };
        this.send_hello();
        Ok(this)
    }

    pub(super) fn announcements(&self) -> &Arc<Announcements> {
        &self.announcements
    }

    /// Asks all coordinators for their announcements.
    fn send_hello(&self) {
        let (client, subject) = (&self.connection.client, hello_subject(&self.name));
        // Without a response, the worker receives the next regular announcement.
        let _ = self.connection.request(async {
            client.publish_with_reply(subject, self.inbox.clone(), "".into()).await
        });
    }

    /// Rejects a match. A rejection that may be temporary is retried after a delay.
    pub(super) fn reject(&mut self, served: &Served, why: Rejection) {
        self.add_rejection(served.id().to_owned(), served.announced().clone(), why);
    }

    /// The rejected matches.
    pub(super) fn rejected(&self) -> Vec<RejectedMatch> {
        let entries = self.rejected.iter().filter(|(_, entry)| entry.retry != Retry::Started);
        entries
            .map(|(id, entry)| RejectedMatch { id: id.clone(), why: entry.why.to_string() })
            .collect()
    }

    pub(super) fn add_rejection(&mut self, id: String, spec: MatchSpec, why: Rejection) {
        let before = self.rejected.get(&id).filter(|entry| entry.spec == spec);
        let count = before.map_or(0, |entry| entry.count).saturating_add(1);
        let [first, longest] = RETRY_DELAYS;
        let delay = first.saturating_mul(1 << (count - 1).min(16)).min(longest);
        let retry =
            if may_be_temporary(&why) { Retry::At(Instant::now() + delay) } else { Retry::Never };
        self.rejected.insert(id, RejectedSpec { spec, why, retry, count });
        self.reminded = None;
    }

    /// Reminds the coordinators of rejected matches, and looks for ended ones, since messages are not stored.
    pub(super) fn remind(&mut self) {
        if self.reminded.is_some_and(|last| last.elapsed() < REMINDER) {
            return;
        }
        self.reminded = Some(Instant::now());
        self.stop_unannounced();
        for RejectedSpec { spec, why, retry, .. } in self.rejected.values() {
            if *retry != Retry::Started && !matches!(why, Rejection::Denied { .. }) {
                let names = Names::of(spec.plan_hash);
                let note = Note::Rejected { why: why.clone() };
                publish_note(&self.connection, &names, &self.name, &note);
            }
        }
    }

    /// Open matches that are not rejected; `None` during an outage.
    ///
    /// # Errors
    /// The server was not reachable for ten minutes, or it rejects the login.
    pub(super) fn poll(&mut self) -> Result<Option<BTreeMap<String, Candidate>>, Outage> {
        if let Some(outage) = self.connection.outage() {
            let since = *self.outage_since.get_or_insert_with(Instant::now);
            let is_over = outage == Outage::Rejected || since.elapsed() > MAX_OUTAGE;
            return if is_over { Err(outage) } else { Ok(None) };
        }
        if self.outage_since.take().is_some() {
            self.send_hello();
            self.requested_at = Instant::now();
        }
        // Otherwise a match of a low priority whose coordinator responds first would come first.
        if self.requested_at.elapsed() < HELLO_TIMEOUT {
            return Ok(None);
        }
        // A request that fails is repeated by the next call.
        Ok(self.open().ok())
    }

    fn open(&mut self) -> Result<BTreeMap<String, Candidate>, QueueError> {
        let announced = self.announcements.current();
        self.specs.retain(|id, _| announced.contains_key(id));
        let mut open = BTreeMap::new();
        for (id, announcement) in announced {
            if announcement.protocol == PROTOCOL
                && announcement.stop.is_none()
                && let Some(spec) = self.spec(&id, announcement.revision)?
                && self.is_accepted(&id, &spec)
            {
                let Announcement { priority, is_open, lease_ms, .. } = announcement;
                let lease = Duration::from_millis(lease_ms);
                open.insert(id, Candidate { spec, priority, is_open, lease });
            }
        }
        let specs = &self.specs;
        self.rejected
            .retain(|id, entry| specs.get(id).is_some_and(|known| known.spec == entry.spec));
        Ok(open)
    }

    /// Stops matches that have ended without an announcement that this worker has received.
    fn stop_unannounced(&self) {
        for (id, token) in self.announcements.unannounced() {
            if let Some(stop) = self.connection.stop_of(&id) {
                token.stop(stop);
            }
        }
    }

    /// The specification of a match.
    fn spec(&mut self, id: &str, revision: u64) -> Result<Option<MatchSpec>, QueueError> {
        if let Some(known) = self.specs.get(id).filter(|known| known.revision == revision) {
            return Ok(Some(known.spec.clone()));
        }
        let Some(open) = self.connection.open_match(id)? else { return Ok(None) };
        if Names::of(open.spec.plan_hash).id != id {
            return Ok(None);
        }
        self.specs.insert(id.to_owned(), KnownSpec { revision, spec: open.spec.clone() });
        Ok(Some(open.spec))
    }

    /// Whether a match is not rejected. A changed specification, for example of a fixed program, is checked again.
    fn is_accepted(&mut self, id: &str, spec: &MatchSpec) -> bool {
        let Some(entry) = self.rejected.get_mut(id).filter(|entry| entry.spec == *spec) else {
            return true;
        };
        if matches!(entry.retry, Retry::At(time) if time <= Instant::now()) {
            entry.retry = Retry::Started;
        }
        entry.retry == Retry::Started
    }
}

impl Drop for Matches {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl fmt::Debug for Matches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matches").field("name", &self.name).finish_non_exhaustive()
    }
}
