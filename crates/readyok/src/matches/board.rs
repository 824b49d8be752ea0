//! The dashboard of a match queue, and coordinators of the matches that its users start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use readyok_arena::event::End;
use readyok_arena::plan::{OpeningSource, Plan, SprtPlan};
use readyok_arena::queue::MatchSpec;
use readyok_arena::queue::nats::{
    Access, AccessError, Admin, Connection, CoordinatorSettings, NatsDispatcher, Phase, QueuedMatch,
};
use readyok_arena::runner::{Match, Settings};
use readyok_arena::stats::Model;
use readyok_arena::store::{ContentHash, Store, StoreError};
use readyok_server::{QueueAction, QueueBoard, QueueClone};
use serde_json::{Value, json};

use super::files::AnyError;
use super::run::setting;
use crate::clock::now;

/// The age at which an overview is read again. All visitors share it.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Maximum number of finished matches in an overview.
const MAX_FINISHED: usize = 100;

/// The dashboard of a queue.
#[derive(Debug)]
pub struct Board {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: Connection,
    server: String,
    /// Directory of results files and openings.
    directory: PathBuf,
    matches: Mutex<Option<(Instant, Vec<QueuedMatch>)>>,
    /// The matches that this process coordinates.
    coordinated: Mutex<BTreeSet<String>>,
}

impl Board {
    /// Connects to a queue, and continues the matches of the previous run. Results files are in the directory.
    ///
    /// # Errors
    /// The queue cannot be used.
    pub fn open(access: &Access, directory: PathBuf) -> Result<Self, AccessError> {
        let connection = Connection::open(access)?;
        let server = access.address();
        let (matches, coordinated) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { connection, server, directory, matches, coordinated });
        let resumed = Arc::clone(&shared);
        thread::spawn(move || resumed.continue_matches());
        Ok(Self { shared })
    }
}

impl QueueBoard for Board {
    fn overview(&self, search: &str) -> Result<Value, String> {
        let workers = self.shared.admin().workers().map_err(text)?;
        let search = search.to_lowercase();
        let (mut open, mut finished) = (Vec::new(), Vec::new());
        for found in self.shared.matches()? {
            if found.phase != Phase::Finished {
                open.push(summary(&found)?);
            } else if finished.len() < MAX_FINISHED && is_found(&found, &search) {
                finished.push(summary(&found)?);
            }
        }
        Ok(json!({
            "server": self.shared.server, "open": open, "finished": finished, "workers": workers,
        }))
    }

    fn details(&self, id: &str) -> Result<Option<Value>, String> {
        let found = self.shared.matches()?.into_iter().find(|it| it.id == id);
        found.map(|found| serde_json::to_value(found).map_err(text)).transpose()
    }

    fn act(&self, id: &str, action: QueueAction) -> Result<String, String> {
        let shared = &self.shared;
        let admin = shared.admin();
        let found = admin.find(id).map_err(text)?;
        let next = match action {
            QueueAction::Clone(changes) => shared.start_clone(&found, &changes).map_err(text)?,
            QueueAction::Start => {
                let spec = admin.spec(&found).map_err(text)?;
                shared.start(spec, Start::TakeOver, 0).map_err(text)?
            }
            QueueAction::Stop => admin.stop(&found).map(|()| found.id.clone()).map_err(text)?,
            QueueAction::Remove => admin.remove(&found).map(|()| found.id.clone()).map_err(text)?,
            change => {
                let changed = admin.set(&found, |control| match &change {
                    QueueAction::Pause => control.paused = true,
                    QueueAction::Resume => control.paused = false,
                    QueueAction::Priority { priority } => control.priority = *priority,
                    QueueAction::Exclude { worker } => {
                        control.excluded.insert(worker.clone());
                    }
                    QueueAction::Include { worker } => {
                        control.excluded.remove(worker);
                    }
                    QueueAction::Clone(_)
                    | QueueAction::Start
                    | QueueAction::Stop
                    | QueueAction::Remove => {}
                });
                changed.map(|_| found.id.clone()).map_err(text)?
            }
        };
        *shared.cache() = None;
        Ok(next)
    }
}

/// How a coordinator starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    New,
    /// The results on the server are used.
    TakeOver,
}

impl Shared {
    fn admin(&self) -> Admin {
        Admin::new(&self.connection)
    }

    fn cache(&self) -> MutexGuard<'_, Option<(Instant, Vec<QueuedMatch>)>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn matches(&self) -> Result<Vec<QueuedMatch>, String> {
        let mut cache = self.cache();
        if let Some((at, matches)) = &*cache
            && at.elapsed() < MAX_AGE
        {
            return Ok(matches.clone());
        }
        let matches = self.admin().matches().map_err(text)?;
        *cache = Some((now(), matches.clone()));
        Ok(matches)
    }

    /// Takes over the matches of the previous run of this server.
    fn continue_matches(self: &Arc<Self>) {
        let Ok(open) = self.admin().open_matches() else { return };
        for found in open {
            if found.phase == Phase::Orphaned
                && self.results_of(&found.id).is_file()
                && let Ok(spec) = self.admin().spec(&found)
            {
                // It remains without a coordinator, as the dashboard shows.
                let _ = self.start(spec, Start::TakeOver, found.control.priority);
            }
        }
    }

    fn results_of(&self, id: &str) -> PathBuf {
        self.directory.join(format!("match-{id}.jsonl"))
    }

    /// Coordinates a match in a thread. Returns its identifier.
    fn start(
        self: &Arc<Self>,
        spec: MatchSpec,
        start: Start,
        priority: i32,
    ) -> Result<String, AnyError> {
        let id: String = spec.plan_hash.to_string().chars().take(32).collect();
        if !self.coordinated().insert(id.clone()) {
            return Err("this server coordinates the match already".into());
        }
        let prepared = self.prepare(&id, spec, start, priority);
        let (game, dispatcher) = prepared.inspect_err(|_| {
            self.coordinated().remove(&id);
        })?;
        let (this, started) = (Arc::clone(self), id.clone());
        thread::spawn(move || {
            let mut dispatcher = dispatcher;
            let end = game.coordinate(&mut dispatcher);
            match end {
                Ok(summary) if summary.end != End::Interrupted => {
                    // Otherwise the match remains in the queue.
                    let _ = dispatcher.finish(&summary.end);
                }
                Ok(_) => {}
                Err(error) => {
                    let _ = dispatcher.finish(&End::Error { text: error.to_string() });
                }
            }
            this.coordinated().remove(&started);
            *this.cache() = None;
        });
        Ok(id)
    }

    fn prepare(
        &self,
        id: &str,
        spec: MatchSpec,
        start: Start,
        priority: i32,
    ) -> Result<(Match, NatsDispatcher), AnyError> {
        std::fs::create_dir_all(&self.directory)?;
        let openings = self.admin().openings(&spec, &self.directory.join("openings"))?;
        let path = self.results_of(id);
        let MatchSpec { plan_hash, plan, sealed, .. } = &spec;
        let store = match Store::adopt(&path, *plan_hash, plan, sealed.as_deref()) {
            Err(StoreError::Exists(_)) => {
                let (mut store, _) = Store::resume(&path, |_| ())?;
                store.accept(plan)?;
                store
            }
            adopted => adopted?,
        };
        let stored = (start == Start::TakeOver).then(|| store.stored().clone());
        let game = Match::with_openings(store, Settings::default(), openings)?;
        let tablebases = setting(plan).ok().and_then(|setting| setting.tablebases);
        let settings =
            CoordinatorSettings { priority, tablebases, ..CoordinatorSettings::default() };
        let reports = game.reports();
        let dispatcher =
            NatsDispatcher::open(&self.connection, spec, stored.as_ref(), settings, reports)?;
        Ok((game, dispatcher))
    }

    /// Starts a copy of a match with other settings.
    fn start_clone(
        self: &Arc<Self>,
        found: &QueuedMatch,
        changes: &QueueClone,
    ) -> Result<String, AnyError> {
        let mut spec = self.admin().spec(found)?;
        // Another seed makes it another match, with other openings.
        let seed = new_seed();
        change(&mut spec.plan, changes, seed)?;
        if let Some(sealed) = &mut spec.sealed {
            change(sealed, changes, seed)?;
        }
        spec.plan_hash = ContentHash::of_plan(spec.sealed.as_deref().unwrap_or(&spec.plan));
        let openings = self.admin().openings(&spec, &self.directory.join("openings"))?;
        Match::check(&with_openings(&spec.plan, openings.as_deref()), &[])?;
        let priority = changes.priority.unwrap_or(found.control.priority);
        self.start(spec, Start::New, priority)
    }

    fn coordinated(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.coordinated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The plan with another path of its opening file.
fn with_openings(plan: &Plan, openings: Option<&Path>) -> Plan {
    let mut plan = plan.clone();
    if let (OpeningSource::File { path, .. }, Some(openings)) =
        (&mut plan.openings.source, openings)
    {
        *path = openings.to_string_lossy().into_owned();
    }
    plan
}

fn change(plan: &mut Plan, changes: &QueueClone, seed: u64) -> Result<(), AnyError> {
    plan.seed = seed;
    if let Some(name) = &changes.name {
        plan.event.clone_from(name);
    }
    if let Some(rounds) = changes.rounds {
        plan.rounds = rounds;
    }
    if let Some([elo0, elo1]) = changes.sprt {
        let (alpha, beta, model) = (0.05, 0.05, Model::default());
        let before = plan.sprt.unwrap_or(SprtPlan { model, elo0, elo1, alpha, beta });
        plan.sprt = Some(SprtPlan { elo0, elo1, ..before });
    }
    if let Some(tc) = &changes.tc {
        let tc = tc.parse()?;
        for engine in &mut plan.engines {
            engine.limits.tc = Some(tc);
        }
    }
    let options: &[BTreeMap<String, String>] = &changes.options;
    for (engine, options) in plan.engines.iter_mut().zip(options) {
        engine.options.clone_from(options);
    }
    plan.check()?;
    Ok(())
}

/// A seed that no other match of this server has.
fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Seeds in JSON are exact up to 2^53.
    u64::try_from(since.as_millis()).unwrap_or_default() & ((1 << 53) - 1)
}

fn is_found(found: &QueuedMatch, search: &str) -> bool {
    let engines = found.plan.engines.iter().map(|engine| engine.name.as_str());
    let mut texts = [found.name.as_str(), found.id.as_str()].into_iter().chain(engines);
    search.is_empty() || texts.any(|text| text.to_lowercase().contains(search))
}

/// A match without its curve and lists.
fn summary(found: &QueuedMatch) -> Result<Value, String> {
    let mut value = serde_json::to_value(found).map_err(text)?;
    if let Some(status) = value.get_mut("status").and_then(Value::as_object_mut) {
        let flagged = found.status.workers.iter().filter(|row| !row.flags.is_empty()).count();
        status.insert("flagged".to_owned(), flagged.into());
        for name in ["curve", "workers", "quarantine", "warnings"] {
            status.remove(name);
        }
    }
    if let Some(found) = value.as_object_mut() {
        found.remove("plan");
    }
    Ok(value)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(error: impl ToString) -> String {
    error.to_string()
}
