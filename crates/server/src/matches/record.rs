//! Games of a match as records.

use std::time::Duration;

use readyok_arena::pairing::{Opening, PairResult};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::result::{GameResult as ArenaGame, PlayedMove};
use readyok_rules::record::{Evaluation, GameRecord, Tag, Termination};
use readyok_rules::{Game, Position, Side};

use super::outcome::of_game;
use crate::wire::{Outcome, Sides};

/// A game that counts.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its number in the match, from 1.
    pub number: u32,
    /// The game, with what the engines told of each move.
    pub record: GameRecord,
    /// The engines, as the match calls them.
    pub engines: Sides<String>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The beginning of a game, with the moves of its opening.
pub(super) fn begun(game: Game, opening: &Opening) -> GameRecord {
    let start = match &opening.position {
        None => Position::start(game),
        Some(text) => Position::from_text(game, text).unwrap_or_else(|_| Position::start(game)),
    };
    let mut record = GameRecord::new(start);
    for word in &opening.moves {
        let Ok(mv) = record.position().parse_move(word) else { break };
        if record.play(mv).is_err() {
            break;
        }
    }
    record
}

/// Plays a move with what its engine told. Nothing happens if it is none: referees have looked at it before.
pub(super) fn play(record: &mut GameRecord, played: &PlayedMove) {
    let position = record.position();
    let side = position.turn();
    let Ok(mv) = position.parse_move(played.word.as_str()) else { return };
    let Ok(id) = record.play(mv) else { return };
    if let Some(notes) = record.notes_mut(id) {
        notes.elapsed = Some(Duration::from_micros(played.time_us));
        notes.clock =
            played.left_ms.and_then(|left| u64::try_from(left).ok()).map(Duration::from_millis);
        notes.evaluation = played.score.map(|score| Evaluation::by(side, score, played.depth));
    }
}

/// The games of a stored pair, for the library.
pub(super) fn finished(plan: &Plan, pair: &PairResult) -> Vec<Finished> {
    (0..).zip(&pair.games).map(|(index, game)| one(plan, pair, (index, game))).collect()
}

/// The number in its match of a game of a pair, from 1. Each pair has two.
pub(super) fn number_of(pair: &PairResult, index: u32) -> u32 {
    let before = u32::try_from(pair.pairing.index).unwrap_or(u32::MAX).saturating_mul(2);
    before.saturating_add(index).saturating_add(1)
}

fn one(plan: &Plan, pair: &PairResult, (index, game): (u32, &ArenaGame)) -> Finished {
    let mut record = begun(plan.game, &pair.pairing.opening);
    for played in &game.moves {
        play(&mut record, played);
    }
    let name = |id: EngineId| {
        let engine = usize::try_from(id.0).ok().and_then(|index| plan.engines.get(index));
        engine.map_or_else(String::new, |engine| engine.name.clone())
    };
    let (first, second) = (name(game.first), name(game.second));
    if !plan.event.is_empty() {
        record.set_header(Tag::Event, plan.event.clone());
    }
    record.set_header(Tag::Round, pair.pairing.round.to_string());
    record.set_header(Tag::Player(Side::First), first.clone());
    record.set_header(Tag::Player(Side::Second), second.clone());
    record.conclude(Termination::from(&game.termination), game.termination.result(game.winner));
    let (number, outcome) = (number_of(pair, index), of_game(plan.game, game));
    Finished { number, record, engines: Sides { first, second }, outcome }
}
