//! Plays games of Narikin against itself.
//!
//! Game number k depends only on the settings, the program and k. A run can be interrupted and resumed
//! with the same file.

use std::collections::{BTreeMap, TryReserveError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;
use std::{io, thread};

use fastrand::Rng;
use narikin::tablebase::{Tablebases, Wdl};
use narikin::{Control, Limits, Report, Score, Searcher};
use readyok_rules::{BoardRef, FenForm, Move, Position, Side, Termination};

use crate::data::{DataError, End, Header, MATE, MAX_PLIES, Ply, Record, Writer};
use crate::games::GameKind;
use crate::{games, rng};

/// Why games cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// There is no memory for the search.
    #[error("no memory for the search: {0}")]
    Memory(#[from] TryReserveError),
    /// The endgame tables cannot be opened.
    #[error("no Syzygy tables: {0}")]
    Tables(#[source] io::Error),
    /// No balanced opening was found, as with an engine without knowledge.
    #[error("no opening found for game {game}")]
    NoOpening {
        /// The number of the game.
        game: u64,
    },
}

/// The target size of a file, including existing games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// A number of games.
    Games(u64),
    /// A minimum number of positions.
    Positions(u64),
}

/// The number of games and of positions with scores in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    pub games: u64,
    pub positions: u64,
}

impl Progress {
    fn count(&mut self, game: &Record) {
        self.games += 1;
        self.positions += game.plies.len() as u64;
    }

    fn is_enough(self, until: Until) -> bool {
        match until {
            Until::Games(games) => self.games >= games,
            Until::Positions(positions) => self.positions >= positions,
        }
    }
}

/// Plays games until the file has the target size; 0 threads count as one. A missing file is created,
/// an existing one is extended. `on_game` is called first for the existing games together, then for
/// every new one.
///
/// Chess positions of at most [`Header::syzygy`] pieces are adjudicated by `tables`.
///
/// # Errors
/// See [`GenerateError`]. Games that were already written are preserved.
pub fn run(
    path: &Path,
    header: &Header,
    until: Until,
    threads: usize,
    tables: Option<&Tablebases>,
    mut on_game: impl FnMut(Progress),
) -> Result<Progress, GenerateError> {
    let mut progress = Progress::default();
    let mut writer = Writer::open(path, header, |game| progress.count(game))?;
    on_game(progress);
    if progress.is_enough(until) {
        return Ok(progress);
    }
    let next = &AtomicU64::new(progress.games);
    let stop = &AtomicBool::new(false);
    let threads = threads.max(1);
    let (played, games) = sync_channel(threads);
    let written = thread::scope(|scope| {
        for _ in 0..threads {
            let played = played.clone();
            scope.spawn(move || work(header, next, stop, tables, &played));
        }
        drop(played);
        let mut waiting = BTreeMap::new();
        let mut write = || -> Result<(), GenerateError> {
            for (number, game) in &games {
                waiting.insert(number, game?);
                while let Some(game) = waiting.remove(&progress.games) {
                    progress.count(&game);
                    writer.append(game)?;
                    on_game(progress);
                    if progress.is_enough(until) {
                        return Ok(());
                    }
                }
            }
            Ok(())
        };
        let written = write();
        stop.store(true, Ordering::Relaxed);
        // No thread waits for a free slot any more.
        drop(games);
        written
    });
    writer.finish()?;
    written.map(|()| progress)
}

type NumberedGame = (u64, Result<Record, GenerateError>);

fn work(
    header: &Header,
    next: &AtomicU64,
    stop: &AtomicBool,
    tables: Option<&Tablebases>,
    played: &SyncSender<NumberedGame>,
) {
    let mut player = match Player::new(stop) {
        Ok(player) => player,
        Err(error) => {
            // Without a receiver the run has already ended.
            let _ = played.send((u64::MAX, Err(error.into())));
            return;
        }
    };
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let game = match play(header, number, tables, &mut player) {
            Ok(Some(game)) => Ok(game),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let failed = game.is_err();
        if played.send((number, game)).is_err() || failed {
            return;
        }
    }
}

/// Plays the game of a number. `None` if it was stopped.
fn play(
    header: &Header,
    number: u64,
    tables: Option<&Tablebases>,
    player: &mut Player<'_>,
) -> Result<Option<Record>, GenerateError> {
    player.clear();
    let mut rng = rng::of(header.seed, number);
    let Some(opening) = random_opening(header, &mut rng, player) else {
        let stopped = player.is_stopped();
        return if stopped { Ok(None) } else { Err(GenerateError::NoOpening { game: number }) };
    };
    let mut position = opening.position;
    let mut judge = Judge::new(header.game);
    let mut plies = Vec::new();
    let (winner, end) = loop {
        if let Some(ended) = ended(&position) {
            break ended;
        }
        let known = tables.and_then(|tables| tablebase_result(header, tables, &position));
        if let Some(known) = known {
            break known;
        }
        let (best, score) = player.think(&position, nodes(header, &mut rng));
        if player.is_stopped() {
            return Ok(None);
        }
        // A game that is not over has a move.
        let Some((mv, number)) = best.and_then(|mv| Some((mv, games::number(mv)?))) else {
            break (None, End::Rule);
        };
        plies.push(Ply { mv: number, score });
        let first = if position.turn() == Side::First { score } else { -score };
        if let Some(judged) = judge.receive(first) {
            break judged;
        }
        if position.play(mv).is_err() {
            break (None, End::Rule);
        }
    };
    Ok(Some(Record { start: opening.start, opening: opening.moves, plies, winner, end }))
}

/// A random node count near the configured one. A constant count would always stop the search at a
/// similar point of an iteration.
fn nodes(header: &Header, rng: &mut Rng) -> u64 {
    let nodes = u64::from(header.nodes);
    let tenth = nodes / 10;
    (nodes - tenth + rng.u64(0..=2 * tenth)).max(1)
}

fn ended(position: &Position) -> Option<(Option<Side>, End)> {
    if let Some(ending) = position.outcome() {
        let end = match ending.termination {
            Termination::Checkmate | Termination::Stalemate => End::Board,
            _ => End::Rule,
        };
        return Some((ending.winner(), end));
    }
    position.can_declare().then(|| (Some(position.turn()), End::Rule))
}

/// The winner of a chess position by endgame tables.
fn tablebase_result(
    header: &Header,
    tables: &Tablebases,
    position: &Position,
) -> Option<(Option<Side>, End)> {
    let BoardRef::Chess(_) = position.board() else { return None };
    let board = cozy_chess::Board::from_fen(&position.text(FenForm::Shredder), true).ok()?;
    // Tables assume that the fifty-move counter is 0.
    let few = board.occupied().len() <= u32::from(header.syzygy);
    if !few || board.halfmove_clock() > 0 {
        return None;
    }
    let turn = position.turn();
    let winner = match tables.wdl(&board)? {
        Wdl::Win => Some(turn),
        Wdl::Loss => Some(turn.other()),
        Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin => None,
    };
    Some((winner, End::Tables))
}

/// The maximum number of attempts per game.
const MAX_OPENINGS: usize = 10_000;

/// The number of attempts with the same hash.
const ATTEMPTS_PER_HASH: usize = 100;

/// The maximum number of candidate moves per ply.
const MAX_CANDIDATES: usize = 20;

/// Nodes of the searches that detect blunders.
const BLUNDER_CHECK_NODES: u64 = 150;

/// The maximum loss of a random move, in centipawns. Otherwise most openings would leave a piece
/// hanging, or in shogi lose the game.
const MAX_LOSS: i32 = 200;

/// The maximum absolute score after the opening, in centipawns.
const MAX_SCORE: i16 = 600;

/// A random opening.
struct Opening {
    start: u16,
    moves: Vec<u16>,
    position: Position,
}

/// Finds an opening that is not decided according to the player. `None` if none was found or the
/// player is stopped.
fn random_opening(header: &Header, rng: &mut Rng, player: &mut Player<'_>) -> Option<Opening> {
    for number in 0..MAX_OPENINGS {
        if player.is_stopped() {
            return None;
        }
        // A score in the hash can make every first move a blunder.
        if number > 0 && number % ATTEMPTS_PER_HASH == 0 {
            player.clear();
        }
        let Some(opening) = attempt(header, rng, player) else { continue };
        let (_, score) = player.think(&opening.position, u64::from(header.nodes));
        if score.abs() <= MAX_SCORE {
            return Some(opening);
        }
    }
    None
}

/// Plays random moves without blunders. `None` if the game ends, or only blunders are found.
fn attempt(header: &Header, rng: &mut Rng, player: &mut Player<'_>) -> Option<Opening> {
    let start = if rng.u8(0..100) < header.chess960 {
        rng.u16(0..header.game.starts())
    } else {
        header.game.usual_start()
    };
    let mut position = header.game.start(start)?;
    let mut moves = Vec::new();
    for _ in 0..header.random_plies.saturating_add(rng.u8(0..=header.extra_plies)) {
        let next = random_move(&position, rng, player)?;
        moves.push(next.number);
        position = next.position;
    }
    position.outcome().is_none().then_some(Opening { start, moves, position })
}

struct Next {
    number: u16,
    position: Position,
}

fn random_move(position: &Position, rng: &mut Rng, player: &mut Player<'_>) -> Option<Next> {
    let legal = position.legal_moves();
    let (_, before) = player.think(position, BLUNDER_CHECK_NODES);
    for _ in 0..MAX_CANDIDATES {
        let mv = rng.choice(&legal).copied()?;
        let mut after = position.clone();
        after.play(mv).ok()?;
        let (_, theirs) = player.think(&after, BLUNDER_CHECK_NODES);
        if -i32::from(theirs) >= i32::from(before) - MAX_LOSS {
            return Some(Next { number: games::number(mv)?, position: after });
        }
    }
    None
}

/// Hash size in MB, enough for searches of some thousand nodes.
const HASH: usize = 1;

/// The player of both sides. They share the hash and the histories, which stay in the caches of the CPU.
struct Player<'a> {
    searcher: Searcher,
    limits: Limits,
    control: Stop<'a>,
}

impl<'a> Player<'a> {
    /// Searches end early when `stop` is set.
    fn new(stop: &'a AtomicBool) -> Result<Self, TryReserveError> {
        Ok(Self { searcher: Searcher::new(HASH)?, limits: Limits::default(), control: Stop(stop) })
    }

    /// Clears the data of the last game.
    fn clear(&mut self) {
        self.searcher.clear();
    }

    /// The best move of the side to move, if there is a legal one, and its score.
    fn think(&mut self, position: &Position, nodes: u64) -> (Option<Move>, i16) {
        self.limits.nodes = Some(nodes);
        let outcome = self.searcher.search(position, &self.limits, &self.control);
        (outcome.best(), number(outcome.score))
    }

    /// Whether to abort the game.
    fn is_stopped(&self) -> bool {
        self.control.stopped()
    }
}

fn number(score: Score) -> i16 {
    let mate = |plies: u32| MATE - i16::try_from(plies.min(1000)).unwrap_or(0);
    match score {
        Score::Centipawns(value) => {
            // Scores of mates are reserved.
            let max = i32::from(MATE) - 1001;
            i16::try_from(value.clamp(-max, max)).unwrap_or(0)
        }
        Score::Wins { plies } => mate(plies),
        Score::Loses { plies } => -mate(plies),
    }
}

/// Stops searches only when the run ends; otherwise they end by node count.
struct Stop<'a>(&'a AtomicBool);

impl Control for Stop<'_> {
    fn stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn report(&self, _report: &Report<'_>) {}
}

/// The number of plies for which both sides must agree on a winning score.
const WON_PLIES: u32 = 4;

/// The number of plies for which both sides must agree on a drawn score.
const DRAWN_PLIES: u32 = 12;

/// The minimum winning score, in centipawns. In shogi, 3 % of the games with this score are lost if they are
/// played on, with 300 nodes per move; 9 % with a score of 2500.
fn won(game: GameKind) -> i16 {
    match game {
        GameKind::Chess => 1000,
        GameKind::Shogi => 6000,
    }
}

/// The maximum absolute score of a draw, and the first ply at which it counts. Games of shogi are
/// hardly ever level at the end.
fn drawn(game: GameKind) -> Option<(i16, usize)> {
    match game {
        GameKind::Chess => Some((4, 80)),
        GameKind::Shogi => None,
    }
}

/// The maximum length of a game in plies, after which it is drawn.
fn max_plies(game: GameKind) -> usize {
    match game {
        GameKind::Chess => 400,
        GameKind::Shogi => 320,
    }
    .min(MAX_PLIES)
}

/// Observes the scores of a game.
struct Judge {
    game: GameKind,
    plies: usize,
    ahead: Option<Side>,
    /// The number of plies with this leader.
    since: u32,
    level_since: u32,
}

impl Judge {
    fn new(game: GameKind) -> Self {
        Self { game, plies: 0, ahead: None, since: 0, level_since: 0 }
    }

    /// Adds the score of the next ply for the first side. Returns the result if the game is decided.
    fn receive(&mut self, score: i16) -> Option<(Option<Side>, End)> {
        self.plies += 1;
        let won = won(self.game);
        let ahead = match score {
            _ if score >= won => Some(Side::First),
            _ if score <= -won => Some(Side::Second),
            _ => None,
        };
        self.since = if ahead == self.ahead { self.since + 1 } else { 1 };
        self.ahead = ahead;
        if ahead.is_some() && self.since >= WON_PLIES {
            return Some((ahead, End::Scores));
        }
        if let Some((level, from)) = drawn(self.game) {
            let is_level = score.abs() <= level && self.plies >= from;
            self.level_since = if is_level { self.level_since + 1 } else { 0 };
            if self.level_since >= DRAWN_PLIES {
                return Some((None, End::Scores));
            }
        }
        (self.plies >= max_plies(self.game)).then_some((None, End::Length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(
        game: GameKind,
        scores: impl IntoIterator<Item = i16>,
    ) -> Option<(usize, Option<Side>)> {
        let mut judge = Judge::new(game);
        let mut plies = 0;
        scores.into_iter().find_map(|score| {
            plies += 1;
            judge.receive(score).map(|(winner, _)| (plies, winner))
        })
    }

    #[test]
    fn adjudicates_a_win_if_both_sides_agree() {
        assert_eq!(judged(GameKind::Chess, [1000; 5]), Some((4, Some(Side::First))));
        assert_eq!(judged(GameKind::Chess, [-1000; 5]), Some((4, Some(Side::Second))));
        assert_eq!(judged(GameKind::Chess, [1000, 1000, 1000, 999, 1000, 1000, 1000]), None);
        assert_eq!(judged(GameKind::Chess, [1000, 1000, -1000, -1000, 1000, 1000]), None);
        assert_eq!(judged(GameKind::Shogi, [5999; 5]), None);
        assert_eq!(judged(GameKind::Shogi, [6000; 5]), Some((4, Some(Side::First))));
    }

    #[test]
    fn adjudicates_a_draw_of_level_chess_games() {
        assert_eq!(judged(GameKind::Chess, [0; 100]), Some((91, None)));
        assert_eq!(judged(GameKind::Shogi, [0; 100]), None);
    }

    #[test]
    fn games_end_at_the_maximum_length() {
        let last = |game| {
            let mut judge = Judge::new(game);
            std::iter::repeat_n(100, 1000).find_map(|score| judge.receive(score))
        };
        assert_eq!(last(GameKind::Chess), Some((None, End::Length)));
        assert_eq!(last(GameKind::Shogi), Some((None, End::Length)));
        assert_eq!(judged(GameKind::Shogi, [100; 1000]), Some((320, None)));
    }
}
