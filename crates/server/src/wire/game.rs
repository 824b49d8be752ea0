//! Games: trees, players, clocks; positions and moves as the page draws them.

use std::collections::BTreeMap;
use std::fmt;

use readyok_protocol::Score;
use readyok_rules::record::Evaluation;
use readyok_rules::{GameOutcome, GameResult, Termination};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, ErrorInfo, Strength};

/// A game by its number, which is also that of the library and of its analysis.
pub type GameId = u32;
/// A move of a tree, or its root, by its number. It never changes and is never used again.
pub type NodeId = u32;

/// The open games.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct GamesState {
    /// The latest first.
    pub games: Vec<GameLine>,
}

/// Changes of the list of games.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct GamesDelta {
    /// New or changed ones.
    pub changed: Vec<GameLine>,
    /// Those that were closed.
    pub removed: Vec<GameId>,
}

/// One line about a game.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct GameLine {
    pub id: GameId,
    pub variant: Variant,
    /// The players' names.
    pub names: Sides<String>,
    /// Moves of the main line.
    pub plies: u32,
    /// Whether it is being played.
    pub playing: bool,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// When it was last changed.
    pub changed: u64,
}

/// A game.
#[derive(Clone, Debug, Serialize, TS)]
pub struct GameState {
    pub id: GameId,
    pub variant: Variant,
    /// The start position in FEN or SFEN.
    pub start: String,
    /// Whether the start position is a handicap of shogi.
    pub handicap: bool,
    /// The number of the first move in chess notation, and who makes it.
    pub first_number: u32,
    /// Who moves at the root.
    pub first_turn: Side,
    /// Headers as files have them (`White`, `Event`, `先手`, …), without those that follow from the rest.
    pub headers: Vec<Header>,
    /// All nodes, parents before their children. The first is the root.
    pub nodes: Vec<Node>,
    /// The node at the cursor, in all tabs.
    pub cursor: NodeId,
    /// The position there.
    pub position: PositionView,
    /// The opening of the moves that led there, if it has a name.
    pub opening: Option<OpeningName>,
    /// How it has ended.
    pub outcome: Option<OutcomeView>,
    /// While it is played, and afterwards.
    pub play: Option<Play>,
    /// Whether there is something to undo, and to redo.
    pub undo: Undo,
    /// Why the library could not take the last change, in English; none if it has it.
    pub unsaved: Option<String>,
}

/// What has changed in a game. What is absent is as it was.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct GameDelta {
    /// New or changed nodes. Parents come before their children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Node>>")]
    pub nodes: Vec<Node>,
    /// Nodes that are gone, with all below them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<NodeId>>")]
    pub removed: Vec<NodeId>,
    /// New headers, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub headers: Option<Vec<Header>>,
    /// The cursor, with the position there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<At>,
    /// How it has ended (an object with `outcome`, which is null when the end was taken back).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub over: Option<Over>,
    /// Players, clocks and offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub play: Option<Play>,
    /// Whether there is something to undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<Undo>,
    /// Whether the library has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept: Option<KeptState>,
}

/// Whether the library has a game as it is.
#[derive(Clone, Debug, Serialize, TS)]
pub struct KeptState {
    /// Why not, in English; none if it has.
    pub error: Option<String>,
}

/// The node at the cursor.
#[derive(Clone, Debug, Serialize, TS)]
pub struct At {
    pub cursor: NodeId,
    /// The position there.
    pub position: PositionView,
    /// The opening of the moves that led there, if it has a name.
    pub opening: Option<OpeningName>,
}

/// How an opening is called.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct OpeningName {
    /// The code of the *Encyclopaedia of Chess Openings*, `A00` to `E99`.
    pub eco: String,
    /// The name, in English.
    pub name: String,
}

/// Whether and how a game is over.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Over {
    /// None if it is not.
    pub outcome: Option<OutcomeView>,
}

/// What can be undone.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, TS)]
pub struct Undo {
    /// A change of the tree can be undone.
    pub undo: bool,
    /// One that was undone can be done again.
    pub redo: bool,
}

/// A header of a game.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Header {
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A move of a tree, or its root.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct Node {
    pub id: NodeId,
    /// The node before it; none for the root.
    pub parent: Option<NodeId>,
    /// Moves from the root: 0 for it.
    pub ply: u32,
    pub kind: NodeKind,
    /// The move in UCI or USI notation; empty for the root, `0000` for a null move.
    pub uci: String,
    /// The move as text; empty for the root.
    pub text: MoveText,
    /// The children in order: the first continues the line, the others are variations.
    pub children: Vec<NodeId>,
    /// Comments before the move (only where it begins a variation).
    pub before: Vec<String>,
    /// Comments after the move.
    pub comments: Vec<String>,
    /// Signs: 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, and so on.
    pub nags: Vec<u8>,
    /// What the mover has left after it.
    pub clock: Option<u64>,
    /// What it took.
    pub elapsed: Option<u64>,
    /// The score of the position after it, from the first side.
    pub evaluation: Option<Evaluation>,
    /// Arrows and circles.
    pub marks: Vec<Mark>,
}

/// The kind of a node's move.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The start position.
    Root,
    /// A legal move.
    Legal,
    /// A null move: the side to move passes.
    Null,
    /// A move against the rules, which ended the game. The position stays the one before it.
    Illegal,
}

/// A mark on the board.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Mark {
    /// `green`, `red`, `yellow` or `blue`.
    pub color: String,
    /// The square, or where the arrow starts.
    pub from: String,
    /// Where the arrow ends; none for a circle.
    pub to: Option<String>,
}

/// A game that is played, or was.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Play {
    /// Where it stands.
    pub status: PlayStatus,
    /// Who plays.
    pub players: Sides<PlayerState>,
    /// The node where the game stands: the end of what was played. New moves of players go there.
    pub tip: NodeId,
    /// The clocks; none without time controls.
    pub clocks: Option<Clocks>,
    /// Who has offered a draw that still stands.
    pub draw_offer: Option<Side>,
    /// What the human to move can claim by the rules of the game.
    pub claim: Option<Claim>,
    /// The last hint that was asked for, until a move is played.
    pub hint: Option<Hint>,
    /// When it is over: whether there is another game of the same players.
    pub rematch: Option<Rematch>,
}

/// Another game of the same players, set up as this one was.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rematch {
    /// It can be had.
    Open {
        /// Whether the players change sides. Who gives a handicap gives it again.
        swapped: bool,
    },
    /// It has begun.
    Begun {
        /// Which it is.
        game: GameId,
    },
}

/// What a human can claim, with its result.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// A draw by repetition or by moves without progress (chess).
    Draw,
    /// A win by declaration (shogi).
    DeclareWin,
    /// A draw by declaration (shogi).
    DeclareDraw,
}

/// Where a game stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlayStatus {
    /// A human is to move.
    YourTurn,
    /// An engine is being started for it.
    Starting,
    /// An engine thinks about its move.
    Searching,
    /// Clocks stand.
    Paused,
    /// It was broken off by the server's end or an engine's failure, and can be resumed.
    Interrupted,
    /// It is over.
    Over,
}

/// A player.
#[derive(Clone, Debug, Serialize, TS)]
pub struct PlayerState {
    /// Who it is.
    pub player: Player,
    /// The name of the human or the engine.
    pub name: String,
    /// For an engine: its last score, from its own side.
    pub info: Option<MoveInfo>,
    /// For an engine that ponders.
    pub pondering: Option<PonderState>,
}

/// The output of the last search of an engine that plays.
#[derive(Clone, Debug, Serialize, TS)]
pub struct MoveInfo {
    /// The move it is about: the node of that move, or none while it thinks.
    pub node: Option<NodeId>,
    /// In plies.
    pub depth: Option<u32>,
    /// From its own side.
    pub score: Option<Score>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes per second.
    pub nps: Option<u64>,
    /// Milliseconds searched.
    pub time: Option<u64>,
    /// The line it expects.
    pub pv: Vec<LineMove>,
}

/// How well an engine guesses its opponent's moves.
#[derive(Clone, Debug, Serialize, TS)]
pub struct PonderState {
    /// The move it thinks on now.
    pub expects: Option<LineMove>,
    /// How often it was right.
    pub hits: u32,
    /// How often it pondered to the end of the opponent's turn.
    pub tries: u32,
}

/// A move of a line that was not played.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct LineMove {
    /// In UCI or USI notation.
    pub uci: String,
    /// As text. From the first illegal move on, as it is.
    pub text: MoveText,
}

/// A hint.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Hint {
    /// The node it is for.
    pub node: NodeId,
    /// The move.
    pub hint: LineMove,
}

/// Clocks. The page lets the running one run; the server alone decides when a flag falls.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Clocks {
    /// What was left at `sent_at`; none for a side that has no clock. Negative when a flag has fallen.
    pub remaining: Sides<Option<i64>>,
    /// In byoyomi: what each move may use once `remaining` is used up.
    pub byoyomi: Sides<u64>,
    /// Added for each move.
    pub increment: Sides<u64>,
    /// Moves until more time is added.
    pub moves_to_go: Sides<Option<u32>>,
    /// Whose clock runs.
    pub running: Option<Side>,
    /// When this was true.
    pub sent_at: u64,
}

/// Who plays a side.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Player {
    /// A human at the page.
    Human {
        /// The name for the record.
        name: String,
        /// Its time.
        time: Time,
    },
    /// An engine.
    Engine(EnginePlayer),
}

/// An engine that plays.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct EnginePlayer {
    pub engine: EngineId,
    /// Its time.
    pub time: Time,
    /// Limits of each search in addition to the clock.
    #[serde(default)]
    pub limits: Limits,
    /// Whether it thinks on the opponent's time.
    #[serde(default)]
    pub ponder: bool,
    /// How strongly it plays; none for as strongly as it can.
    pub strength: Option<Strength>,
    /// Options for this game only, over those of the engine for play.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// The time of one side for a game.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Time {
    /// No clock. An engine needs a limit then, or "move now".
    None,
    /// A clock.
    Clock {
        /// At the start, and again every `moves` moves.
        base: u64,
        /// Added after each move.
        increment: u64,
        /// What each move may use when the rest is used up.
        byoyomi: u64,
        /// Moves until `base` is added again; none for the whole game.
        moves: Option<u32>,
    },
    /// A fixed time for each move.
    PerMove {
        /// Milliseconds.
        time: u64,
    },
}

/// Limits of a search. The first that is reached ends it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(default)]
pub struct Limits {
    /// In plies.
    pub depth: Option<u32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Milliseconds.
    pub time: Option<u64>,
    /// A mate: in moves (chess), or within milliseconds (shogi; 0 for without limit).
    pub mate: Option<u64>,
}

/// How to set up a game.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct NewGame {
    pub variant: Variant,
    /// Where it starts.
    pub start: Start,
    /// The players; none for a board to analyse on.
    pub players: Option<Sides<Player>>,
    /// Rules in addition to those of the board.
    #[serde(default)]
    pub rules: PlayRules,
    /// Where the first moves come from.
    pub book: Option<Book>,
}

/// What ends a game that is played.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlayRules {
    /// Those of the federations: chess draws are claimed, shogi declares with 24 points.
    #[default]
    Federation,
    /// Those of matches of programs: draws of chess end the game, shogi declares with 27 points.
    Engines,
}

/// An opening book for a game.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Book {
    /// A file below the data directory or a root of the file picker: PGN, EPD, SFEN lines or Polyglot.
    pub path: String,
    /// Maximum number of moves from it.
    pub plies: u32,
}

/// An edit of the tree of a game.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Edit {
    /// Sets the comments of a node.
    Comment {
        node: NodeId,
        /// Before it, where it begins a variation.
        #[serde(default)]
        before: Vec<String>,
        /// After it.
        comments: Vec<String>,
    },
    /// Sets the signs of a node.
    Nags {
        node: NodeId,
        /// All of them.
        nags: Vec<u8>,
    },
    /// Sets the marks of a node.
    Marks {
        node: NodeId,
        /// All of them.
        marks: Vec<Mark>,
    },
    /// Deletes a node and all below it.
    Delete { node: NodeId },
    /// Makes a variation one place more important.
    Promote {
        /// A node of it.
        node: NodeId,
        /// All the way to the main line.
        #[serde(default)]
        to_main: bool,
    },
    /// Adds a line of moves.
    Insert {
        /// After this node.
        node: NodeId,
        /// In UCI or USI notation.
        moves: Vec<String>,
        /// The evaluation of the line, for its first move.
        evaluation: Option<Evaluation>,
    },
    /// Sets the headers.
    Headers {
        /// All of them.
        headers: Vec<Header>,
    },
    /// Sets the result of a game that is not being played.
    Result {
        /// `1-0`, `0-1`, `1/2-1/2` or `*`.
        result: String,
    },
    /// Undoes the last edit.
    Undo,
    /// Does again what was undone.
    Redo,
}

/// A game that can be played.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Chess.
    Chess,
    /// Chess with any of 960 first ranks.
    Chess960,
    /// Shogi.
    Shogi,
}

/// One of the players: first is White in chess and Black (sente) in shogi.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Moves first from the start position.
    First,
    /// The other.
    Second,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "the first player",
            Self::Second => "the second player",
        })
    }
}

/// One thing for each side.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Sides<T> {
    /// White's in chess, Black's (sente) in shogi.
    pub first: T,
    /// The other's.
    pub second: T,
}

/// Where a game starts.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Start {
    /// The usual start position.
    Usual,
    /// A start position of Chess960 by its number, 0 to 959; none for a random one.
    Number {
        /// 518 is that of chess.
        number: Option<u16>,
    },
    /// A handicap of shogi, by its name from [`Choices`].
    Handicap {
        /// Such as `lance`.
        name: String,
    },
    /// A position in FEN or SFEN, or a `position …` line.
    Text {
        /// The text.
        text: String,
    },
}

/// A move as text. The page chooses by its settings and language.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct MoveText {
    /// SAN in chess, `Nbd7`; Hodges' notation in shogi, `P-7f`.
    pub western: String,
    /// Shogi only: `▲７六歩`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub japanese: Option<String>,
}

/// A legal move, as a board needs it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct LegalMove {
    /// In UCI or USI notation. Castling in Chess960 is the king taking the rook.
    pub uci: String,
    /// The square it starts from, `e2` or `7g`; none for a drop.
    pub from: Option<String>,
    /// For a drop: the piece in upper case, `P`.
    pub drop: Option<String>,
    /// Where it can be pointed to. The first is where the piece is shown to land. Castling has two: the king's
    /// square and the rook's (one, if the other would mean another move).
    pub to: Vec<String>,
    /// What the piece becomes: `q`, `r`, `b` or `n` in chess, `+` in shogi.
    pub promotion: Option<String>,
    /// As text.
    pub text: MoveText,
}

/// A position with all that a board and its reader need.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct PositionView {
    /// FEN or SFEN.
    pub text: String,
    /// Whose turn it is.
    pub turn: Side,
    /// All legal moves.
    pub legal: Vec<LegalMove>,
    /// The square of the king that is in check.
    pub check: Option<String>,
    /// The squares of the move that led here: from (none for a drop) and to.
    pub last: Option<LastMove>,
    /// If the position ends a game by the rules: how.
    pub ending: Option<OutcomeView>,
}

/// The squares of a move that was played.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct LastMove {
    /// None for a drop.
    pub from: Option<String>,
    /// Where it went. For castling the king's square.
    pub to: String,
}

/// How a game ended, with the details that the page displays.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct OutcomeView {
    /// Who won.
    pub result: GameResult,
    /// What ended the game.
    pub termination: Termination,
    /// Details, for example the error of an engine.
    pub detail: Option<ErrorInfo>,
}

impl OutcomeView {
    /// The side that won.
    pub(crate) fn winner(&self) -> Option<Side> {
        self.result.winner().map(Side::from)
    }
}

impl From<GameOutcome> for OutcomeView {
    fn from(GameOutcome { result, termination }: GameOutcome) -> Self {
        Self { result, termination, detail: None }
    }
}

/// A position of the editor, judged. Asked for with `POST /api/position`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct PositionCheck {
    /// The position as it would be played, if it can be.
    pub position: Option<PositionView>,
    /// The setup as its text, playable or not; none if the text cannot be read.
    pub text: Option<String>,
    /// What is wrong.
    pub error: Option<ErrorInfo>,
    /// Squares that the error is about.
    pub squares: Vec<String>,
}

/// What there is to choose from when a game is set up. `GET /api/choices`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Choices {
    /// The handicaps of shogi.
    pub handicaps: Vec<HandicapChoice>,
    /// The numeric annotation glyphs that have signs.
    pub nags: Vec<NagChoice>,
}

/// A handicap of shogi.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct HandicapChoice {
    /// Its name for commands and for English readers.
    pub name: String,
    /// Its Japanese name.
    pub japanese: String,
    /// Its start position.
    pub sfen: String,
}

/// A sign for a move.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct NagChoice {
    /// Its number in PGN.
    pub nag: u8,
    /// `!`, `?!`, `±`.
    pub sign: String,
}
