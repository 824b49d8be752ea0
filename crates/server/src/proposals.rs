//! Tests that authors propose for a farm: those that wait for approval, and the authors of those that were started.
//!
//! The first test of an author waits until an approver or the owner has approved it. Later ones start immediately.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use readyok_arena::durable::{self, FileAccess};
use readyok_arena::plan::{EnginePlan, OpeningSource, Plan};
use serde::{Deserialize, Serialize};

use crate::errors::io_error;
use crate::time::now;
use crate::wire::{ApiError, ErrorCode, ErrorSubject, Proposal, ProposalId, QueuePlan};

/// Maximum size of the file in bytes.
const MAX_FILE: u64 = 64 << 20;
/// Maximum number of tests that wait, of all authors and of one.
const MAX_WAITING: usize = 200;
const MAX_WAITING_OF_AUTHOR: usize = 5;
/// Maximum number of matches whose authors are known: the latest ones.
const MAX_AUTHORS: usize = 100_000;

/// The proposals of a farm, in a file.
#[derive(Debug)]
pub(crate) struct Proposals {
    path: PathBuf,
    /// The repositories whose commits authors may test.
    repositories: BTreeSet<String>,
    stored: Mutex<Stored>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Stored {
    last: ProposalId,
    waiting: BTreeMap<ProposalId, Proposal>,
    /// Authors of whom a test was approved.
    approved: BTreeSet<String>,
    /// The author of each match, in the order of their starts.
    authors: Vec<(String, String)>,
}

impl Proposals {
    /// Opens the file, which need not exist.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn open(path: PathBuf, repositories: BTreeSet<String>) -> io::Result<Self> {
        let stored = match fs::File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Stored::default(),
            file => {
                let mut text = String::new();
                file?.take(MAX_FILE).read_to_string(&mut text)?;
                serde_json::from_str(&text).map_err(io::Error::other)?
            }
        };
        Ok(Self { path, repositories, stored: Mutex::new(stored) })
    }

    /// The repositories whose commits authors may test.
    pub(crate) fn repositories(&self) -> impl Iterator<Item = &str> {
        self.repositories.iter().map(String::as_str)
    }

    /// The tests that wait, the oldest first.
    pub(crate) fn waiting(&self) -> Vec<Proposal> {
        self.stored().waiting.values().cloned().collect()
    }

    /// Whether tests of an author start without approval.
    pub(crate) fn is_approved(&self, author: &str) -> bool {
        self.stored().approved.contains(author)
    }

    /// The author of a match, if it was a proposal.
    pub(crate) fn author_of(&self, id: &str) -> Option<String> {
        let stored = self.stored();
        let found = stored.authors.iter().rev().find(|(known, _)| known == id);
        found.map(|(_, author)| author.clone())
    }

    /// Checks what the test of an author may contain: commits of permitted repositories without arguments, options that
    /// name no file, and no file of this host.
    ///
    /// # Errors
    /// The first part that only an owner may use.
    pub(crate) fn check(&self, plan: &Plan, has_uploaded_openings: bool) -> Result<(), ApiError> {
        let only_commits = || ApiError::invalid_request(ErrorCode::AuthorsTestCommits);
        for EnginePlan { source, args, env, options, .. } in &plan.engines {
            let source = source.as_ref().ok_or_else(only_commits)?;
            if !self.repositories.contains(&source.repository) {
                let repository = source.repository.clone();
                return Err(ApiError::invalid_request(ErrorCode::RepositoryNotPermitted {
                    repository,
                }));
            }
            if !args.is_empty() || !env.is_empty() {
                return Err(only_commits());
            }
            // A path would send a file of this host to the workers.
            let mut options = options.iter();
            if let Some((name, _)) = options.find(|(_, value)| value.contains(['/', '\\'])) {
                return Err(ApiError::invalid_request(ErrorCode::AuthorsNameNoFiles {
                    option: name.clone(),
                }));
            }
        }
        let names_file = matches!(plan.openings.source, OpeningSource::File { .. });
        if plan.adjudication.tablebases.is_some() || names_file && !has_uploaded_openings {
            return Err(only_commits());
        }
        Ok(())
    }

    /// Adds a test that waits for approval.
    ///
    /// # Errors
    /// Too many wait, or it cannot be stored.
    pub(crate) fn add(&self, author: &str, test: QueuePlan) -> Result<ProposalId, ApiError> {
        self.change(|stored| {
            let own = stored.waiting.values().filter(|waiting| waiting.author == author).count();
            if MAX_WAITING_OF_AUTHOR <= own || MAX_WAITING <= stored.waiting.len() {
                return Err(ApiError::too_many(ErrorSubject::Match));
            }
            stored.last = stored.last.saturating_add(1);
            let id = stored.last;
            let created_ms = now();
            let proposal = Proposal { id, author: author.to_owned(), created_ms, test };
            stored.waiting.insert(id, proposal);
            Ok(id)
        })
    }

    /// A test that waits.
    ///
    /// # Errors
    /// No test has this number.
    pub(crate) fn get(&self, id: ProposalId) -> Result<Proposal, ApiError> {
        let found = self.stored().waiting.get(&id).cloned();
        found.ok_or_else(|| ApiError::not_found(ErrorSubject::Match, id))
    }

    /// Removes a test that was started, rejected or withdrawn. `approved` is its match: later tests of the author need
    /// no approval.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn remove(&self, id: ProposalId, approved: Option<&str>) -> Result<(), ApiError> {
        self.change(|stored| {
            let removed = stored.waiting.remove(&id);
            if let (Some(proposal), Some(started)) = (removed, approved) {
                stored.approved.insert(proposal.author.clone());
                stored.add_author(started, &proposal.author);
            }
            Ok(())
        })
    }

    /// Remembers the author of a match that was started without approval.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn started(&self, id: &str, author: &str) -> Result<(), ApiError> {
        self.change(|stored| {
            stored.add_author(id, author);
            Ok(())
        })
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Stored) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut stored = self.stored();
        let mut changed = stored.clone();
        let result = change(&mut changed)?;
        let text = serde_json::to_vec(&changed)
            .map_err(|error| ApiError::storage(io_error(&io::Error::other(error))))?;
        // A larger file could not be read at the next start.
        if MAX_FILE < text.len() as u64 {
            return Err(ApiError::too_many(ErrorSubject::Match));
        }
        write(&self.path, &text).map_err(|error| ApiError::storage(io_error(&error)))?;
        *stored = changed;
        Ok(result)
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    fn add_author(&mut self, id: &str, author: &str) {
        self.authors.push((id.to_owned(), author.to_owned()));
        let surplus = self.authors.len().saturating_sub(MAX_AUTHORS);
        self.authors.drain(..surplus);
    }
}

/// Replaces the file, so that it is complete after a crash.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    durable::replace(path, text, FileAccess::Owner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn test(name: &str) -> QueuePlan {
        let plan = json!({
            "name": name, "variant": "chess", "engines": [], "format": "round_robin", "rounds": 1, "pairs": 1,
            "openings": { "kind": "start" }, "concurrency": 1, "draw": null, "resign": null, "max_moves": null,
            "sprt": null,
        });
        serde_json::from_value(json!({ "plan": plan, "priority": 0 })).expect("a test")
    }

    #[test]
    fn proposals_survive_a_restart() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("queue/proposals.json");
        let open = || Proposals::open(path.clone(), BTreeSet::new()).expect("proposals");
        let before = open();
        let [first, second] =
            ["one", "two"].map(|name| before.add("alice", test(name)).expect("room"));
        before.remove(first, Some("match")).expect("stored");
        let after = open();
        let waiting: Vec<ProposalId> = after.waiting().iter().map(|waiting| waiting.id).collect();
        assert_eq!(waiting, [second]);
        assert!(after.is_approved("alice") && !after.is_approved("bob"));
        assert_eq!(after.author_of("match").as_deref(), Some("alice"));
        assert!(
            after.add("alice", test("three")).expect("room") > second,
            "no number is used twice"
        );
    }

    #[test]
    fn a_file_that_could_not_be_read_is_not_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("proposals.json");
        let proposals = Proposals::open(path.clone(), BTreeSet::new()).expect("proposals");
        let large = "x".repeat(usize::try_from(MAX_FILE).expect("64 bits"));
        assert!(proposals.add("alice", test(&large)).is_err());
        proposals.add("alice", test("small")).expect("room");
        assert_eq!(Proposals::open(path, BTreeSet::new()).expect("proposals").waiting().len(), 1);
    }
}
