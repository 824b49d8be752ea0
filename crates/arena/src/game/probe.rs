//! Trying an engine before it plays: does it start here, and does it answer?

use std::time::Duration;

use readyok_client::{Problem, Search};
use readyok_rules::{Game, Side, Termination};

use super::clock::{self, Clock};
use super::play::client_game;
use super::player::Player;
use crate::pairing::Opening;
use crate::plan::{Limits, TimeControl};
use crate::result::GameEnd;

/// How long the answer may take. The first search of some engines loads what they need.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most that a search may take of each limit of the plan.
const NODES: u64 = 1;
const DEPTH: u32 = 1;
const MOVE: u64 = 10;
const CLOCK: Duration = Duration::from_secs(1);

/// Starts an engine with its options, has it search for a moment from the start of the game, and ends it.
///
/// # Errors
/// What would have cost it its game. To be late is no failure here: a first search can take longer.
pub(crate) fn probe(player: &mut Player, game: Game) -> Result<(), GameEnd> {
    let tried = search(player, game);
    match &tried {
        // One that did not answer would not leave either.
        Err(end) if *end == Termination::EngineStall => player.kill(),
        Ok(()) | Err(_) => player.end(),
    }
    tried
}

fn search(player: &mut Player, game: Game) -> Result<(), GameEnd> {
    let codec = player.codec()?;
    let start = client_game(codec, game, &Opening::default())?;
    player.prepare(&start, &mut Vec::new())?;
    let clock = Clock::new(brief(player.plan().limits), game);
    let go = clock::go(&clock, &clock, Side::First, codec.dialect());
    let Some(engine) = player.engine_mut() else { return Ok(()) };
    let played = engine.play(&start, Search::from(go).deadline_after(PATIENCE));
    played.map(drop).map_err(|error| match error.problem() {
        Problem::OutOfTime(_) | Problem::Timeout(_) => {
            let waited_ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
            GameEnd::stall(waited_ms)
        }
        Problem::Usage(_) => GameEnd::no_start(&error),
        _ => GameEnd::crash(&error),
    })
}

/// Limits of the same kinds, as an engine may know no others.
fn brief(limits: Limits) -> Limits {
    Limits {
        tc: limits.tc.map(|tc| TimeControl {
            time: tc.time.min(CLOCK),
            increment: tc.increment.min(CLOCK),
            ..tc
        }),
        byoyomi_ms: limits.byoyomi_ms.map(|most| most.min(MOVE)),
        move_time_ms: limits.move_time_ms.map(|most| most.min(MOVE)),
        nodes: limits.nodes.map(|most| most.min(NODES)),
        depth: limits.depth.map(|most| most.min(DEPTH)),
        margin_ms: limits.margin_ms,
    }
}
