//! Searches that a caller waits for.

use tokio::sync::oneshot;

use super::AppState;
use crate::engine::Found;
use crate::search::{Owner, Wanted};
use crate::wire::{ApiError, EngineId, ErrorCode, ErrorInfo, Variant};

/// The later result of a search that a caller waits for.
pub(super) type Awaited = oneshot::Receiver<Result<Found, ErrorInfo>>;

/// The result of a search.
pub(super) async fn found(awaited: Awaited) -> Result<Found, ApiError> {
    let stopped = || Err(ErrorCode::EngineStopped.into());
    awaited.await.unwrap_or_else(|_| stopped()).map_err(|why: ErrorInfo| match why.code {
        ErrorCode::AttemptReplaced => ApiError::conflict(ErrorCode::AttemptReplaced),
        _ => ApiError::engine(why),
    })
}

impl AppState {
    /// Searches once with a process of its own. A later search of the same owner replaces it.
    pub(super) fn search_once(
        &mut self,
        owner: Owner,
        engine: EngineId,
        variant: Variant,
        wanted: Wanted,
    ) -> Result<Awaited, ApiError> {
        self.start_process(owner, engine, Some(variant))?;
        let (reply, awaited) = oneshot::channel();
        self.tasks.search(owner, wanted, Some(reply)).map_err(ApiError::engine)?;
        Ok(awaited)
    }
}
