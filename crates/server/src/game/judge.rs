//! The judgements of a report, from the searches of its positions.

use readyok_protocol::Score;
use readyok_rules::Game;
use readyok_rules::judgement::{ScoredMove, winning_chances};
use readyok_rules::record::{EngineNote, ScoredLine};
use serde::{Deserialize, Serialize};

use crate::wire::{Judged, Side, SideReport, Sides};

/// A position that was searched.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Searched {
    pub(crate) ply: u32,
    pub(crate) node: u32,
    pub(crate) turn: Side,
    /// For the side to move.
    pub(crate) score: Score,
    /// The number of legal moves.
    pub(crate) choices: usize,
    /// The move before the position.
    pub(crate) uci: String,
    pub(crate) best: Vec<crate::wire::LineMove>,
    pub(crate) depth: Option<u32>,
}

impl Searched {
    /// The note for the game.
    pub(crate) fn note(&self) -> EngineNote {
        let mut note = EngineNote::new(self.score, self.choices);
        note.depth = self.depth;
        let moves: Vec<String> = self.best.iter().map(|best| best.uci.clone()).collect();
        if !moves.is_empty() {
            note.lines = vec![ScoredLine { score: self.score, moves }];
        }
        note
    }
}

/// The move between two successive positions.
fn scored(before: &Searched, after: &Searched) -> ScoredMove {
    ScoredMove {
        side: before.turn.into(),
        before: before.score,
        after: after.score,
        choices: before.choices,
        is_best: before.best.first().is_some_and(|best| best.uci == after.uci),
    }
}

fn first_sides(searched: &Searched) -> Score {
    match searched.turn {
        Side::First => searched.score,
        Side::Second => searched.score.negated(),
    }
}

/// Judges a position by the one before it.
pub(crate) fn judge(searched: &Searched, before: Option<&Searched>, game: Game) -> Judged {
    let score = first_sides(searched);
    let scored = before.map(|before| scored(before, searched));
    Judged {
        ply: searched.ply,
        node: searched.node,
        score,
        winning: winning_chances(score, game),
        best: searched.best.clone(),
        depth: searched.depth,
        loss: scored.map(|scored| scored.loss(game)),
        label: scored.and_then(|scored| scored.label(game)),
    }
}

/// The statistics of both sides, over the judged moves.
pub(crate) fn summary(all: &[Option<Searched>], game: Game) -> Sides<SideReport> {
    let moves: Vec<ScoredMove> = all
        .windows(2)
        .filter_map(|pair| match pair {
            [Some(before), Some(after)] => Some(scored(before, after)),
            _ => None,
        })
        .collect();
    let [first, second] = readyok_rules::Side::BOTH.map(|side| SideReport::of(side, &moves, game));
    Sides { first, second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Label, LineMove, MoveText};

    fn searched(ply: u32, value: i32, uci: &str, best: &str) -> Searched {
        let turn = if ply.is_multiple_of(2) { Side::First } else { Side::Second };
        let line = LineMove { uci: best.to_owned(), text: MoveText::default() };
        Searched {
            ply,
            node: ply,
            turn,
            score: Score::Cp(value),
            choices: 20,
            uci: uci.to_owned(),
            best: vec![line],
            depth: Some(9),
        }
    }

    #[test]
    fn positions_are_judged_by_the_one_before() {
        let judged = judge(
            &searched(1, 400, "d2d4", "e7e5"),
            Some(&searched(0, 0, "", "e2e4")),
            Game::Chess,
        );
        assert_eq!(judged.label, Some(Label::Blunder));
        let best = searched(1, 400, "e2e4", "e7e5");
        let judged = judge(&best, Some(&searched(0, 0, "", "e2e4")), Game::Chess);
        assert_eq!(judged.label, Some(Label::Best));
        assert_eq!(judged.score, Score::Cp(-400));
        assert_eq!(judge(&best, None, Game::Chess).loss, None);
    }

    #[test]
    fn accuracy_belongs_to_the_side_that_moved() {
        let all = [
            Some(searched(0, 0, "", "e2e4")),
            Some(searched(1, 0, "e2e4", "e7e5")),
            Some(searched(2, 500, "f7f6", "d2d4")),
            None,
        ];
        let sides = summary(&all, Game::Chess);
        assert!(sides.first.accuracy.is_some_and(|it| it > 99.0), "{sides:?}");
        assert!(sides.second.accuracy.is_some_and(|it| it < 40.0), "{sides:?}");
        assert_eq!((sides.first.blunders, sides.second.blunders), (0, 1));
        assert_eq!(sides.second.average_loss, Some(500.0));
    }
}
