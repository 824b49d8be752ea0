//! Adjudication of games.

use readyok_rules::{EndRules, Impasse as ImpasseRule};
use serde::{Deserialize, Serialize};

/// Adjudication of games. By default only the rules of engine matches apply: repetition and the
/// fifty-move rule of chess without a claim, and [`Impasse`] in shogi.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adjudication {
    /// A draw by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawAdjudication>,
    /// A loss by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resign: Option<ResignAdjudication>,
    /// The game is drawn after this number of moves, opening moves included: full moves in chess,
    /// plies in shogi (usually 256, 320 or 512).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<u32>,
    /// Adjudication by Syzygy tablebases (chess).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tablebases: Option<TablebaseAdjudication>,
    /// The impasse rule of shogi.
    pub impasse: Impasse,
    /// The rules of fastchess. Opening moves do not count for `max_moves`. Clocks have an increment
    /// before the first move. `two_sided` compares the absolute scores of both sides and requires
    /// that the mover is behind. The score of a move is that of the last `info` with an exact score.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_fastchess: bool,
}

impl Adjudication {
    /// The rules that end a game on the board.
    pub(crate) fn end_rules(&self) -> EndRules {
        let mut rules = EndRules::BOARD;
        // A game with fewer pieces is a handicap game; with all pieces both 27-point rules are equal.
        rules.shogi.impasse = match self.impasse {
            Impasse::Points27 => ImpasseRule::Points27Handicap,
            Impasse::Points24 => ImpasseRule::Points24,
            Impasse::TryRule => ImpasseRule::Try,
            Impasse::None => ImpasseRule::Ignored,
        };
        rules
    }
}

/// A draw by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawAdjudication {
    /// The first move number at which a draw is possible, after both sides have played it: full
    /// moves in chess, plies in shogi.
    pub from_move: u32,
    /// Number of consecutive moves of each side; in chess without a capture or pawn move after the
    /// first of them.
    pub moves: u32,
    /// Maximum absolute score in centipawns. Mate scores always exceed it.
    pub score: u32,
}

/// A loss by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResignAdjudication {
    /// Number of consecutive moves of the losing side.
    pub moves: u32,
    /// Minimum loss in centipawns. A score of being mated always counts.
    pub score: u32,
    /// The winner's score must agree.
    #[serde(default)]
    pub two_sided: bool,
}

/// Adjudication by tablebases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablebaseAdjudication {
    /// Directories with Syzygy files.
    pub paths: Vec<String>,
    /// Maximum number of pieces; 0 is the maximum of the files.
    #[serde(default)]
    pub pieces: u32,
    /// Cursed wins, which the fifty-move rule draws, count as wins.
    #[serde(default)]
    pub ignore_fifty_moves: bool,
    /// The results that end a game.
    #[serde(default)]
    pub scope: TablebaseScope,
}

/// The tablebase results that end a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TablebaseScope {
    /// Wins, losses and draws.
    #[default]
    Both,
    /// Wins and losses.
    WinLoss,
    /// Draws.
    Draw,
}

/// The rule for shogi games in which both kings have entered the opponent's camp.
///
/// The handicap giver counts the omitted pieces as their own, as in the rules of the Japan Shogi
/// Association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impasse {
    /// The 27-point rule: a valid declaration wins.
    #[default]
    Points27,
    /// The 24-point rule: a declaration wins with 31 points and draws with 24 to 30.
    Points24,
    /// The try rule: a king on the start square of the other king wins.
    TryRule,
    /// No rule.
    None,
}
