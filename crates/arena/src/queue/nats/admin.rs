//! The queue as its users see it: open and finished matches, workers, and the settings of matches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use async_nats::jetstream::kv::{CreateErrorKind, Store, UpdateErrorKind};
use serde::{Deserialize, Serialize};

use crate::conditions::{MatchConditions, MatchSource};
use crate::event::End;
use crate::plan::{OpeningSource, Plan};
use crate::queue::nats::connection::Connection;
use crate::queue::nats::files;
use crate::queue::nats::messages::{
    CONTROL, CoordinatorLease, HISTORY, KEYS, LEASES, MATCHES, Names, OpenMatch, STATUS,
    WORKER_STATUS, broken, read_owned, write,
};
use crate::queue::nats::status::name_of;
use crate::queue::status::{Control, MatchStatus, Phase, WorkerStatus};
use crate::queue::{MatchSpec, QueueError, Stop};
use crate::time::unix_ms;

/// A match of the queue or of its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedMatch {
    /// Its identifier.
    pub id: String,
    /// Its event, or its engines.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
    /// Its plan. Values of environment variables are hidden.
    pub plan: Plan,
    /// Its conditions, as its plan and the hashes of its files state them.
    pub conditions: MatchConditions,
    /// The time of its first announcement in milliseconds since 1970.
    pub created_ms: u64,
    /// The settings of its users.
    pub control: Control,
    /// The coordinator, if it is alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinator: Option<String>,
    /// The latest state.
    pub status: MatchStatus,
}

/// A finished match.
#[derive(Debug, Serialize, Deserialize)]
struct Finished {
    #[serde(flatten)]
    open: OpenMatch,
    #[serde(default)]
    control: Control,
    status: MatchStatus,
}

/// A match that does not exist, or several with this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdminError {
    /// No match has this identifier or name.
    #[error("the queue has no match `{0}`")]
    Unknown(String),
    /// Several matches have this identifier prefix or name.
    #[error("several matches have the name or ID `{0}`")]
    Ambiguous(String),
    /// The match is finished.
    #[error("the match {0} is finished")]
    Finished(String),
    /// A coordinator or a worker still uses the match.
    #[error("the match {0} has a coordinator: stop it first")]
    InUse(String),
    /// The queue has failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Access of a user to the queue.
#[derive(Clone, Debug)]
pub struct Admin {
    connection: Connection,
}

impl Admin {
    /// The queue of a server.
    pub fn new(connection: &Connection) -> Self {
        Self { connection: connection.clone() }
    }

    /// The open matches, by priority and age, and then the finished ones, the latest first.
    ///
    /// # Errors
    /// The server does not respond.
    pub fn matches(&self) -> Result<Vec<QueuedMatch>, QueueError> {
        let mut matches = self.open_matches()?;
        matches.extend(self.history()?);
        Ok(matches)
    }

    /// The open matches, by priority and age.
    ///
    /// # Errors
    /// The server does not respond.
    pub fn open_matches(&self) -> Result<Vec<QueuedMatch>, QueueError> {
        let Some(bucket) = self.connection.find_matches()? else { return Ok(Vec::new()) };
        let leases: BTreeMap<String, CoordinatorLease> = self.connection.values(LEASES)?;
        let mut states: BTreeMap<String, MatchStatus> = self.connection.values(STATUS)?;
        let mut matches = Vec::new();
        for key in self.connection.keys(&bucket)? {
            if key.ends_with(CONTROL) {
                continue;
            }
            let Some(open) = self.connection.value::<OpenMatch>(&bucket, &key)? else { continue };
            let names = Names::of_id(key.clone());
            let control = self.connection.value::<Control>(&bucket, &names.control)?;
            let coordinator = leases.get(&key).map(|lease| lease.coordinator.clone());
            let status = states.remove(&key).unwrap_or_default();
            matches.push(view(key, &open, control.unwrap_or_default(), coordinator, status));
        }
        matches.sort_by(|a, b| {
            let key = |found: &QueuedMatch| (-i64::from(found.control.priority), found.created_ms);
            key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
        });
        Ok(matches)
    }

    /// The finished matches, the latest first.
    ///
    /// # Errors
    /// The server does not respond.
    pub fn history(&self) -> Result<Vec<QueuedMatch>, QueueError> {
        let finished: BTreeMap<String, Finished> = self.connection.values(HISTORY)?;
        let mut matches: Vec<QueuedMatch> = finished
            .into_iter()
            .map(|(id, Finished { open, control, status })| QueuedMatch {
                phase: Phase::Finished,
                ..view(id, &open, control, None, status)
            })
            .collect();
        matches.sort_by_key(|found| std::cmp::Reverse(found.status.updated_ms));
        Ok(matches)
    }

    /// A match by its identifier, the start of the identifier, or its name. An open match is preferred.
    ///
    /// # Errors
    /// There is no such match, there are several, or the server does not respond.
    pub fn find(&self, text: &str) -> Result<QueuedMatch, AdminError> {
        let open = self.open_matches()?;
        let found = one_of(open, text)?;
        match found {
            Some(found) => Ok(found),
            None => {
                one_of(self.history()?, text)?.ok_or_else(|| AdminError::Unknown(text.to_owned()))
            }
        }
    }

    /// Lets workers publish their states before the first match of the queue.
    ///
    /// # Errors
    /// The queue has failed, or has no storage.
    pub fn show_workers(&self) -> Result<(), QueueError> {
        self.connection.create_workers()
    }

    /// The workers, by name.
    ///
    /// # Errors
    /// The server does not respond.
    pub fn workers(&self) -> Result<Vec<WorkerStatus>, QueueError> {
        Ok(self.connection.values::<WorkerStatus>(WORKER_STATUS)?.into_values().collect())
    }

    /// Changes the settings of an open match.
    ///
    /// # Errors
    /// The match is finished, or the server denies access.
    pub fn set(
        &self,
        found: &QueuedMatch,
        change: impl Fn(&mut Control),
    ) -> Result<Control, AdminError> {
        if found.phase == Phase::Finished {
            return Err(AdminError::Finished(found.id.clone()));
        }
        let bucket = self.connection.find_matches()?.ok_or_else(|| broken("no matches"))?;
        let names = Names::of_id(found.id.clone());
        let changed = self.connection.request(update_control(&bucket, &names.control, change))?;
        Ok(changed)
    }

    /// Ends a match. Its coordinator finishes the pairs in progress. Without a coordinator the match is over
    /// immediately.
    ///
    /// # Errors
    /// The match is finished, or the server denies access.
    pub fn stop(&self, found: &QueuedMatch) -> Result<(), AdminError> {
        if found.coordinator.is_some() {
            return self.set(found, |control| control.stop = true).map(drop);
        }
        let open = self.spec_of(found)?;
        let mut status = found.status.clone();
        status.end = Some(End::Stopped);
        status.updated_ms = unix_ms();
        archive(&self.connection, &Names::of_id(found.id.clone()), open, status)?;
        Ok(())
    }

    /// Deletes a match without a coordinator, or a finished one, with its results.
    ///
    /// # Errors
    /// A coordinator has the match, or the server denies access.
    pub fn remove(&self, found: &QueuedMatch) -> Result<(), AdminError> {
        if found.coordinator.is_some() {
            return Err(AdminError::InUse(found.id.clone()));
        }
        let names = Names::of_id(found.id.clone());
        if found.phase == Phase::Finished {
            if let Some(history) = self.connection.find_bucket(HISTORY)? {
                self.connection.delete(&history, &names.id)?;
            }
            return Ok(());
        }
        delete(&self.connection, &names)?;
        Ok(())
    }

    /// The specification of a match, with the values of environment variables.
    ///
    /// # Errors
    /// The match does not exist any more.
    pub fn spec(&self, found: &QueuedMatch) -> Result<MatchSpec, AdminError> {
        Ok(self.spec_of(found)?.spec)
    }

    fn spec_of(&self, found: &QueuedMatch) -> Result<OpenMatch, AdminError> {
        let unknown = || AdminError::Unknown(found.id.clone());
        if found.phase == Phase::Finished {
            let history = self.connection.find_bucket(HISTORY)?.ok_or_else(unknown)?;
            let finished: Option<Finished> = self.connection.value(&history, &found.id)?;
            return Ok(finished.ok_or_else(unknown)?.open);
        }
        let bucket = self.connection.find_matches()?.ok_or_else(unknown)?;
        self.connection.value(&bucket, &found.id)?.ok_or_else(unknown)
    }

    /// Downloads the openings of a match into a directory, and returns their path; `None` if the plan has no opening
    /// file.
    ///
    /// # Errors
    /// The file is not on the server.
    pub fn openings(&self, spec: &MatchSpec, cache: &Path) -> Result<Option<PathBuf>, QueueError> {
        let OpeningSource::File { path, .. } = &spec.plan.openings.source else { return Ok(None) };
        let Some(content) = spec.openings else {
            // A directory is not sent: it must exist on each host.
            return Ok(Some(PathBuf::from(path)));
        };
        files::download_openings(&self.connection, content, path, cache).map(Some)
    }
}

fn view(
    id: String,
    open: &OpenMatch,
    control: Control,
    coordinator: Option<String>,
    status: MatchStatus,
) -> QueuedMatch {
    let mut plan = open.spec.sealed.as_deref().unwrap_or(&open.spec.plan).clone();
    for value in plan.engines.iter_mut().flat_map(|engine| engine.env.values_mut()) {
        value.clear();
    }
    let phase = match (&coordinator, open.stop) {
        (Some(_), Some(Stop::Finish | Stop::Abort)) => Phase::Stopping,
        (Some(_), None) if control.stop => Phase::Stopping,
        (Some(_), None) if control.paused => Phase::Paused,
        (Some(_), None) => Phase::Running,
        (None, _) => Phase::Orphaned,
    };
    let (name, created_ms) = (name_of(&plan), open.created_ms);
    let conditions = MatchConditions {
        source: Some(MatchSource::Farm { workers: status.workers.len(), cores: 0 }),
        started_ms: Some(created_ms),
        ..MatchConditions::of_spec(&open.spec, &plan)
    };
    QueuedMatch { id, name, phase, plan, conditions, created_ms, control, coordinator, status }
}

/// The match with an identifier or a name.
fn one_of(matches: Vec<QueuedMatch>, text: &str) -> Result<Option<QueuedMatch>, AdminError> {
    let mut found: Vec<QueuedMatch> = matches
        .into_iter()
        .filter(|found| found.name == text || (!text.is_empty() && found.id.starts_with(text)))
        .collect();
    if found.len() > 1 {
        return Err(AdminError::Ambiguous(text.to_owned()));
    }
    Ok(found.pop())
}

/// Moves a match to the history.
pub(super) fn archive(
    connection: &Connection,
    names: &Names,
    open: OpenMatch,
    status: MatchStatus,
) -> Result<(), QueueError> {
    let history = connection.find_bucket(HISTORY)?.ok_or_else(|| broken("no history"))?;
    let control = match connection.find_matches()? {
        Some(bucket) => connection.value(&bucket, &names.control)?.unwrap_or_default(),
        None => Control::default(),
    };
    let text = write(&Finished { open, control, status })?;
    connection.request(history.put(&names.id, text.into()))?;
    delete(connection, names)
}

/// Deletes an open match with its results.
fn delete(connection: &Connection, names: &Names) -> Result<(), QueueError> {
    let keys = [
        (MATCHES, &names.id),
        (MATCHES, &names.control),
        (STATUS, &names.id),
        (KEYS, &names.audits),
    ];
    for (bucket, key) in keys {
        if let Some(bucket) = connection.find_bucket(bucket)? {
            connection.delete(&bucket, key)?;
        }
    }
    for stream in [&names.inbox, &names.results] {
        connection.delete_stream(stream)?;
    }
    Ok(())
}

/// Attempts to change settings that others change at the same time.
const ATTEMPTS: usize = 10;

/// Changes the settings of a match.
pub(super) async fn update_control(
    bucket: &Store,
    key: &str,
    change: impl Fn(&mut Control),
) -> Result<Control, QueueError> {
    for _ in 0..ATTEMPTS {
        let entry = bucket.entry(key).await.map_err(broken)?;
        let revision = entry.as_ref().map_or(0, |entry| entry.revision);
        let stored = entry.as_ref().and_then(|entry| read_owned::<Control>(&entry.value));
        let mut control = stored.unwrap_or_default();
        change(&mut control);
        let text = write(&control)?.into();
        if revision == 0 {
            match bucket.create(key, text).await {
                Ok(_) => return Ok(control),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
                Err(error) => return Err(broken(error)),
            }
        } else {
            match bucket.update(key, text, revision).await {
                Ok(_) => return Ok(control),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
                Err(error) => return Err(broken(error)),
            }
        }
    }
    Err(broken("the settings of the match change too often"))
}
