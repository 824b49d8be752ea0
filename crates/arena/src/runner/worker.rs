//! The worker loop, worker threads of this process, and a player of pairings with engines, which run across games.

use std::any::Any;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use std::{fmt, thread};

use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::{Game, Termination};

use crate::export::Recorder;
use crate::game::{
    Agreement, Cancel, GameSettings, Player, PlayerOptions, Replay, play_game, probe, replay_game,
};
use crate::pairing::{PairResult, Pairing};
use crate::plan::{EngineId, EnginePlan, Plan};
use crate::queue::{
    Job, Lease, LocalJobs, LocalWorker, MEASURED_ENGINES, MatchSpec, NoStart, Progress, QueueError,
    Report, StopToken, WarningContext, WorkerId, local,
};
use crate::result::{EngineFailureKind, GameEnd, MatchGame};
use crate::runner::{Cpus, Match, MatchError, Summary, time_jump};
use crate::time::now;

/// A player of pairings.
pub trait PairPlayer {
    /// Plays all games of a pairing; `None` if the match was aborted.
    ///
    /// # Errors
    /// The pairing cannot be played, or an engine does not start on this host but may start on others. Other failures of
    /// engines are no errors: the engine loses the game.
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError>;

    /// Replays the recorded games of a pairing; `None` if the match was aborted.
    ///
    /// # Errors
    /// As for [`play`](Self::play). Any other failure of an engine is one of the pairing.
    fn replay(
        &mut self,
        _pairing: &Pairing,
        _replay: &Replay,
        _context: &mut PlayContext<'_>,
    ) -> Result<Option<Agreement>, PlayerError> {
        Err(PlayerError::Pairing("this player does not replay games".to_owned()))
    }
}

/// Stop token and progress callback of a player.
pub struct PlayContext<'a> {
    /// The stop state of the match.
    pub stop: &'a StopToken,
    on_progress: &'a mut dyn FnMut(Progress),
}

/// The reason of a missing result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// The pairing cannot be played on any host, for this reason.
    #[error("{0}")]
    Pairing(String),
    /// An engine does not work on this host, but may work on others.
    #[error("{0}")]
    NoStart(NoStart),
}

/// The reason why a worker leaves before the end of the match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The queue has failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// An engine does not work on this host. Its job was given back.
    #[error("{0}")]
    NoStart(NoStart),
}

impl<'a> PlayContext<'a> {
    /// Combines a stop token and a callback.
    pub fn new(stop: &'a StopToken, on_progress: &'a mut dyn FnMut(Progress)) -> Self {
        Self { stop, on_progress }
    }

    /// Reports progress.
    pub fn report(&mut self, progress: Progress) {
        (self.on_progress)(progress);
    }
}

/// Plays jobs until the end of the match.
///
/// # Errors
/// The queue has failed, or an engine does not work on this host.
pub fn work(jobs: &mut LocalWorker, player: &mut dyn PairPlayer) -> Result<(), WorkError> {
    let stop = jobs.stop_token().clone();
    while let Some(lease) = jobs.take() {
        work_on(lease, &stop, player)?;
    }
    Ok(())
}

/// Plays one job.
///
/// # Errors
/// The queue has failed, or an engine does not work on this host.
pub fn work_on(
    mut lease: Box<dyn Lease>,
    stop: &StopToken,
    player: &mut dyn PairPlayer,
) -> Result<(), WorkError> {
    let Job { pairing, replay, .. } = lease.job().clone();
    let mut on_progress = |progress| lease.report(progress);
    let mut context = PlayContext::new(stop, &mut on_progress);
    let done = match &replay {
        None => player.play(&pairing, &mut context).map(|result| result.map(Done::Pair)),
        Some(replay) => {
            let replayed = player.replay(&pairing, replay, &mut context);
            replayed.map(|agreement| agreement.map(Done::Replay))
        }
    };
    match done {
        Ok(Some(Done::Pair(result))) => lease.finish(result)?,
        Ok(Some(Done::Replay(agreement))) => lease.finish_replay(agreement)?,
        Ok(None) => drop(lease),
        Err(PlayerError::Pairing(why)) => lease.fail(why),
        Err(PlayerError::NoStart(no_start)) => {
            lease.decline();
            return Err(WorkError::NoStart(no_start));
        }
    }
    Ok(())
}

/// What comes of a job.
enum Done {
    Pair(PairResult),
    Replay(Agreement),
}

/// Maximum number of restarts of a worker after panics.
const MAX_RESTARTS: u32 = 16;

/// Plays a match with threads of this process.
pub(super) fn run_workers<P: PairPlayer>(
    game: Match,
    slots: usize,
    cpus: Option<&Cpus>,
    make: impl Fn(&MatchSpec) -> P + Sync,
) -> Result<Summary, MatchError> {
    let reports = game.reports();
    let (mut dispatcher, jobs) = local(reports.clone());
    let spec = game.spec().clone();
    let jobs = jobs.recorded_by(Recorder::new(&spec.plan, &game.exports));
    thread::scope(|scope| {
        for slot in 0..slots.max(1) {
            let (jobs, reports, spec, make) = (jobs.clone(), reports.clone(), &spec, &make);
            let name = format!("worker-{slot}");
            let id = WorkerId(name.clone());
            let act = move || {
                let bound = cpus.map_or(Ok(()), |cpus| cpus.bind(slot));
                let done = match bound {
                    Ok(()) => run_worker(&jobs, &id, || make(spec)),
                    Err(error) => Err(QueueError { text: error.to_string() }.into()),
                };
                if let Err(error) = done {
                    let error = match error {
                        WorkError::Queue(error) => error,
                        WorkError::NoStart(no_start) => QueueError { text: no_start.to_string() },
                    };
                    // Fails without a coordinator, which then needs no report.
                    let _ = reports.send(Report::QueueFailed(error));
                }
            };
            thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, act)
                .map_err(MatchError::Threads)?;
        }
        drop(jobs);
        drop(reports);
        let summary = game.coordinate(&mut dispatcher);
        // Ends the workers.
        drop(dispatcher);
        summary
    })
}

/// Runs a worker, and restarts it with a new player after a panic.
fn run_worker<P: PairPlayer>(
    jobs: &LocalJobs,
    id: &WorkerId,
    make: impl Fn() -> P,
) -> Result<(), WorkError> {
    let mut jobs = jobs.of(id.clone());
    let mut panics = 0;
    loop {
        // A panic can leave only the player in an inconsistent state, and the player is dropped.
        match catch_unwind(AssertUnwindSafe(|| work(&mut jobs, &mut make()))) {
            Ok(done) => return done,
            Err(_) if panics < MAX_RESTARTS => panics += 1,
            Err(panic) => {
                let text = format!("{id} has panicked {panics} times: {}", text_of(&*panic));
                return Err(QueueError { text }.into());
            }
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

impl fmt::Debug for PlayContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayContext").field("stop", self.stop).finish_non_exhaustive()
    }
}

/// Plays pairings with the engines of a plan.
///
/// Engines of the previous pairing are reused if they play in the next one, and quit otherwise.
pub struct EnginePlayer {
    plan: Plan,
    setting: GameSettings,
    timeouts: Timeouts,
    report_moves: bool,
    options: PlayerOptions,
    pause: Duration,
    remote_worker: Option<WorkerId>,
    has_played: bool,
    players: Vec<Player>,
}

/// A pair is replayed at most this often. On a host that stalls again and again, the last result counts.
const MAX_REPLAYS: usize = 3;

/// The maximum duration of the replay of recorded games, in milliseconds: a day.
const MAX_REPLAY_MS: u64 = 24 * 3600 * 1000;

impl EnginePlayer {
    /// A player for a plan. The plan overrides the game and the adjudication of `setting`, and the stall timeout if it
    /// has one. The stricter check of variations applies. The plan overrides `timeouts` per engine.
    pub fn new(plan: &Plan, setting: GameSettings, timeouts: Timeouts) -> Self {
        let (game, adjudication) = (plan.game, plan.adjudication.clone());
        let limit = |ms: NonZeroU64| WaitLimit::fixed(Duration::from_millis(ms.get()));
        let stall = plan.search_timeout_ms.map_or(setting.stall, limit);
        let pv_check = setting.pv_check.max(plan.pv_check);
        let setting = GameSettings { game, adjudication, stall, pv_check, ..setting };
        // The referee decides about losses on time: the client must not time out before.
        let margin = plan.engines.iter().map(|engine| engine.limits.margin_ms).max();
        let late = Duration::from_millis(margin.unwrap_or(0));
        let timeouts = Timeouts {
            stall: timeouts.stall.max(stall.total),
            overrun: timeouts.overrun.saturating_add(late),
            ..timeouts
        };
        let pause = plan.wait_ms.map_or(Duration::ZERO, |ms| Duration::from_millis(ms.get()));
        let plan = plan.clone();
        Self {
            plan,
            setting,
            timeouts,
            report_moves: false,
            options: PlayerOptions::default(),
            pause,
            remote_worker: None,
            has_played: false,
            players: Vec::new(),
        }
    }

    /// Options for each engine of the plan. See [`Player::with_options`].
    #[must_use]
    pub fn with_options(mut self, options: PlayerOptions) -> Self {
        self.options = options;
        self
    }

    /// Waits between two games, at least as long as the plan requires.
    #[must_use]
    pub fn pausing(mut self, pause: Duration) -> Self {
        self.pause = self.pause.max(pause);
        self
    }

    /// Whether each move is reported.
    #[must_use]
    pub fn report_moves(mut self, report_moves: bool) -> Self {
        self.report_moves = report_moves;
        self
    }

    /// Plays for a match of another host, under this name, which is stored in results. An engine that does not start
    /// does not lose its game: it may start on another host.
    #[must_use]
    pub fn as_remote_worker(mut self, name: WorkerId) -> Self {
        self.remote_worker = Some(name);
        self
    }

    /// Probes each engine of the plan: starts it, sets its options, and runs a short search.
    ///
    /// # Errors
    /// An engine does not work on this host.
    pub fn probe_engines(&self) -> Result<(), NoStart> {
        for (id, plan) in (0..).map(EngineId).zip(&self.plan.engines) {
            let mut player = self.player(id, plan);
            probe(&mut player, self.plan.game).map_err(|end| no_start(plan, &end))?;
        }
        Ok(())
    }

    fn take(&mut self, id: EngineId) -> Result<Player, PlayerError> {
        if let Some(at) = self.players.iter().position(|player| player.id() == id) {
            return Ok(self.players.swap_remove(at));
        }
        let none = || PlayerError::Pairing(format!("the plan has no engine {}", id.0));
        Ok(self.player(id, self.plan.engine(id).ok_or_else(none)?))
    }

    pub(super) fn game(&self) -> Game {
        self.plan.game
    }

    /// The engines whose speed is measured.
    pub(super) fn measured_players(&self) -> Vec<Player> {
        let engines = (0..).map(EngineId).zip(&self.plan.engines).take(MEASURED_ENGINES);
        engines.map(|(id, plan)| self.player(id, plan)).collect()
    }

    /// The players of a pairing, with its options.
    fn take_both(&mut self, pairing: &Pairing) -> Result<[Player; 2], PlayerError> {
        let mut first = self.take(pairing.first)?;
        let mut second = self.take(pairing.second)?;
        let [first_options, second_options] = &pairing.options;
        first.set_pairing_options(first_options);
        second.set_pairing_options(second_options);
        Ok([first, second])
    }

    fn player(&self, id: EngineId, plan: &EnginePlan) -> Player {
        let timeouts = plan.timeouts.apply(self.timeouts);
        let player = Player::new(self.plan.game, id, plan, timeouts);
        player.with_options(self.options.clone())
    }

    /// The engine that did not start, if it may start on other hosts.
    fn local_start_failure(&self, game: &MatchGame) -> Option<NoStart> {
        if game.end != Termination::EngineStartFailure {
            return None;
        }
        let fails_everywhere = game.end.failure().is_some_and(|failure| {
            matches!(
                failure.kind,
                EngineFailureKind::UnsupportedPosition | EngineFailureKind::UnsupportedGame
            )
        });
        let id = game.loser().filter(|_| self.remote_worker.is_some() && !fails_everywhere)?;
        Some(no_start(self.plan.engine(id)?, &game.end))
    }

    fn play_one(
        &mut self,
        number: u32,
        pairing: &Pairing,
        players: [&mut Player; 2],
        cancel: &Cancel,
        jumps: Option<u64>,
        context: &mut PlayContext<'_>,
    ) -> Result<MatchGame, PlayerError> {
        if std::mem::replace(&mut self.has_played, true) && !self.pause.is_zero() {
            context.stop.wait_for_abort(self.pause);
        }
        context.report(Progress::GameStart { game: number });
        let mut ply = 0;
        let report_moves = self.report_moves;
        let game = play_game(&self.setting, &pairing.opening, players, cancel, &mut |_, played| {
            if report_moves {
                context.report(Progress::Move {
                    game: number,
                    ply,
                    played: Box::new(played.clone()),
                });
            }
            ply += 1;
            if has_jumped(jumps) {
                cancel.cancel();
            }
        });
        let mut game = game.map_err(|error| PlayerError::Pairing(error.to_string()))?;
        if let Some(no_start) = self.local_start_failure(&game) {
            return Err(PlayerError::NoStart(no_start));
        }
        if has_jumped(jumps) {
            (game.winner, game.end) = (None, Termination::Aborted.into());
        }
        for warning in &game.warnings {
            let engine = game.engine(warning.side);
            let details = WarningContext::of(&pairing.opening, &game, warning);
            let text = warning.kind.to_string();
            context.report(Progress::Warning {
                game: number,
                engine,
                text,
                context: Some(Box::new(details)),
            });
        }
        if game.end != Termination::Aborted {
            context.report(Progress::GameEnd {
                game: number,
                winner: game.winner,
                end: game.end.clone(),
                plies: u32::try_from(game.moves.len()).unwrap_or(u32::MAX),
                duration_ms: game.duration_ms,
                engines: Box::new(game.engines.clone()),
            });
        }
        Ok(game)
    }
}

impl PairPlayer for EnginePlayer {
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        self.players.retain(|player| [pairing.first, pairing.second].contains(&player.id()));
        for replays in 0.. {
            let jumps = (replays < MAX_REPLAYS).then(time_jump::count);
            let played = self.play_all(pairing, jumps, context)?;
            if !has_jumped(jumps) || context.stop.is_aborted() {
                return Ok(played);
            }
            context.report(Progress::Replay);
        }
        Ok(None)
    }

    fn replay(
        &mut self,
        pairing: &Pairing,
        replay: &Replay,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<Agreement>, PlayerError> {
        self.players.retain(|player| [pairing.first, pairing.second].contains(&player.id()));
        let cancel = Cancel::default();
        let on_abort = cancel.clone();
        let _registration = context.stop.on_abort(move || on_abort.cancel());
        let [mut first, mut second] = self.take_both(pairing)?;
        let until = now() + Duration::from_millis(replay.max_ms.min(MAX_REPLAY_MS));
        let mut all = Agreement::default();
        for (number, moves) in (0..).zip(&replay.games) {
            let players = if pairing.sides(number).0 == pairing.first {
                [&mut first, &mut second]
            } else {
                [&mut second, &mut first]
            };
            let replayed = replay_game(&pairing.opening, players, moves, until, &cancel);
            match replayed {
                Ok(Some(agreement)) => all.add(agreement),
                Ok(None) => return Ok(None),
                Err(end) => {
                    let why = format!("the replay has failed: {}", end.termination.text());
                    return Err(PlayerError::Pairing(why));
                }
            }
        }
        self.players.extend([first, second]);
        Ok(Some(all))
    }
}

impl EnginePlayer {
    /// Plays all games of a pairing once; `None` if they were aborted.
    fn play_all(
        &mut self,
        pairing: &Pairing,
        jumps: Option<u64>,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        let cancel = Cancel::default();
        let on_abort = cancel.clone();
        let _registration = context.stop.on_abort(move || on_abort.cancel());
        let [mut first, mut second] = self.take_both(pairing)?;
        let mut games = Vec::new();
        for number in 0..pairing.games {
            let players = if pairing.sides(number).0 == pairing.first {
                [&mut first, &mut second]
            } else {
                [&mut second, &mut first]
            };
            let game = self.play_one(number, pairing, players, &cancel, jumps, context)?;
            if game.end == Termination::Aborted {
                return Ok(None);
            }
            games.push(game);
        }
        self.players.extend([first, second]);
        Ok(Some(PairResult { pairing: pairing.clone(), games, worker: self.remote_worker.clone() }))
    }
}

pub(super) fn no_start(plan: &EnginePlan, end: &GameEnd) -> NoStart {
    NoStart { engine: plan.name.clone(), why: end.to_string() }
}

/// Whether there were time jumps since the count `before`.
fn has_jumped(before: Option<u64>) -> bool {
    before.is_some_and(|before| before != time_jump::count())
}

impl fmt::Debug for EnginePlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnginePlayer").field("players", &self.players).finish_non_exhaustive()
    }
}
