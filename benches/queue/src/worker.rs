//! Simulated workers, many in one process. They send and receive what real ones do: announcements, requests for jobs,
//! renewals, progress, results, their own states, and parts of files. The choice of the match is the real one.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, interval, sleep, timeout};

use crate::share::Shares;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The version of the messages.
const PROTOCOL: u32 = 3;

/// The intervals and delays of real workers.
const IDLE_DELAY: Duration = Duration::from_millis(200);
const MAX_JITTER_MS: u64 = 500;
const STATUS_INTERVAL: Duration = Duration::from_secs(30);
const MIN_STATUS_INTERVAL: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_DELAY: Duration = Duration::from_millis(500);
const PARALLEL_PARTS: usize = 4;

/// Connections that are opened at the same time.
const CONNECT_DELAY: Duration = Duration::from_millis(2);

/// How simulated workers play.
pub(crate) struct Load {
    /// The mean duration of a pair.
    pub(crate) pair_ms: u64,
    /// The JSON of the games of a pair.
    pub(crate) games: String,
}

/// The numbers of events of all workers.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) connected: AtomicU64,
    /// Prepared matches of all workers.
    pub(crate) prepared: AtomicU64,
    pub(crate) pairs: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) downloaded_bytes: AtomicU64,
    /// Milliseconds by match.
    pub(crate) spent: Mutex<BTreeMap<String, u64>>,
}

/// Workers, which disappear on drop.
pub(crate) struct Workers {
    pub(crate) totals: Arc<Totals>,
    starter: AbortHandle,
}

impl Workers {
    pub(crate) fn start(runtime: &Runtime, server: &str, count: usize, load: Load) -> Self {
        let (totals, load) = (Arc::<Totals>::default(), Arc::new(load));
        let (server, shared) = (server.to_owned(), Arc::clone(&totals));
        let starter = runtime.spawn(async move {
            // Aborting this task drops the set, which ends all workers.
            let mut workers = JoinSet::new();
            for number in 0..count {
                let (server, name) = (server.clone(), format!("w{number}"));
                let (load, totals) = (Arc::clone(&load), Arc::clone(&shared));
                workers.spawn(async move {
                    if let Err(error) = run(&server, name, load, Arc::clone(&totals)).await {
                        eprintln!("a worker has failed: {error}");
                        totals.errors.fetch_add(1, Relaxed);
                    }
                });
                sleep(CONNECT_DELAY).await;
            }
            workers.join_all().await;
        });
        Self { totals, starter: starter.abort_handle() }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.starter.abort();
    }
}

struct Worker {
    name: String,
    client: Client,
    context: Context,
    load: Arc<Load>,
    totals: Arc<Totals>,
    matches: Mutex<BTreeMap<String, Match>>,
    finished: AtomicU64,
    playing: AtomicU64,
}

/// A match that a worker knows.
struct Match {
    at: Instant,
    announcement: Value,
    /// The revision of its known specification.
    revision: Option<u64>,
    spec: Value,
    is_prepared: bool,
    /// The last request without a job, and the time of the next one.
    no_jobs: Option<(Instant, Instant)>,
    held: Vec<Value>,
    queued: VecDeque<Value>,
}

impl Match {
    fn new() -> Self {
        Self {
            at: Instant::now(),
            announcement: Value::Null,
            revision: None,
            spec: Value::Null,
            is_prepared: false,
            no_jobs: None,
            held: Vec::new(),
            queued: VecDeque::new(),
        }
    }

    fn lease(&self) -> Duration {
        Duration::from_millis(self.announcement["lease_ms"].as_u64().unwrap_or(30_000))
    }

    fn may_have_jobs(&self) -> bool {
        let Some((asked, next)) = self.no_jobs else { return true };
        let has_jobs = self.announcement["has_jobs"] == true;
        let jitter = Duration::from_millis(fastrand::u64(..MAX_JITTER_MS));
        let announced = has_jobs && asked < self.at && self.at + jitter <= Instant::now();
        announced || next <= Instant::now()
    }
}

async fn run(server: &str, name: String, load: Arc<Load>, totals: Arc<Totals>) -> Result<()> {
    let options = ConnectOptions::new().custom_inbox_prefix(format!("_INBOX.{name}"));
    let client = options.connect(server).await?;
    totals.connected.fetch_add(1, Relaxed);
    let worker = Arc::new(Worker {
        context: jetstream::new(client.clone()),
        name,
        client,
        load,
        totals,
        matches: Mutex::default(),
        finished: AtomicU64::new(0),
        playing: AtomicU64::new(0),
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&worker).listen());
    tasks.spawn(Arc::clone(&worker).publish_status());
    tasks.spawn(Arc::clone(&worker).renew());
    tasks.spawn(worker.work());
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

impl Worker {
    fn matches(&self) -> MutexGuard<'_, BTreeMap<String, Match>> {
        self.matches.lock().expect("no panic")
    }

    async fn listen(self: Arc<Self>) -> Result<()> {
        let mut states = self.client.subscribe("readyok.state.*").await?;
        let inbox = self.client.new_inbox();
        let mut responses = self.client.subscribe(inbox.clone()).await?;
        let hello = format!("readyok.hello.{}", self.name);
        self.client.publish_with_reply(hello, inbox, "".into()).await?;
        loop {
            let (id, announcement): (String, Value) = tokio::select! {
                Some(message) = states.next() => {
                    let id = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
                    (id, serde_json::from_slice(&message.payload)?)
                }
                Some(message) = responses.next() => serde_json::from_slice(&message.payload)?,
                else => return Ok(()),
            };
            let mut matches = self.matches();
            let found = matches.entry(id).or_insert_with(Match::new);
            (found.at, found.announcement) = (Instant::now(), announcement);
        }
    }

    /// Publishes the state, after changes and regularly.
    async fn publish_status(self: Arc<Self>) -> Result<()> {
        let mut tick = interval(Duration::from_secs(1));
        let mut last: Option<(Instant, (u64, u64))> = None;
        loop {
            tick.tick().await;
            let state = (self.finished.load(Relaxed), self.playing.load(Relaxed));
            let is_current = last.is_some_and(|(at, last)| {
                let every = match (last == state, last.1 == state.1) {
                    (true, _) => STATUS_INTERVAL,
                    (false, true) => MIN_STATUS_INTERVAL,
                    (false, false) => Duration::ZERO,
                };
                at.elapsed() < every
            });
            if is_current {
                continue;
            }
            last = Some((Instant::now(), state));
            let activity = if state.1 > 0 { "playing" } else { "idle" };
            let status = json!({
                "name": self.name, "version": "0.1.0", "system": "linux x86_64", "cores": 8, "slots": 1, "speed": 1e6,
                "started_ms": 1_700_000_000_000_u64, "updated_ms": 1_700_000_000_000_u64, "activity": activity,
                "playing": [], "finished": state.0, "rejected": [],
            });
            let subject = format!("$KV.READYOK_WORKERS.{}", self.name);
            self.client.publish(subject, status.to_string().into()).await?;
            self.client.flush().await?;
        }
    }

    /// Renews the jobs of all matches.
    async fn renew(self: Arc<Self>) -> Result<()> {
        let third = |found: &Match| found.lease() / 3;
        loop {
            let every = self.matches().values().map(third).min();
            sleep(every.unwrap_or(STATUS_INTERVAL / 3)).await;
            for (id, grants) in self.held() {
                self.note(&id, &json!({ "playing": { "grants": grants } })).await?;
            }
        }
    }

    /// The grants of each match.
    fn held(&self) -> Vec<(String, Vec<Value>)> {
        let matches = self.matches();
        let held = matches.iter().filter(|(_, found)| !found.held.is_empty());
        held.map(|(id, found)| (id.clone(), found.held.clone())).collect()
    }

    /// Gives the jobs of paused matches back that were not started.
    async fn return_queued(&self) -> Result<()> {
        let mut returned = Vec::new();
        for (id, found) in &mut *self.matches() {
            if found.announcement["is_open"] == false && !found.queued.is_empty() {
                let grants: Vec<Value> =
                    found.queued.drain(..).map(|job| job["grant"].clone()).collect();
                found.held.retain(|held| !grants.contains(held));
                returned.push((id.clone(), grants));
            }
        }
        for (id, grants) in returned {
            self.note(&id, &json!({ "returned": { "grants": grants } })).await?;
        }
        Ok(())
    }

    async fn note(&self, id: &str, note: &Value) -> Result<()> {
        let subject = format!("readyok.note.{id}.{}", self.name);
        Ok(self.client.publish(subject, note.to_string().into()).await?)
    }

    /// Requests jobs or the permission to prepare a match.
    async fn ask(&self, id: &str, want: &str) -> Option<Value> {
        let subject = format!("readyok.take.{id}.{}", self.name);
        let text = json!({ "protocol": PROTOCOL, "want": want }).to_string();
        let request = self.client.request(subject, text.into());
        let answer = timeout(ANSWER_TIMEOUT, request).await.ok()?.ok()?;
        serde_json::from_slice(&answer.payload).ok()
    }

    async fn last_message(&self, stream: &str, subject: &str) -> Result<Vec<u8>> {
        let request = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
        let message = self.client.request(request, "".into()).await?;
        if let Some(status) = message.status {
            return Err(format!("{subject}: {status}").into());
        }
        Ok(message.payload.into())
    }

    async fn work(self: Arc<Self>) -> Result<()> {
        let (mut shares, mut current) = (Shares::of(&self.name), None::<String>);
        loop {
            self.return_queued().await?;
            self.read_specs().await?;
            let priorities = self.priorities();
            shares.set(&priorities);
            let mut has_played = false;
            for id in shares.order(current.as_deref()) {
                if !self.prepare(&id).await? {
                    continue;
                }
                let Some(job) = self.next_job(&id).await else { continue };
                shares.start(&id);
                let started = Instant::now();
                self.play(&id, &job).await?;
                shares.end(&id, started.elapsed());
                let ms = u64::try_from(started.elapsed().as_millis())?;
                *self.totals.spent.lock().expect("no panic").entry(id.clone()).or_default() += ms;
                current = Some(id);
                has_played = true;
                break;
            }
            if !has_played {
                sleep(IDLE_DELAY).await;
            }
        }
    }

    /// The priorities of all matches that give out jobs.
    fn priorities(&self) -> BTreeMap<String, i32> {
        let mut matches = self.matches();
        matches.retain(|_, found| found.at.elapsed() <= found.lease());
        let open = matches.iter().filter(|(_, found)| found.announcement["is_open"] == true);
        open.map(|(id, _)| (id.clone(), 0)).collect()
    }

    /// Reads new specifications.
    async fn read_specs(&self) -> Result<()> {
        for id in self.without_spec() {
            let subject = format!("$KV.READYOK_MATCHES.{id}");
            let open = self.last_message("KV_READYOK_MATCHES", &subject).await?;
            let open: Value = serde_json::from_slice(&open)?;
            if let Some(found) = self.matches().get_mut(&id) {
                found.revision = found.announcement["revision"].as_u64();
                found.spec = open["spec"].clone();
            }
        }
        Ok(())
    }

    /// The matches whose current specification is unknown.
    fn without_spec(&self) -> Vec<String> {
        let matches = self.matches();
        let is_new = |found: &Match| found.revision != found.announcement["revision"].as_u64();
        let new = matches.iter().filter(|(_, found)| is_new(found));
        new.map(|(id, _)| id.clone()).collect()
    }

    /// Prepares a match, if it is not prepared.
    async fn prepare(&self, id: &str) -> Result<bool> {
        let Some(programs) = self
            .matches()
            .get(id)
            .map(|found| (!found.is_prepared).then(|| found.spec["programs"].clone()))
        else {
            return Ok(false);
        };
        let Some(programs) = programs else { return Ok(true) };
        loop {
            let answer = self.ask(id, "preparation").await.ok_or("no answer")?;
            if answer == "prepare" {
                break;
            }
            let ms = answer["wait"]["ms"].as_u64().ok_or("no wait")?;
            sleep(Duration::from_millis(ms)).await;
        }
        self.note(id, &json!("preparing")).await?;
        for content in programs.as_object().into_iter().flatten().map(|(_, content)| content) {
            self.download(content.as_str().ok_or("no hash")?).await?;
        }
        if let Some(found) = self.matches().get_mut(id) {
            found.is_prepared = true;
        }
        self.totals.prepared.fetch_add(1, Relaxed);
        Ok(true)
    }

    async fn download(&self, content: &str) -> Result<()> {
        let part = async |part: String| {
            self.last_message("READYOK_FILES", &format!("readyok.files.{content}.{part}")).await
        };
        let head: Value = serde_json::from_slice(&part("head".to_owned()).await?)?;
        let [bytes, part_bytes] =
            ["bytes", "part_bytes"].map(|name| head[name].as_u64().unwrap_or_default());
        let numbers = 0..bytes.div_ceil(part_bytes);
        let mut parts =
            stream::iter(numbers).map(|number| part(number.to_string())).buffered(PARALLEL_PARTS);
        let mut left = bytes;
        while let Some(payload) = parts.next().await {
            left -= payload?.len() as u64;
        }
        assert_eq!(left, 0, "all parts were sent");
        self.totals.downloaded_bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    async fn next_job(&self, id: &str) -> Option<Value> {
        {
            let mut matches = self.matches();
            let found = matches.get_mut(id)?;
            if let Some(job) = found.queued.pop_front() {
                return Some(job);
            }
            if !found.may_have_jobs() {
                return None;
            }
        }
        let answer = self.ask(id, "jobs").await;
        let mut matches = self.matches();
        let found = matches.get_mut(id)?;
        let answer = answer.unwrap_or_default();
        let jobs = answer["jobs"].as_array().cloned().unwrap_or_default();
        found.held.extend(jobs.iter().map(|job| job["grant"].clone()));
        found.queued.extend(jobs);
        let first = found.queued.pop_front();
        let wait = Duration::from_millis(answer["wait"]["ms"].as_u64().unwrap_or(2_000));
        found.no_jobs = first.is_none().then(|| (Instant::now(), Instant::now() + wait));
        first
    }

    /// Plays a pair.
    async fn play(&self, id: &str, job: &Value) -> Result<()> {
        let grant = &job["grant"];
        let pair_ms = self.load.pair_ms / 2 + fastrand::u64(..=self.load.pair_ms);
        let progress = async |progress: Value| {
            self.note(id, &json!({ "progress": { "grant": grant, "progress": progress } })).await
        };
        self.playing.store(1, Relaxed);
        for game in 0..2 {
            progress(json!({ "kind": "game-start", "game": game })).await?;
            sleep(Duration::from_millis(pair_ms / 2)).await;
            progress(json!({
                "kind": "game-end", "game": game, "winner": null, "termination": { "kind": "move-limit" }, "plies": 80,
                "duration_ms": pair_ms / 2, "engines": [{}, {}],
            }))
            .await?;
        }
        let duration = format!("\"duration_ms\":{}", pair_ms / 2);
        let games = self.load.games.replace("\"duration_ms\":500", &duration);
        let pairing = &job["pairing"];
        let text = format!(
            "{{\"done\":{{\"grant\":{grant},\"result\":{{\"pairing\":{pairing},\"games\":{games}}},\"speed\":1e6}}}}"
        );
        let subject = format!("readyok.results.{id}.{}", self.name);
        while !publish(&self.context, &subject, &text).await {
            self.totals.errors.fetch_add(1, Relaxed);
            sleep(RETRY_DELAY).await;
        }
        self.finished.fetch_add(1, Relaxed);
        self.totals.pairs.fetch_add(1, Relaxed);
        self.playing.store(0, Relaxed);
        if let Some(found) = self.matches().get_mut(id) {
            found.held.retain(|held| held != grant);
        }
        Ok(())
    }
}

/// Stores a message in a stream. Returns false if it has no room.
pub(crate) async fn publish(context: &Context, subject: &str, text: &str) -> bool {
    match context.publish(subject.to_owned(), text.to_owned().into()).await {
        Ok(stored) => stored.await.is_ok(),
        Err(_) => false,
    }
}
