//! The game loop: searches, time control, pondering, and failures of engines.
//!
//! ```text
//!  players ── prepare ──> ┌─ go ──> wait ──> answer ──> Referee ──┐ Over ──> MatchGame
//!                         └────────────── Continue ───────────────┘
//!  with `ponder`: a side ponders after its move, until the opponent's move is a hit or a miss
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use readyok_client::{
    Best, Dialect, DropReason, EngineError, Event, Game as WireGame, Notice, Problem, Search,
    SearchHandle, SearchResult, Stopper, TimeoutKind, Update, WaitLimit,
};
use readyok_protocol::{GameResult as GameOver, Move, Rule, Score, Status};
use readyok_rules::{Game, MoveCodec, Position, Side, Termination};
use regex::Regex;

use super::clock::whole_millis;
use super::move_info::{self, FastchessInfo, InfoLine, PvMode, truncate};
use super::player::{Player, client_game, pair_mut};
use super::referee::{Answer, OpeningError, Referee, Verdict};
use crate::game::player::overload_warning;
use crate::game::referee::Tablebases;
use crate::game::referee::{Decision, InfoSource, RuleOptions};
use crate::pairing::Opening;
use crate::plan::{Adjudication, PvCheck};
use crate::result::{
    EngineFailure, EngineFailureKind, EngineInfo, GameEnd, MatchGame, MoveRecord, Warning,
    WarningKind,
};
use crate::time::{now, unix_ms};

/// Settings of a game.
#[derive(Clone, Debug)]
pub struct GameSettings {
    /// The game.
    pub game: Game,
    /// The adjudication rules.
    pub adjudication: Adjudication,
    /// The tablebases for adjudication.
    pub tablebases: Option<Arc<dyn Tablebases>>,
    /// The timeout of a search without a clock.
    pub stall: WaitLimit,
    /// The checks of principal variations.
    pub pv_check: PvCheck,
    /// For each expression, the last matching output line of a search is stored with the move.
    pub keep_lines: Vec<Regex>,
    /// Sends `isready` before each move, with this timeout.
    pub ping: Option<WaitLimit>,
}

impl GameSettings {
    /// The default timeout of a search without a clock.
    pub const STALL: Duration = Duration::from_mins(10);

    /// Settings without adjudication and without PV checks, with the timeout [`GameSettings::STALL`].
    pub fn new(game: Game) -> Self {
        Self {
            game,
            adjudication: Adjudication::default(),
            tablebases: None,
            stall: WaitLimit::fixed(Self::STALL),
            pv_check: PvCheck::FirstMove,
            keep_lines: Vec::new(),
            ping: None,
        }
    }
}

/// Plays a game and calls `on_move` after each move.
///
/// The function returns regardless of the behavior of the engines. An engine that exceeds its deadline loses at that
/// moment and is killed, whether it is silent or floods its output. The other engine is not affected. A lost engine
/// is restarted for the next game.
///
/// # Errors
/// No game can start from the opening.
pub fn play_game(
    setting: &GameSettings,
    opening: &Opening,
    players: [&mut Player; 2],
    cancel: &Cancel,
    on_move: &mut dyn FnMut(&Referee, &MoveRecord),
) -> Result<MatchGame, OpeningError> {
    let (started_ms, started) = (unix_ms(), now());
    let limits = players.each_ref().map(|player| player.plan().limits);
    let tablebases = setting.tablebases.clone();
    let rules = &setting.adjudication;
    let trusted = players.each_ref().map(|player| player.plan().trust_mates);
    let referee = Referee::new(setting.game, opening, limits, rules, tablebases)?.trusting(trusted);
    let players = players.map(|player| {
        player.ping_before_searches(setting.ping.is_some() || settles_before_moves(player));
        player
    });
    let sides = players.map(|player| SideState::new(player, setting.game, opening));
    let mut game = GameLoop {
        setting,
        cancel,
        referee,
        sides,
        moves: Vec::new(),
        warnings: Vec::new(),
        search_start: started,
        latest_line: String::new(),
    };
    let outcome = game.play(on_move);
    game.finish(&outcome);
    let [first, second] = game.sides.each_ref().map(|side| side.player.id());
    let engines = game.sides.map(|side| side.introduction);
    // Moves use most of the memory until a pair is complete.
    game.moves.shrink_to_fit();
    Ok(MatchGame {
        first,
        second,
        winner: outcome.winner,
        end: outcome.end,
        moves: game.moves,
        started_ms,
        duration_ms: millis(now().saturating_duration_since(started)),
        warnings: game.warnings,
        engines,
    })
}

/// Whether an engine with a clock answers `isready` before each move. The opponent has then finished its work, and the
/// engine is active when its clock starts: on a loaded host it loses half as many games on time. In USI `isready` starts
/// a game.
fn settles_before_moves(player: &Player) -> bool {
    let limits = &player.plan().limits;
    let has_clock =
        limits.tc.is_some() || limits.byoyomi_ms.is_some() || limits.move_time_ms.is_some();
    has_clock && player.codec().is_ok_and(|codec| codec.dialect() == Dialect::Uci)
}

struct GameLoop<'a> {
    setting: &'a GameSettings,
    cancel: &'a Cancel,
    referee: Referee,
    sides: [SideState<'a>; 2],
    moves: Vec<MoveRecord>,
    warnings: Vec<Warning>,
    /// The start of the latest search.
    search_start: Instant,
    /// The `info` line of the latest move. See [`InfoSource::LastExactLine`].
    latest_line: String,
}

/// The state of one side.
struct SideState<'a> {
    player: &'a mut Player,
    codec: MoveCodec,
    /// The game in the notation of the engine, or the reason why the engine does not support it.
    game: Result<WireGame, GameEnd>,
    pondering: Option<Pondering>,
    has_moved: bool,
    cancel_guard: Option<CancelGuard>,
    /// The name of the engine and its options, once it has started.
    introduction: EngineInfo,
}

/// A search during the opponent's time.
struct Pondering {
    /// The expected move, in the notation of the engine.
    expected: Move,
    search: SearchHandle,
}

impl<'a> SideState<'a> {
    fn new(player: &'a mut Player, game: Game, opening: &Opening) -> Self {
        let codec = player.codec();
        Self {
            player,
            game: codec.clone().and_then(|codec| client_game(codec, game, opening)),
            codec: codec.unwrap_or_else(|_| MoveCodec::usual(game)),
            pondering: None,
            has_moved: false,
            cancel_guard: None,
            introduction: EngineInfo::default(),
        }
    }

    fn start(&mut self, cancel: &Cancel, warnings: &mut Vec<WarningKind>) -> Result<(), GameEnd> {
        let game = self.game.as_ref().map_err(Clone::clone)?;
        self.player.prepare(game, warnings)?;
        self.register(cancel);
        Ok(())
    }

    fn restart(&mut self, cancel: &Cancel, warnings: &mut Vec<WarningKind>) -> Result<(), GameEnd> {
        let game = self.game.as_ref().map_err(Clone::clone)?;
        self.player.restart(game, warnings)?;
        self.register(cancel);
        Ok(())
    }

    fn register(&mut self, cancel: &Cancel) {
        if let Some(engine) = self.player.engine() {
            self.introduction = move_info::introduction(engine, self.player.plan());
        }
        self.cancel_guard = self.player.engine().map(|engine| cancel.register(engine.stopper()));
    }

    /// Ends the engine after a failure. An unresponsive engine is killed, since waiting for its exit takes time.
    fn end(&mut self, is_unresponsive: bool) {
        self.pondering = None;
        self.cancel_guard = None;
        if is_unresponsive { self.player.kill() } else { self.player.end() }
    }

    /// Searches for the next move. Continues pondering after a ponder hit.
    fn search(
        &mut self,
        latest: Option<Move>,
        search: Search,
        on_update: Option<&mut dyn FnMut(&Update)>,
    ) -> Result<Result<SearchResult, EngineError>, Failure> {
        let latest = latest.and_then(|mv| self.codec.encode_text(mv.as_str()));
        let (Some(engine), Ok(game)) = (self.player.engine_mut(), &self.game) else {
            return Err(Failure::NotRunning);
        };
        let pondering = self.pondering.take();
        // After a premature `bestmove` a new search is needed.
        let pondering =
            pondering.filter(|ponder| Some(ponder.expected) == latest && !ponder.search.is_over());
        let result = match pondering {
            Some(Pondering { search, .. }) => {
                search.ponder_hit(None).and_then(|()| match on_update {
                    Some(on_update) => search.wait_with(on_update),
                    None => search.wait(),
                })
            }
            None => match on_update {
                Some(on_update) => engine.play_with(game, search, on_update),
                // Without updates, lines are not copied.
                None => engine.play(game, search),
            },
        };
        Ok(result)
    }

    fn play(&mut self, mv: Move) {
        if let (Ok(game), Some(encoded)) = (&mut self.game, self.codec.encode_text(mv.as_str())) {
            game.play(encoded);
        }
    }
}

/// The result of a search, and output lines before it.
struct SearchOutput {
    result: Box<SearchResult>,
    /// The lines with a score or a PV, if variations are checked.
    infos: VecDeque<InfoLine>,
    /// See [`GameSettings::keep_lines`].
    lines: Vec<String>,
    /// See [`InfoSource::LastExactLine`].
    exact: Option<FastchessInfo>,
}

/// The reason of a missing answer.
enum Failure {
    Engine(EngineError),
    /// The engine was lost before.
    NotRunning,
    /// It could not be restarted.
    NoStart(GameEnd),
}

impl GameLoop<'_> {
    fn play(&mut self, on_move: &mut dyn FnMut(&Referee, &MoveRecord)) -> Decision {
        for side in Side::BOTH {
            if self.cancel.is_cancelled() {
                return Decision::without_winner(Termination::Aborted);
            }
            if let Err(end) = self.start(side, false) {
                return Decision::lost_by(side, end);
            }
        }
        loop {
            if let Verdict::Over(outcome) = self.ply(on_move) {
                return outcome;
            }
        }
    }

    fn start(&mut self, side: Side, again: bool) -> Result<(), GameEnd> {
        let (state, _) = pair_mut(&mut self.sides, side);
        let mut warnings = Vec::new();
        let result = if again {
            state.restart(self.cancel, &mut warnings)
        } else {
            state.start(self.cancel, &mut warnings)
        };
        for kind in warnings {
            self.warn(side, kind);
        }
        result
    }

    fn ply(&mut self, on_move: &mut dyn FnMut(&Referee, &MoveRecord)) -> Verdict {
        let side = self.referee.turn();
        let SearchOutput { mut result, mut infos, lines, mut exact } = match self.search(side) {
            Ok(output) => output,
            Err(failure) => return Verdict::Over(self.failed(side, failure)),
        };
        if side == Side::Second && pair_mut(&mut self.sides, side).0.player.plan().whitepov {
            move_info::negate_score(&mut result.info);
            for line in &mut infos {
                move_info::negate_score(&mut line.info);
            }
            if let Some(exact) = &mut exact {
                move_info::negate_score(&mut exact.info);
            }
        }
        let took = whole_micros(result.time());
        let pv_check = self.setting.pv_check;
        let before = (!infos.is_empty()).then(|| self.referee.position().clone());
        let score = exact.as_ref().map_or(&result.info, |exact| &exact.info).score;
        let codec = self.codec(side);
        let is_strict = self.rule_options().strict_notation;
        let text;
        let answer = match (&result.best, &result.repaired) {
            (Best::Move(_), Some(sent)) if is_strict => Answer::Other(sent),
            (Best::Move(best), _) => {
                text = codec.decode_text(best.as_str());
                Answer::Move(&text)
            }
            (Best::Resign, _) => Answer::Resign,
            (Best::Win, _) => Answer::Declare,
            (Best::None, _) => Answer::Other("(none)"),
            (Best::Other(other), _) => Answer::Other(other),
        };
        let plies = self.moves.len();
        let verdict = self.referee.on_answer(answer, took, score);
        if self.referee.moves_made() == plies {
            // It was not a legal move.
            return verdict;
        }
        let mv = self.referee.latest_move().and_then(|mv| mv.parse().ok());
        let Some(mv) = mv else { return verdict };
        for state in &mut self.sides {
            state.play(mv);
        }
        let left = self.referee.clock(side).left();
        let mut record = move_info::move_record(mv, &result, took, left, codec);
        if let Some(before) = &before {
            let mode = PvMode { pv_check, repeats: exact.is_some() };
            for (kind, line) in move_info::check_lines(before, &infos, mode, codec) {
                self.warn_with_line(side, kind, Some(line));
            }
        }
        let last_line = infos.pop_back().map(|line| line.raw);
        let warning = match &exact {
            Some(exact) => exact.check(before.as_ref(), &record, &result.info),
            None => move_info::check_move(before.as_ref(), &record, &result.info),
        };
        let mut line = String::new();
        if let Some(exact) = exact {
            result.info = exact.info;
            line = exact.raw;
            record = move_info::move_record(mv, &result, took, left, codec);
        }
        if let Some(warning) = warning {
            let cause = last_line.or_else(|| Some(line.clone()).filter(|line| !line.is_empty()));
            self.warn_with_line(side, warning, cause);
        }
        record.ponder_hit = result.ponder_hit;
        record.lines = lines;
        on_move(&self.referee, &record);
        self.compare_mates(side, &record, line);
        self.moves.push(record);
        let ping = self.setting.ping;
        let (state, _) = pair_mut(&mut self.sides, side);
        if !std::mem::replace(&mut state.has_moved, true)
            && let (Some(limit), Some(engine)) = (ping, state.player.engine_mut())
        {
            // The first `isready` of a game, after the new-game command, has the usual timeout.
            engine.set_ready_limit(limit);
        }
        if verdict == Verdict::Continue {
            self.ponder(side, &result);
        }
        verdict
    }

    fn rule_options(&self) -> RuleOptions {
        RuleOptions::new(&self.setting.adjudication)
    }

    /// Warns if both engines report a win by mate, or both a loss. `line` is the `info` line of the mover.
    fn compare_mates(&mut self, side: Side, record: &MoveRecord, line: String) {
        let earlier = std::mem::replace(&mut self.latest_line, line);
        let mate = |score: Option<Score>| score.and_then(move_info::mate_moves);
        let Some(opponent) = self.moves.last().and_then(|made| mate(made.score)) else { return };
        let Some(own) = mate(record.score).filter(|own| own.signum() == opponent.signum()) else {
            return;
        };
        let lines = format!("{earlier} ; {}", self.latest_line);
        let kind = WarningKind::MateScoreConflict { opponent, own };
        self.warn_with_line(side, kind, Some(lines).filter(|lines| lines != " ; "));
    }

    fn codec(&self, side: Side) -> MoveCodec {
        let [first, second] = &self.sides;
        match side {
            Side::First => first.codec,
            Side::Second => second.codec,
        }
    }

    /// Searches for a move of a side. An engine that was lost between two games is restarted first.
    fn search(&mut self, side: Side) -> Result<SearchOutput, Failure> {
        let result = self.search_once(side);
        let (state, _) = pair_mut(&mut self.sides, side);
        match result {
            Err(Failure::Engine(error))
                if !state.has_moved && state.player.is_used() && is_lost(&error) =>
            {
                self.warn(side, WarningKind::restarted(&error));
                self.start(side, true).map_err(Failure::NoStart)?;
                self.search_once(side)
            }
            result => result,
        }
    }

    fn search_once(&mut self, side: Side) -> Result<SearchOutput, Failure> {
        let deadline = self.referee.deadline();
        let dialect = self.codec(side).dialect();
        let mut search = Search::from(self.referee.go(side, dialect));
        search = match deadline {
            // A late answer loses by its measured time.
            Some(deadline) => search.deadline_after(deadline.saturating_add(LATE)),
            None => search.stall_limit(self.setting.stall),
        };
        let latest = self.moves.last().map(|made| made.mv);
        let (state, _) = pair_mut(&mut self.sides, side);
        self.search_start = now();
        let follow = self.setting.pv_check != PvCheck::FirstMove;
        let source = RuleOptions::new(&self.setting.adjudication).info;
        let mut exact = (source == InfoSource::LastExactLine).then(FastchessInfo::default);
        let mut infos = VecDeque::new();
        let mut lines = vec![None; self.setting.keep_lines.len()];
        let wants_updates = exact.is_some() || follow || !lines.is_empty();
        let mut on_update = |update: &Update| {
            if let Some(exact) = &mut exact {
                exact.update(&update.info, &update.raw);
            }
            if follow && update.info.pv.is_some() {
                if infos.len() == InfoLine::MAX {
                    infos.pop_front();
                }
                infos.push_back(InfoLine::new(update));
            }
            for (line, pattern) in lines.iter_mut().zip(&self.setting.keep_lines) {
                if pattern.is_match(&update.raw) {
                    *line = Some(truncate(&update.raw, MoveRecord::MAX_LINE));
                }
            }
        };
        let on_update = wants_updates.then_some(&mut on_update as &mut dyn FnMut(&Update));
        let end = state.search(latest, search, on_update)?;
        let is_late = deadline.is_some_and(|deadline| match &end {
            Ok(result) => deadline < whole_millis(result.time()),
            Err(error) => matches!(error.problem(), Problem::OutOfTime(_)),
        });
        if let Some(kind) = is_late.then(overload_warning).flatten() {
            self.warn(side, kind);
        }
        let result = Box::new(end.map_err(Failure::Engine)?);
        let lines = lines.into_iter().flatten().collect();
        Ok(SearchOutput { result, infos, lines, exact })
    }

    /// Starts pondering if it is enabled and the engine has sent a ponder move.
    fn ponder(&mut self, side: Side, result: &SearchResult) {
        let Some(expected) = result.ponder else { return };
        let (state, _) = pair_mut(&mut self.sides, side);
        if !state.player.plan().ponder {
            return;
        }
        let text = state.codec.decode_text(expected.as_str());
        let mut position: Position = self.referee.position().clone();
        if position.play_uci(&text).is_err() {
            self.warn(side, WarningKind::ProtocolViolation { cause: Rule::IllegalBestMove });
            return;
        }
        let Ok(game) = &state.game else { return };
        if position.legal_moves().is_empty() {
            // An engine has nothing to search after the end.
            return;
        }
        let mut expected_game = game.clone();
        expected_game.play(expected);
        let dialect = state.codec.dialect();
        let mut search = Search::from(self.referee.go(side, dialect)).ponder();
        if let Some(deadline) = self.referee.clock(side).deadline() {
            search = search.deadline_after(deadline.saturating_add(LATE));
        }
        let Some(engine) = state.player.engine_mut() else { return };
        // An error is reported by the next search.
        if let Ok(search) = engine.begin(&expected_game, search) {
            state.pondering = Some(Pondering { expected, search });
        }
    }

    /// The decision after a failure. The engine is lost, unless the game was cancelled.
    fn failed(&mut self, side: Side, failure: Failure) -> Decision {
        let deadline = self.referee.deadline();
        let waited_ms = millis(now().saturating_duration_since(self.search_start));
        let (state, _) = pair_mut(&mut self.sides, side);
        let error = match failure {
            Failure::NoStart(end) => return Decision::lost_by(side, end),
            Failure::NotRunning => {
                let failure = EngineFailure::new(EngineFailureKind::NotRunning);
                return Decision::lost_by(side, GameEnd::crash(failure));
            }
            Failure::Engine(error) => error,
        };
        if *error.problem() == Problem::Dropped(DropReason::Cancelled) {
            return Decision::without_winner(Termination::Aborted);
        }
        let is_unresponsive = matches!(
            error.problem(),
            Problem::OutOfTime(_) | Problem::Timeout(_) | Problem::Stalled
        );
        state.end(is_unresponsive);
        let end = match error.problem() {
            Problem::OutOfTime(late) => {
                let took = deadline.unwrap_or_default().saturating_add(LATE).saturating_add(*late);
                match self.referee.on_timeout(took) {
                    Verdict::Over(outcome) => return outcome,
                    Verdict::Continue => GameEnd::time_forfeit(0),
                }
            }
            Problem::Timeout(TimeoutKind::Ready | TimeoutKind::Stop) | Problem::Stalled => {
                GameEnd::stall(waited_ms)
            }
            Problem::Start { .. } | Problem::Usage(_) => GameEnd::no_start(&error),
            problem if problem.is_copy_protection() => GameEnd::no_start(&error),
            _ => GameEnd::crash(&error),
        };
        Decision::lost_by(side, end)
    }

    fn warn(&mut self, side: Side, kind: WarningKind) {
        self.warn_with_line(side, kind, None);
    }

    fn warn_with_line(&mut self, side: Side, kind: WarningKind, line: Option<String>) {
        if self.warnings.len() < MatchGame::MAX_WARNINGS {
            let ply = u32::try_from(self.moves.len()).unwrap_or(u32::MAX);
            self.warnings.push(Warning { side, ply, kind, line });
        }
    }

    /// Sends `gameover`, which also stops searches, and collects the warnings of both engines.
    fn finish(&mut self, outcome: &Decision) {
        for side in Side::BOTH {
            let result = match outcome.winner {
                Some(winner) if winner == side => GameOver::Win,
                Some(_) => GameOver::Lose,
                None => GameOver::Draw,
            };
            let (state, _) = pair_mut(&mut self.sides, side);
            drop((state.pondering.take(), state.cancel_guard.take()));
            let Some(engine) = state.player.engine_mut() else { continue };
            let notices = engine.drain_notices();
            let message = engine.status_message();
            // A lost engine is detected before its next game.
            let _ = engine.game_over(result);
            let mut is_unregistered = false;
            for notice in notices {
                match notice {
                    Notice::Event(Event::Violation(violation)) => {
                        self.warn(side, WarningKind::ProtocolViolation { cause: violation.rule });
                    }
                    Notice::Event(Event::Registration(Status::Error)) => {
                        is_unregistered = true;
                    }
                    Notice::Event(Event::Registration(Status::Ok)) => is_unregistered = false,
                    _ => (),
                }
            }
            if is_unregistered {
                self.warn(side, WarningKind::unregistered(message.as_deref()));
            }
        }
    }
}

/// How long an answer after the deadline is awaited. The engine then plays the next game without a restart, which would
/// take CPU time from concurrent games.
const LATE: Duration = Duration::from_millis(200);

/// Whether the engine has exited or does not respond.
fn is_lost(error: &EngineError) -> bool {
    let problem = error.problem();
    matches!(
        problem,
        Problem::Disconnected | Problem::Timeout(_) | Problem::Dropped(DropReason::Disconnected)
    )
}

fn whole_micros(time: Duration) -> Duration {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Cancels games from any thread. Clones share their state. Games with a handle that was used end before their start.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_cancelled: AtomicBool,
    next_id: AtomicU64,
    /// Interrupt the waiting for engines.
    stoppers: Mutex<BTreeMap<u64, Stopper>>,
}

impl Cancel {
    /// Cancels the games, which end as [`Aborted`](readyok_rules::Termination::Aborted).
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        for stopper in self.stoppers().values() {
            stopper.cancel_game();
        }
    }

    /// Whether the games are cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// Registers the stopper of an engine until the result is dropped.
    pub(super) fn register(&self, stopper: Stopper) -> CancelGuard {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        self.stoppers().insert(id, stopper);
        CancelGuard { cancel: self.clone(), id }
    }

    fn stoppers(&self) -> MutexGuard<'_, BTreeMap<u64, Stopper>> {
        self.0.stoppers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct CancelGuard {
    cancel: Cancel,
    id: u64,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.cancel.stoppers().remove(&self.id);
    }
}
