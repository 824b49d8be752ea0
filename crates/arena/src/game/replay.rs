//! Replays of recorded games: an engine searches each position again, with the recorded number of nodes.
//!
//! With one thread most engines find most moves again. Games that were not played as recorded have fewer equal moves.

use std::time::{Duration, Instant};

use readyok_client::{EngineError, Limit, Problem, Search};
use readyok_protocol::Move;
use readyok_rules::Side;
use serde::{Deserialize, Serialize};

use super::play::Cancel;
use super::player::{Player, client_game, pair_mut};
use crate::pairing::{Opening, PairResult};
use crate::result::GameEnd;
use crate::time::now;

/// The recorded games of a pairing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// The moves of each game.
    pub games: Vec<Vec<RecordedMove>>,
    /// The maximum duration of the replay, in milliseconds: the numbers of nodes are those of another host.
    pub max_ms: u64,
}

/// A recorded move, and the number of nodes of its search if the engine has reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedMove(pub Move, pub Option<u64>);

/// The result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of searches.
    pub searches: u64,
    /// The number of searches that have found the recorded move.
    pub equal: u64,
}

impl Replay {
    /// The recorded games of a result. The replay may take twice the time of the games, and another minute.
    pub fn of(result: &PairResult) -> Self {
        let duration = result.games.iter().map(|game| game.duration_ms);
        let duration = duration.fold(0, u64::saturating_add);
        let moves = result
            .games
            .iter()
            .map(|game| game.moves.iter().map(|made| RecordedMove(made.mv, made.nodes)).collect());
        Self { games: moves.collect(), max_ms: duration.saturating_mul(2).saturating_add(60_000) }
    }

    /// The number of searches.
    pub fn searches(&self) -> u64 {
        let moves = self.games.iter().flatten();
        moves.filter(|RecordedMove(_, nodes)| nodes.is_some_and(|nodes| nodes > 0)).count() as u64
    }
}

impl Agreement {
    /// Adds the result of another game.
    pub fn add(&mut self, other: Self) {
        self.searches = self.searches.saturating_add(other.searches);
        self.equal = self.equal.saturating_add(other.equal);
    }
}

/// Replays a recorded game until a moment; `None` if it was cancelled.
///
/// # Errors
/// An engine has failed, and has ended.
pub fn replay_game(
    opening: &Opening,
    mut players: [&mut Player; 2],
    moves: &[RecordedMove],
    until: Instant,
    cancel: &Cancel,
) -> Result<Option<Agreement>, GameEnd> {
    let mut games = Vec::new();
    let mut guards = Vec::new();
    for player in &mut players {
        let game = client_game(player.codec()?, player.game(), opening)?;
        player.prepare(&game, &mut Vec::new())?;
        guards.extend(player.engine().map(|engine| cancel.register(engine.stopper())));
        games.push(game);
    }
    let mut turn = opening.turn(players[0].game());
    let mut agreement = Agreement::default();
    for &RecordedMove(mv, nodes) in moves {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let left = until.saturating_duration_since(now());
        if left.is_zero() {
            break;
        }
        if let Some(nodes) = nodes.filter(|nodes| *nodes > 0) {
            let game = &games[usize::from(turn == Side::Second)];
            let (player, _) = pair_mut(&mut players, turn);
            match search(player, game, nodes, left) {
                Ok(found) => {
                    agreement.searches += 1;
                    agreement.equal += u64::from(found.as_deref() == Some(mv.as_str()));
                }
                Err(error) => match error.problem() {
                    Problem::Dropped(_) => return Ok(None),
                    // The recorded number of nodes is too high for this host.
                    Problem::OutOfTime(_) => {
                        player.kill();
                        break;
                    }
                    _ => {
                        player.kill();
                        return Err(GameEnd::crash(&error));
                    }
                },
            }
        }
        for (player, game) in players.iter().zip(&mut games) {
            let Some(encoded) = player.codec()?.encode_text(mv.as_str()) else {
                return Ok(Some(agreement));
            };
            game.play(encoded);
        }
        turn = turn.other();
    }
    Ok(Some(agreement))
}

/// The move that an engine finds with this number of nodes.
fn search(
    player: &mut Player,
    game: &readyok_client::Game,
    nodes: u64,
    left: Duration,
) -> Result<Option<String>, EngineError> {
    let codec = player.codec();
    let Some(engine) = player.engine_mut() else { return Ok(None) };
    let search = Search::new(Limit::Nodes(nodes)).deadline_after(left);
    let best = engine.play(game, search)?.best_move();
    Ok(best.zip(codec.ok()).map(|(best, codec)| codec.decode_text(best.as_str()).into_owned()))
}
