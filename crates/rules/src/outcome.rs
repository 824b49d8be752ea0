//! The result of a game and what ended it.

use crate::Side;

/// The result of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(type = "\"*\" | \"1-0\" | \"0-1\" | \"1/2-1/2\""))]
pub enum GameResult {
    /// Not finished, or unknown: `*`.
    #[default]
    Unknown,
    /// A side wins: `1-0` for the first, `0-1` for the second.
    Win(Side),
    /// A draw: `1/2-1/2`.
    Draw,
}

impl GameResult {
    /// All results.
    pub const ALL: [Self; 4] =
        [Self::Win(Side::First), Self::Win(Side::Second), Self::Draw, Self::Unknown];

    /// The result as PGN writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "*",
            Self::Win(Side::First) => "1-0",
            Self::Win(Side::Second) => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }

    /// Reads a result in the form of PGN; also `1/2` and `½-½`.
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "*" => Self::Unknown,
            "1-0" => Self::Win(Side::First),
            "0-1" => Self::Win(Side::Second),
            "1/2-1/2" | "1/2" | "½-½" => Self::Draw,
            _ => return None,
        })
    }

    /// The result of a finished game with this winner; a draw without one.
    pub fn decided(winner: Option<Side>) -> Self {
        winner.map_or(Self::Draw, Self::Win)
    }

    /// The side that wins.
    pub fn winner(self) -> Option<Side> {
        match self {
            Self::Win(side) => Some(side),
            Self::Unknown | Self::Draw => None,
        }
    }
}

/// Declares the terminations with their names and English texts, so that each is written once.
macro_rules! terminations {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal => $text:literal,)*) => {
        /// What ended a game. The winner is part of the [`GameOutcome`].
        ///
        /// Articles are those of the FIDE Laws of Chess (2023), of the rules for games of the Japan
        /// Shogi Association (JSA: 対局規則, 2024; JSA 2013: 対局規定（抄録）), and of the rules of the 36th
        /// World Computer Shogi Championship (CSA). `docs/match.md` lists their addresses.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
        pub enum Termination {
            $(
                $(#[doc = $doc])+
                #[cfg_attr(feature = "serde", serde(rename = $name))]
                #[cfg_attr(feature = "ts", ts(rename = $name))]
                $variant,
            )*
        }

        impl Termination {
            /// All terminations.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The English text: `fifty-move rule`.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The name in results, events, the library and the messages of the server.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The termination of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$variant,)*
                    _ => return None,
                })
            }
        }
    };
}

terminations! {
    /// The side to move is in check and has no move (FIDE 5.1.1; JSA 2.4).
    Checkmate = "checkmate" => "checkmate",
    /// The side to move has no move without being in check: a draw in chess (FIDE 5.2.1), a loss in
    /// shogi (CSA 27.1.1).
    Stalemate = "stalemate" => "stalemate",
    /// The same position as often as the rules require: the third time in chess (FIDE 9.2, where it
    /// must be claimed), the fourth in shogi (JSA 8.1).
    Repetition = "repetition" => "repetition",
    /// The same position for the fifth time (FIDE 9.6.1, where it ends the game).
    FivefoldRepetition = "fivefold-repetition" => "fivefold repetition",
    /// A repetition with nothing but checks by one side, which loses (shogi; JSA 8; JSA 2013, 3.8.7: in
    /// all moves between the four positions, whether the last of them is a check or the reply to one).
    PerpetualCheck = "perpetual-check" => "perpetual check",
    /// Fifty moves by each side without a capture or a pawn move (FIDE 9.3, where it must be claimed).
    FiftyMoveRule = "fifty-moves" => "fifty-move rule",
    /// Seventy-five such moves (FIDE 9.6.2, where it ends the game).
    SeventyFiveMoveRule = "seventy-five-moves" => "seventy-five-move rule",
    /// Neither side has the pieces to give mate (FIDE 5.2.2).
    InsufficientMaterial = "insufficient-material" => "insufficient material",
    /// No line of moves leads to mate, for another reason than the pieces (FIDE 5.2.2).
    DeadPosition = "dead-position" => "dead position",
    /// The maximum length of a game (CSA 27.3; in KIF 最大手数), or the longest that can be counted.
    MoveLimit = "move-limit" => "move limit",
    /// A declaration with the points that win (shogi; JSA 9.5 for 31 points; 入玉勝ち).
    Declaration = "declaration" => "declaration",
    /// A declaration that does not satisfy its conditions, which loses (shogi).
    FailedDeclaration = "wrong-declaration" => "invalid declaration",
    /// A draw by points (shogi; JSA 9.5 for 24 to 30; 持将棋).
    Impasse = "impasse" => "impasse",
    /// A king reached the start square of the other king (shogi, under
    /// [`Impasse::Try`](crate::Impasse::Try), which is no federation's rule).
    TryRule = "try" => "try rule",
    /// A side resigned (投了).
    Resignation = "resignation" => "resignation",
    /// The players agreed on a draw, or one was claimed (引き分け).
    DrawAgreement = "agreement" => "agreement",
    /// A side exceeded its time (FIDE 6.9; 切れ負け).
    TimeForfeit = "time-forfeit" => "time forfeit",
    /// A side exceeded its time, but the opponent cannot mate by any line of moves: a draw (FIDE 6.9).
    TimeoutInsufficientMaterial = "time-without-material" => "time forfeit, insufficient mating material",
    /// A move against the rules (FIDE 7.5.5 for the second one; any foul in shogi; 反則).
    IllegalMove = "illegal-move" => "illegal move",
    /// A player did not appear or left (不戦敗).
    Forfeit = "forfeit" => "forfeit",
    /// Decided by an arbiter or a program.
    Adjudication = "adjudication" => "adjudication",
    /// A draw because both scores stayed near zero.
    DrawAdjudication = "draw-adjudication" => "draw adjudication",
    /// A loss because the score stayed low.
    ResignAdjudication = "resign-adjudication" => "resign adjudication",
    /// A win because a trusted engine reported mate.
    MateAdjudication = "mate-claim" => "reported mate",
    /// The result according to endgame tablebases.
    TablebaseAdjudication = "tablebase" => "tablebases",
    /// An engine failed; how is not recorded.
    EngineFailure = "engine-failure" => "engine failure",
    /// An engine crashed or exited during the game.
    EngineCrash = "crash" => "engine crash",
    /// An engine did not answer where no clock ran.
    EngineStall = "stall" => "engine stall",
    /// An engine could not be started for the game.
    EngineStartFailure = "no-start" => "engine start failure",
    /// The game was not finished (中断).
    Aborted = "aborted" => "aborted",
    /// A mate problem has no solution (不詰).
    NoMate = "no-mate" => "no mate",
    /// A player took a move back (待った).
    TakeBack = "take-back" => "move taken back",
    /// An error of the program that recorded the game.
    Error = "error" => "error",
    /// Anything else; records have a text for it.
    Other = "other" => "other",
}

impl Termination {
    /// The result that follows if it is `turn`'s move, or [`GameResult::Unknown`]. Stalemate loses in
    /// shogi and draws in chess.
    pub fn result(self, turn: Side, shogi: bool) -> GameResult {
        match self {
            Self::Resignation
            | Self::Checkmate
            | Self::TimeForfeit
            | Self::IllegalMove
            | Self::FailedDeclaration
            | Self::Forfeit => GameResult::Win(turn.other()),
            Self::Stalemate if shogi => GameResult::Win(turn.other()),
            Self::Declaration | Self::PerpetualCheck => GameResult::Win(turn),
            Self::Stalemate
            | Self::Repetition
            | Self::FivefoldRepetition
            | Self::Impasse
            | Self::DrawAgreement
            | Self::FiftyMoveRule
            | Self::SeventyFiveMoveRule
            | Self::InsufficientMaterial
            | Self::DeadPosition
            | Self::TimeoutInsufficientMaterial
            | Self::MoveLimit
            | Self::DrawAdjudication => GameResult::Draw,
            Self::Adjudication
            | Self::ResignAdjudication
            | Self::MateAdjudication
            | Self::TablebaseAdjudication
            | Self::TryRule
            | Self::EngineFailure
            | Self::EngineCrash
            | Self::EngineStall
            | Self::EngineStartFailure
            | Self::Aborted
            | Self::NoMate
            | Self::TakeBack
            | Self::Error
            | Self::Other => GameResult::Unknown,
        }
    }

    /// Whether an engine crashed, did not start or did not answer.
    pub fn is_engine_failure(self) -> bool {
        matches!(
            self,
            Self::EngineFailure | Self::EngineCrash | Self::EngineStall | Self::EngineStartFailure
        )
    }

    /// Whether a side lost by a failure: of its engine, on time, or by an illegal move.
    pub fn is_failure(self) -> bool {
        self.is_engine_failure() || matches!(self, Self::TimeForfeit | Self::IllegalMove)
    }

    /// The more general termination for record formats that distinguish fewer.
    #[must_use]
    pub fn general(self) -> Self {
        match self {
            Self::FivefoldRepetition => Self::Repetition,
            Self::SeventyFiveMoveRule => Self::FiftyMoveRule,
            Self::DeadPosition => Self::InsufficientMaterial,
            Self::DrawAdjudication
            | Self::ResignAdjudication
            | Self::MateAdjudication
            | Self::TablebaseAdjudication => Self::Adjudication,
            Self::EngineCrash | Self::EngineStall | Self::EngineStartFailure => Self::EngineFailure,
            other => other,
        }
    }

    /// The value of PGN's `Termination` tag: one of the eight of the standard (section 9.8.1).
    pub fn pgn_tag(self) -> &'static str {
        match self.general() {
            Self::TimeForfeit | Self::TimeoutInsufficientMaterial => "time forfeit",
            Self::IllegalMove | Self::FailedDeclaration => "rules infraction",
            Self::Forfeit | Self::EngineFailure => "abandoned",
            Self::MoveLimit | Self::Adjudication => "adjudication",
            Self::Aborted | Self::TakeBack => "unterminated",
            Self::Error => "emergency",
            _ => "normal",
        }
    }

    /// The termination that PGN's `Termination` tag states; none for `normal`, which states none.
    pub(crate) fn from_pgn_tag(tag: &str) -> Option<Self> {
        Some(match tag.to_ascii_lowercase().as_str() {
            "time forfeit" => Self::TimeForfeit,
            "rules infraction" => Self::IllegalMove,
            "abandoned" => Self::Forfeit,
            "adjudication" => Self::Adjudication,
            "unterminated" => Self::Aborted,
            "emergency" | "death" => Self::Error,
            "normal" => return None,
            _ => Self::Other,
        })
    }

    /// The termination to write so that a reader derives `result` when it is `turn`'s move in shogi: this
    /// one if possible, otherwise a foul or a forfeit, which formats have for both sides.
    pub(crate) fn implying(self, result: GameResult, turn: Side) -> Self {
        match result {
            GameResult::Unknown => self,
            _ if self.result(turn, true) == result => self,
            GameResult::Win(_) if self == Self::Forfeit => self,
            GameResult::Win(_) if self.is_foul() => Self::IllegalMove,
            GameResult::Win(_) => Self::Forfeit,
            GameResult::Draw => Self::DrawAgreement,
        }
    }

    fn is_foul(self) -> bool {
        matches!(self, Self::PerpetualCheck | Self::FailedDeclaration | Self::IllegalMove)
    }
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GameOutcome {
    /// Who won.
    pub result: GameResult,
    /// What ended the game.
    pub termination: Termination,
}

impl GameOutcome {
    /// A game that a side won.
    pub fn won(winner: Side, termination: Termination) -> Self {
        Self { result: GameResult::Win(winner), termination }
    }

    /// A game that a side lost.
    pub fn lost(loser: Side, termination: Termination) -> Self {
        Self::won(loser.other(), termination)
    }

    /// A drawn game.
    pub fn drawn(termination: Termination) -> Self {
        Self { result: GameResult::Draw, termination }
    }

    /// The side that won.
    pub fn winner(self) -> Option<Side> {
        self.result.winner()
    }
}

#[cfg(feature = "serde")]
mod stored {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::GameResult;

    impl Serialize for GameResult {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self.as_str())
        }
    }

    impl<'de> Deserialize<'de> for GameResult {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            Self::from_text(&text).ok_or_else(|| D::Error::custom("not the result of a game"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let mut names: Vec<&str> =
            Termination::ALL.iter().map(|termination| termination.name()).collect();
        for termination in Termination::ALL {
            assert_eq!(Termination::from_name(termination.name()), Some(*termination));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Termination::ALL.len());
    }

    #[test]
    fn reads_every_tag_that_it_writes() {
        for termination in Termination::ALL {
            let tag = termination.pgn_tag();
            let read = Termination::from_pgn_tag(tag);
            assert_eq!(read.map_or("normal", Termination::pgn_tag), tag);
        }
    }
}
