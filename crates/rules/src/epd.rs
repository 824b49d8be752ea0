//! Extended Position Description: a position of chess with operations, as in the PGN standard (section
//! 16.2).

use std::{error, fmt};

use crate::{FenForm, Game, Move, MoveError, Notation, Position, PositionError, error::shortened};

mod read;
mod write;

/// A position of chess with operations: a line of a test suite or of an opening book.
///
/// ```
/// use readyok_rules::{Epd, FenForm, Game, Notation, Operation};
///
/// let text = "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4 Kd2; id \"two moves\"; x 1 \"a;b\";";
/// let epd = Epd::read(Game::Chess, text)?;
/// let Some(Operation::BestMoves(moves)) = epd.operations.first() else { unreachable!() };
/// let best: Vec<String> =
///     moves.iter().map(|&mv| epd.position.notation(mv, Notation::Western)).collect();
/// assert_eq!(best, ["e4", "Kd2"]);
/// assert_eq!(epd.text(FenForm::XFen)?, text);
/// # Ok::<(), readyok_rules::EpdError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Epd {
    /// The position. Its counters are those of `hmvc` and `fmvn`, or 0 and 1.
    pub position: Position,
    /// The operations, in order.
    pub operations: Vec<Operation>,
}

/// An operation of an EPD. Moves are legal in its position, and variations start there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `bm`: the best moves, any of them.
    BestMoves(Vec<Move>),
    /// `am`: moves to avoid.
    AvoidMoves(Vec<Move>),
    /// `pm`: the expected move.
    PredictedMove(Move),
    /// `sm`: the move that was played.
    SuppliedMove(Move),
    /// `pv`: the expected line.
    PredictedVariation(Vec<Move>),
    /// `id`: the name of the position.
    Id(String),
    /// `c0` to `c9`: comments.
    Comment {
        /// The number, 0 to 9.
        number: u8,
        /// The text.
        text: String,
    },
    /// `ce`: the score in centipawns from the view of the side to move.
    Centipawns(i32),
    /// `acd`: the depth of the analysis in plies.
    Depth(u32),
    /// `acn`: the nodes of the analysis.
    Nodes(u64),
    /// `acs`: the time of the analysis in seconds.
    Seconds(u64),
    /// `dm`: the number of moves to checkmate.
    DirectMate(u32),
    /// `hmvc`: plies since the last capture or pawn move.
    HalfmoveClock(u32),
    /// `fmvn`: the fullmove number.
    FullmoveNumber(u32),
    /// Any other operation, unchanged.
    Other {
        /// The opcode.
        opcode: String,
        /// The operands.
        operands: Vec<Operand>,
    },
}

/// An operand of an unknown operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// A token without quotes.
    Token(String),
    /// A text in quotes.
    Text(String),
}

/// Why a text is not an EPD, or an EPD cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EpdError {
    /// The position cannot be read or played.
    Position(PositionError),
    /// A quoted text is not closed.
    OpenQuote,
    /// More than 256 operations.
    TooManyOperations,
    /// An opcode is invalid.
    Opcode {
        /// The text, shortened.
        text: String,
    },
    /// An operand is missing, superfluous, or not of the kind that the operation requires.
    Operand {
        /// The opcode.
        opcode: String,
        /// The operand, shortened; empty if it is missing.
        text: String,
    },
    /// An operand is not a legal move.
    Move {
        /// The opcode.
        opcode: String,
        /// The error of the move.
        error: MoveError,
    },
}

impl Epd {
    /// Reads an EPD of chess or Chess960.
    ///
    /// Moves can have the lenient forms of [`Position::parse`]. The two counters of a FEN can precede the
    /// operations; they become `hmvc` and `fmvn`. Empty operations are skipped, and the last one needs no
    /// semicolon.
    pub fn read(game: Game, text: &str) -> Result<Self, EpdError> {
        read::epd(game, text)
    }

    /// Writes the EPD in one line.
    ///
    /// # Errors
    /// A text has quotes or control characters, or an opcode or token has a character that the standard
    /// does not allow.
    pub fn text(&self, form: FenForm) -> Result<String, EpdError> {
        write::epd(self, form)
    }

    /// The name of the position: its first `id`.
    pub fn id(&self) -> Option<&str> {
        self.operations.iter().find_map(|operation| match operation {
            Operation::Id(id) => Some(id.as_str()),
            _ => None,
        })
    }
}

impl Operation {
    /// The opcode: `bm`, `c0`.
    pub fn opcode(&self) -> &str {
        match self {
            Self::BestMoves(_) => "bm",
            Self::AvoidMoves(_) => "am",
            Self::PredictedMove(_) => "pm",
            Self::SuppliedMove(_) => "sm",
            Self::PredictedVariation(_) => "pv",
            Self::Id(_) => "id",
            Self::Comment { number, .. } => {
                const NAMES: [&str; 10] =
                    ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"];
                NAMES.get(usize::from(*number)).copied().unwrap_or("")
            }
            Self::Centipawns(_) => "ce",
            Self::Depth(_) => "acd",
            Self::Nodes(_) => "acn",
            Self::Seconds(_) => "acs",
            Self::DirectMate(_) => "dm",
            Self::HalfmoveClock(_) => "hmvc",
            Self::FullmoveNumber(_) => "fmvn",
            Self::Other { opcode, .. } => opcode,
        }
    }
}

impl fmt::Display for EpdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(error) => error.fmt(f),
            Self::OpenQuote => f.write_str("a quoted text is not closed"),
            Self::TooManyOperations => f.write_str("there are too many operations"),
            Self::Opcode { text } => write!(f, "`{text}` is not an opcode"),
            Self::Operand { opcode, text } if text.is_empty() => {
                write!(f, "`{opcode}` lacks an operand")
            }
            Self::Operand { opcode, text } => {
                write!(f, "`{text}` cannot be an operand of `{opcode}`")
            }
            Self::Move { opcode, error } => write!(f, "`{opcode}`: {error}"),
        }
    }
}

impl error::Error for EpdError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Position(error) => Some(error),
            Self::Move { error, .. } => Some(error),
            Self::OpenQuote
            | Self::TooManyOperations
            | Self::Opcode { .. }
            | Self::Operand { .. } => None,
        }
    }
}

impl From<PositionError> for EpdError {
    fn from(error: PositionError) -> Self {
        Self::Position(error)
    }
}

/// Whether an opcode has a variant of its own.
fn is_known(opcode: &str) -> bool {
    const KNOWN: [&str; 13] =
        ["bm", "am", "pm", "sm", "pv", "id", "ce", "acd", "acn", "acs", "dm", "hmvc", "fmvn"];
    KNOWN.contains(&opcode) || comment_number(opcode).is_some()
}

fn comment_number(opcode: &str) -> Option<u8> {
    let &[b'c', digit @ b'0'..=b'9'] = opcode.as_bytes() else { return None };
    digit.checked_sub(b'0')
}

/// Whether a text is a valid opcode: a letter, then up to 14 letters, digits and underscores.
fn is_opcode(text: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.len() <= 15
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(known)
}

fn bad_operand(opcode: &str, text: &str) -> EpdError {
    EpdError::Operand { opcode: shortened(opcode), text: shortened(text) }
}
