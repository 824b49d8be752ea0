//! Judgement of moves by their loss: winning chances, labels, accuracy.

use readyok_protocol::Score;
use readyok_rules::Game;
use serde::{Deserialize, Serialize};

use crate::wire::{Judged, Label, Side, SideReport, Sides};

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

/// The slope of winning chances by centipawns: the values of lichess.org for chess and of lishogi.org for shogi.
fn slope(game: Game) -> f64 {
    match game {
        Game::Chess | Game::Chess960 => 0.003_682_08,
        Game::Shogi => 0.000_7,
    }
}

/// The winning chances of a side in percent.
pub(crate) fn winning(score: Score, game: Game) -> f64 {
    match score {
        Score::Cp(value) => 100.0 / (1.0 + (-slope(game) * f64::from(value)).exp()),
        mate if mate.is_mating() => 100.0,
        _ => 0.0,
    }
}

/// A score in centipawns, for averages.
fn centipawns(score: Score, game: Game) -> f64 {
    let most = match game {
        Game::Chess | Game::Chess960 => 1000.0,
        Game::Shogi => 5000.0,
    };
    match score {
        Score::Cp(value) => f64::from(value).clamp(-most, most),
        mate if mate.is_mating() => most,
        _ => -most,
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
    let loss = before.map(|before| {
        let (then, now) = (winning(before.score, game), 100.0 - winning(searched.score, game));
        (then - now).max(0.0)
    });
    let label = before.zip(loss).and_then(|(before, loss)| {
        let best = before.best.first().is_some_and(|best| best.uci == searched.uci);
        if before.choices == 1 {
            Some(Label::Forced)
        } else if best {
            Some(Label::Best)
        } else if 20.0 < loss {
            Some(Label::Blunder)
        } else if 10.0 < loss {
            Some(Label::Mistake)
        } else if 5.0 < loss {
            Some(Label::Inaccuracy)
        } else {
            None
        }
    });
    Judged {
        ply: searched.ply,
        node: searched.node,
        score,
        winning: winning(score, game),
        best: searched.best.clone(),
        depth: searched.depth,
        loss,
        label,
    }
}

/// The statistics of both sides, over the judged moves.
pub(crate) fn summary(all: &[Option<Searched>], game: Game) -> Sides<SideReport> {
    let mut sides: Sides<SideReport> = Sides::default();
    let mut sums: Sides<(f64, f64, u32)> = Sides::default();
    for pair in all.windows(2) {
        let [Some(before), Some(after)] = pair else { continue };
        let judged = judge(after, Some(before), game);
        let loss = judged.loss.unwrap_or(0.0);
        let pawns = centipawns(before.score, game) + centipawns(after.score, game);
        let sum = sums.of_mut(before.turn);
        // The curve of lichess.org: 100 for a move without a loss.
        sum.0 += (103.1668 * (-0.043_54 * loss).exp() - 3.1669).clamp(0.0, 100.0);
        sum.1 += pawns.max(0.0);
        sum.2 += 1;
        let side = sides.of_mut(before.turn);
        match judged.label {
            Some(Label::Blunder) => side.blunders += 1,
            Some(Label::Mistake) => side.mistakes += 1,
            Some(Label::Inaccuracy) => side.inaccuracies += 1,
            Some(Label::Best | Label::Forced) | None => (),
        }
    }
    for side in [Side::First, Side::Second] {
        let (accuracy, pawns, count) = *sums.of(side);
        if 0 < count {
            let report = sides.of_mut(side);
            report.accuracy = Some(accuracy / f64::from(count));
            report.average_loss = Some(pawns / f64::from(count));
        }
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{LineMove, MoveText};

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
    fn chances_grow_with_the_score() {
        let chess = |value| winning(Score::Cp(value), Game::Chess);
        assert!((chess(0) - 50.0).abs() < 1e-9);
        assert!((chess(100) - 59.1).abs() < 0.1, "{}", chess(100));
        assert!((chess(-100) + chess(100) - 100.0).abs() < 1e-9);
        assert!(winning(Score::Cp(100), Game::Shogi) < chess(100));
        assert!(winning(Score::MateIn { plies: 3 }, Game::Chess) > chess(900));
    }

    #[test]
    fn a_move_is_labelled_by_its_loss() {
        // What the mover has before, and the opponent after the move.
        for (before, after, label) in [
            (0, 0, None),
            (0, 70, Some(Label::Inaccuracy)),
            (0, 150, Some(Label::Mistake)),
            (0, 400, Some(Label::Blunder)),
            (900, -800, None),
        ] {
            let before = searched(0, before, "", "e2e4");
            let after = searched(1, after, "d2d4", "e7e5");
            assert_eq!(judge(&after, Some(&before), Game::Chess).label, label, "{after:?}");
        }
        let best = searched(1, 400, "e2e4", "e7e5");
        let judged = judge(&best, Some(&searched(0, 0, "", "e2e4")), Game::Chess);
        assert_eq!(judged.label, Some(Label::Best));
        assert_eq!(judged.score, Score::Cp(-400));
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
