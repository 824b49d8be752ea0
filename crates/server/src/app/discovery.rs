//! Engines for selection: those found on this machine, and those of engine lists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::pin::pin;

use futures_util::StreamExt;
use tokio::task::{AbortHandle, spawn_blocking};

use super::{App, AppState};
use crate::engine::discovery::{Candidate, Identified, LIMIT, Places, candidates, identify_each};
use crate::engine::lists::{self, Listed};
use crate::wire::{
    Answer, ApiError, Delta, EngineEntry, EngineList, EngineSearch, EngineSource, EnginesDelta,
    ErrorCode, ErrorInfo, FoundEngine, FoundEngines, RejectedProgram, Topic,
};

/// Maximum size of an engine list, in bytes.
const MAX_LIST: u64 = 1 << 20;

/// The last search for engines.
#[derive(Default)]
pub(super) struct Discovery {
    search: Option<EngineSearch>,
    task: Option<AbortHandle>,
    /// Number of searches.
    count: u64,
}

impl AppState {
    /// Starts a search of this machine for engines, unless one runs. It is published with the engines.
    pub(super) fn find_engines(&mut self) -> Result<Answer, ApiError> {
        if self.discovery.search.as_ref().is_some_and(|search| search.running) {
            return Ok(Answer::Done);
        }
        if self.closing {
            return Err(ApiError::conflict(ErrorCode::ShuttingDown));
        }
        self.discovery.count += 1;
        let number = self.discovery.count;
        let app = self.app.clone();
        let guard = self.program.guard.clone();
        let task = tokio::spawn(async move {
            let update = |change: &mut dyn FnMut(&mut EngineSearch)| {
                let Some(app) = app.upgrade() else { return };
                app.update(|state| state.change_search(number, change));
            };
            let read = || {
                let places = Places::of_machine();
                let listed = places.lists.iter().filter_map(|path| list(path));
                (candidates(&places), listed.flat_map(|found| found.engines).collect::<Vec<_>>())
            };
            let (programs, mut listed) = spawn_blocking(read).await.unwrap_or_default();
            update(&mut |search| {
                search.total = programs.len();
                search.found.engines.append(&mut listed);
            });
            let mut results = pin!(identify_each(programs, guard, LIMIT));
            while let Some((candidate, result)) = results.next().await {
                let mut result = Some(result.map_err(Into::into));
                update(&mut |search| {
                    search.done += 1;
                    if let Some(result) = result.take() {
                        search.found.add_candidate(&candidate, result);
                    }
                });
            }
            update(&mut |search| search.running = false);
        });
        self.discovery.task = Some(task.abort_handle());
        self.discovery.search = Some(EngineSearch { running: true, ..EngineSearch::default() });
        self.publish_search();
        Ok(Answer::Done)
    }

    /// Ends a search and its programs.
    pub(super) fn cancel_search(&mut self) {
        if let Some(task) = self.discovery.task.take() {
            task.abort();
        }
        self.change_search(self.discovery.count, &mut |search| search.running = false);
    }

    /// Changes the search with a number, if it is the last one and runs.
    fn change_search(&mut self, number: u64, change: &mut dyn FnMut(&mut EngineSearch)) {
        if number != self.discovery.count {
            return;
        }
        if let Some(search) = self.discovery.search.as_mut().filter(|search| search.running) {
            change(search);
            self.publish_search();
        }
    }

    /// The last search, with marks for the engines that are registered now.
    pub(super) fn search_state(&self) -> Option<EngineSearch> {
        let mut search = self.discovery.search.clone()?;
        self.mark_registered(&mut search.found);
        Some(search)
    }

    /// Publishes the last search, if there is one.
    pub(super) fn publish_search(&mut self) {
        let Some(search) = self.search_state() else { return };
        let delta = EnginesDelta { search: Some(search), ..EnginesDelta::default() };
        self.hub.publish(Topic::Engines, Delta::Engines(delta));
    }
}

impl App {
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
            Ok(Identified { name, author, protocol, recommended, evaluation }) => {
                let source = EngineSource::Program(candidate.program.clone());
                let entry = EngineEntry { name, source, protocol: Some(protocol) };
                self.engines.push(FoundEngine {
                    entry,
                    author,
                    values: BTreeMap::new(),
                    recommended,
                    evaluation,
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
            recommended: BTreeMap::new(),
            evaluation: None,
            list: Some(list),
            registered: false,
        });
    }
}
