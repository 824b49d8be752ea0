//! Games: trees, players, clocks; positions and moves as the page draws them.

use std::collections::BTreeMap;

use readyok_protocol::Score;
use readyok_rules::record::Evaluation;
pub use readyok_rules::{Game as Variant, Side};
use readyok_rules::{GameOutcome, GameResult, Termination};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{EngineId, ErrorInfo, Strength};

/// The number of a game, which is also its number in the library.
pub type GameId = u32;
/// The number of a node of a tree. It never changes and is never used again.
pub type NodeId = u32;

/// The open games.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GamesState {
    /// The latest first.
    pub games: Vec<GameLine>,
}

/// Changes of the list of games.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GamesDelta {
    pub changed: Vec<GameLine>,
    pub removed: Vec<GameId>,
}

/// The summary of a game.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GameLine {
    pub id: GameId,
    pub variant: Variant,
    pub names: Sides<String>,
    /// The event, the round and the date as in the library distinguish games of the same players.
    pub event: String,
    pub round: String,
    pub date: Option<String>,
    /// The number of moves of the main line.
    pub plies: u32,
    pub playing: bool,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    pub changed: u64,
    /// Whether it is a draft: it is not in the library.
    pub draft: bool,
    /// Whether it is a draft that the user has changed. Other games are saved with each change.
    pub unsaved: bool,
}

/// A game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GameState {
    pub id: GameId,
    pub variant: Variant,
    /// The start position in FEN or SFEN.
    pub start: String,
    /// Whether the start position is a handicap of shogi.
    pub handicap: bool,
    /// The number of the first move in chess notation.
    pub first_number: u32,
    /// The side to move at the root.
    pub first_turn: Side,
    /// Headers as in files (`White`, `Event`, `先手`, …), without those that follow from the other fields.
    pub headers: Vec<Header>,
    /// The ratings of the players by the record.
    pub ratings: Sides<Option<i64>>,
    /// All nodes, parents before their children. The first is the root.
    pub nodes: Vec<Node>,
    /// The cursor of the tab.
    pub cursor: NodeId,
    pub position: PositionView,
    /// The named opening of the moves to the cursor.
    pub opening: Option<OpeningName>,
    pub outcome: Option<OutcomeView>,
    /// Present during play and afterwards.
    pub play: Option<Play>,
    pub undo: Undo,
    /// Why the last change could not be saved.
    pub save_error: Option<ErrorInfo>,
}

/// Changes of a game. Absent fields are unchanged.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GameDelta {
    /// New or changed nodes. Parents come before their children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Node>>"))]
    pub nodes: Vec<Node>,
    /// Removed nodes, with their descendants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<NodeId>>"))]
    pub removed: Vec<NodeId>,
    /// All headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub headers: Option<Vec<Header>>,
    /// Present with the headers, and if the comment of the start position was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub ratings: Option<Sides<Option<i64>>>,
    /// The cursor of the tab with its position, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub at: Option<CursorView>,
    /// A new outcome, which is null if play continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub outcome_change: Option<OutcomeChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub play: Option<Play>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub undo: Option<Undo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub save_status: Option<SaveStatus>,
}

/// Whether the last change of a game is saved.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SaveStatus {
    /// Null if it is saved.
    pub error: Option<ErrorInfo>,
}

/// A cursor with its position.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CursorView {
    pub cursor: NodeId,
    pub position: PositionView,
    /// The named opening of the moves to the cursor.
    pub opening: Option<OpeningName>,
}

/// The name of an opening.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OpeningName {
    /// The code of the *Encyclopaedia of Chess Openings*, `A00` to `E99`.
    pub eco: String,
    /// In English.
    pub name: String,
}

/// A new outcome of a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OutcomeChange {
    /// Null if play continues.
    pub outcome: Option<OutcomeView>,
}

/// Whether edits can be undone and redone.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Undo {
    pub undo: bool,
    pub redo: bool,
}

/// A header of a game.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Header {
    pub name: String,
    pub value: String,
}

/// A node of a tree: a move, or the root.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Node {
    pub id: NodeId,
    /// None for the root.
    pub parent: Option<NodeId>,
    /// 0 for the root.
    pub ply: u32,
    pub kind: NodeKind,
    /// The move in UCI or USI notation; empty for the root, `0000` for a null move.
    pub uci: String,
    /// Empty for the root.
    pub text: MoveText,
    /// The first child continues the line; the others are variations.
    pub children: Vec<NodeId>,
    /// Comments before the move, at the start of a variation.
    pub before: Vec<String>,
    /// Comments after the move.
    pub comments: Vec<String>,
    /// NAGs: 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, and so on.
    pub nags: Vec<u8>,
    /// The time left after the move.
    pub clock: Option<u64>,
    /// The time of the move.
    pub elapsed: Option<u64>,
    /// The score of the position after the move, for the first side.
    pub evaluation: Option<Evaluation>,
    pub marks: Vec<Mark>,
    /// What an engine found, which is not part of the author's game.
    pub engine: Option<NodeEngineNote>,
}

/// What an engine found in the position after a move, and its judgement of the move.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct NodeEngineNote {
    /// The score of the position after the move, for the first side.
    pub evaluation: Evaluation,
    /// The NAG of an error: 2, 4 or 6.
    pub nag: Option<u8>,
    /// The line that is better than an error; empty without one.
    pub better: Vec<LineMove>,
}

/// The kind of a node's move.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The start position.
    Root,
    /// A legal move.
    Legal,
    /// A null move.
    Null,
    /// An illegal move that ended the game. The position is the one before it.
    Illegal,
}

/// An arrow or a circle on the board.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Mark {
    /// `green`, `red`, `yellow` or `blue`.
    pub color: String,
    /// The square, or the start of the arrow.
    pub from: String,
    /// The end of the arrow; none for a circle.
    pub to: Option<String>,
}

/// A game in progress or after play.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Play {
    pub status: PlayStatus,
    /// Why the game is interrupted; none after the end of the server.
    pub failure: Option<EngineFailure>,
    pub players: Sides<PlayerState>,
    /// The node of the last move that was played. The next move follows it.
    pub last_move_node: NodeId,
    /// None without time controls.
    pub clocks: Option<ClockState>,
    /// The side with a pending draw offer.
    pub draw_offer: Option<Side>,
    /// The claim that the human to move can make.
    pub claim: Option<Claim>,
    /// The last hint, until a move is played.
    pub hint: Option<Hint>,
    /// Present if the game is over.
    pub rematch: Option<Rematch>,
}

/// The failure of an engine that interrupted a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EngineFailure {
    pub side: Side,
    /// None if the process exited without an error.
    pub error: Option<ErrorInfo>,
}

/// The rematch: another game of the same players with the same setup.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rematch {
    /// The rematch can be started.
    Open {
        /// Whether the players change sides. In a handicap game they do not.
        swapped: bool,
    },
    /// The rematch has been started.
    Begun { game: GameId },
}

/// A claim of a human, with its result.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// A draw by repetition or by moves without progress (chess).
    Draw,
    /// A win by declaration (shogi).
    DeclareWin,
    /// A draw by declaration (shogi).
    DeclareDraw,
}

/// The status of play.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum PlayStatus {
    YourTurn,
    /// The engine to move is starting.
    Starting,
    /// The engine to move is searching.
    Searching,
    /// The clocks are stopped.
    Paused,
    /// Interrupted by the end of the server or the failure of an engine; it can be resumed.
    Interrupted,
    Over,
}

/// The state of a player.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PlayerState {
    pub player: Player,
    /// The name of the human or the engine.
    pub name: String,
    /// The last output of an engine.
    pub info: Option<MoveInfo>,
    /// Present for an engine that ponders.
    pub pondering: Option<PonderState>,
}

/// The output of the last search of an engine that plays.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MoveInfo {
    /// The node of the searched move; none during the search.
    pub node: Option<NodeId>,
    /// In plies.
    pub depth: Option<u32>,
    /// For the side of the engine.
    pub score: Option<Score>,
    pub nodes: Option<u64>,
    pub nps: Option<u64>,
    /// In milliseconds.
    pub time: Option<u64>,
    pub pv: Vec<LineMove>,
}

/// The ponder statistics of an engine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PonderState {
    /// The move that is pondered.
    pub expects: Option<LineMove>,
    /// The number of correct predictions.
    pub hits: u32,
    /// The number of predictions.
    pub tries: u32,
}

/// A move of a variation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LineMove {
    /// In UCI or USI notation.
    pub uci: String,
    /// From the first illegal move on, the text is that of the engine.
    pub text: MoveText,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Hint {
    pub node: NodeId,
    pub hint: LineMove,
}

/// The clocks at a moment. The page extrapolates the running one; only the server decides when a flag falls.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ClockState {
    /// The remaining time at `sent_at`, negative after the fall of a flag; none for a side without a clock.
    pub remaining: Sides<Option<i64>>,
    /// The byoyomi of each move after `remaining` is used up.
    pub byoyomi: Sides<u64>,
    /// Added after each move.
    pub increment: Sides<u64>,
    /// The number of moves to the next time control.
    pub moves_to_go: Sides<Option<u32>>,
    pub running: Option<Side>,
    pub sent_at: u64,
}

/// The player of a side.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Player {
    Human { name: String, time: Time },
    Engine(EnginePlayer),
}

/// An engine that plays.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EnginePlayer {
    pub engine: EngineId,
    pub time: Time,
    /// Limits of each search in addition to the clock.
    #[serde(default)]
    pub limits: SearchLimits,
    #[serde(default)]
    pub ponder: bool,
    /// None for full strength.
    pub strength: Option<Strength>,
    /// Values of options for this game only; they override the engine's values.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// The time control of a side. Unlike that of a match plan, whose format is a text, it has fields for the page.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Time {
    /// No clock. An engine requires a limit, or the command `move_now`.
    None,
    Clock {
        /// Added at the start and after every `moves` moves.
        base: u64,
        /// Added after each move.
        increment: u64,
        /// The time of each move after the other time is used up.
        byoyomi: u64,
        /// None for the whole game.
        moves: Option<u32>,
    },
    /// A fixed time for each move.
    PerMove {
        /// In milliseconds.
        time: u64,
    },
}

/// The limits of a search without its clock. The first reached one ends it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct SearchLimits {
    /// In plies.
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    /// In milliseconds.
    pub time: Option<u64>,
    /// A search for a mate: in moves (chess), or in milliseconds (shogi; 0 for no limit).
    pub mate: Option<u64>,
}

/// The setup of a game.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct NewGame {
    pub variant: Variant,
    pub start: Start,
    /// None for an analysis board.
    pub players: Option<Sides<Player>>,
    #[serde(default)]
    pub rules: PlayRules,
    pub book: Option<Book>,
}

/// The rules that end a game.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum PlayRules {
    /// The rules of the federations: draws are claimed in chess; a declaration requires 24 points in shogi.
    #[default]
    Federation,
    /// The rules of engine matches: draws end the game in chess; a declaration requires 27 points in shogi.
    Engines,
}

/// An opening book for a game.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Book {
    /// A file below the data directory or a root of the file picker: PGN, EPD, SFEN lines or Polyglot.
    pub path: String,
    /// Maximum number of book moves.
    pub plies: u32,
}

/// An edit of the tree of a game.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Edit {
    /// Sets the comments of a node.
    Comment {
        node: NodeId,
        /// Before the move, at the start of a variation.
        #[serde(default)]
        before: Vec<String>,
        /// After the move.
        comments: Vec<String>,
    },
    /// Sets the NAGs of a node.
    Nags { node: NodeId, nags: Vec<u8> },
    /// Sets the arrows and circles of a node.
    Marks { node: NodeId, marks: Vec<Mark> },
    /// Deletes a node with its descendants.
    Delete { node: NodeId },
    /// Promotes a variation.
    Promote {
        /// A node of the variation.
        node: NodeId,
        /// Promotes it to the main line.
        #[serde(default)]
        to_main: bool,
    },
    /// Adds a line of moves.
    Insert {
        /// The node before the line.
        node: NodeId,
        /// In UCI or USI notation.
        moves: Vec<String>,
        /// Added to the first move of the line.
        evaluation: Option<Evaluation>,
    },
    /// Sets the headers.
    Headers { headers: Vec<Header> },
    /// Sets the result of a game that is not in progress.
    Result {
        /// `1-0`, `0-1`, `1/2-1/2` or `*`.
        result: String,
    },
    /// Removes what engines found: evaluations, judgments and better lines of reports.
    RemoveJudgements,
    /// Undoes the last edit.
    Undo,
    /// Redoes the last undone edit.
    Redo,
}

/// The result of [`Command::MergeGames`](super::Command::MergeGames).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MergedGames {
    /// The number of new moves.
    pub moves: u32,
    /// The number of moves with new annotations that the game had before.
    pub annotated: u32,
    /// The number of annotations that were left out: a move has one clock time, evaluation, sign and end, and what
    /// engines found in the other games is not copied.
    pub omitted: u32,
    /// The number of games whose start position the game does not have.
    pub unconnected: u32,
}

/// A value for each side.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Sides<T> {
    /// Of White in chess, of Black (sente) in shogi.
    pub first: T,
    pub second: T,
}

/// The start of a game.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Start {
    /// The standard start position.
    Usual,
    /// A start position of Chess960 by its number, 0 to 959; none for a random one.
    Number {
        /// 518 is the start position of chess.
        number: Option<u16>,
    },
    /// A handicap of shogi, by its name from [`Choices`].
    Handicap {
        /// For example `lance`.
        name: String,
    },
    /// A position in FEN or SFEN, or a `position …` line.
    Text { text: String },
}

/// The texts of a move. The page selects one by its settings and language.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MoveText {
    /// SAN in chess, `Nbd7`; Hodges' notation in shogi, `P-7f`.
    pub western: String,
    /// Shogi only: `▲７六歩`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub japanese: Option<String>,
}

/// A legal move for the board.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LegalMove {
    /// In UCI or USI notation. In Chess960, castling is written as the king capturing the rook.
    pub uci: String,
    /// The origin square, `e2` or `7g`; none for a drop.
    pub from: Option<String>,
    /// The dropped piece in upper case, `P`.
    pub drop: Option<String>,
    /// Where it can be pointed to. The first is where the piece is shown to land. Castling has two: the king's
    /// square and the rook's (one, if the other would mean another move).
    pub to: Vec<String>,
    /// The promotion: `q`, `r`, `b` or `n` in chess, `+` in shogi.
    pub promotion: Option<String>,
    pub text: MoveText,
}

/// A position for the board.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PositionView {
    /// FEN or SFEN.
    pub text: String,
    pub turn: Side,
    pub legal: Vec<LegalMove>,
    /// The square of the king that is in check.
    pub check: Option<String>,
    /// The squares of the move before the position.
    pub last: Option<LastMove>,
    /// Present if the position ends the game by the rules.
    pub ending: Option<OutcomeView>,
}

/// The squares of a move.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LastMove {
    /// None for a drop.
    pub from: Option<String>,
    /// The target square; the king's square for castling.
    pub to: String,
}

/// The outcome of a game, with details for the page.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OutcomeView {
    pub result: GameResult,
    pub termination: Termination,
    /// For example the error of an engine.
    pub detail: Option<ErrorInfo>,
}

impl OutcomeView {
    /// The side that won.
    pub(crate) fn winner(&self) -> Option<Side> {
        self.result.winner()
    }
}

impl From<GameOutcome> for OutcomeView {
    fn from(GameOutcome { result, termination }: GameOutcome) -> Self {
        Self { result, termination, detail: None }
    }
}

/// The validation of a position of the editor, by `POST /api/position`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PositionCheck {
    /// The position, if it is valid.
    pub position: Option<PositionView>,
    /// The text of the setup, valid or not; none if it is unreadable.
    pub text: Option<String>,
    pub error: Option<ErrorInfo>,
    /// The squares of the error.
    pub squares: Vec<String>,
}

/// The choices for the setup of a game, by `GET /api/choices`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Choices {
    /// The handicaps of shogi.
    pub handicaps: Vec<HandicapChoice>,
}

/// A handicap of shogi.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct HandicapChoice {
    /// The name in commands and in English.
    pub name: String,
    pub japanese: String,
    pub sfen: String,
}
