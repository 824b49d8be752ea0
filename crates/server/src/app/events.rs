//! Events between components.

use readyok_client::SearchResult;

use crate::wire::{EngineId, ErrorInfo, GameId, ProcessId, Purpose, SearchInfo};

/// Identifies a search. Unique within one run of the server.
pub(crate) type SearchId = u64;

/// Notifies components of the same or a higher layer.
#[derive(Debug)]
pub(super) enum AppEvent {
    /// From games to analyses.
    CursorMoved(GameId),
    /// From engines to analyses.
    EngineRemoved(EngineId),
    /// From processes to the owner of the purpose.
    Search(ProcessId, Purpose, SearchEvent),
    /// From processes to engines: another one can be probed.
    ProcessExited,
    /// From reports to jobs and games: a report is done, has stopped or failed.
    ReportFinished(GameId),
    /// From reports to jobs: no report waits.
    ReportQueueEmpty,
}

/// An event of an engine process for the component that started it.
#[derive(Debug)]
pub(super) enum SearchEvent {
    /// The handshake is complete.
    Ready,
    Started(SearchId),
    Info(SearchId, Box<SearchInfo>),
    Finished(SearchId, Box<SearchResult>, Box<SearchInfo>),
    /// The search could not be started or failed; the engine runs on.
    Rejected(SearchId, ErrorInfo),
    Exited {
        failure: Option<ErrorInfo>,
        /// The user wants another process in its place.
        restart: bool,
    },
}
