//! What was skipped or repaired while reading a line.

mod japanese;

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::Language;

/// A value read from a line, and what was odd about the line.
///
/// Reading never fails. Whoever wants to be strict asks for [`strict`](Self::strict); whoever
/// wants to continue takes [`value`](Self::value).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reading<T> {
    /// What the line says, as far as it could be understood.
    pub value: T,
    /// What was skipped or repaired, in the order in which it was met, up to [`Diagnostic::MAX_PER_LINE`].
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Reading<T> {
    /// The value, if nothing had to be skipped or repaired.
    ///
    /// # Errors
    /// The diagnostics, if there are any.
    pub fn strict(self) -> Result<T, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() { Ok(self.value) } else { Err(self.diagnostics) }
    }
}

/// One diagnostic of a line.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Diagnostic {
    /// The bytes that are meant of the line as text: what [`decode`](crate::decode) gives, in which
    /// U+FFFD has three bytes, whatever it stands for. Empty, at the place where something is
    /// missing.
    pub span: Range<usize>,
    /// What is odd.
    pub kind: DiagnosticKind,
}

impl Diagnostic {
    /// Maximum number of diagnostics per line, so that a hostile line does not cost many times its length in
    /// memory.
    pub const MAX_PER_LINE: usize = 256;
}

/// The kinds of diagnostics.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A token that has no meaning here. It was skipped, or kept as text where the message has
    /// room for it.
    UnknownToken,
    /// A message that only the other side sends.
    WrongDirection,
    /// Text after the end of a complete message. It was skipped.
    TrailingText,
    /// A keyword in another case. It was understood.
    WrongCase,
    /// Something is missing here. What it belongs to was skipped.
    Missing,
    /// A keyword (`moves`, `fen`, `name` …) is missing here. It was assumed.
    MissingKeyword,
    /// Parts of the message in an order that the protocol does not have. It was understood.
    WrongOrder,
    /// A limit after the moves of `searchmoves`. It was understood; engines take it for a move.
    AfterSearchMoves,
    /// Not a whole number. The field was skipped.
    NotANumber,
    /// A number outside of what can be stored. The nearest one was taken.
    NumberTooLarge,
    /// A negative number where only zero and more have a meaning. Zero was taken.
    NegativeNumber,
    /// The same field twice. The last one was taken; the moves of a position were joined.
    Repeated,
    /// Two fields that exclude one another, such as `score cp` and `score mate`. The stronger
    /// one was taken.
    Conflict,
    /// A token in a list of moves that is no move of this dialect. It was kept as text.
    NotAMove,
    /// A move in an unusual form, such as `e7e8Q`. The usual form was taken.
    MoveRepaired,
    /// An empty list of moves.
    EmptyList,
    /// The position breaks the syntax of FEN or SFEN. The command was kept as raw text.
    BadPosition,
    /// A legal but unusual form of a position: a missing move number, pieces in hand in another
    /// order, a board of another size. It was kept as it is.
    UnusualPosition,
    /// A default that is no value of this option. It was skipped, or kept where the type has
    /// room for it, or understood where it can only mean one thing (`default 1` of a check).
    BadDefault,
    /// An option type that the protocol does not know.
    UnknownType,
    /// A space in the name of an option of a USI engine.
    SpaceInName,
    /// The name or the type of an option of more than
    /// [`OptionDecl::MAX_NAME`](crate::OptionDecl::MAX_NAME) bytes. The message was kept as text.
    NameTooLong,
    /// A text in the declaration of an option of more than
    /// [`OptionDecl::MAX_TEXT`](crate::OptionDecl::MAX_TEXT) bytes. It was left out.
    TextTooLong,
    /// More choices than [`OptionDecl::MAX_VARS`](crate::OptionDecl::MAX_VARS). The others were
    /// left out.
    TooManyChoices,
    /// `seldepth` without `depth`.
    SeldepthWithoutDepth,
    /// A byte order mark, NUL or another control character. It was read as white space.
    ControlCharacter,
    /// Bytes that are not UTF-8. They were replaced by U+FFFD.
    InvalidUtf8,
}

impl DiagnosticKind {
    /// All kinds.
    pub const ALL: [Self; 27] = [
        Self::UnknownToken,
        Self::WrongDirection,
        Self::TrailingText,
        Self::WrongCase,
        Self::Missing,
        Self::MissingKeyword,
        Self::WrongOrder,
        Self::AfterSearchMoves,
        Self::NotANumber,
        Self::NumberTooLarge,
        Self::NegativeNumber,
        Self::Repeated,
        Self::Conflict,
        Self::NotAMove,
        Self::MoveRepaired,
        Self::EmptyList,
        Self::BadPosition,
        Self::UnusualPosition,
        Self::BadDefault,
        Self::UnknownType,
        Self::SpaceInName,
        Self::NameTooLong,
        Self::TextTooLong,
        Self::TooManyChoices,
        Self::SeldepthWithoutDepth,
        Self::ControlCharacter,
        Self::InvalidUtf8,
    ];

    /// The rule that the line breaks, and where it stands.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::UnknownToken | Self::TrailingText => {
                "UCI 2006, general rules, and USI draft 1 §5.1: a token that is not known is \
                 skipped, and the rest of the line is read"
            }
            Self::WrongDirection => {
                "UCI 2006, “GUI to engine” and “Engine to GUI”: each side has its own messages"
            }
            Self::WrongCase => "UCI 2006: the keywords are written in lower case",
            Self::Missing => "UCI 2006: this token is followed by a value",
            Self::MissingKeyword => "UCI 2006: this token introduces what follows",
            Self::WrongOrder => "UCI 2006: the parts of this message have a fixed order",
            Self::AfterSearchMoves => {
                "as deployed (Stockfish): `searchmoves` is the last token of `go` but for its moves"
            }
            Self::NotANumber | Self::NumberTooLarge => "UCI 2006: `<x>` is a whole number",
            Self::NegativeNumber => "UCI 2006: counts and times are not negative",
            Self::Repeated => "UCI 2006, go and info: each field has one value",
            Self::Conflict => "The UCI Protocol, info score: no cp if a mate was found",
            Self::NotAMove => "UCI 2006, move format; USI draft 1 §5.2",
            Self::MoveRepaired => {
                "UCI 2006, move format, and USI draft 1 §5.2: a move is written in one form"
            }
            Self::EmptyList => "UCI 2006: `<move1> … <movei>` is at least one move",
            Self::BadPosition => "PGN specification §16.1 (FEN); USI draft 1 §3 (SFEN)",
            Self::UnusualPosition => {
                "PGN specification §16.1 (FEN: six fields); USI draft 1 §3 (SFEN: order of hands)"
            }
            Self::BadDefault => "UCI 2006, option: the default is a value of the option",
            Self::UnknownType => {
                "UCI 2006, option type: check, spin, combo, button or string; USI adds filename"
            }
            Self::SpaceInName => "USI draft 1 §4: spaces are not allowed in option names",
            Self::NameTooLong | Self::TextTooLong | Self::TooManyChoices => {
                "A limit of this reader: no protocol has one"
            }
            Self::SeldepthWithoutDepth => "UCI 2006, info seldepth: depth is in the same line",
            Self::ControlCharacter => "UCI 2006, general rules: tokens are divided by white space",
            Self::InvalidUtf8 => "USI draft 1 §2: 7-bit ASCII; UTF-8 as spoken today",
        }
    }

    /// The rule that the line breaks, and where it stands, in a language. Documents are called as they
    /// call themselves.
    pub const fn clause_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.clause(),
            Language::Japanese => self.japanese_clause(),
        }
    }

    /// The kind in a few tokens of English.
    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownToken => "unknown token",
            Self::WrongDirection => "message of the other side",
            Self::TrailingText => "text after the end of the message",
            Self::WrongCase => "token in another case",
            Self::Missing => "missing value",
            Self::MissingKeyword => "missing keyword",
            Self::WrongOrder => "parts in the wrong order",
            Self::AfterSearchMoves => "limit after `searchmoves`",
            Self::NotANumber => "not a whole number",
            Self::NumberTooLarge => "number too large",
            Self::NegativeNumber => "negative number",
            Self::Repeated => "field said twice",
            Self::Conflict => "fields that exclude one another",
            Self::NotAMove => "not a move",
            Self::MoveRepaired => "move in an unusual form",
            Self::EmptyList => "empty list of moves",
            Self::BadPosition => "broken position",
            Self::UnusualPosition => "unusual form of a position",
            Self::BadDefault => "default that is no value of the option",
            Self::UnknownType => "unknown option type",
            Self::SpaceInName => "space in the name of an option",
            Self::NameTooLong => "name or type of an option too long",
            Self::TextTooLong => "text of an option too long",
            Self::TooManyChoices => "too many choices of an option",
            Self::SeldepthWithoutDepth => "`seldepth` without `depth`",
            Self::ControlCharacter => "control character",
            Self::InvalidUtf8 => "bytes that are not UTF-8",
        }
    }

    /// The kind in a few tokens of a language.
    pub const fn text_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.text(),
            Language::Japanese => self.japanese(),
        }
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at bytes {}..{}", self.kind, self.span.start, self.span.end)
    }
}
