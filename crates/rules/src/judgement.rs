//! Judging moves by the evaluations before and after them: winning chances, labels, accuracy.

use readyok_protocol::{GameStage, Score, WinModel};

use crate::{Game, PieceKind, Position, Side};

/// The model of winning chances of a game: that of Lichess for chess, and that of Lishogi for shogi.
pub fn win_model(game: Game) -> WinModel {
    match game {
        Game::Chess | Game::Chess960 => WinModel::Lichess,
        Game::Shogi => WinModel::Lishogi,
    }
}

/// The winning chances of a side in percent, by the score from its view.
pub fn winning_chances(score: Score, game: Game) -> f64 {
    win_model(game).win_percentage(score, GameStage::default())
}

/// The stage of a game in a position, for models of winning chances. The ply is that of the move number.
pub fn game_stage(position: &Position) -> GameStage {
    let setup = position.setup();
    let value = |kind| match kind {
        PieceKind::Pawn => 1,
        PieceKind::Knight | PieceKind::Bishop => 3,
        PieceKind::Rook => 5,
        PieceKind::Queen => 9,
        // The models are those of chess.
        _ => 0,
    };
    let moves = setup.move_number().saturating_sub(1);
    let ply = match setup.game() {
        Game::Chess | Game::Chess960 => {
            moves.saturating_mul(2) + u32::from(setup.turn() == Side::Second)
        }
        Game::Shogi => moves,
    };
    GameStage { ply, material: setup.pieces().map(|(_, piece)| value(piece.kind)).sum() }
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

/// The score of a position in which the game is over, from the view of the side to move. `None` if an
/// engine can search the position.
pub fn final_score(position: &Position) -> Option<Score> {
    let outcome = position.outcome()?;
    match outcome.winner() {
        None => Some(Score::Cp(0)),
        Some(winner) if position.legal_moves().is_empty() => {
            Some(Score::mate(winner == position.turn(), Some(0)))
        }
        Some(_) => None,
    }
}

/// The label of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(rename = "Label"))]
pub enum MoveLabel {
    /// `?!`: more than 5 percent lost.
    Inaccuracy,
    /// `?`: more than 10 percent lost.
    Mistake,
    /// `??`: more than 20 percent lost.
    Blunder,
    /// The first choice of the engine.
    Best,
    /// The only legal move.
    Forced,
}

impl MoveLabel {
    /// The numeric annotation glyph of an error.
    pub fn nag(self) -> Option<u8> {
        match self {
            Self::Inaccuracy => Some(6),
            Self::Mistake => Some(2),
            Self::Blunder => Some(4),
            Self::Best | Self::Forced => None,
        }
    }
}

/// The scores of the positions before and after a move, each from the view of its side to move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredMove {
    /// The side that made the move.
    pub side: Side,
    /// The score before the move.
    pub before: Score,
    /// The score after the move.
    pub after: Score,
    /// The number of legal moves.
    pub choices: usize,
    /// Whether the move is the first choice of the engine.
    pub is_best: bool,
}

impl ScoredMove {
    /// The loss of the side in percent of winning chances.
    pub fn loss(&self, game: Game) -> f64 {
        let now = 100.0 - winning_chances(self.after, game);
        (winning_chances(self.before, game) - now).max(0.0)
    }

    /// The label, if the move deserves one.
    pub fn label(&self, game: Game) -> Option<MoveLabel> {
        let loss = self.loss(game);
        if self.choices == 1 {
            Some(MoveLabel::Forced)
        } else if self.is_best {
            Some(MoveLabel::Best)
        } else if 20.0 < loss {
            Some(MoveLabel::Blunder)
        } else if 10.0 < loss {
            Some(MoveLabel::Mistake)
        } else if 5.0 < loss {
            Some(MoveLabel::Inaccuracy)
        } else {
            None
        }
    }
}

/// The statistics of the moves of a side.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(rename = "SideReport"))]
pub struct SideAccuracy {
    /// The accuracy, 0 to 100. `None` without a judged move.
    pub accuracy: Option<f64>,
    /// The average loss in centipawns. `None` without a judged move.
    pub average_loss: Option<f64>,
    /// The number of inaccuracies.
    pub inaccuracies: u32,
    /// The number of mistakes.
    pub mistakes: u32,
    /// The number of blunders.
    pub blunders: u32,
}

impl SideAccuracy {
    /// The statistics of a side over the judged moves of a game.
    pub fn of(side: Side, moves: &[ScoredMove], game: Game) -> Self {
        let mut statistics = Self::default();
        let (mut accuracy, mut pawns, mut count) = (0.0, 0.0, 0_u32);
        for scored in moves.iter().filter(|scored| scored.side == side) {
            // The curve of lichess.org: 100 for a move without a loss.
            let loss = scored.loss(game);
            accuracy += (103.1668 * (-0.043_54 * loss).exp() - 3.1669).clamp(0.0, 100.0);
            let lost = centipawns(scored.before, game) + centipawns(scored.after, game);
            pawns += lost.max(0.0);
            count += 1;
            match scored.label(game) {
                Some(MoveLabel::Blunder) => statistics.blunders += 1,
                Some(MoveLabel::Mistake) => statistics.mistakes += 1,
                Some(MoveLabel::Inaccuracy) => statistics.inaccuracies += 1,
                Some(MoveLabel::Best | MoveLabel::Forced) | None => (),
            }
        }
        if 0 < count {
            statistics.accuracy = Some(accuracy / f64::from(count));
            statistics.average_loss = Some(pawns / f64::from(count));
        }
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(side: Side, before: i32, after: i32) -> ScoredMove {
        let (before, after) = (Score::Cp(before), Score::Cp(after));
        ScoredMove { side, before, after, choices: 20, is_best: false }
    }

    #[test]
    fn chances_grow_with_the_score() {
        let chess = |value| winning_chances(Score::Cp(value), Game::Chess);
        assert!((chess(0) - 50.0).abs() < 1e-9);
        assert!((chess(100) - 59.1).abs() < 0.1, "{}", chess(100));
        assert!((chess(-100) + chess(100) - 100.0).abs() < 1e-9);
        assert!(winning_chances(Score::Cp(100), Game::Shogi) < chess(100));
        assert!(winning_chances(Score::MateIn { plies: 3 }, Game::Chess) > chess(900));
    }

    #[test]
    fn stages_have_plies_and_material() {
        let start = game_stage(&Position::start(Game::Chess));
        assert_eq!(start, GameStage { ply: 0, material: 78 });
        let fen = "4k3/8/8/8/8/8/4P3/R3K3 b - - 0 41";
        let position = Position::from_text(Game::Chess, fen).expect(fen);
        assert_eq!(game_stage(&position), GameStage { ply: 81, material: 6 });
    }

    #[test]
    fn labels_depend_on_the_loss() {
        for (before, after, label) in [
            (0, 0, None),
            (0, 70, Some(MoveLabel::Inaccuracy)),
            (0, 150, Some(MoveLabel::Mistake)),
            (0, 400, Some(MoveLabel::Blunder)),
            (900, -800, None),
        ] {
            let scored = scored(Side::First, before, after);
            assert_eq!(scored.label(Game::Chess), label, "{scored:?}");
        }
        let blunder = scored(Side::First, 0, 400);
        let best = ScoredMove { is_best: true, ..blunder };
        assert_eq!(best.label(Game::Chess), Some(MoveLabel::Best));
        let forced = ScoredMove { choices: 1, ..blunder };
        assert_eq!(forced.label(Game::Chess), Some(MoveLabel::Forced));
    }

    #[test]
    fn accuracy_belongs_to_the_side_that_moved() {
        let moves = [scored(Side::First, 0, 0), scored(Side::Second, 0, 500)];
        let [first, second] = Side::BOTH.map(|side| SideAccuracy::of(side, &moves, Game::Chess));
        assert!(first.accuracy.is_some_and(|accuracy| accuracy > 99.0), "{first:?}");
        assert!(second.accuracy.is_some_and(|accuracy| accuracy < 40.0), "{second:?}");
        assert_eq!((first.blunders, second.blunders), (0, 1));
        assert_eq!(second.average_loss, Some(500.0));
        assert_eq!(SideAccuracy::of(Side::First, &[], Game::Chess), SideAccuracy::default());
    }

    #[test]
    fn final_positions_have_a_score() {
        let mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
        for (fen, score) in [
            (mated, Some(Score::Mated)),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Some(Score::Cp(0))),
            ("7k/8/6K1/8/8/8/8/4Q3 b - - 0 1", None),
        ] {
            let position = Position::from_text(Game::Chess, fen).expect(fen);
            assert_eq!(final_score(&position), score, "{fen}");
        }
    }
}
