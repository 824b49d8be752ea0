//! What is wrong, and why a game ended, by kinds for which the page has words in each language.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Refusal, Variant};

/// Why something has failed that nobody asked for a moment ago: an engine, an analysis, a report.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Failure {
    /// For people, in English.
    pub text: String,
    /// The same by its kind, where the page has words for it.
    pub problem: Option<Problem>,
}

/// What is wrong, so that the page can say it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// What its words hold. A `side` is `first` or `second`, a `field` is one of a FEN or an SFEN in snake case; a
    /// `move` is the one that it is about, and `last_words` are what an engine wrote last to its error output.
    pub values: BTreeMap<String, String>,
    /// The game whose sides, squares and pieces are meant, where there are any.
    pub variant: Option<Variant>,
}

/// The kinds of what is wrong.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A position's text ends before a `field`.
    MissingField,
    /// A `text` follows the last field.
    ExtraField,
    /// A `text` cannot be a `field`.
    BadField,
    /// The board has `count` ranks, not `expected`.
    RankCount,
    /// A `rank` has a wrong number of squares.
    RankLength,
    /// A `piece` on a `square` is none of the game.
    UnknownPiece,
    /// A `side` has `count` kings.
    Kings,
    /// There is no king.
    NoKings,
    /// There are `count` of a `piece`, more than `limit`.
    TooManyPieces,
    /// A `side` has more pieces than promotions give.
    TooMuchMaterial,
    /// A `piece` cannot stand on a `square`.
    DeadPiece,
    /// A `side` has two pawns on a `file`.
    TwoPawns,
    /// A castling right needs a rook on a `square`.
    CastlingRight,
    /// The king on a `square` is in check, and the other side is to move.
    OpponentInCheck,
    /// There is no such `square`.
    NoSuchSquare,
    /// A `piece` cannot be in hand.
    NotForHand,
    /// A word is no move of the game.
    Unreadable,
    /// No piece stands where the move starts.
    NoPiece,
    /// The piece is the opponent's.
    OpponentsPiece,
    /// A piece of the same side stands on the target.
    OwnPiece,
    /// The piece does not move so.
    CannotReach,
    /// Castling is not possible now.
    Castling,
    /// The piece has to promote.
    PromotionMissing,
    /// The piece cannot promote so.
    PromotionImpossible,
    /// The king would be in check.
    InCheck,
    /// No such piece is in hand.
    NotInHand,
    /// A piece was dropped on another.
    SquareTaken,
    /// A second pawn on a file.
    SecondPawn,
    /// The piece could never move again.
    NeverAgain,
    /// A dropped pawn gives mate.
    DropMate,
    /// The game is too long.
    GameTooLong,
    /// The text fits several moves.
    Ambiguous,
    /// The side to move has no such piece.
    NoSuchPiece,
    /// The other side is to move.
    WrongSide,
    /// There is no last move.
    NoLastMove,
    /// An engine declared a win in vain.
    DeclaredInVain,
    /// An engine `said` something that is no answer.
    Answered,
    /// Somebody was `time` milliseconds late.
    Late,
    /// An engine was silent for `time` milliseconds.
    Silent,
    /// The scores of both engines decided.
    ByScores,
    /// The score of the engine that lost decided.
    ByScore,
    /// Tablebases decided.
    ByTablebases,
    /// An engine could not be started or reached: a `text` of the system.
    CannotStart,
    /// There is no such program, or no such folder to run it in.
    NoSuchProgram,
    /// The program may not be run.
    MayNotRun,
    /// Nobody answers at the address.
    NobodyThere,
    /// An engine did not answer the greeting.
    NoGreeting,
    /// An engine did not answer `isready`.
    NotReady,
    /// An engine did not answer `stop`.
    NotStopped,
    /// An engine did not leave when it was told to.
    NotLeft,
    /// An engine closed its output or the connection.
    Closed,
    /// An engine exited with a `code`.
    Exited,
    /// The program of an engine was not built for this processor.
    WrongProcessor,
    /// An engine touched memory that is not its own.
    Crashed,
    /// An engine divided by zero.
    DividedByZero,
    /// An engine gave up.
    GaveUp,
    /// An engine was killed, by this program or for want of memory.
    Killed,
    /// A `signal` ended an engine.
    Signal,
    /// The user had an engine killed.
    KilledByUser,
    /// The user, or the server, had an engine end.
    EngineEnded,
    /// An engine says that its copy protection is violated.
    CopyProtected,
    /// An engine could not be checked: a `text` of the checker.
    NotChecked,
    /// An option was not set: a `text` of the protocol.
    OptionRefused,
    /// An engine does not play the game.
    OtherGame,
    /// An engine cannot be told of the position.
    Untold,
    /// The side to move cannot pass.
    CannotPass,
    /// An engine tells no score.
    NoScore,
    /// So many engines run that there is no room for one more.
    TooManyEngines,
    /// The server ends.
    ServerEnds,
    /// The game was changed meanwhile.
    GameChanged,
    /// The game was closed meanwhile.
    GameClosed,
}

impl Failure {
    /// What is wrong, by its kind and in English.
    pub(crate) fn new(kind: ProblemKind, text: &str) -> Self {
        Self { text: text.to_owned(), problem: Some(Problem::new(kind)) }
    }
}

impl From<Refusal> for Failure {
    fn from(Refusal { code: _, text, problem }: Refusal) -> Self {
        Self { text, problem }
    }
}

impl Problem {
    /// What is wrong, without values.
    pub(crate) fn new(kind: ProblemKind) -> Self {
        Self { kind, values: BTreeMap::new(), variant: None }
    }

    /// With a value for its words.
    pub(crate) fn with(mut self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.values.insert(name.to_owned(), value.to_string());
        self
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Mate.
    Checkmate,
    /// No legal move, without check.
    Stalemate,
    /// The same position so often.
    Repetition,
    /// The same position so often, by checks of one side.
    PerpetualCheck,
    /// So many moves without progress.
    FiftyMoves,
    /// Nobody can mate.
    InsufficientMaterial,
    /// So many moves.
    MoveLimit,
    /// The king has come to the opposite corner or camp, by rules with that end.
    Try,
    /// A declared win.
    Declaration,
    /// A win that was declared and is none.
    FailedDeclaration,
    /// A declared draw.
    Impasse,
    /// Resignation.
    Resignation,
    /// The flag fell.
    Time,
    /// The flag fell, and the opponent cannot mate.
    TimeWithoutMaterial,
    /// An illegal move.
    IllegalMove,
    /// The players agreed on a draw.
    Agreement,
    /// An engine failed.
    EngineFailed,
    /// Decided from outside.
    Adjudication,
    /// Broken off.
    Aborted,
    /// Something else.
    Other,
}

impl EndReason {
    /// The word of the wire, which the library has as well.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::Repetition => "repetition",
            Self::PerpetualCheck => "perpetual_check",
            Self::FiftyMoves => "fifty_moves",
            Self::InsufficientMaterial => "insufficient_material",
            Self::MoveLimit => "move_limit",
            Self::Try => "try",
            Self::Declaration => "declaration",
            Self::FailedDeclaration => "failed_declaration",
            Self::Impasse => "impasse",
            Self::Resignation => "resignation",
            Self::Time => "time",
            Self::TimeWithoutMaterial => "time_without_material",
            Self::IllegalMove => "illegal_move",
            Self::Agreement => "agreement",
            Self::EngineFailed => "engine_failed",
            Self::Adjudication => "adjudication",
            Self::Aborted => "aborted",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_the_words_of_the_wire() {
        let reason = |word: &str| -> EndReason {
            serde_json::from_value(serde_json::Value::from(word)).expect("a reason")
        };
        for word in [
            "checkmate",
            "stalemate",
            "repetition",
            "perpetual_check",
            "fifty_moves",
            "insufficient_material",
            "move_limit",
            "try",
            "declaration",
            "failed_declaration",
            "impasse",
            "resignation",
            "time",
            "time_without_material",
            "illegal_move",
            "agreement",
            "engine_failed",
            "adjudication",
            "aborted",
            "other",
        ] {
            assert_eq!(reason(word).word(), word);
        }
    }
}
