//! Random openings that leave a game to be played.

use fastrand::Rng;
use readyok_rules::Position;

use super::player::Players;
use crate::data::Header;
use crate::games;

/// So many openings are tried for a game.
const TRIES: usize = 10_000;

/// So many moves are tried for a ply.
const MOVES: usize = 20;

/// Nodes of the searches that report what a random move gives away.
const GLANCE: u64 = 150;

/// A random move gives away no more than this, in centipawns. Otherwise most openings would leave a
/// piece hanging, in shogi even the game.
const BLUNDER: i32 = 200;

/// After the opening neither side is ahead by more, in centipawns.
const AHEAD: i16 = 600;

/// What a game begins with.
pub(super) struct Opening {
    pub(super) start: u16,
    pub(super) moves: Vec<u16>,
    pub(super) position: Position,
}

/// Draws an opening that is not decided, as far as the players see. None if there is none to be
/// found, or the players are stopped.
pub(super) fn draw(header: &Header, rng: &mut Rng, players: &mut Players<'_>) -> Option<Opening> {
    for _ in 0..TRIES {
        if players.is_stopped() {
            return None;
        }
        let Some(opening) = attempt(header, rng, players) else { continue };
        let (_, score) = players.think(&opening.position, u64::from(header.nodes));
        if score.abs() <= AHEAD {
            return Some(opening);
        }
    }
    None
}

/// Plays random moves that are no blunders. None if the game ends, or nothing else is found.
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
    let (_, before) = players.think(position, GLANCE);
    for _ in 0..MOVES {
        let mv = rng.choice(&legal).copied()?;
        let mut after = position.clone();
        after.play(mv).ok()?;
        let (_, theirs) = players.think(&after, GLANCE);
        if -i32::from(theirs) >= i32::from(before) - BLUNDER {
            return Some(Next { number: games::number(mv)?, position: after });
        }
    }
    None
}
