//! The announcements of matches that a worker has received.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::queue::StopToken;
use crate::queue::nats::messages::Announcement;

/// The maximum number of matches.
const MAX_MATCHES: usize = 1000;

/// The announcements of all matches, which a task receives.
#[derive(Default)]
pub(super) struct Announcements {
    announced: Mutex<AnnouncedMatches>,
}

#[derive(Default)]
struct AnnouncedMatches {
    matches: BTreeMap<String, (Instant, Announcement)>,
    /// The stop states of the matches that this worker plays, with their identifiers.
    tokens: BTreeMap<u64, (String, StopToken)>,
    next_key: u64,
}

impl AnnouncedMatches {
    fn tokens_of(&self, id: &str) -> Vec<StopToken> {
        let tokens = self.tokens.values().filter(|(found, _)| found == id);
        tokens.map(|(_, token)| token.clone()).collect()
    }
}

impl Announcements {
    fn announced(&self) -> MutexGuard<'_, AnnouncedMatches> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, id: &str, announcement: Announcement) {
        let mut announced = self.announced();
        let tokens = announced.tokens_of(id);
        let stop = announcement.stop;
        if announced.matches.len() < MAX_MATCHES || announced.matches.contains_key(id) {
            announced.matches.insert(id.to_owned(), (Instant::now(), announcement));
        }
        drop(announced);
        // Callbacks of an abort must not find a locked mutex.
        if let Some(stop) = stop {
            for token in &tokens {
                token.stop(stop);
            }
        }
    }

    /// When a match was last announced with jobs.
    pub(super) fn jobs_since(&self, id: &str) -> Option<Instant> {
        let announced = self.announced();
        announced.matches.get(id).filter(|(_, found)| found.has_jobs).map(|(at, _)| *at)
    }

    /// Stops a match that this worker plays when its coordinator announces it. Returns the key for
    /// [`unfollow`](Self::unfollow).
    pub(super) fn follow(&self, id: &str, token: StopToken) -> u64 {
        let mut announced = self.announced();
        announced.next_key += 1;
        let key = announced.next_key;
        announced.tokens.insert(key, (id.to_owned(), token));
        key
    }

    pub(super) fn unfollow(&self, key: u64) {
        self.announced().tokens.remove(&key);
    }

    /// The matches that were announced within the time of a lease.
    pub(super) fn current(&self) -> BTreeMap<String, Announcement> {
        let mut announced = self.announced();
        announced
            .matches
            .retain(|_, (at, found)| at.elapsed() <= Duration::from_millis(found.lease_ms));
        announced.matches.iter().map(|(id, (_, found))| (id.clone(), found.clone())).collect()
    }

    /// The stop states of matches that this worker plays and that are not announced any more.
    pub(super) fn unannounced(&self) -> Vec<(String, StopToken)> {
        let announced = self.announced();
        let tokens = announced.tokens.values();
        tokens.filter(|(id, _)| !announced.matches.contains_key(id)).cloned().collect()
    }
}
