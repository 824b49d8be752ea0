//! Games of a match as records.

use readyok_arena::export::game_record;
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::Plan;
use readyok_arena::result::MatchGame;
use readyok_rules::Side;
use readyok_rules::record::GameRecord;

use super::outcome::of_game;
use crate::wire::{OutcomeView, Sides};

/// A game that counts.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its number in the match, from 1.
    pub number: u32,
    /// The game, with the engines' evaluations of each move.
    pub record: GameRecord,
    /// The engines, as the match calls them.
    pub engines: Sides<String>,
    /// How it ended.
    pub outcome: OutcomeView,
}

/// The games of a stored pair, for the library.
pub(super) fn finished(plan: &Plan, pair: &PairResult) -> Vec<Finished> {
    let games = pair.games.iter().enumerate();
    games.filter_map(|(index, game)| one(plan, pair, index, game)).collect()
}

/// The number in its match of a game of a pair, from 1. Each pair has two.
pub(super) fn number_of(pair: &PairResult, index: u32) -> u32 {
    let before = u32::try_from(pair.pairing.index).unwrap_or(u32::MAX).saturating_mul(2);
    before.saturating_add(index).saturating_add(1)
}

fn one(plan: &Plan, pair: &PairResult, index: usize, game: &MatchGame) -> Option<Finished> {
    // The referee has checked all moves.
    let record = game_record(plan, &pair.pairing, index, game).ok()?;
    let name = |side| record.player(side).unwrap_or_default().to_owned();
    let engines = Sides { first: name(Side::First), second: name(Side::Second) };
    let number = number_of(pair, u32::try_from(index).unwrap_or(u32::MAX));
    Some(Finished { number, record, engines, outcome: of_game(game) })
}
