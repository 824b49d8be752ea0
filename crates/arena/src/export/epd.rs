//! The last positions of games, a line for each.

use readyok_rules::Game;

use crate::pairing::Pairing;
use crate::plan::Plan;
use crate::result::MatchGame;

/// The last position of a game: for chess with the counters as operations, for shogi as SFEN.
pub(super) fn text(plan: &Plan, pairing: &Pairing, game: &MatchGame) -> Result<String, String> {
    let words = pairing.opening.moves.iter().map(String::as_str);
    let words = words.chain(game.moves.iter().map(|played| played.mv.as_str()));
    let position = super::record::start(plan.game, &pairing.opening)?.after(words);
    let text = position.map_err(|error| error.to_string())?.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    Ok(match (plan.game, fields.as_slice()) {
        (Game::Chess | Game::Chess960, [board, turn, castling, passant, half, full]) => {
            format!("{board} {turn} {castling} {passant} hmvc {half}; fmvn {full};\n")
        }
        _ => format!("{text}\n"),
    })
}
