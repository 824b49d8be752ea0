//! Results by opening.

use std::collections::BTreeMap;

use readyok_rules::Side;

use crate::pairing::PairResult;
use crate::plan::EngineId;

/// Maximum number of openings with sums of their own.
const MAX_OPENINGS: usize = 2000;

#[derive(Clone, Debug, Default)]
pub(super) struct OpeningSums {
    sums: BTreeMap<(Option<String>, String), OpeningSum>,
    /// Games of other openings.
    more: u64,
}

/// The results of the games of one opening.
#[derive(Clone, Debug, Default)]
pub(super) struct OpeningSum {
    pub(super) name: String,
    pub(super) games: u64,
    /// Wins of the first player, draws, and wins of the second player.
    pub(super) results: [u64; 3],
    /// Half points of the first engine of the plan, and its games.
    pub(super) first_engine: (u64, u64),
}

impl OpeningSums {
    pub(super) fn add(&mut self, pair: &PairResult) {
        let opening = &pair.pairing.opening;
        let key = (opening.position.clone(), opening.moves.join(" "));
        if self.sums.len() >= MAX_OPENINGS && !self.sums.contains_key(&key) {
            self.more += pair.games.len() as u64;
            return;
        }
        let moves = key.1.clone();
        let sum = self.sums.entry(key).or_default();
        if sum.games == 0 {
            let position = opening.position.clone().unwrap_or_default();
            let text = [position.as_str(), moves.as_str()].join(" ");
            let text =
                Some(text.trim()).filter(|text| !text.is_empty()).unwrap_or("start position");
            sum.name = opening
                .name
                .clone()
                .map_or_else(|| text.to_owned(), |name| format!("{name}: {text}"));
        }
        for game in &pair.games {
            sum.games += 1;
            let [wins, draws, losses] = &mut sum.results;
            *match game.winner {
                Some(Side::First) => wins,
                None => draws,
                Some(Side::Second) => losses,
            } += 1;
            let side = match (game.first == EngineId(0), game.second == EngineId(0)) {
                (true, _) => Side::First,
                (_, true) => Side::Second,
                _ => continue,
            };
            let half_points = game.winner.map_or(1, |winner| if winner == side { 2 } else { 0 });
            sum.first_engine.0 += half_points;
            sum.first_engine.1 += 1;
        }
    }

    /// The openings with most games first, and the number of games of others.
    pub(super) fn rows(&self) -> (Vec<&OpeningSum>, u64) {
        let mut rows: Vec<&OpeningSum> = self.sums.values().collect();
        rows.sort_by(|one, other| {
            other.games.cmp(&one.games).then_with(|| one.name.cmp(&other.name))
        });
        (rows, self.more)
    }
}
