//! Engines for selection: those found on this machine, and those of engine lists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;

use super::App;
use super::saving::Deferred;
use crate::engine::discovery::{Candidate, Identified, LIMIT, Places, candidates, identify_all};
use crate::engine::lists::{self, Listed};
use crate::wire::{
    Answer, ApiError, EngineEntry, EngineList, EngineSource, ErrorInfo, FoundEngine, FoundEngines,
    RejectedProgram,
};

/// Maximum size of an engine list, in bytes.
const MAX_LIST: u64 = 1 << 20;
/// One search at a time: each starts several programs.
static SEARCH: Semaphore = Semaphore::const_new(1);

impl App {
    /// Searches this machine for engines. The search ends when the answer is no longer awaited.
    pub(super) fn find_engines(self: &Arc<Self>) -> Deferred {
        let (mut reply, answer) = oneshot::channel();
        let app = Arc::downgrade(self);
        let guard = self.state().program.guard.clone();
        let search = async move {
            let Ok(_permit) = SEARCH.acquire().await else { return None };
            let read = || {
                let places = Places::of_machine();
                (candidates(&places), places.lists.iter().filter_map(|path| list(path)).collect())
            };
            let (programs, listed): (_, Vec<FoundEngines>) = spawn_blocking(read).await.ok()?;
            let mut found = FoundEngines::default();
            for (candidate, result) in identify_all(programs, guard, LIMIT).await {
                found.add_candidate(&candidate, result.map_err(Into::into));
            }
            for FoundEngines { engines, .. } in listed {
                found.engines.extend(engines);
            }
            app.upgrade()?.state().mark_registered(&mut found);
            Some(found)
        };
        tokio::spawn(async move {
            tokio::select! {
                found = search => {
                    let found = found.unwrap_or_default();
                    // The tab may be closed.
                    let _ = reply.send(Ok(Answer::FoundEngines { found }));
                }
                () = reply.closed() => (),
            }
        });
        answer
    }

    /// Reads an engine list of another program.
    pub(super) fn read_engine_list(&self, text: &str) -> Result<Answer, ApiError> {
        let mut found = read(text).map_err(ApiError::invalid_request)?;
        self.state().mark_registered(&mut found);
        Ok(Answer::FoundEngines { found })
    }
}

/// The engines of the list of another program, if it has one.
fn list(path: &Path) -> Option<FoundEngines> {
    let is_small = fs::metadata(path).ok()?.len() <= MAX_LIST;
    let text = is_small.then(|| fs::read_to_string(path).ok())??;
    read(&text).ok()
}

fn read(text: &str) -> Result<FoundEngines, ErrorInfo> {
    let (list, engines) = lists::read(text)?;
    let mut found = FoundEngines::default();
    for (name, engine) in engines {
        match engine {
            Ok(engine) => found.add_listed(list, engine),
            Err(error) => {
                found.rejected.push(RejectedProgram { name, error: error.into() });
            }
        }
    }
    Ok(found)
}

impl FoundEngines {
    fn add_candidate(&mut self, candidate: &Candidate, result: Result<Identified, ErrorInfo>) {
        // Paths that are not Unicode cannot be registered.
        let Some(path) = candidate.program.path.to_str() else { return };
        match result {
            Ok(Identified { name, author, protocol }) => {
                let source = EngineSource::Program(candidate.program.clone());
                let entry = EngineEntry { name, source, protocol: Some(protocol) };
                self.engines.push(FoundEngine {
                    entry,
                    author,
                    values: BTreeMap::new(),
                    list: None,
                    registered: false,
                });
            }
            Err(error) => self.rejected.push(RejectedProgram { name: path.to_owned(), error }),
        }
    }

    fn add_listed(&mut self, list: EngineList, engine: Listed) {
        let Listed { entry, values } = engine;
        self.engines.push(FoundEngine {
            entry,
            author: String::new(),
            values,
            list: Some(list),
            registered: false,
        });
    }
}
