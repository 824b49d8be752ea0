//! The import of the games of an account. It continues after the last stored game: after a failure, after a stop, and
//! with the next import.
//!
//! ```text
//!  request ──> lines (Lichess) or archives (chess.com) ──> batches ──> library, cursor ──> account
//!     ^                        │ 429, failures: wait
//!     └────────────────────────┘
//! ```

use std::sync::{Arc, Weak};
use std::time::Duration;

use readyok_library::{NewGame, Source};
use readyok_rules::record::GameRecord;
use tokio::time::{Instant, sleep, timeout_at};

use super::round::Round;
use super::{App, AppState, Job};
use crate::app::online::first_moment;
use crate::import::{Faults, read_each};
use crate::online::chesscom::{self, Month};
use crate::online::lichess::{self, Entry};
use crate::online::lines::Line;
use crate::online::{Access, OnlineError, OnlineGame};
use crate::store::{AccountJob, StoredJob, new_game};
use crate::time::{date, instant, now};
use crate::wire::{
    AccountName, AccountSite, Answer, ApiError, ErrorCode, ErrorContext, ErrorInfo, ErrorSubject,
    JobId, ReportStatus,
};

/// A batch ends with this number of entries or bytes, and this time after its first entry.
const MAX_BATCH: usize = 250;
const MAX_BATCH_BYTES: usize = 4 << 20;
const MAX_BATCH_AGE: Duration = Duration::from_secs(2);
/// Number of successive failures after which the job fails.
const MAX_FAILURES: u32 = 5;
/// Time after which a stop takes effect.
const POLL: Duration = Duration::from_millis(100);

impl App {
    /// Imports the games of an account since its last import, or resumes an interrupted import.
    pub(crate) async fn import_account(
        self: &Arc<Self>,
        account: AccountName,
        since: Option<String>,
    ) -> Result<Answer, ApiError> {
        self.access(account.site.service()).map_err(ApiError::online)?;
        let known = self.add_account(account, since).await?;
        let earlier = self.update(|state| state.jobs_of_account(&known.account));
        for (id, status) in earlier {
            match status {
                ReportStatus::Running | ReportStatus::Queued => {
                    return Err(ApiError::conflict(ErrorCode::JobRunning));
                }
                ReportStatus::Stopped | ReportStatus::Failed => {
                    self.update(|state| state.continue_job(id))?;
                    self.read_account(id);
                    return Ok(Answer::Job { id });
                }
                ReportStatus::Done | ReportStatus::None => drop(self.delete_job(id).await),
            }
        }
        let import = AccountJob {
            account: known.account,
            cursor: known.cursor,
            in_progress: None,
            skipped: 0,
        };
        let stored = StoredJob { account: Some(import), ..StoredJob::default() };
        let id = self.add_job(stored, Vec::new()).await?;
        self.read_account(id);
        Ok(Answer::Job { id })
    }

    /// Reads the remaining games of an account.
    pub(super) fn read_account(self: &Arc<Self>, id: JobId) {
        let round = Round::new(Arc::downgrade(self), &self.state(), id);
        let import = Import { app: Arc::downgrade(self), round };
        tokio::spawn(async move { import.run().await });
    }
}

impl AppState {
    fn jobs_of_account(&self, account: &AccountName) -> Vec<(JobId, ReportStatus)> {
        let is_of = |job: &Job| {
            job.stored.account.as_ref().is_some_and(|import| import.account.is_same(account))
        };
        let jobs = self.jobs.iter().filter(|(_, job)| is_of(job));
        jobs.map(|(id, job)| (*id, job.status)).collect()
    }
}

/// The import of one round.
struct Import {
    app: Weak<App>,
    round: Round,
}

/// Entries that were received, and not stored yet.
#[derive(Default)]
struct Batch {
    entries: Vec<Received>,
    bytes: usize,
    begun: Option<Instant>,
}

/// An entry of an answer.
enum Received {
    Line(Line),
    Game(OnlineGame),
}

impl Batch {
    fn push(&mut self, entry: Received) {
        self.bytes += match &entry {
            Received::Line(line) => line.text.as_ref().map_or(0, Vec::len),
            Received::Game(game) => game.pgn.len(),
        };
        self.begun.get_or_insert_with(|| Instant::from_std(instant()));
        self.entries.push(entry);
    }

    fn is_full(&self) -> bool {
        MAX_BATCH <= self.entries.len() || MAX_BATCH_BYTES <= self.bytes
    }
}

/// What the entries of a batch contain.
#[derive(Default)]
struct Parsed {
    games: Vec<NewGame>,
    /// The faults with the names of their objects.
    faults: Vec<(String, Faults)>,
    /// The time and address of the last game.
    last: Option<(u64, Option<String>)>,
    in_progress: Option<u64>,
    skipped: u32,
}

impl Import {
    async fn run(self) {
        let Some(import) = self.account() else { return };
        let name = import.account.name.clone();
        let ended = tokio::select! {
            ended = self.import() => ended,
            () = self.stopped() => self.access().map(drop),
        };
        match ended {
            Ok(()) | Err(OnlineError::Stopped) => (),
            Err(OnlineError::NotFound(_)) => {
                self.round
                    .fail(name.clone(), ErrorCode::unknown(ErrorSubject::Account, name).into());
            }
            Err(error) => self.round.fail(name, error.into()),
        }
    }

    /// The state of the import, while the job runs.
    fn account(&self) -> Option<AccountJob> {
        self.round.stored()?.account
    }

    /// The permission to send another request.
    fn access(&self) -> Result<Access, OnlineError> {
        let import = self.account().ok_or(OnlineError::Stopped)?;
        let app = self.app.upgrade().ok_or(OnlineError::Stopped)?;
        app.access(import.account.site.service())
    }

    /// Completes when the job is stopped, or the service is switched off.
    async fn stopped(&self) {
        while self.access().is_ok() {
            sleep(POLL).await;
        }
    }

    /// Imports all games, with repetitions after failures.
    async fn import(&self) -> Result<(), OnlineError> {
        let mut failures = 0;
        loop {
            let before = self.account().map(|import| import.cursor);
            let Err(error) = self.read().await else { return self.finish().await };
            if !error.is_transient() {
                return Err(error);
            }
            let retry = self.app.upgrade().map(|app| app.state().program.online.retry);
            let retry = retry.ok_or(OnlineError::Stopped)?;
            if let OnlineError::RateLimited(_, wait) = error {
                self.wait(wait.max(retry)).await;
                continue;
            }
            let has_progressed = self.account().map(|import| import.cursor) != before;
            failures = if has_progressed { 1 } else { failures + 1 };
            if MAX_FAILURES < failures {
                return Err(error);
            }
            self.wait(retry * 2_u32.pow(failures - 1)).await;
        }
    }

    async fn read(&self) -> Result<(), OnlineError> {
        let import = self.account().ok_or(OnlineError::Stopped)?;
        let since = match import.cursor.time {
            Some(time) => Some(time),
            None => self.first_moment(&import.account),
        };
        match import.account.site {
            AccountSite::Lichess => self.read_lichess(&import.account.name, since).await,
            AccountSite::Chesscom => self.read_chesscom(&import, since).await,
        }
    }

    /// The start of the games that the user wants.
    fn first_moment(&self, account: &AccountName) -> Option<u64> {
        let app = self.app.upgrade()?;
        let state = app.state();
        let mut accounts = state.settings.online.accounts.iter();
        let known = accounts.find(|known| known.account.is_same(account))?;
        first_moment(known.since.as_deref()?)
    }

    async fn read_lichess(&self, name: &str, since: Option<u64>) -> Result<(), OnlineError> {
        let mut lines = lichess::games(&self.access()?, name, since).await?;
        let mut batch = Batch::default();
        let mut bytes = 0;
        loop {
            // What was received must not wait for a slow server.
            let next = match batch.begun {
                Some(begun) => timeout_at(begun + MAX_BATCH_AGE, lines.next()).await,
                None => Ok(lines.next().await),
            };
            let line = match next {
                Ok(Ok(Some(line))) => line,
                Ok(ended) => {
                    self.store(&mut batch, lines.bytes - bytes).await?;
                    return ended.map(drop);
                }
                Err(_) => {
                    self.store(&mut batch, lines.bytes - bytes).await?;
                    bytes = lines.bytes;
                    continue;
                }
            };
            batch.push(Received::Line(line));
            if batch.is_full() {
                self.store(&mut batch, lines.bytes - bytes).await?;
                bytes = lines.bytes;
            }
        }
    }

    async fn read_chesscom(
        &self,
        import: &AccountJob,
        since: Option<u64>,
    ) -> Result<(), OnlineError> {
        let name = &import.account.name;
        let months = chesscom::months(&self.access()?, name).await?;
        let first = since.and_then(Month::of);
        let wanted: Vec<Month> =
            months.into_iter().filter(|month| first.is_none_or(|first| first <= *month)).collect();
        self.round.change(|job| (job.stored.files, job.stored.files_done) = (wanted.len(), 0));
        for month in wanted {
            let known = import.cursor.archive.as_ref();
            let known = known.filter(|(known, _)| *known == month.to_string());
            let version = known.map(|(_, version)| version.as_str());
            let archive = chesscom::archive(&self.access()?, name, month, version).await?;
            let version = archive.version();
            if !archive.is_unchanged() {
                let content = chesscom::content(archive).await?;
                self.read_archive(month, content, since).await?;
            }
            self.round.change(|job| {
                job.stored.files_done += 1;
                if let (Some(import), Some(version)) = (&mut job.stored.account, version) {
                    import.cursor.archive = Some((month.to_string(), version));
                }
            });
        }
        Ok(())
    }

    async fn read_archive(
        &self,
        month: Month,
        content: Vec<u8>,
        since: Option<u64>,
    ) -> Result<(), OnlineError> {
        let mut bytes = content.len() as u64;
        let archive = blocking(move || chesscom::read_archive(&content)).await?;
        let Some(archive) = archive else {
            self.round.change(|job| job.add_faults(&month.to_string(), unreadable(|_| ())));
            return Ok(());
        };
        let is_new = |time: u64| since.is_none_or(|since| since <= time);
        let skipped = archive.other_variants.iter().filter(|time| is_new(**time)).count();
        self.round.change(|job| {
            for number in archive.malformed {
                let entry = unreadable(|context| context.entry = Some(number));
                job.add_faults(&month.to_string(), entry);
            }
            if let Some(import) = &mut job.stored.account {
                let skipped = u32::try_from(skipped).unwrap_or(u32::MAX);
                import.skipped = import.skipped.saturating_add(skipped);
            }
        });
        let mut batch = Batch::default();
        for game in archive.games.into_iter().filter(|game| is_new(game.time)) {
            batch.push(Received::Game(game));
            if batch.is_full() {
                self.store(&mut batch, std::mem::take(&mut bytes)).await?;
            }
        }
        self.store(&mut batch, bytes).await
    }

    /// Stores the games of a batch with the new cursor.
    async fn store(&self, batch: &mut Batch, bytes: u64) -> Result<(), OnlineError> {
        let Batch { entries, .. } = std::mem::take(batch);
        let import = self.account().ok_or(OnlineError::Stopped)?;
        let parsed = blocking(move || parse(entries, import.cursor.game.as_ref())).await?;
        let Parsed { games, faults, last, in_progress, skipped } = parsed;
        let added = self.round.add(games, move |stored| {
            stored.bytes = stored.bytes.saturating_add(bytes);
            let Some(import) = &mut stored.account else { return };
            import.skipped = import.skipped.saturating_add(skipped);
            import.in_progress = [import.in_progress, in_progress].into_iter().flatten().min();
            if let Some((time, game)) = last {
                import.cursor.time = Some(time);
                import.cursor.game = game;
            }
        });
        let added = added.ok_or(OnlineError::Stopped)?.await;
        if !added.unwrap_or(false) {
            return Err(OnlineError::Stopped);
        }
        if !faults.is_empty() {
            self.round.change(|job| {
                for (name, faults) in faults {
                    job.add_faults(&name, faults);
                }
            });
        }
        Ok(())
    }

    /// Waits before another request. The page shows until when.
    async fn wait(&self, time: Duration) {
        let show = |until| {
            self.round.update(|state, id| {
                if let Some(job) = state.jobs.get_mut(&id) {
                    job.waiting = until;
                    state.publish_job(id);
                }
            });
        };
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        show(Some(date(now()).saturating_add(ms)));
        sleep(time).await;
        show(None);
    }

    /// All games are stored: the next import continues after them.
    async fn finish(&self) -> Result<(), OnlineError> {
        let import = self.account().ok_or(OnlineError::Stopped)?;
        let app = self.app.upgrade().ok_or(OnlineError::Stopped)?;
        let mut cursor = import.cursor;
        if let Some(time) =
            import.in_progress.filter(|time| cursor.time.is_none_or(|last| *time < last))
        {
            // The next import returns to the game in progress. Those after it are known then.
            (cursor.time, cursor.game) = (Some(time), None);
        }
        // The account is imported again if this cannot be stored.
        let _ = app.on_account_imported(import.account, cursor, date(now())).await;
        self.round.finish();
        Ok(())
    }
}

/// Runs work that takes time.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, OnlineError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| OnlineError::Stopped)
}

/// Faults with an unreadable entry at a location.
fn unreadable(locate: impl FnOnce(&mut ErrorContext)) -> Faults {
    let mut faults = Faults::default();
    faults.error(ErrorCode::Unreadable.with(locate));
    faults
}

/// Reads the games of entries. The last game of the earlier batch, which the answer repeats, is left out.
fn parse(entries: Vec<Received>, before: Option<&String>) -> Parsed {
    let mut parsed = Parsed::default();
    for entry in entries {
        let game = match entry {
            Received::Game(game) => game,
            Received::Line(Line { number, text }) => {
                let name = || AccountSite::Lichess.service().to_string();
                let Some(text) = text else {
                    let mut faults = Faults::default();
                    let why = ErrorCode::TooLong { subject: ErrorSubject::Line };
                    faults.error(why.with(|context| context.line = Some(number)));
                    parsed.faults.push((name(), faults));
                    continue;
                };
                match lichess::read_game(&text) {
                    Some(Entry::Game(game)) => game,
                    Some(Entry::InProgress(time)) => {
                        parsed.in_progress.get_or_insert(time);
                        continue;
                    }
                    Some(Entry::Aborted) => continue,
                    Some(Entry::OtherVariant(time)) => {
                        parsed.skipped += 1;
                        parsed.last = Some((time, None));
                        continue;
                    }
                    None => {
                        let faults = unreadable(|context| context.line = Some(number));
                        parsed.faults.push((name(), faults));
                        continue;
                    }
                }
            }
        };
        let OnlineGame { address, tag, pgn, time } = game;
        if before != Some(&address) {
            let faults = parse_game(&pgn, (tag, &address), &mut parsed.games);
            if 0 < faults.total_errors + faults.total_cut + faults.total_notices {
                parsed.faults.push((address.clone(), faults));
            }
        }
        parsed.last = Some((time, Some(address)));
    }
    parsed
}

/// Reads a game, whose record must have its address.
fn parse_game(pgn: &str, (tag, address): (&str, &str), games: &mut Vec<NewGame>) -> Faults {
    let mut found = false;
    let mut faults = read_each("game.pgn", pgn.as_bytes(), |record: &GameRecord| {
        found = true;
        let game = if record.headers.online_game().is_some() {
            new_game(record, Source::Import, now())
        } else {
            let mut record = record.clone();
            record.headers.set(tag, address);
            new_game(&record, Source::Import, now())
        };
        games.push(game);
        false
    });
    if !found && faults.total_errors == 0 {
        faults.error(ErrorInfo::from(ErrorCode::NoGames));
    }
    faults
}
