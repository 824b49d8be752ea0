//! Random openings that are not decided.

use fastrand::Rng;
use readyok_rules::Position;

use super::player::Players;
use crate::data::Header;
use crate::games;

/// The maximum number of attempts per game.
const MAX_OPENINGS: usize = 10_000;

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
pub(super) struct Opening {
    pub(super) start: u16,
    pub(super) moves: Vec<u16>,
    pub(super) position: Position,
}

/// Finds an opening that is not decided according to the players. `None` if none was found or the
/// players are stopped.
pub(super) fn random_opening(
    header: &Header,
    rng: &mut Rng,
    players: &mut Players<'_>,
) -> Option<Opening> {
    for _ in 0..MAX_OPENINGS {
        if players.is_stopped() {
            return None;
        }
        let Some(opening) = attempt(header, rng, players) else { continue };
        let (_, score) = players.think(&opening.position, u64::from(header.nodes));
        if score.abs() <= MAX_SCORE {
            return Some(opening);
        }
    }
    None
}

/// Plays random moves without blunders. `None` if the game ends, or only blunders are found.
fn attempt(header: &Header, rng: &mut Rng, players: &mut Players<'_>) -> Option<Opening> {
    let start = if rng.u8(0..100) < header.chess960 {
        rng.u16(0..header.game.starts())
    } else {
        header.game.usual_start()
    };
    let mut position = header.game.start(start)?;
    let mut moves = Vec::new();
    for _ in 0..header.random_plies.saturating_add(rng.u8(0..2)) {
        let next = random_move(&position, rng, players)?;
        moves.push(next.number);
        position = next.position;
    }
    position.outcome().is_none().then_some(Opening { start, moves, position })
}

struct Next {
    number: u16,
    position: Position,
}

fn random_move(position: &Position, rng: &mut Rng, players: &mut Players<'_>) -> Option<Next> {
    let legal = position.legal_moves();
    let (_, before) = players.think(position, BLUNDER_CHECK_NODES);
    for _ in 0..MAX_CANDIDATES {
        let mv = rng.choice(&legal).copied()?;
        let mut after = position.clone();
        after.play(mv).ok()?;
        let (_, theirs) = players.think(&after, BLUNDER_CHECK_NODES);
        if -i32::from(theirs) >= i32::from(before) - MAX_LOSS {
            return Some(Next { number: games::number(mv)?, position: after });
        }
    }
    None
}
