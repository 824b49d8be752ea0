//! What is wrong, by kinds for which the page has words in each language.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ApiError, Variant};

/// Why something has failed that nobody asked for a moment ago: an engine, an analysis, a report.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Failure {
    /// For people, in English.
    pub text: String,
    /// The reason as a problem, for which the page has texts.
    pub problem: Problem,
}

/// What is wrong, so that the page can say it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// What its words hold. A `side` is `first` or `second`, a `field` is one of a FEN or an SFEN in snake case.
    /// Before the words are said: `path`, `entry`, `game`, `line` and `column`, where it is; `engine`, whose it is; the
    /// `move` that it is about. After them: `last_words`, what an engine wrote last to its error output. `japanese` is
    /// the `text` in Japanese.
    pub values: BTreeMap<String, String>,
    /// The game whose sides, squares and pieces are meant, where there are any.
    pub variant: Option<Variant>,
    /// What there is none, too many or a bad one of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub what: Option<Thing>,
    /// What has led to it: says the same as the value `text`, in words of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cause: Option<Box<Self>>,
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
    /// A trusted engine claimed a mate.
    ByMateClaim,
    /// Tablebases decided.
    ByTablebases,
    /// An engine could not be started or reached: a `text` of the system.
    CannotStart,
    /// There is no such program, or no such directory to run it in.
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
    /// What the system or a library says: a `text` for which there are no words.
    System,
    /// There is no such thing of a `name`.
    NoSuch,
    /// There are too many of something.
    TooMany,
    /// Something is too long.
    TooLong,
    /// Something is empty, too long, or holds control characters.
    Odd,
    /// A file or directory may not be read.
    NotPermitted,
    /// A file has more than `limit` MiB.
    FileTooLarge,
    /// A path is outside of the directories that are shown.
    OutsideFolders,
    /// A `name` is no program that may be run.
    NotAProgram,
    /// There is no command, or a quote does not end.
    NoCommand,
    /// A program is given by its absolute path.
    AbsolutePath,
    /// An address has the form host:port.
    AddressForm,
    /// The built-in engine is there, and stays as it is.
    BuiltInStays,
    /// The browser was not let in.
    NotLetIn,
    /// The request is not one of the page.
    NotOfThePage,
    /// This server cannot do it.
    NotHere,
    /// The page asked, and the server does not answer: the page's own.
    NoAnswer,
    /// Too many files are being read.
    BusyReading,
    /// A file or a directory cannot be read.
    Unread,
    /// What is kept of a game is damaged.
    Damaged,
    /// The tree of moves is full.
    TreeFull,
    /// A mark is not one of the game's board.
    MarkOffBoard,
    /// The start cannot be deleted.
    StartStays,
    /// Moves keep their places while the game is played.
    MovesStay,
    /// There is nothing to undo.
    NothingToUndo,
    /// There is nothing to do again.
    NothingToRedo,
    /// While a game is played, moves are taken back and not undone.
    UndoInPlay,
    /// Nobody plays the game.
    NobodyPlays,
    /// The game is going on.
    GameGoesOn,
    /// The game does not go on now.
    GameRests,
    /// The game is over.
    GameOver,
    /// The game is not over.
    GameNotOver,
    /// It is the engine's turn.
    EnginesTurn,
    /// It is not the person's turn.
    NotYourTurn,
    /// No person plays.
    NoPerson,
    /// No engine plays this side.
    NoEngineHere,
    /// No engine thinks about its move.
    NobodyThinks,
    /// Nobody has offered a draw.
    NoOffer,
    /// The engine did not take the draw.
    DrawRefused,
    /// There is nothing to claim.
    NothingToClaim,
    /// There is no move of a person to take back.
    NothingToTakeBack,
    /// There is no such time control.
    NoTimeControl,
    /// The start is one of another game.
    StartOfOtherGame,
    /// A book begins at the usual position.
    BookStart,
    /// There can be 0 to `limit` variations.
    LineCount,
    /// The engine does not analyse this game.
    NotAnalysed,
    /// The engine is being checked.
    BeingChecked,
    /// The engine does not listen.
    NotListening,
    /// An `option` has no such `value`.
    NotAChoice,
    /// An `option` is true or false.
    NotABoolean,
    /// An `option` is a whole number.
    NotANumber,
    /// An `option` is a number from `min` to `max`.
    OutOfRange,
    /// The value of an `option` has several lines.
    LineBreak,
    /// An `option` needs a value.
    NoValue,
    /// An `option` is a button.
    IsAButton,
    /// An `option` is set by the server, from the game and the search.
    SetByServer,
    /// The directory has to be read first.
    FolderFirst,
    /// There are no games.
    NoGames,
    /// The game is being reported on.
    BeingReported,
    /// No report is being made.
    NoReport,
    /// The report has not judged the position.
    NotJudged,
    /// Another move was tried meanwhile.
    OtherMoveTried,
    /// The job runs.
    JobRuns,
    /// The job does not run.
    JobRests,
    /// A game of a file cannot be one: it is of a `name` that nobody knows here.
    UnknownGame,
    /// The format has no games of this kind.
    FormatOfOtherGame,
    /// No legal move is meant by a `text`.
    NoMoveMeant,
    /// A comment does not end.
    OpenComment,
    /// A `text` means nothing where it stands.
    Unexpected,
    /// The format of a file is not known.
    UnknownFormat,
    /// A game of a file is too large.
    GameTooLarge,
    /// Variations are nested too deep.
    TooDeep,
    /// A file has more than `count` games: the rest was left out.
    RestLeftOut,
    /// A `text` was skipped.
    Skipped,
    /// A variation was cut before a `text`.
    CutVariation,
    /// A header, the `text`, is badly written.
    BadHeader,
    /// A `text` contradicts the rest of the game.
    Contradiction,
    /// The end of a game is missing.
    NoEnd,
    /// A quote does not end.
    OpenQuote,
    /// A `text` is no operation of an EPD.
    BadOperation,
    /// A Polyglot book needs a number of moves.
    NoPlies,
    /// A file is no Polyglot book.
    NotPolyglot,
    /// The openings are for another game.
    OpeningsOfOtherGame,
    /// There are no openings.
    NoOpenings,
    /// A text is not in UTF-8.
    NotText,
    /// A directory is no file.
    IsAFolder,
    /// A record has no moves.
    NoMoves,
    /// A match has at least two engines.
    TwoEngines,
    /// A match has up to `rounds`, `pairs`, `engines` and games at once (`slots`).
    MatchSize,
    /// Two engines have one `name`.
    SameName,
    /// An engine of a match needs a clock or a limit.
    NoLimit,
    /// A clock without time.
    NoTime,
    /// The time is too long.
    TimeTooLong,
    /// A rule that ends games needs a number of moves.
    EndRule,
    /// A test is between two engines.
    TestOfTwo,
    /// The first hypothesis must be below the second, both between -4000 and 4000.
    Hypotheses,
    /// The probabilities of errors must be above 0 and together below 1.
    ErrorRates,
    /// The match is being played.
    MatchGoesOn,
    /// The match is not being played.
    MatchRests,
    /// The match is over.
    MatchOver,
    /// The match itself has failed.
    MatchFailed,
    /// The test of a match accepts H0.
    AcceptsH0,
    /// The test of a match accepts H1.
    AcceptsH1,
    /// An engine has failed `count` times.
    HasFailed,
    /// Games of a match were broken off and are played again.
    PlayedAgain,
    /// An opening of a match is left out: a `text` says why.
    OpeningLeftOut,
    /// So many, `count`, openings of a match are left out: a `text` says why the first is.
    OpeningsLeftOut,
    /// The results of a match cannot be read or are of another one.
    BadResults,
    /// An engine was started again: a `text` says why.
    Restarted,
    /// An engine told no score with its move.
    ToldNoScore,
    /// The variation of an engine begins with another move, the `word`, than it played.
    OtherVariation,
    /// The variation of an engine has an illegal move, the `word`.
    IllegalVariation,
    /// The variation of an engine goes on after the end of the game, with the `word`.
    VariationBeyondEnd,
    /// The variation of an engine to mate has `found` plies, and its score says `plies`.
    MateLength,
    /// The variation of an engine to mate does not end with it.
    VariationWithoutMate,
    /// The score of an engine takes the wrong side for the one that mates.
    WrongMate,
    /// An engine lost on time on a host with a CPU load of `percent`.
    HostOverloaded,
    /// An engine broke a rule of its protocol: the `text`.
    BrokeProtocol,
    /// An engine left in the middle of a game: the `text`.
    LeftGame,
}

/// What there can be none, too many or a bad one of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    /// An argument or a variable of the environment of a program.
    Argument,
    /// A button of an engine.
    Button,
    /// A comment.
    Comment,
    /// An engine.
    Engine,
    /// The name of an engine.
    EngineName,
    /// A file.
    File,
    /// A game.
    Game,
    /// A handicap.
    Handicap,
    /// A header of a record.
    Header,
    /// A job.
    Job,
    /// A line to say to an engine.
    Line,
    /// A match.
    Match,
    /// The name of a match.
    MatchName,
    /// A move.
    Move,
    /// A node of the tree of a game.
    Node,
    /// A sign, a comment, a mark or a header.
    Note,
    /// A game that is open.
    OpenGame,
    /// An opening.
    Opening,
    /// An operation of an EPD.
    Operation,
    /// An option of an engine.
    Option,
    /// The name of a player.
    PlayerName,
    /// A position.
    Position,
    /// A preset of options.
    Preset,
    /// A process of an engine.
    Process,
    /// A query.
    Query,
    /// The name or the code of a registration.
    Registration,
    /// A result of a game.
    Result,
    /// The settings of the page.
    Settings,
    /// The number of a start position of Chess960.
    StartNumber,
    /// A text.
    Text,
    /// A topic.
    Topic,
}

impl Failure {
    /// What is wrong, by its kind and in English.
    pub(crate) fn new(why: impl Into<Problem>, text: impl Into<String>) -> Self {
        Self { text: text.into(), problem: why.into() }
    }

    /// What the system or a library says.
    pub(crate) fn system(error: &impl ToString) -> Self {
        Self { text: error.to_string(), problem: Problem::system(error) }
    }
}

impl From<ApiError> for Failure {
    fn from(ApiError { code: _, text, problem }: ApiError) -> Self {
        Self { text, problem }
    }
}

impl Problem {
    /// What is wrong, without values.
    pub(crate) fn new(kind: ProblemKind) -> Self {
        Self { kind, values: BTreeMap::new(), variant: None, what: None, cause: None }
    }

    /// What the system or a library says.
    pub(crate) fn system(error: &(impl ToString + ?Sized)) -> Self {
        Self::new(ProblemKind::System).with("text", error)
    }

    /// There is none of a name.
    pub(crate) fn no_such(what: Thing, name: &(impl ToString + ?Sized)) -> Self {
        Self::new(ProblemKind::NoSuch).of(what).with("name", name)
    }

    /// There are too many.
    pub(crate) fn too_many(what: Thing) -> Self {
        Self::new(ProblemKind::TooMany).of(what)
    }

    /// It is too long.
    pub(crate) fn too_long(what: Thing) -> Self {
        Self::new(ProblemKind::TooLong).of(what)
    }

    /// It is empty, too long, or holds control characters.
    pub(crate) fn odd(what: Thing) -> Self {
        Self::new(ProblemKind::Odd).of(what)
    }

    /// With what has led to it, where that is known.
    pub(crate) fn because(self, cause: Option<Self>) -> Self {
        Self { cause: cause.map(Box::new), ..self }
    }

    fn of(self, what: Thing) -> Self {
        Self { what: Some(what), ..self }
    }

    /// With a value for its words.
    pub(crate) fn with(mut self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.values.insert(name.to_owned(), value.to_string());
        self
    }
}

impl From<ProblemKind> for Problem {
    fn from(kind: ProblemKind) -> Self {
        Self::new(kind)
    }
}
