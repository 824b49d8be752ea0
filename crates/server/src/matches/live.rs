//! The state of a match for the page, from the events of its runner. No I/O.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use readyok_arena::conditions::{MatchConditions, MatchSource};
use readyok_arena::event::{End, Event, Rating};
use readyok_arena::export::{add_move, game_record, opening_record};
use readyok_arena::match_state::{MatchState, Point, Throughput};
use readyok_arena::openings::Skipped;
use readyok_arena::pairing::{Opening, PairResult};
use readyok_arena::plan::{EngineId, EnginePlan, Limits, Plan};
use readyok_arena::queue::WorkerId;
use readyok_arena::queue::status::{LogEntry, Logged, PlayedGame as QueuedGame};
use readyok_arena::result::{EndDetail, GameEnd, MatchGame as PlayedGame, MoveRecord};
use readyok_arena::stats::Verdict;
use readyok_arena::store::Origin;
use readyok_arena::takes::{Takes, TakesPoint};
use readyok_arena::worker_stats::WorkerTable;
use readyok_client::EngineFailureKind;
use readyok_protocol::Score;
use readyok_rules::record::GameRecord;
use readyok_rules::{Move, Position, Side, Termination};

use crate::engine::printable;
use crate::errors::{
    decision, engine_failure, engine_failures, openings_skipped, takes_decision, warning,
};
use crate::game::position_view::{last_move, move_text};
use crate::time::{Moment, now};
use crate::wire::{
    self, ClockState, ErrorCode, ErrorInfo, LineMove, MatchBoard, MatchDelta, MatchGame, MatchId,
    MatchLine, MatchLogEntry, MatchLogged, MatchPlan, MatchScore, MatchStatus, OutcomeView, Sides,
};

/// Maximum number of listed games.
const MAX_GAMES: usize = 500;
/// Maximum number of listed events.
const MAX_LOG: usize = 200;
/// The worker of all games: this computer has no name.
const THIS_COMPUTER: WorkerId = WorkerId(String::new());

/// The state of a match for the page.
#[derive(Clone, Debug)]
pub struct LiveMatch {
    id: MatchId,
    requested: MatchPlan,
    plan: Plan,
    status: MatchStatus,
    score: MatchScore,
    conditions: MatchConditions,
    throughput: Throughput,
    workers: WorkerTable,
    curve: Vec<Point>,
    takes_curve: Vec<TakesPoint>,
    log: VecDeque<MatchLogEntry>,
    /// Games in progress, by worker.
    boards: BTreeMap<WorkerId, LiveBoard>,
    last_board: u32,
    games: VecDeque<MatchGame>,
    /// The reason of the last failure of each engine.
    failures: BTreeMap<EngineId, ErrorInfo>,
    note: Option<ErrorInfo>,
    /// The reason for the end or the failure.
    end: Option<End>,
    pending: PendingDelta,
}

/// A game in progress.
#[derive(Clone, Debug)]
struct LiveBoard {
    number: u32,
    pair: u64,
    game: u32,
    engines: [EngineId; 2],
    record: GameRecord,
    last: Option<Move>,
    moves: Vec<LineMove>,
    scores: Sides<Option<Score>>,
    /// Remaining times when the side to move began to think.
    remaining: Sides<Option<i64>>,
    byoyomi: Sides<u64>,
    increment: Sides<u64>,
    since: Moment,
    is_new: bool,
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of a state")]
struct PendingDelta {
    any: bool,
    status: bool,
    score: bool,
    curve: Vec<Point>,
    takes_curve: Vec<TakesPoint>,
    ended: Vec<u32>,
    games: Vec<MatchGame>,
    log: Vec<MatchLogEntry>,
    note: bool,
}

impl LiveMatch {
    /// A match with these results. `total` is the number of games, if it is known.
    pub fn new(id: MatchId, requested: MatchPlan, state: &MatchState, total: Option<u32>) -> Self {
        Self {
            id,
            requested,
            plan: state.plan().clone(),
            status: MatchStatus::Paused,
            score: MatchScore { total, ..MatchScore::of(state) },
            conditions: MatchConditions::new(state.plan(), &BTreeMap::new()),
            throughput: Throughput::default(),
            workers: WorkerTable::default(),
            curve: state.curve(),
            takes_curve: state.takes_curve(),
            log: VecDeque::new(),
            boards: BTreeMap::new(),
            last_board: 0,
            games: VecDeque::new(),
            failures: BTreeMap::new(),
            note: None,
            end: None,
            pending: PendingDelta::default(),
        }
    }

    /// Adds the hashes of files, and the events of earlier runs.
    #[must_use]
    pub fn with_origin(mut self, origin: &Origin, log: Vec<MatchLogEntry>) -> Self {
        let conditions = MatchConditions::new(&self.plan, &origin.programs);
        let concurrency = self.requested.concurrency;
        let source = Some(MatchSource::Local { concurrency });
        self.conditions = MatchConditions { source, ..conditions };
        self.log = log.into();
        self
    }

    /// Shows the results.
    pub fn show(&mut self, state: &MatchState) {
        self.score = MatchScore {
            total: self.score.total,
            games_per_minute: self.throughput.per_minute(),
            workers: self.workers.rows(),
            ..MatchScore::of(state)
        };
        self.curve = state.curve();
        self.takes_curve = state.takes_curve();
        (self.pending.score, self.pending.any) = (true, true);
    }

    /// Shows a new pair, which is stored and counted.
    pub fn on_pair(&mut self, pair: &PairResult, state: &MatchState) {
        self.list(pair);
        self.throughput.add(now(), state.games());
        self.show(state);
        self.pending.curve.extend(state.point());
        self.pending.takes_curve.extend(state.takes().map(Takes::point));
    }

    /// Lists the games of a stored pair.
    pub fn list(&mut self, pair: &PairResult) {
        let opening = pair.pairing.opening.moves.len();
        self.workers.add_of(&THIS_COMPUTER, pair);
        for (index, game) in (0..).zip(&pair.games) {
            self.conditions.started_ms.get_or_insert(game.started_ms);
            if let Some(winner) = game.winner.filter(|_| game.end.termination.is_failure()) {
                let loser = game.engine(winner.other());
                let at = game.started_ms.saturating_add(game.duration_ms);
                self.log(at, failure(loser, None, number_of(pair, index), &game.end));
            }
            let listed = MatchGame {
                number: number_of(pair, index),
                round: pair.pairing.round,
                engines: Sides { first: game.first.0, second: game.second.0 },
                outcome: of_game(game),
                plies: u32::try_from(opening + game.moves.len()).unwrap_or(u32::MAX),
            };
            if self.games.len() == MAX_GAMES {
                self.games.pop_front();
            }
            self.games.push_back(listed.clone());
            self.pending.games.push(listed);
        }
    }

    /// Handles an event.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::MatchStart { resumed, .. } => {
                self.conditions.started_ms.get_or_insert_with(now);
                self.log(now(), MatchLogged::Started { pairs: *resumed });
                self.set_status(MatchStatus::Running);
            }
            Event::GameStart { pair, game, first, second, worker, opening, round: _ } => {
                self.begin(worker, (*pair, *game), [*first, *second], opening);
            }
            Event::Move { pair, game, ply: _, played } => self.moved(*pair, *game, played),
            Event::GameEnd { pair, game, .. } => {
                self.end(|board| (board.pair, board.game) == (*pair, *game));
            }
            Event::Warning { pair: Some(_), engine: None, .. } => {
                self.warn(ErrorCode::GamesReplayed.into());
            }
            Event::Warning { text, engine, context, .. } => {
                let who = engine.map(|engine| self.name(engine));
                let kind = context.as_ref().map(|context| &context.kind);
                self.warn(warning(who.as_deref(), kind, text));
            }
            Event::EngineFailure { engine, count, end, .. } => {
                let cause = detail(end);
                self.failures.extend(cause.clone().map(|cause| (*engine, cause)));
                self.set_note(engine_failures(&self.name(*engine), *count, cause));
            }
            Event::Stopping { .. } => self.set_status(MatchStatus::Finishing),
            Event::MatchEnd { why, .. } => {
                self.log(now(), MatchLogged::Ended { end: why.clone() });
                self.end(|_| true);
                self.end = Some(why.clone());
            }
            Event::PairEnd { .. }
            | Event::Score(_)
            | Event::Test(_)
            | Event::Takes(_)
            | Event::Ratings(_)
            | Event::RepeatedGame { .. }
            | Event::Parameters { .. }
            | Event::Champion { .. } => (),
        }
    }

    /// Adds a note about skipped openings.
    pub fn on_skipped(&mut self, skipped: &Skipped) {
        if let Some(note) = openings_skipped(self.plan.game, skipped) {
            self.warn(note);
        }
    }

    fn warn(&mut self, note: ErrorInfo) {
        self.log(now(), MatchLogged::Note { note: note.clone() });
        self.set_note(note);
    }

    fn log(&mut self, at: Moment, what: MatchLogged) {
        if self.log.len() == MAX_LOG {
            self.log.pop_front();
        }
        let entry = MatchLogEntry { at, what };
        self.log.push_back(entry.clone());
        self.pending.log.push(entry);
        self.pending.any = true;
    }

    /// The events that cannot be found out of the results again.
    pub fn stored_log(&self) -> Vec<MatchLogEntry> {
        let is_stored = |entry: &&MatchLogEntry| !matches!(entry.what, MatchLogged::Failure { .. });
        self.log.iter().filter(is_stored).cloned().collect()
    }

    /// Sorts the events: those of results follow those of earlier runs when a match is read.
    pub fn sort_log(&mut self) {
        self.log.make_contiguous().sort_by_key(|entry| entry.at);
    }

    /// Elo of the first of two engines.
    pub fn elo(&self) -> Option<Rating> {
        self.score.strength.map(|strength| strength.elo)
    }

    /// The decision of the test.
    pub fn verdict(&self) -> Option<Verdict> {
        self.score.test.map(|test| test.verdict)
    }

    /// The engines have exited: the match can be resumed or deleted.
    pub fn over(&mut self) {
        let Some(why) = self.end.take() else { return };
        let (status, note) = match why {
            End::Complete => (MatchStatus::Over, None),
            End::Test { verdict } => (MatchStatus::Over, decision(verdict)),
            End::Takes { accepted } => {
                let name = accepted.map(|take| self.name(take));
                (MatchStatus::Over, Some(takes_decision(name)))
            }
            End::Interrupted | End::Stopped => (MatchStatus::Paused, None),
            End::Failures { engine, count } => {
                let cause = self.failures.remove(&engine);
                (MatchStatus::Failed, Some(engine_failures(&self.name(engine), count, cause)))
            }
            End::Error { .. } => (MatchStatus::Failed, Some(ErrorCode::MatchFailed.into())),
        };
        self.set_status(status);
        if let Some(note) = note {
            self.set_note(note);
        }
    }

    /// Ends the match with a failure.
    pub fn failed(&mut self, why: ErrorInfo) {
        self.end(|_| true);
        self.set_status(MatchStatus::Failed);
        self.warn(why);
    }

    /// Restores the stored status.
    pub fn set_status(&mut self, status: MatchStatus) {
        if self.status != status {
            self.status = status;
            (self.pending.status, self.pending.any) = (true, true);
        }
    }

    /// Sets the reason for the end or the failure.
    pub fn set_note(&mut self, note: ErrorInfo) {
        self.note = Some(note);
        (self.pending.note, self.pending.any) = (true, true);
    }

    fn begin(
        &mut self,
        worker: &WorkerId,
        (pair, game): (u64, u32),
        engines: [EngineId; 2],
        opening: &Opening,
    ) {
        self.end_of(worker);
        self.last_board = self.last_board.wrapping_add(1);
        let variant = self.plan.game;
        let record = opening_record(variant, opening)
            .unwrap_or_else(|_| GameRecord::new(Position::start(variant)));
        let mut position = record.start().clone();
        let (mut moves, mut last) = (Vec::new(), None);
        for mv in record.mainline().map_while(|node| node.mv()?.legal()) {
            moves.push(line_move(&position, mv));
            last = Some(mv);
            if position.play(mv).is_err() {
                break;
            }
        }
        let [first, second] = engines.map(|engine| self.limits(engine));
        let board = LiveBoard {
            number: self.last_board,
            pair,
            game,
            engines,
            record,
            last,
            moves,
            scores: Sides::default(),
            remaining: Sides { first: remaining(first), second: remaining(second) },
            byoyomi: Sides { first: byoyomi(first), second: byoyomi(second) },
            increment: Sides { first: increment(first), second: increment(second) },
            since: now(),
            is_new: true,
        };
        self.boards.insert(worker.clone(), board);
        self.pending.any = true;
    }

    fn moved(&mut self, pair: u64, game: u32, played: &MoveRecord) {
        let mut boards = self.boards.values_mut();
        let board = boards.find(|board| (board.pair, board.game) == (pair, game));
        let Some(board) = board else { return };
        let position = board.record.position();
        let Ok(mv) = position.parse_move(played.mv.as_str()) else { return };
        let (score, left) = (played.score, played.left_ms);
        match position.turn() {
            Side::First => (board.scores.first, board.remaining.first) = (score, left),
            Side::Second => (board.scores.second, board.remaining.second) = (score, left),
        }
        board.since = now();
        board.moves.push(line_move(position, mv));
        board.last = Some(mv);
        // The referee has checked the move.
        let _ = add_move(&mut board.record, played);
        board.is_new = true;
        self.pending.any = true;
    }

    fn end_of(&mut self, worker: &WorkerId) {
        if let Some(board) = self.boards.remove(worker) {
            self.pending.ended.push(board.number);
            self.pending.any = true;
        }
    }

    fn end(&mut self, is_over: impl Fn(&LiveBoard) -> bool) {
        let over = self.boards.iter().filter(|(_, board)| is_over(board));
        let over: Vec<WorkerId> = over.map(|(worker, _)| worker.clone()).collect();
        for worker in over {
            self.end_of(&worker);
        }
    }

    fn engine(&self, engine: EngineId) -> Option<&EnginePlan> {
        self.plan.engines.get(usize::try_from(engine.0).ok()?)
    }

    fn name(&self, engine: EngineId) -> String {
        self.engine(engine).map_or_else(|| "?".to_owned(), |engine| engine.name.clone())
    }

    fn limits(&self, engine: EngineId) -> Option<&Limits> {
        self.engine(engine).map(|engine| &engine.limits)
    }

    pub fn status(&self) -> MatchStatus {
        self.status
    }

    pub fn note(&self) -> Option<&ErrorInfo> {
        self.note.as_ref()
    }

    /// The number of stored games.
    pub fn games(&self) -> u32 {
        self.score.played
    }

    /// The match in the list of matches.
    pub fn line(&self) -> MatchLine {
        MatchLine {
            id: self.id,
            name: self.requested.name.clone(),
            variant: self.requested.variant,
            status: self.status,
            played: self.score.played,
            total: self.score.total,
            engines: self.requested.engines.len(),
            bounds: bounds_of(&self.requested),
            elo: self.elo(),
            verdict: self.verdict(),
        }
    }

    /// The whole state, except the list entries of the next [`take_delta`](Self::take_delta): no subscriber
    /// receives them twice.
    pub fn state(&self) -> wire::MatchState {
        let Self { games, pending, score, .. } = self;
        let first = pending.curve.first().map_or(u64::MAX, |point| point.games);
        let first_of_takes = pending.takes_curve.first().map_or(u64::MAX, |point| point.pairs);
        wire::MatchState {
            id: self.id,
            plan: self.requested.clone(),
            status: self.status,
            names: self.plan.engines.iter().map(|engine| engine.name.clone()).collect(),
            played: score.played,
            total: score.total,
            standings: score.standings.clone(),
            scores: score.scores.clone(),
            test: score.test,
            takes: score.takes.clone(),
            strength: score.strength,
            games_per_minute: score.games_per_minute,
            remaining_games: score.remaining_games,
            workers: score.workers.clone(),
            conditions: self.conditions.clone(),
            curve: self.curve.iter().take_while(|point| point.games < first).copied().collect(),
            takes_curve: self
                .takes_curve
                .iter()
                .take_while(|point| point.pairs < first_of_takes)
                .cloned()
                .collect(),
            boards: self.boards.values().map(LiveBoard::wire).collect(),
            games: games
                .iter()
                .take(games.len().saturating_sub(pending.games.len()))
                .cloned()
                .collect(),
            log: {
                let listed = self.log.len().saturating_sub(pending.log.len());
                self.log.iter().take(listed).cloned().collect()
            },
            note: self.note.clone(),
        }
    }

    /// Whether there is a change to publish.
    pub fn has_changes(&self) -> bool {
        self.pending.any
    }

    /// The changes since the last call; none without changes.
    pub fn take_delta(&mut self) -> Option<MatchDelta> {
        let pending = std::mem::take(&mut self.pending);
        if !pending.any {
            return None;
        }
        let mut boards = Vec::new();
        for board in self.boards.values_mut() {
            if std::mem::take(&mut board.is_new) {
                boards.push(board.wire());
            }
        }
        Some(MatchDelta {
            boards,
            status: pending.status.then_some(self.status),
            score: pending.score.then(|| self.score.clone()),
            curve: pending.curve,
            takes_curve: pending.takes_curve,
            ended: pending.ended,
            games: pending.games,
            log: pending.log,
            note: self.note.clone().filter(|_| pending.note),
        })
    }
}

impl MatchScore {
    /// The results, without what the state does not contain.
    fn of(state: &MatchState) -> Self {
        Self {
            played: u32::try_from(state.games()).unwrap_or(u32::MAX),
            total: None,
            standings: state.standings(),
            scores: state.scores(),
            test: state.test(),
            takes: state.takes().map(Takes::status),
            strength: state.strength(),
            games_per_minute: None,
            remaining_games: state.remaining_games(),
            workers: Vec::new(),
        }
    }
}

/// The hypotheses of the test of a plan.
pub(super) fn bounds_of(plan: &MatchPlan) -> Option<[f64; 2]> {
    plan.sprt.map(|sprt| [sprt.elo0, sprt.elo1])
}

fn failure(engine: EngineId, worker: Option<String>, game: u32, end: &GameEnd) -> MatchLogged {
    MatchLogged::Failure {
        engine: engine.0,
        worker,
        game,
        termination: end.termination,
        detail: detail(end),
    }
}

/// The events of a match of a queue.
pub fn queue_log(log: Vec<LogEntry>) -> Vec<MatchLogEntry> {
    let entry = |LogEntry { at_ms, what }| MatchLogEntry {
        at: at_ms,
        what: match what {
            Logged::Warning { text } => {
                MatchLogged::Note { note: ErrorCode::system(&printable(&text)).into() }
            }
            Logged::Failure { engine, worker, pair, game, end } => {
                failure(engine, worker.map(|worker| worker.0), number(pair, game), &end)
            }
            Logged::InvalidResult { worker, pair, why } => {
                MatchLogged::InvalidResult { worker: worker.0, pair, why }
            }
            Logged::Joined { worker } => MatchLogged::Joined { worker: worker.0 },
            Logged::Left { worker } => MatchLogged::Left { worker: worker.0 },
            Logged::Ended { end } => MatchLogged::Ended { end },
        },
    };
    log.into_iter().map(entry).collect()
}

/// The games of a match of a queue.
pub fn queue_games(games: Vec<QueuedGame>) -> Vec<MatchGame> {
    let game = |game: QueuedGame| MatchGame {
        number: number(game.pair, game.game),
        round: game.round,
        engines: Sides { first: game.first.0, second: game.second.0 },
        outcome: OutcomeView {
            result: game.end.result(game.winner),
            termination: game.end.termination,
            detail: detail(&game.end),
        },
        plies: game.plies,
    };
    games.into_iter().map(game).collect()
}

impl LiveBoard {
    fn wire(&self) -> MatchBoard {
        let [first, second] = self.engines;
        let last = self.last.and_then(|mv| last_move(self.record.game(), mv));
        MatchBoard {
            board: self.number,
            engines: Sides { first: first.0, second: second.0 },
            text: self.record.position().to_string(),
            last: last.map_or_else(Vec::new, |mv| mv.from.into_iter().chain([mv.to]).collect()),
            moves: self.moves.clone(),
            scores: self.scores.clone(),
            clocks: self.clocks(now()),
        }
    }

    fn clocks(&self, now: Moment) -> ClockState {
        let turn = self.record.position().turn();
        let elapsed = i64::try_from(now.saturating_sub(self.since)).unwrap_or(i64::MAX);
        let mut remaining = self.remaining.clone();
        let running = match turn {
            Side::First => &mut remaining.first,
            Side::Second => &mut remaining.second,
        };
        *running = running.map(|left| left.saturating_sub(elapsed));
        ClockState {
            remaining,
            byoyomi: self.byoyomi.clone(),
            increment: self.increment.clone(),
            moves_to_go: Sides::default(),
            running: Some(turn),
            sent_at: now,
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The clock at the start of a game; none for a fixed time per move and without a time control.
fn remaining(limits: Option<&Limits>) -> Option<i64> {
    let limits = limits?;
    let main = limits.tc.as_ref().map(|tc| millis(tc.time));
    let time = main.or_else(|| limits.byoyomi_ms.map(|_| 0))?;
    Some(i64::try_from(time).unwrap_or(i64::MAX))
}

fn byoyomi(limits: Option<&Limits>) -> u64 {
    limits.and_then(|limits| limits.byoyomi_ms).unwrap_or_default()
}

fn increment(limits: Option<&Limits>) -> u64 {
    limits.and_then(|limits| limits.tc.as_ref()).map_or(0, |tc| millis(tc.increment))
}

fn line_move(position: &Position, mv: Move) -> LineMove {
    LineMove { uci: mv.to_uci(position.game().castling_form()), text: move_text(position, mv) }
}

fn of_game(game: &PlayedGame) -> OutcomeView {
    OutcomeView { detail: detail(&game.end), ..game.outcome().into() }
}

fn detail(end: &GameEnd) -> Option<ErrorInfo> {
    let code = match (&end.detail, end.termination) {
        (Some(EndDetail::TimeForfeit { overrun_us }), _) => {
            EngineFailureKind::Overrun { overrun_ms: overrun_us / 1000 }.into()
        }
        (Some(EndDetail::Stall { waited_ms }), _) => ErrorCode::NoOutput { time: *waited_ms },
        (Some(EndDetail::IllegalMove { text, position: _, reason }), _) => {
            return Some(
                ErrorCode::from(*reason).with(|context| context.mv = Some(printable(text))),
            );
        }
        (Some(EndDetail::Engine { failure }), _) => return Some(engine_failure(failure)),
        (None, Termination::DrawAdjudication) => ErrorCode::DrawAdjudication,
        (None, Termination::ResignAdjudication) => ErrorCode::ResignAdjudication,
        (None, Termination::MateAdjudication) => ErrorCode::MateAdjudication,
        (None, Termination::TablebaseAdjudication) => ErrorCode::TablebaseAdjudication,
        (None, _) => return None,
    };
    Some(code.into())
}

/// A finished and stored game.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The number in the match, from 1.
    pub number: u32,
    /// The game, with the engines' evaluations of each move.
    pub record: GameRecord,
    /// The names of the engines in the match.
    pub engines: Sides<String>,
    /// The outcome.
    pub outcome: OutcomeView,
}

/// The games of a stored pair, for the library.
pub(super) fn finished(plan: &Plan, pair: &PairResult) -> Vec<Finished> {
    let games = pair.games.iter().enumerate();
    games.filter_map(|(index, game)| one(plan, pair, index, game)).collect()
}

/// The number of a game in its match, from 1. Each pair has two games.
pub(super) fn number_of(pair: &PairResult, index: u32) -> u32 {
    number(pair.pairing.index, index)
}

fn number(pair: u64, index: u32) -> u32 {
    let before = u32::try_from(pair).unwrap_or(u32::MAX).saturating_mul(2);
    before.saturating_add(index).saturating_add(1)
}

fn one(plan: &Plan, pair: &PairResult, index: usize, game: &PlayedGame) -> Option<Finished> {
    // The referee has checked all moves.
    let record = game_record(plan, &pair.pairing, index, game).ok()?;
    let name = |side| record.player(side).unwrap_or_default().to_owned();
    let engines = Sides { first: name(Side::First), second: name(Side::Second) };
    let number = number_of(pair, u32::try_from(index).unwrap_or(u32::MAX));
    Some(Finished { number, record, engines, outcome: of_game(game) })
}

#[cfg(test)]
mod tests {
    use readyok_client::{EngineFailure, Exit, ExitDescription};
    use readyok_rules::{Game, IllegalReason};
    use serde_json::{from_value, json};

    use readyok_arena::pairing::Pairing;

    use super::*;

    fn pair(first: u32, second: u32, winners: [Option<Side>; 2]) -> PairResult {
        let (first, second) = (EngineId(first), EngineId(second));
        let pairing = Pairing {
            index: 0,
            round: 1,
            first,
            second,
            games: 2,
            fixed_colors: false,
            opening: Opening::default(),
            options: Default::default(),
        };
        let games = winners.into_iter().zip([(first, second), (second, first)]);
        let games = games.map(|(winner, (first, second))| PlayedGame {
            first,
            second,
            winner,
            end: Termination::Resignation.into(),
            moves: Vec::new(),
            started_ms: 0,
            duration_ms: 0,
            warnings: Vec::new(),
            engines: Default::default(),
        });
        PairResult { pairing, games: games.collect(), worker: None }
    }

    #[test]
    fn a_state_and_its_later_changes_contain_each_game_once() {
        let requested = json!({
            "name": "", "variant": "chess", "engines": [], "format": "round_robin",
            "rounds": 1, "pairs": 1, "openings": { "kind": "start" }, "concurrency": 1,
            "draw": null, "resign": null, "max_moves": null, "sprt": null,
        });
        let engine = |name: &str| EnginePlan { name: name.to_owned(), ..EnginePlan::default() };
        let plan = Plan { engines: ["a", "b"].map(engine).into(), ..Plan::new(Game::Chess) };
        let mut state = MatchState::new(&plan, 1);
        let mut live = LiveMatch::new(1, from_value(requested).expect("a plan"), &state, None);
        let mut play = |live: &mut LiveMatch, pair| {
            state.add(&pair);
            live.on_pair(&pair, &state);
        };
        let both = |live: &LiveMatch| {
            let state = live.state();
            (state.games.len(), state.curve.len())
        };
        play(&mut live, pair(0, 1, [Some(Side::First), None]));
        assert_eq!(both(&live), (0, 0));
        let delta = live.take_delta().expect("a change");
        assert_eq!((delta.games.len(), delta.curve.len()), (2, 1));
        assert_eq!(both(&live), (2, 1));
        play(&mut live, pair(1, 0, [None, None]));
        assert_eq!((both(&live), live.state().played), ((2, 1), 4));
    }

    fn check(end: impl Into<GameEnd>, expected: impl Into<ErrorInfo>) {
        let end = end.into();
        assert_eq!(detail(&end), Some(expected.into()), "{end:?}");
    }

    #[test]
    fn ends_of_match_games_have_details() {
        check(
            GameEnd::time_forfeit(2_500),
            ErrorCode::from(EngineFailureKind::Overrun { overrun_ms: 2 }),
        );
        check(GameEnd::stall(10), ErrorCode::NoOutput { time: 10 });
        check(Termination::MateAdjudication, ErrorCode::MateAdjudication);
        check(
            GameEnd::illegal_move("e2e5", "", IllegalReason::Unreachable),
            ErrorCode::from(IllegalReason::Unreachable)
                .with(|context| context.mv = Some("e2e5".to_owned())),
        );
        let crash = GameEnd::crash(EngineFailure::exited(Exit::code(3)));
        check(crash, ErrorCode::from(ExitDescription::Exited { status: 3 }));
        let failure = EngineFailure::new(EngineFailureKind::ReadyTimeout);
        check(GameEnd::no_start(failure), ErrorCode::from(EngineFailureKind::ReadyTimeout));
        assert_eq!(detail(&Termination::Checkmate.into()), None);
    }
}
