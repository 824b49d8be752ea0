//! Tests of positions, moves, notations and endings through the public interface.
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]

mod ending;
mod epd;
mod hostile;
#[expect(unreachable_pub, reason = "the library of the fuzz targets includes this file")]
mod laws;
mod moves;
mod notation;
mod oracle;
mod perft;
mod properties;
mod reading;
pub mod record;
mod seeds;
mod session;
mod setup;
#[cfg(feature = "syzygy")]
mod tablebase;
mod text;

use readyok_rules::{Game, Position};

/// The position of a FEN or SFEN. The start position if the text is empty.
fn position(game: Game, text: &str) -> Position {
    if text.is_empty() {
        return Position::start(game);
    }
    Position::from_text(game, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The position after moves that are separated by spaces.
fn after(game: Game, text: &str, moves: &str) -> Position {
    position(game, text).after(moves.split_whitespace()).unwrap_or_else(|error| panic!("{error}"))
}
