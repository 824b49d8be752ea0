//! When a game ends before its end on the board.

use readyok_rules::{EndRules, Impasse as ImpasseRule};
use serde::{Deserialize, Serialize};

/// When a game ends before its end on the board. By default nothing is adjudicated but what the
/// rules of engine matches end: repetition and the fifty-move rule of chess without a claim, and
/// in shogi what [`Impasse`] says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adjudication {
    /// Both engines see no advantage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawAdjudication>,
    /// An engine has lost by its own score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resign: Option<ResignAdjudication>,
    /// The game is drawn after so many moves since the position of the opening, whose moves
    /// count: full moves in chess, plies in shogi (256, 320 and 512 are used in shogi).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<u32>,
    /// Syzygy tablebases know the result (chess).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tablebases: Option<TablebaseAdjudication>,
    /// What ends a game of shogi in which both kings have entered.
    pub impasse: Impasse,
    /// As fastchess does it: moves of the opening do not count for `max_moves`, clocks have an increment
    /// before the first move, `two_sided` wants for its moves of both sides scores as far from 0,
    /// whatever their signs, and that the mover sees itself behind, and what an engine tells about a move
    /// is its last line with an exact score, if it has one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_fastchess: bool,
}

impl Adjudication {
    /// What ends games on the board.
    pub(crate) fn end_rules(&self) -> EndRules {
        let mut rules = EndRules::BOARD;
        // A game that lacks pieces is a handicap game; where none is missing both 27-point rules are the same.
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
    /// Not before both sides have made this move, as the game numbers its moves: in pairs in chess,
    /// singly in shogi.
    pub from_move: u32,
    /// For so many successive moves of each side, in chess without a capture or a pawn move after
    /// the first of them.
    pub moves: u32,
    /// The scores are at most so many centipawns from 0. Mate scores never are.
    pub score: u32,
}

/// A loss by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResignAdjudication {
    /// For so many successive moves of the losing side.
    pub moves: u32,
    /// Its score is at most minus so many centipawns, or it is being mated.
    pub score: u32,
    /// The winner's score must say the same.
    #[serde(default)]
    pub two_sided: bool,
}

/// An end by tablebases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablebaseAdjudication {
    /// The folders with the Syzygy files.
    pub paths: Vec<String>,
    /// Only positions with at most so many pieces; 0 is as many as the files have.
    #[serde(default)]
    pub pieces: u32,
    /// Wins that the fifty-move rule would spoil count as wins.
    #[serde(default)]
    pub ignore_fifty_moves: bool,
    /// Which results are taken.
    #[serde(default)]
    pub scope: TablebaseScope,
}

/// Which results of tablebases end a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TablebaseScope {
    /// All.
    #[default]
    Both,
    /// Won and lost ones.
    WinLoss,
    /// Draws.
    Draw,
}

/// What ends a game of shogi in which the kings have entered the other camp.
///
/// Whoever gives a handicap counts the pieces left out as their own, as the Japan Shogi Association
/// has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impasse {
    /// A side that fulfils the 27-point rule may declare, and wins.
    #[default]
    Points27,
    /// The 24-point rule: with 31 points a declaration wins, with 24 to 30 it draws.
    Points24,
    /// A king that reaches the start square of the other king wins.
    TryRule,
    /// Nothing.
    None,
}
