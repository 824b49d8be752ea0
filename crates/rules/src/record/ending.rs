//! Who won a recorded game, and what ended it.

use crate::{Reason, Side};

/// The result of a recorded game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GameResult {
    /// Not over, or nobody knows: `*`.
    #[default]
    Unknown,
    /// The side has won: `1-0` for the first, `0-1` for the second.
    Win(Side),
    /// Nobody has won: `1/2-1/2`.
    Draw,
}

impl GameResult {
    /// The result in PGN.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "*",
            Self::Win(Side::First) => "1-0",
            Self::Win(Side::Second) => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }

    pub(super) fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "*" => Self::Unknown,
            "1-0" => Self::Win(Side::First),
            "0-1" => Self::Win(Side::Second),
            "1/2-1/2" | "1/2" | "½-½" => Self::Draw,
            _ => return None,
        })
    }
}

/// What ended a game, or a variation of it.
///
/// "The side to move" is the one whose turn it was when the game ended. The result of a record is
/// authoritative: an end that contradicts it is the other side's, such as a resignation during the
/// opponent's turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Termination {
    /// The side to move gave up (投了).
    Resignation,
    /// The side to move is mated (詰み).
    Checkmate,
    /// The side to move has no move: a draw in chess, a loss in shogi.
    Stalemate,
    /// The position came too often (千日手).
    Repetition,
    /// The position came too often, with nothing but checks by one side, which loses
    /// (連続王手の千日手). The side to move wins.
    PerpetualCheck,
    /// Both kings are safe in the opponent's camp (持将棋).
    Impasse,
    /// The side to move declared a win with its king in the opponent's camp (入玉勝ち).
    Declaration,
    /// The side to move declared a win without meeting the conditions, which loses.
    FailedDeclaration,
    /// A king reached the start square of the other king, under the try rule (トライ).
    Try,
    /// The side to move overstepped the time (切れ負け).
    TimeForfeit,
    /// A side overstepped the time, and the opponent cannot mate: a draw (chess).
    TimeWithoutMaterial,
    /// The side to move made a move that is not allowed (反則負け).
    IllegalMove,
    /// The opponent of the side to move did something that is not allowed (反則勝ち).
    IllegalAction,
    /// The side to move did not appear or left (不戦敗).
    Forfeit,
    /// The opponent of the side to move did not appear or left (不戦勝).
    WinByForfeit,
    /// An engine crashed, did not start, or did not answer.
    EngineFailure,
    /// The players agreed on a draw, or the side to move claimed one (引き分け).
    Draw,
    /// Fifty moves by each side without a capture or a pawn move (chess).
    FiftyMoves,
    /// Neither side can mate (chess).
    InsufficientMaterial,
    /// The longest game that the rules of the event allow (最大手数).
    MoveLimit,
    /// Somebody outside the game decided it.
    Adjudication,
    /// The game was broken off (中断).
    Interrupted,
    /// A mate problem has no solution (不詰).
    NoMate,
    /// The side to move wants to take its move back (待った).
    TakeBack,
    /// Something failed.
    Error,
    /// Anything else, in the words of the file.
    Other(String),
}

impl Termination {
    /// The result that follows, if it does, when it is this side's turn. A game of shogi has a
    /// winner where one of chess is drawn, for a side without a move.
    pub fn result(&self, turn: Side, shogi: bool) -> GameResult {
        match self {
            Self::Resignation
            | Self::Checkmate
            | Self::TimeForfeit
            | Self::IllegalMove
            | Self::FailedDeclaration
            | Self::Forfeit => GameResult::Win(turn.other()),
            Self::Stalemate if shogi => GameResult::Win(turn.other()),
            Self::Declaration | Self::IllegalAction | Self::WinByForfeit | Self::PerpetualCheck => {
                GameResult::Win(turn)
            }
            Self::Stalemate
            | Self::Repetition
            | Self::Impasse
            | Self::Draw
            | Self::FiftyMoves
            | Self::InsufficientMaterial
            | Self::TimeWithoutMaterial
            | Self::MoveLimit => GameResult::Draw,
            Self::Adjudication
            | Self::Try
            | Self::EngineFailure
            | Self::Interrupted
            | Self::NoMate
            | Self::TakeBack
            | Self::Error
            | Self::Other(_) => GameResult::Unknown,
        }
    }

    /// The same end with this result when it is this side's turn. Fouls and forfeits have a variant
    /// for each side.
    #[must_use]
    pub fn with_result(self, result: GameResult, turn: Side) -> Self {
        let GameResult::Win(winner) = result else { return self };
        match self {
            Self::IllegalMove | Self::IllegalAction if winner == turn => Self::IllegalAction,
            Self::IllegalMove | Self::IllegalAction => Self::IllegalMove,
            Self::Forfeit | Self::WinByForfeit if winner == turn => Self::WinByForfeit,
            Self::Forfeit | Self::WinByForfeit => Self::Forfeit,
            other => other,
        }
    }

    /// An end of shogi from which this result follows, when it is this side's turn: this end if
    /// possible, or else a foul or a forfeit of the loser.
    pub(super) fn implying(&self, result: GameResult, turn: Side) -> Self {
        let end = self.clone().with_result(result, turn);
        if result == GameResult::Unknown || end.result(turn, true) == result {
            return end;
        }
        match result {
            GameResult::Win(_) if self.is_foul() => Self::IllegalMove.with_result(result, turn),
            GameResult::Win(_) => Self::Forfeit.with_result(result, turn),
            GameResult::Draw => Self::Draw,
            GameResult::Unknown => end,
        }
    }

    /// Whether a side has lost by what it did against the rules.
    fn is_foul(&self) -> bool {
        match self {
            Self::PerpetualCheck
            | Self::FailedDeclaration
            | Self::IllegalMove
            | Self::IllegalAction => true,
            Self::Resignation
            | Self::Checkmate
            | Self::Stalemate
            | Self::Repetition
            | Self::Impasse
            | Self::Declaration
            | Self::Try
            | Self::TimeForfeit
            | Self::TimeWithoutMaterial
            | Self::Forfeit
            | Self::WinByForfeit
            | Self::EngineFailure
            | Self::Draw
            | Self::FiftyMoves
            | Self::InsufficientMaterial
            | Self::MoveLimit
            | Self::Adjudication
            | Self::Interrupted
            | Self::NoMate
            | Self::TakeBack
            | Self::Error
            | Self::Other(_) => false,
        }
    }

    /// The value of PGN's `Termination` tag: one of the eight of the standard (section 9.8.1), or
    /// the text of an end that has none.
    pub fn pgn_tag(&self) -> &str {
        match self {
            Self::Resignation
            | Self::Checkmate
            | Self::Stalemate
            | Self::Repetition
            | Self::PerpetualCheck
            | Self::Impasse
            | Self::Declaration
            | Self::Try
            | Self::Draw
            | Self::FiftyMoves
            | Self::InsufficientMaterial
            | Self::NoMate => "normal",
            Self::TimeForfeit | Self::TimeWithoutMaterial => "time forfeit",
            Self::IllegalMove | Self::IllegalAction | Self::FailedDeclaration => "rules infraction",
            Self::Forfeit | Self::WinByForfeit | Self::EngineFailure => "abandoned",
            Self::MoveLimit | Self::Adjudication => "adjudication",
            Self::Interrupted | Self::TakeBack => "unterminated",
            Self::Error => "emergency",
            Self::Other(text) => text,
        }
    }
}

impl From<Reason> for Termination {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Checkmate => Self::Checkmate,
            Reason::Stalemate => Self::Stalemate,
            Reason::FiftyMoves | Reason::SeventyFiveMoves => Self::FiftyMoves,
            Reason::Repetition | Reason::FivefoldRepetition => Self::Repetition,
            Reason::PerpetualCheck => Self::PerpetualCheck,
            Reason::InsufficientMaterial | Reason::DeadPosition => Self::InsufficientMaterial,
            Reason::MoveLimit => Self::MoveLimit,
            Reason::Declaration => Self::Declaration,
            Reason::Impasse => Self::Impasse,
            Reason::IllegalMove(_) => Self::IllegalMove,
            Reason::FailedDeclaration => Self::FailedDeclaration,
            Reason::Time => Self::TimeForfeit,
            Reason::Try => Self::Try,
            Reason::TimeWithoutMaterial => Self::TimeWithoutMaterial,
        }
    }
}
