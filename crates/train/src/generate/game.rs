//! Plays one game.

use fastrand::Rng;
use readyok_rules::{Position, Side, Termination};

use super::judge::Judge;
use super::player::Players;
use super::{GenerateError, opening};
use crate::data::{End, Header, Ply, Record, Winner};
use crate::{games, rng};

/// Plays the game of a number. `None` if it was stopped.
pub(super) fn play(
    header: &Header,
    number: u64,
    players: &mut Players<'_>,
) -> Result<Option<Record>, GenerateError> {
    players.clear();
    let mut rng = rng::of(header.seed, number);
    let Some(opening) = opening::random_opening(header, &mut rng, players) else {
        let stopped = players.is_stopped();
        return if stopped { Ok(None) } else { Err(GenerateError::NoOpening { game: number }) };
    };
    let mut position = opening.position;
    let mut judge = Judge::new(header.game);
    let mut plies = Vec::new();
    let (winner, end) = loop {
        if let Some(ended) = ended(&position) {
            break ended;
        }
        let (best, score) = players.think(&position, nodes(header, &mut rng));
        if players.is_stopped() {
            return Ok(None);
        }
        // A game that is not over has a move.
        let Some((mv, number)) = best.and_then(|mv| Some((mv, games::number(mv)?))) else {
            break (Winner::None, End::Rule);
        };
        plies.push(Ply { mv: number, score });
        let first = if position.turn() == Side::First { score } else { -score };
        if let Some(judged) = judge.receive(first) {
            break judged;
        }
        if position.play(mv).is_err() {
            break (Winner::None, End::Rule);
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

fn ended(position: &Position) -> Option<(Winner, End)> {
    if let Some(ending) = position.outcome() {
        let winner = ending.winner().map_or(Winner::None, winner);
        let end = match ending.termination {
            Termination::Checkmate | Termination::Stalemate => End::Board,
            _ => End::Rule,
        };
        return Some((winner, end));
    }
    position.can_declare().then(|| (winner(position.turn()), End::Rule))
}

fn winner(side: Side) -> Winner {
    match side {
        Side::First => Winner::First,
        Side::Second => Winner::Second,
    }
}
