//! The games of simulated workers.

use std::path::Path;

use readyok_arena::game::verify_pair;
use readyok_arena::pairing::{Opening, PairResult, Pairing};
use readyok_arena::plan::EngineId;
use readyok_arena::result::{EngineInfo, MatchGame, MoveRecord};
use readyok_rules::{Game, Position, Termination};
use serde_json::Value;

use crate::coordinator::plan;

/// The limit of moves, which ends each game.
pub(crate) const MAX_MOVES: u32 = 40;

/// The games of any pair, with variations of such a length that the JSON has this length.
pub(crate) fn of_length(bytes: usize) -> Value {
    let pairing = Pairing {
        index: 0,
        round: 1,
        first: EngineId(0),
        second: EngineId(1),
        games: 2,
        fixed_colors: false,
        opening: Opening::default(),
        options: Default::default(),
    };
    let plan = plan(Path::new("/nowhere"), MAX_MOVES);
    let with = |seed: u64, variation: usize| {
        let game = |number: u32| {
            let (first, second) = pairing.sides(number);
            MatchGame {
                first,
                second,
                winner: None,
                end: Termination::MoveLimit.into(),
                moves: moves(seed + u64::from(number), variation),
                started_ms: 1_700_000_000_000,
                duration_ms: 500,
                warnings: Vec::new(),
                engines: <[EngineInfo; 2]>::default(),
            }
        };
        PairResult { games: (0..2).map(game).collect(), pairing: pairing.clone(), worker: None }
    };
    let is_valid = |seed: &u64| verify_pair(&plan, &pairing, &with(*seed, 1), None).is_ok();
    let seed = (0..1000).step_by(2).find(is_valid).expect("random games seldom end early");
    let pairs = (1..MoveRecord::MAX_PV).map(|variation| with(seed, variation));
    let pairs = pairs.map(|pair| serde_json::to_value(pair.games).expect("JSON"));
    let long = pairs.into_iter().find(|games| games.to_string().len() >= bytes);
    long.expect("variations may have this length")
}

/// Random moves.
fn moves(seed: u64, variation: usize) -> Vec<MoveRecord> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut position = Position::start(Game::Chess);
    let mut moves = Vec::new();
    for ply in 0..u64::from(2 * MAX_MOVES) {
        let legal = position.legal_moves();
        let Some(&mv) = legal.get(random.usize(0..legal.len().max(1))) else { break };
        let text = mv.to_uci(Game::Chess.castling_form());
        position.play(mv).expect("a legal move");
        moves.push(MoveRecord {
            time_us: 6_000,
            depth: Some(12),
            nodes: Some(100_000 + ply),
            pv: std::iter::repeat_n(text.as_str(), variation).collect(),
            ..MoveRecord::new(text.parse().expect("a move"))
        });
    }
    moves
}
