//! Tests of the search through the public interface.
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]

mod bench;
mod books;
mod broken;
mod checkmate;
mod client;
mod dead_positions;
mod endings;
mod engine;
mod inspection;
mod limits;
mod lines;
mod mates;
mod mixtures;
mod networks;
mod options;
mod playing;
mod probe;
mod repetition;
mod stress;
mod syzygy;
mod table_repetition;
mod tablebase;
#[cfg(feature = "tune")]
mod tuning;
mod variants;

use narikin::{Limits, SearchResult, Searcher};
use readyok_rules::{Game, Move, Position};

use self::probe::Probe;

/// The position of a FEN or SFEN. The start position if the text is empty.
fn position(game: Game, text: &str) -> Position {
    if text.is_empty() {
        return Position::start(game);
    }
    Position::from_text(game, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Searches with an empty hash table.
fn search(position: &Position, limits: &Limits, probe: &Probe) -> SearchResult {
    Searcher::new(4).expect("4 megabytes").search(position, limits, probe)
}

/// The name of the network in the executable.
fn embedded_network(game: Game) -> String {
    narikin::network::embedded(game).expect("a network").name().to_owned()
}

fn depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn token(game: Game, mv: Move) -> String {
    mv.to_uci(game.castling_form())
}

fn tokens(game: Game, moves: &[Move]) -> Vec<String> {
    moves.iter().map(|&mv| token(game, mv)).collect()
}
