//! Threefold repetition in table positions: tablebases do not contain the history of the game.

use std::sync::Arc;

use cozy_chess::{Board, Move};
use narikin::{Limits, Score, SearchResult, TbConfig, tablebase::Tablebases};
use readyok_rules::{Game, Position};

use crate::{Probe, position, search, tokens};

fn tables() -> TbConfig {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
    let tablebases = Arc::new(Tablebases::open(directory).expect("tables"));
    TbConfig { tablebases, probe_depth: 1, probe_limit: 7, rule50: true }
}

/// A start position and the moves of both sides up to the current position.
struct History {
    start: String,
    moves: Vec<String>,
}

impl History {
    fn new(start: &str, moves: &str) -> Self {
        Self { start: start.to_owned(), moves: moves.split(' ').map(str::to_owned).collect() }
    }

    fn position(&self) -> Position {
        position(Game::Chess, &self.start).after(&self.moves).expect("legal moves")
    }

    fn search(&self, tables: &TbConfig) -> SearchResult {
        let limits = Limits { tables: Some(tables.clone()), ..crate::depth(2) };
        search(&self.position(), &limits, &Probe::default())
    }

    fn play(&mut self, mv: readyok_rules::Move) {
        self.moves.extend(tokens(Game::Chess, &[mv]));
    }

    /// How often the position after a move has occurred before.
    fn occurrences_after(&self, mv: readyok_rules::Move) -> usize {
        let mut board: Board = self.start.parse().expect("a position");
        let mut keys = vec![board.hash()];
        for token in self.moves.iter().chain(&tokens(Game::Chess, &[mv])) {
            board.play(token.parse().expect("a move"));
            keys.push(board.hash());
        }
        let (last, before) = keys.split_last().expect("a position");
        before.iter().filter(|key| *key == last).count()
    }

    /// Whether the opponent can complete a threefold repetition after a move.
    fn allows_repetition_after(&self, mv: readyok_rules::Move) -> bool {
        let mut next = Self { start: self.start.clone(), moves: self.moves.clone() };
        next.play(mv);
        next.position().legal_moves().iter().any(|&reply| 2 <= next.occurrences_after(reply))
    }
}

fn back(mv: Move) -> Move {
    Move { from: mv.to, to: mv.from, promotion: None }
}

/// Histories in which the side to move can complete a threefold repetition: both sides move a piece
/// there and back again, twice.
fn shuffles(start: &str, count: usize) -> Vec<History> {
    let board: Board = start.parse().expect("a position");
    let moves = |board: &Board| {
        let mut moves = Vec::new();
        board.generate_moves(|of_piece| {
            moves.extend(of_piece);
            false
        });
        moves
    };
    let mut found = Vec::new();
    for first in moves(&board) {
        let mut after = board.clone();
        after.play(first);
        for second in moves(&after) {
            let round = [first, second, back(first), back(second)];
            let mut board = board.clone();
            if round.iter().all(|&mv| board.try_play(mv).is_ok()) && board.hash() == hash(start) {
                let tokens = round.iter().cycle().take(7).map(ToString::to_string).collect();
                found.push(History { start: start.to_owned(), moves: tokens });
            }
        }
    }
    // An even selection, which includes all pieces.
    let step = (found.len() / count).max(1);
    found.into_iter().step_by(step).take(count).collect()
}

fn hash(start: &str) -> u64 {
    start.parse::<Board>().expect("a position").hash()
}

const WINS: [&str; 4] = [
    "8/8/8/5k1K/8/4Q3/8/8 b - - 1 1",
    "8/8/4k3/8/8/2K5/8/3R4 b - - 0 1",
    "8/8/3k4/8/8/1K1Q4/8/8 b - - 0 1",
    "8/2k5/8/8/4K3/8/7R/8 b - - 0 1",
];

#[test]
fn the_winner_avoids_a_threefold_repetition() {
    let tables = tables();
    let known = History::new(WINS[0], "f5f6 e3h6 f6f5 h6e3 f5f6 e3h6 f6f5");
    let histories = WINS.iter().flat_map(|start| shuffles(start, 12)).chain([known]);
    let mut repeats = 0;
    for history in histories {
        let best = history.search(&tables);
        let mv = best.best().expect("a move");
        let line = format!("{} {:?}", history.start, history.moves);
        assert!(matches!(best.score, Score::Centipawns(19_000..) | Score::Wins { .. }), "{line}");
        assert!(history.occurrences_after(mv) < 2, "{line}");
        assert!(!history.allows_repetition_after(mv), "{line}");
        let fastest = tables.tablebases.root(&board_of(&history)).expect("known moves");
        let fastest = fastest.first().expect("a move").mv.to_string();
        let fastest = history.position().parse_move(&fastest).expect("legal");
        repeats += usize::from(2 <= history.occurrences_after(fastest));
    }
    assert!(3 < repeats, "{repeats}: the tables alone would seldom repeat");
}

fn board_of(history: &History) -> Board {
    let mut board: Board = history.start.parse().expect("a position");
    history.moves.iter().for_each(|token| board.play(token.parse().expect("a move")));
    board
}

#[test]
fn the_loser_completes_a_threefold_repetition() {
    let tables = tables();
    for start in [
        "8/8/8/5k1K/8/4Q3/8/8 w - - 0 1",
        "8/8/4k3/8/8/2K5/8/3R4 w - - 0 1",
        "8/8/3k4/8/8/1K2Q3/8/8 w - - 0 1",
        "8/2k5/8/8/4K3/8/7R/8 w - - 0 1",
    ] {
        for history in shuffles(start, 12) {
            let best = history.search(&tables);
            let mv = best.best().expect("a move");
            let line = format!("{} {:?}", history.start, history.moves);
            assert_eq!(best.score, Score::Centipawns(0), "{line}");
            assert!(
                2 <= history.occurrences_after(mv) || history.search_is_drawn_after(mv, &tables),
                "{line}"
            );
        }
    }
}

impl History {
    /// Whether no reply of the winner wins.
    fn search_is_drawn_after(&self, mv: readyok_rules::Move, tables: &TbConfig) -> bool {
        let mut next = Self { start: self.start.clone(), moves: self.moves.clone() };
        next.play(mv);
        next.search(tables).score == Score::Centipawns(0)
    }
}

#[test]
fn wins_against_a_loser_that_repeats_positions() {
    let tables = tables();
    for start in WINS {
        let mut history = shuffles(start, 1).pop().expect("a history");
        for _ in 0..40 {
            let Some(best) = history.search(&tables).best() else { break };
            history.play(best);
            let replies = history.position().legal_moves();
            let often = |mv: &readyok_rules::Move| history.occurrences_after(*mv);
            let Some(&reply) = replies.iter().max_by_key(|mv| often(mv)) else { break };
            assert!(often(&reply) < 2, "{start} {:?}", history.moves);
            history.play(reply);
        }
        let end = history.position();
        assert!(end.legal_moves().is_empty() && end.in_check(), "{start} {:?}", history.moves);
    }
}
