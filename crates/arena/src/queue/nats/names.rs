//! What streams and subjects are called.

use crate::store::ContentHash;

/// Where the open matches stand.
pub(super) const MATCHES: &str = "READYOK_MATCHES";

/// Where programs lie.
pub(super) const FILES: &str = "READYOK_FILES";

/// The durable consumer of all workers.
pub(super) const WORKERS: &str = "workers";

/// The names of one match.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The key of the match.
    pub(super) id: String,
    /// The stream of jobs, and its subject.
    pub(super) jobs: String,
    pub(super) jobs_subject: String,
    /// The stream of results, and its subject.
    pub(super) results: String,
    pub(super) results_subject: String,
    /// Where workers tell how it goes.
    pub(super) updates: String,
}

impl Names {
    pub(super) fn of(plan: ContentHash) -> Self {
        // Half of a hash is enough to tell matches apart, and shorter to look at.
        let id: String = plan.to_string().chars().take(32).collect();
        let jobs = format!("READYOK_JOBS_{id}");
        Self {
            jobs_subject: format!("readyok.{id}.jobs"),
            results: format!("READYOK_RESULTS_{id}"),
            results_subject: format!("readyok.{id}.results"),
            updates: format!("readyok.{id}.updates"),
            jobs,
            id,
        }
    }
}
