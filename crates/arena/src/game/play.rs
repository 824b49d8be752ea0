//! Plays a game: asks the engines, waits for their answers, and lets the referee judge.
//!
//! ```text
//!  players ── prepare ──> ┌─ go ──> wait ──> answer ──> Referee ──┐ Over ──> MatchGame
//!                         └────────────── Continue ───────────────┘
//!  of a side that may: after its move it ponders, until the opponent's move hits or misses
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use readyok_client::{
    Best, DropReason, EngineError, Event, Game as WireGame, Notice, Problem, Search, SearchHandle,
    SearchResult, TimeoutKind, Update, WaitLimit,
};
use readyok_protocol::{GameResult as GameOver, Move, Status};
use readyok_rules::{Game, MoveCodec, Position, Side, Termination};
use regex::Regex;

use super::cancel::{Cancel, Watched};
use super::fastchess_info::Scored;
use super::player::{Player, pair_mut};
use super::referee::{Answer, Decision, OpeningError, Referee, Verdict};
use super::tablebase::Tablebases;
use super::time::{now, unix_ms};
use super::{move_info, overload};
use crate::pairing::Opening;
use crate::plan::{Adjudication, PvCheck};
use crate::result::{
    EngineFailure, EngineFailureKind, EngineInfo, GameEnd, MatchGame, MoveRecord, Warning,
    WarningKind, unsuitable,
};

/// What a game needs beside its players and its opening.
#[derive(Clone, Debug)]
pub struct GameSettings {
    /// What is played.
    pub game: Game,
    /// When the game ends before its end on the board.
    pub adjudication: Adjudication,
    /// The tablebases of the adjudication, if it has any.
    pub tablebases: Option<Arc<dyn Tablebases>>,
    /// How long a search may take on which no clock runs.
    pub stall: WaitLimit,
    /// How far main variations are looked at.
    pub pv_check: PvCheck,
    /// Of the lines that an engine says about a move, the last one that fits is kept, for each of
    /// these.
    pub keep_lines: Vec<Regex>,
}

impl GameSettings {
    /// How long a search may take on which no clock runs, unless something else is said.
    pub const STALL: Duration = Duration::from_mins(10);

    /// A setting without adjudication: searches without a clock may take [`GameSettings::STALL`], and
    /// variations are not followed.
    pub fn new(game: Game) -> Self {
        Self {
            game,
            adjudication: Adjudication::default(),
            tablebases: None,
            stall: WaitLimit::fixed(Self::STALL),
            pv_check: PvCheck::FirstMove,
            keep_lines: Vec::new(),
        }
    }
}

/// Plays a game between the first and the second side and tells each move when it was made.
///
/// Whatever an engine does, this ends, and the result says who is to blame: an engine that is late
/// has lost at that moment, whether it is silent or never stops talking, and is killed. The other
/// engine stays as it is. An engine that was lost is started again for the next game.
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
    let seats = players.map(|player| Seat::new(player, setting.game, opening));
    let mut table = Table {
        setting,
        cancel,
        referee,
        seats,
        moves: Vec::new(),
        warnings: Vec::new(),
        asked: started,
    };
    let outcome = table.play(on_move);
    table.tell_end(&outcome);
    let [first, second] = table.seats.each_ref().map(|seat| seat.player.id());
    let engines = table.seats.map(|seat| seat.introduction);
    // Most of what a match keeps until a pair is complete.
    table.moves.shrink_to_fit();
    Ok(MatchGame {
        first,
        second,
        winner: outcome.winner,
        end: outcome.end,
        moves: table.moves,
        started_ms,
        duration_ms: millis(now().saturating_duration_since(started)),
        warnings: table.warnings,
        engines,
    })
}

struct Table<'a> {
    setting: &'a GameSettings,
    cancel: &'a Cancel,
    referee: Referee,
    seats: [Seat<'a>; 2],
    moves: Vec<MoveRecord>,
    warnings: Vec<Warning>,
    /// When the latest answer was asked for.
    asked: Instant,
}

/// One side of the table.
struct Seat<'a> {
    player: &'a mut Player,
    codec: MoveCodec,
    /// The game in the words of the engine, or why it cannot be told.
    game: Result<WireGame, GameEnd>,
    pondering: Option<Pondering>,
    has_moved: bool,
    watched: Option<Watched>,
    /// Who the engine says it is, once it has started.
    introduction: EngineInfo,
}

/// A search on the opponent's time.
struct Pondering {
    /// The move that is expected, in the words of the engine.
    expected: Move,
    search: SearchHandle,
}

impl<'a> Seat<'a> {
    fn new(player: &'a mut Player, game: Game, opening: &Opening) -> Self {
        let codec = player.codec();
        Self {
            player,
            game: codec.clone().and_then(|codec| client_game(codec, game, opening)),
            codec: codec.unwrap_or_else(|_| MoveCodec::usual(game)),
            pondering: None,
            has_moved: false,
            watched: None,
            introduction: EngineInfo::default(),
        }
    }

    fn start(&mut self, cancel: &Cancel, warnings: &mut Vec<WarningKind>) -> Result<(), GameEnd> {
        let game = self.game.as_ref().map_err(Clone::clone)?;
        self.player.prepare(game, warnings)?;
        self.watch(cancel);
        Ok(())
    }

    fn start_again(
        &mut self,
        cancel: &Cancel,
        warnings: &mut Vec<WarningKind>,
    ) -> Result<(), GameEnd> {
        let game = self.game.as_ref().map_err(Clone::clone)?;
        self.player.restart(game, warnings)?;
        self.watch(cancel);
        Ok(())
    }

    fn watch(&mut self, cancel: &Cancel) {
        if let Some(engine) = self.player.engine() {
            self.introduction = move_info::introduction(engine, self.player.plan());
        }
        self.watched = self.player.engine().map(|engine| cancel.watch(engine.stopper()));
    }

    /// The engine did what costs it the game and its process. One that is deaf is not asked to
    /// leave, which would take as long again.
    fn end(&mut self, is_deaf: bool) {
        self.pondering = None;
        self.watched = None;
        if is_deaf { self.player.kill() } else { self.player.end() }
    }

    /// The search for the next move: the one that ponders if it expected the latest move.
    fn search(
        &mut self,
        latest: Option<Move>,
        search: Search,
        on_update: impl FnMut(&Update),
    ) -> Result<Result<SearchResult, EngineError>, Failure> {
        let latest = latest.and_then(|word| self.codec.encode_text(word.as_str()));
        let (Some(engine), Ok(game)) = (self.player.engine_mut(), &self.game) else {
            return Err(Failure::NotThere);
        };
        let pondering = self.pondering.take();
        // An engine that has answered too early has to search again.
        let pondering = pondering.filter(|it| Some(it.expected) == latest && !it.search.is_over());
        let result = match pondering {
            Some(Pondering { search, .. }) => {
                search.ponder_hit(None).and_then(|()| search.wait_with(on_update))
            }
            None => engine.play_with(game, search, on_update),
        };
        Ok(result)
    }

    fn play(&mut self, word: Move) {
        if let (Ok(game), Some(it)) = (&mut self.game, self.codec.encode_text(word.as_str())) {
            game.play(it);
        }
    }
}

/// An answer, and what was said before it.
struct Thought {
    played: Box<SearchResult>,
    /// The last line with a variation, if those are looked at.
    line: Option<String>,
    /// Lines to be kept.
    lines: Vec<String>,
    /// What fastchess takes of it all, in a match as fastchess plays it.
    scored: Option<Scored>,
}

/// Why there is no answer.
enum Failure {
    Engine(EngineError),
    /// The engine was lost before.
    NotThere,
    /// It could not be started again.
    NoStart(GameEnd),
}

impl Table<'_> {
    fn play(&mut self, on_move: &mut dyn FnMut(&Referee, &MoveRecord)) -> Decision {
        for side in [Side::First, Side::Second] {
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
        let (seat, _) = pair_mut(&mut self.seats, side);
        let mut warnings = Vec::new();
        let result = if again {
            seat.start_again(self.cancel, &mut warnings)
        } else {
            seat.start(self.cancel, &mut warnings)
        };
        for kind in warnings {
            self.warn(side, kind);
        }
        result
    }

    fn ply(&mut self, on_move: &mut dyn FnMut(&Referee, &MoveRecord)) -> Verdict {
        let side = self.referee.turn();
        let Thought { mut played, line, lines, mut scored } = match self.ask(side) {
            Ok(thought) => thought,
            Err(failure) => return Verdict::Over(self.failed(side, failure)),
        };
        if side == Side::Second && pair_mut(&mut self.seats, side).0.player.plan().whitepov {
            move_info::turn_score(&mut played.info);
            if let Some(scored) = &mut scored {
                move_info::turn_score(&mut scored.info);
            }
        }
        let took = whole_micros(played.time());
        let pv_check = self.setting.pv_check;
        let follow = pv_check != PvCheck::FirstMove && played.info.pv.is_some();
        let before = follow.then(|| self.referee.position().clone());
        let score = scored.as_ref().map_or(&played.info, |scored| &scored.info).score;
        let codec = self.codec(side);
        let word;
        let answer = match &played.best {
            Best::Move(it) => {
                word = codec.decode_text(it.as_str());
                Answer::Move(&word)
            }
            Best::Resign => Answer::Resign,
            Best::Win => Answer::Declare,
            Best::None => Answer::Other("(none)"),
            Best::Other(other) => Answer::Other(other),
        };
        let plies = self.moves.len();
        let verdict = self.referee.on_answer(answer, took, score);
        if self.referee.moves_made() == plies {
            // It was no move that counts.
            return verdict;
        }
        let word = self.referee.latest_move().and_then(|word| word.parse().ok());
        let Some(word) = word else { return verdict };
        for seat in &mut self.seats {
            seat.play(word);
        }
        let left = self.referee.clock(side).left();
        let mut made = move_info::played(word, &played, took, left, codec);
        let odd = move_info::oddities(before.as_ref(), pv_check, &made, &played.info);
        let excused = |odd: &WarningKind| {
            scored.as_ref().is_some_and(|scored| scored.excuses(odd, &played.info))
        };
        if let Some(odd) = odd.filter(|odd| !excused(odd)) {
            self.warn_of(side, odd, line);
        }
        if let Some(scored) = scored {
            played.info = scored.info;
            made = move_info::played(word, &played, took, left, codec);
        }
        made.ponder_hit = played.ponder_hit;
        made.lines = lines;
        on_move(&self.referee, &made);
        self.moves.push(made);
        pair_mut(&mut self.seats, side).0.has_moved = true;
        if verdict == Verdict::Continue {
            self.ponder(side, &played);
        }
        verdict
    }

    fn codec(&self, side: Side) -> MoveCodec {
        let [first, second] = &self.seats;
        match side {
            Side::First => first.codec,
            Side::Second => second.codec,
        }
    }

    /// The answer of a side. An engine that was lost
    /// between two games is started again first.
    fn ask(&mut self, side: Side) -> Result<Thought, Failure> {
        let result = self.think(side);
        let (seat, _) = pair_mut(&mut self.seats, side);
        match result {
            Err(Failure::Engine(error))
                if !seat.has_moved && seat.player.is_used() && is_lost(&error) =>
            {
                self.warn(side, WarningKind::restarted(&error));
                self.start(side, true).map_err(Failure::NoStart)?;
                self.think(side)
            }
            result => result,
        }
    }

    fn think(&mut self, side: Side) -> Result<Thought, Failure> {
        let deadline = self.referee.deadline();
        let dialect = self.codec(side).dialect();
        let mut search = Search::from(self.referee.go(side, dialect));
        search = match deadline {
            // At the deadline itself an answer is in time.
            Some(deadline) => search.deadline_after(deadline.saturating_add(TICK)),
            None => search.stall_limit(self.setting.stall),
        };
        let latest = self.moves.last().map(|made| made.mv);
        let (seat, _) = pair_mut(&mut self.seats, side);
        self.asked = now();
        let follow = self.setting.pv_check != PvCheck::FirstMove;
        let mut scored = self.setting.adjudication.as_fastchess.then(Scored::default);
        let mut line = None;
        let mut lines = vec![None; self.setting.keep_lines.len()];
        let end = seat.search(latest, search, |update| {
            if let Some(scored) = &mut scored {
                scored.hear(&update.info);
            }
            if follow && update.info.pv.is_some() {
                line = Some(truncate(&update.raw, Warning::MAX_LINE));
            }
            for (kept, wanted) in lines.iter_mut().zip(&self.setting.keep_lines) {
                if wanted.is_match(&update.raw) {
                    *kept = Some(truncate(&update.raw, MoveRecord::MAX_LINE));
                }
            }
        })?;
        // Clocks count whole microseconds.
        let is_late = deadline.is_some_and(|deadline| match &end {
            Ok(played) => deadline.as_micros() < played.time().as_micros(),
            Err(error) => matches!(error.problem(), Problem::OutOfTime(_)),
        });
        if let Some(kind) = is_late.then(overload::warning).flatten() {
            self.warn(side, kind);
        }
        let played = end.map_err(Failure::Engine)?;
        let lines = lines.into_iter().flatten().collect();
        Ok(Thought { played: Box::new(played), line, lines, scored })
    }

    /// Lets a side think on the opponent's time, if it wants to and says on which move.
    fn ponder(&mut self, side: Side, played: &SearchResult) {
        let Some(expected) = played.ponder else { return };
        let (seat, _) = pair_mut(&mut self.seats, side);
        if !seat.player.plan().ponder {
            return;
        }
        let word = seat.codec.decode_text(expected.as_str());
        let position: &Position = self.referee.position();
        let (Ok(_), Ok(game)) = (position.parse_move(&word), &seat.game) else { return };
        let mut expecting = game.clone();
        expecting.play(expected);
        let dialect = seat.codec.dialect();
        let mut search = Search::from(self.referee.go(side, dialect)).ponder();
        if let Some(deadline) = self.referee.clock(side).deadline() {
            search = search.deadline_after(deadline.saturating_add(TICK));
        }
        let Some(engine) = seat.player.engine_mut() else { return };
        // If it cannot, its next search says why.
        if let Ok(search) = engine.begin(&expecting, search) {
            seat.pondering = Some(Pondering { expected, search });
        }
    }

    /// What a failure means for the game. The engine is lost, unless nobody is to blame.
    fn failed(&mut self, side: Side, failure: Failure) -> Decision {
        let deadline = self.referee.deadline();
        let waited_ms = millis(now().saturating_duration_since(self.asked));
        let (seat, _) = pair_mut(&mut self.seats, side);
        let error = match failure {
            Failure::NoStart(end) => return Decision::lost_by(side, end),
            Failure::NotThere => {
                let failure = EngineFailure::new(EngineFailureKind::NotRunning);
                return Decision::lost_by(side, GameEnd::crash(failure));
            }
            Failure::Engine(error) => error,
        };
        if *error.problem() == Problem::Dropped(DropReason::Cancelled) {
            return Decision::without_winner(Termination::Aborted);
        }
        let is_deaf = matches!(
            error.problem(),
            Problem::OutOfTime(_) | Problem::Timeout(_) | Problem::Stalled
        );
        seat.end(is_deaf);
        let end = match error.problem() {
            Problem::OutOfTime(late) => {
                let took = deadline.unwrap_or_default().saturating_add(TICK).saturating_add(*late);
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
        self.warn_of(side, kind, None);
    }

    fn warn_of(&mut self, side: Side, kind: WarningKind, line: Option<String>) {
        if self.warnings.len() < MatchGame::MAX_WARNINGS {
            let ply = u32::try_from(self.moves.len()).unwrap_or(u32::MAX);
            self.warnings.push(Warning { side, ply, kind, line });
        }
    }

    /// Tells the engines that the game is over, which also ends what they still think about, and
    /// collects what they did wrong.
    fn tell_end(&mut self, outcome: &Decision) {
        for side in [Side::First, Side::Second] {
            let told = match outcome.winner {
                Some(winner) if winner == side => GameOver::Win,
                Some(_) => GameOver::Lose,
                None => GameOver::Draw,
            };
            let (seat, _) = pair_mut(&mut self.seats, side);
            drop((seat.pondering.take(), seat.watched.take()));
            let Some(engine) = seat.player.engine_mut() else { continue };
            let notices = engine.drain_notices();
            let message =
                engine.status_message().map(|text| truncate(&text, EngineFailure::MAX_TEXT));
            // One that is gone is found to be so before its next game.
            let _ = engine.game_over(told);
            let mut is_unregistered = false;
            for notice in notices {
                match notice {
                    Notice::Event(Event::Violation(violation)) => {
                        self.warn(side, WarningKind::Protocol { rule: violation.rule });
                    }
                    Notice::Event(Event::Registration(Status::Error)) => {
                        is_unregistered = true;
                    }
                    Notice::Event(Event::Registration(Status::Ok)) => is_unregistered = false,
                    Notice::Event(_) | Notice::LineTooLong(_) => (),
                }
            }
            if is_unregistered {
                self.warn(side, WarningKind::Unregistered { message });
            }
        }
    }
}

fn truncate(line: &str, most: usize) -> String {
    line.chars().take(most).collect()
}

/// The unit of clocks.
const TICK: Duration = Duration::from_micros(1);

/// Whether the engine is gone or deaf.
fn is_lost(error: &EngineError) -> bool {
    let problem = error.problem();
    matches!(
        problem,
        Problem::Disconnected | Problem::Timeout(_) | Problem::Dropped(DropReason::Disconnected)
    )
}

/// Clocks count whole microseconds.
fn whole_micros(time: Duration) -> Duration {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The game of an opening in the notation of an engine.
pub(super) fn client_game(
    codec: MoveCodec,
    game: Game,
    opening: &Opening,
) -> Result<WireGame, GameEnd> {
    let unsupported = |why: String| unsuitable(EngineFailureKind::UnsupportedPosition, &why);
    let root = match &opening.position {
        Some(root) => {
            Position::from_text(game, root).map_err(|error| unsupported(error.to_string()))?
        }
        None => Position::start(game),
    };
    let mut position = root.clone();
    let moves: Result<Vec<_>, _> =
        opening.moves.iter().map(|text| position.play_uci(text)).collect();
    let moves = moves.map_err(|error| unsupported(error.to_string()))?;
    let sent = codec.encode_position(&root, &moves);
    let sent =
        sent.ok_or_else(|| unsupported(format!("`{root}` cannot be written for this engine")))?;
    Ok(WireGame::new(sent, codec.new_game()))
}
